#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Dispatch
  import Foundation

  /// The app's side of the system's download manager. It hands plans to the manager, receives its events, moves downloads to the foreground, and
  /// cancels them.
  ///
  /// ```swift
  /// let downloads = BackgroundDownloads(group: group, state: delivery.state)
  /// downloads.listen()
  /// let plan = try await delivery.plan(downloads: await downloads.current())
  /// _ = try await delivery.install(plan)
  /// _ = await downloads.hand(plan)
  /// ```
  ///
  /// After ``listen()``, the system calls the app and no longer starts the extension. Create only one instance per process. No call waits forever,
  /// whatever the system does.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public final class BackgroundDownloads: Sendable {
    /// The app group that app and extension share.
    public let group: String
    /// The state that app and extension share.
    public let state: SharedState
    /// The time limit for exclusive control and for the system's list of downloads.
    public let control: ExclusiveControl
    let listener: DownloadListener
    private let request: @Sendable (URL) -> URLRequest
    private let logger: (any PackLogger)?
    /// Logs the system's events. Nil without a logger.
    private let logging: EventHub<BackgroundEvent>.Handling?

    /// Creates the app's side. Does not ask the system for anything yet.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - state: the state that app and extension share.
    ///   - challenges: answers authentication challenges of servers.
    ///   - control: the time limit for exclusive control.
    ///   - request: makes the request for the address of a pack, as ``URLSessionTransport/Options/request``.
    ///   - progressInterval: the minimum time between two progress events of one download.
    ///   - logger: receives the system's events except progress, and what the system refuses.
    public init(
      group: String, state: SharedState, challenges: ChallengeHandler = .system, control: ExclusiveControl = .init(),
      request: @escaping @Sendable (URL) -> URLRequest = { URLRequest(url: $0) }, progressInterval: Duration = .milliseconds(200),
      logger: (any PackLogger)? = nil
    ) {
      self.group = group
      self.state = state
      self.control = control
      self.request = request
      let listener = DownloadListener(state: state, challenges: challenges, progress: DownloadProgress(interval: progressInterval))
      self.listener = listener
      self.logger = logger
      logging = logger.map { logger in listener.events.handle { if let event = $0.logEvent { logger.log(event) } } }
    }

    // MARK: Listening

    /// Sets the manager's delegate. Call this when the app starts, and keep a reference to this value: the system holds the delegate weakly.
    public func listen() {
      BADownloadManager.shared.delegate = listener
    }

    /// Returns a stream of the system's events from now on. A listener that falls a thousand events behind loses the oldest ones.
    public func events() -> AsyncStream<BackgroundEvent> { listener.events.listen() }

    /// Returns the number of bytes received of a download in progress; nil if unknown.
    public func received(_ download: String) -> UInt64? { listener.progress.received(download) }

    // MARK: The system's downloads

    /// Returns the identifiers of the downloads that the system has, for ``AppDelivery/plan(asked:awaited:downloads:isListExact:freeSpace:)``. A failed
    /// download stays in the system's list, but is not included here.
    ///
    /// - Returns: nil if the system does not respond in time.
    public func current() async -> Set<String>? {
      await listed().map { Set($0.map(\.identifier)) }
    }

    /// Returns the downloads of packs that the system has, except failed ones.
    func listed() async -> [BADownload]? {
      let once = Once()
      return await withCheckedContinuation { (continuation: CheckedContinuation<[BADownload]?, Never>) in
        BADownloadManager.shared.fetchCurrentDownloads { downloads, error in
          guard once.take() else { return }
          continuation.resume(returning: error == nil ? downloads.filter(\.isOurs) : nil)
        }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + control.patienceSeconds + 0.5) {
          if once.take() { continuation.resume(returning: nil) }
        }
      }
    }

    // MARK: Handing over

    /// Hands the downloads of a plan to the system, each with its exact size, and cancels those that the plan no longer needs.
    ///
    /// Downloads that someone is waiting for start in the foreground, regardless of battery and network. If the app is not in the foreground, they
    /// are scheduled like the others. None is essential: only an extension may request essential downloads.
    public func hand(_ plan: DeliveryPlan) async -> HandedOver {
      let known = await listed() ?? []
      let byIdentifier = Dictionary(known.map { ($0.identifier, $0) }) { first, _ in first }
      return await control.run { [self] isExclusive in
        var result = HandedOver()
        result.isExclusive = isExclusive
        for identifier in plan.cancellations {
          guard let download = byIdentifier[identifier] else { continue }
          Self.cancel(download)
          result.cancelled.append(identifier)
        }
        for (place, planned) in plan.downloads.enumerated() {
          hand(planned, place: place, byIdentifier[planned.identifier.description], &result)
        }
        log(result)
        return result
      }
    }

    private func log(_ result: HandedOver) {
      logger.record(
        .notice, .background, "handed over",
        [
          .public("started", result.started.count), .public("scheduled", result.scheduled.count), .public("known", result.known.count),
          .public("refused", result.refused.count), .public("cancelled", result.cancelled.count),
          .public("exclusive", result.isExclusive ? "yes" : "no"),
        ])
      for (download, failure) in result.refused.sorted(by: { $0.key < $1.key }) {
        logger.record(.error, .background, "refused by the system", [.public("download", download), .public("failure", "\(failure)")])
      }
    }

    private func hand(_ planned: PlannedDownload, place: Int, _ known: BADownload?, _ result: inout HandedOver) {
      let identifier = planned.identifier.description
      if let known {
        if planned.startsInForeground { _ = Self.bringForward(known) }
        return result.known.append(identifier)
      }
      guard let download = planned.systemDownload(in: group, place: place, isEssential: false, request: request) else {
        result.refused[identifier] = .other
        record(&result) { (state) throws(PackError) in try state.note(.downloadFailed(.configuration), ofDownload: identifier) }
        return
      }
      switch Self.begin(download, inForeground: planned.startsInForeground) {
      case .started: result.started.append(identifier)
      case .scheduled: result.scheduled.append(identifier)
      case .refused(let failure) where failure.remedy == .alreadyScheduled: result.known.append(identifier)
      case .refused(let failure):
        result.refused[identifier] = failure
        record(&result) { (state) throws(PackError) in _ = try state.downloadFailed(.download(identifier: identifier), failure) }
      }
    }

    private func record(_ result: inout HandedOver, _ body: (SharedState) throws(PackError) -> Void) {
      do throws(PackError) {
        try body(state)
      } catch {
        result.errors.append(error)
      }
    }

    // MARK: One download

    /// The system's response to a download.
    public enum Beginning: Hashable, Sendable {
      /// It started in the foreground.
      case started
      /// The system will start it when it decides to.
      case scheduled
      /// The system refused it.
      case refused(DownloadFailure)
    }

    static func begin(_ download: BADownload, inForeground: Bool) -> Beginning {
      do {
        if inForeground {
          do {
            try BADownloadManager.shared.startForegroundDownload(download)
            return .started
          } catch {
            // The app is not in the foreground, so the download is not urgent either.
            guard DownloadFailure(error).remedy == .wait(.foreground) else { throw error }
          }
        }
        try BADownloadManager.shared.scheduleDownload(download)
        return .scheduled
      } catch {
        return .refused(DownloadFailure(error))
      }
    }

    /// Starts a download that the system already has, regardless of battery and network. The app must be in the foreground.
    ///
    /// - Parameter download: its identifier.
    /// - Returns: nil if the system does not have the download; make a new plan then.
    public func promote(_ download: String) async -> Beginning? {
      guard let known = await listed()?.first(where: { $0.identifier == download }) else { return nil }
      return Self.bringForward(known)
    }

    /// Essential downloads already have the highest urgency, and the manager terminates a process that tries to start one.
    static func bringForward(_ download: BADownload) -> Beginning {
      guard !download.isEssential else { return .scheduled }
      do {
        try BADownloadManager.shared.startForegroundDownload(download)
        return .started
      } catch {
        return .refused(DownloadFailure(error))
      }
    }

    /// Cancels the download of a pack, for a user who does not want it. It is downloaded again only if the app asks for it.
    ///
    /// - Throws: an error of the file system from the shared state.
    public func cancel(_ id: String) async throws(PackError) {
      guard let identifier = try await WorkerPool.settled({ [state] () throws(PackError) in try state.cancel(id) }) else { return }
      await drop(identifier.description)
    }

    /// Ends a download in the system, whatever its record says.
    func drop(_ identifier: String) async {
      guard let download = await listed()?.first(where: { $0.identifier == identifier }) else { return }
      Self.cancel(download)
      listener.progress.forget(identifier)
    }

    /// A second cancellation fails because the system no longer has the download (101, 113). This is ignored.
    private static func cancel(_ download: BADownload) {
      try? BADownloadManager.shared.cancel(download)
    }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension BADownload {
    /// Whether it was handed over by the app or the extension, and has not failed.
    fileprivate var isOurs: Bool {
      guard case .download = subject else { return false }
      return state != .failed
    }
  }
#endif
