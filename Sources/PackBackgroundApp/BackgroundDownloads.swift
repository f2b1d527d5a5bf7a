#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Dispatch
  public import PackBackground
  import PackRuntime
  import PackWork

  /// The app's side of the system's download manager: hands plans to it, listens to it, brings a download to the foreground, cancels.
  ///
  /// ```swift
  /// let downloads = BackgroundDownloads(group: group, state: delivery.state)
  /// downloads.listen()
  /// let plan = try await delivery.plan(downloads: await downloads.current())
  /// _ = try await delivery.install(plan)
  /// _ = await downloads.hand(plan)
  /// ```
  ///
  /// From ``listen()`` on the system tells the app and no longer wakes the extension. There is one of these in a process. Whatever the system says or
  /// fails to say, no call waits for ever.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public final class BackgroundDownloads: Sendable {
    /// The app group of app and extension.
    public let group: String
    /// What app and extension share.
    public let state: SharedState
    /// How patiently exclusive control is asked for, and the system's list.
    public let control: ExclusiveControl
    let listener: DownloadListener

    /// Puts the parts together. Asks the system for nothing yet.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - state: what app and extension share.
    ///   - challenges: what is answered to servers that ask who is there.
    ///   - control: how patiently exclusive control is asked for.
    ///   - progressInterval: the time between two progress events of one download.
    public init(
      group: String, state: SharedState, challenges: ChallengeHandler = .system, control: ExclusiveControl = .init(),
      progressInterval: Duration = .milliseconds(200)
    ) {
      self.group = group
      self.state = state
      self.control = control
      listener = DownloadListener(state: state, challenges: challenges, progress: DownloadProgress(interval: progressInterval))
    }

    // MARK: Listening

    /// Becomes the manager's delegate, which the system holds weakly: to be called at the start of the app, and this value to be kept.
    public func listen() {
      BADownloadManager.shared.delegate = listener
    }

    /// What the system tells from now on. A listener that falls a thousand events behind loses the oldest.
    public func events() -> AsyncStream<BackgroundEvent> { listener.events.listen() }

    /// The bytes that came of a download that is under way; nil where nothing is known of it.
    public func received(_ download: String) -> UInt64? { listener.progress.received(download) }

    // MARK: What the system has

    /// The identifiers of the downloads that the system has: what ``AppDelivery/plan(asked:downloads:freeSpace:)`` wants to know. One that failed stays in
    /// the system's list, and does not count.
    ///
    /// - Returns: nil where the system does not answer in time.
    public func current() async -> Set<String>? {
      await listed().map { Set($0.map(\.identifier)) }
    }

    /// The downloads of ours that the system has, but for those that failed.
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

    /// Hands the downloads of a plan to the system, each with its exact size, and cancels what the plan has no use for.
    ///
    /// Those for which somebody waits begin in the foreground, whatever battery and network the person has; where the app is not in the foreground they are
    /// scheduled like the others. None is essential: only an extension may ask for those.
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
        return result
      }
    }

    private func hand(_ planned: PlannedDownload, place: Int, _ known: BADownload?, _ result: inout HandedOver) {
      let identifier = planned.identifier.description
      if let known {
        if planned.startsInForeground { _ = Self.bringForward(known) }
        return result.known.append(identifier)
      }
      guard let download = planned.systemDownload(in: group, place: place, isEssential: false) else {
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

    /// How the system took a download.
    public enum Beginning: Hashable, Sendable {
      /// It began in the foreground.
      case started
      /// It begins when the system sees fit.
      case scheduled
      /// The system did not take it.
      case refused(DownloadFailure)
    }

    static func begin(_ download: BADownload, inForeground: Bool) -> Beginning {
      do {
        if inForeground {
          do {
            try BADownloadManager.shared.startForegroundDownload(download)
            return .started
          } catch {
            // The app is not in the foreground, so there is no hurry either.
            guard DownloadFailure(error).remedy == .wait(.foreground) else { throw error }
          }
        }
        try BADownloadManager.shared.scheduleDownload(download)
        return .scheduled
      } catch {
        return .refused(DownloadFailure(error))
      }
    }

    /// Has a download that the system has begin now, whatever battery and network the person has. The app must be in the foreground.
    ///
    /// - Parameter download: its identifier.
    /// - Returns: nil where the system does not have it; the next plan knows more.
    public func promote(_ download: String) async -> Beginning? {
      guard let known = await listed()?.first(where: { $0.identifier == download }) else { return nil }
      return Self.bringForward(known)
    }

    /// An essential download runs as urgently as any can, and the manager takes none: it ends the process that tries.
    static func bringForward(_ download: BADownload) -> Beginning {
      guard !download.isEssential else { return .scheduled }
      do {
        try BADownloadManager.shared.startForegroundDownload(download)
        return .started
      } catch {
        return .refused(DownloadFailure(error))
      }
    }

    /// Cancels the download of a pack: the person does not want it. It comes again when the app asks for it.
    ///
    /// - Throws: what the shared state's disk says.
    public func cancel(_ id: String) async throws(PackError) {
      guard let identifier = try await WorkerPool.settled({ [state] () throws(PackError) in try state.cancel(id) }) else { return }
      await drop(identifier.description)
    }

    /// Ends a download in the system, whatever is recorded of it.
    func drop(_ identifier: String) async {
      guard let download = await listed()?.first(where: { $0.identifier == identifier }) else { return }
      Self.cancel(download)
      listener.progress.forget(identifier)
    }

    /// Cancelling works once; then the system says that there is no such download (101, 113), which is what was wanted.
    private static func cancel(_ download: BADownload) {
      try? BADownloadManager.shared.cancel(download)
    }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension BADownload {
    /// Whether it is one that somebody handed over, and that may still come.
    fileprivate var isOurs: Bool {
      guard case .download = subject else { return false }
      return state != .failed
    }
  }
#endif
