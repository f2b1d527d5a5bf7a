#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// The work of a downloader extension: each method implements one callback of the system.
  ///
  /// Packs are not read, hashed, decrypted or copied here. A finished file is moved by a single rename and recorded, and the callback returns. No
  /// method throws, because the system ignores errors; errors are logged and passed to the report.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct BackgroundDelivery: Sendable {
    /// A function that creates the extension's part of the delivery.
    public typealias Opening = @Sendable () throws(PackError) -> ExtensionDelivery

    /// The app group that app and extension share.
    public let group: String
    private let challenges: ChallengeHandler
    private let request: @Sendable (URL) -> URLRequest
    private let logger: (any PackLogger)?
    private let listener: @Sendable (BackgroundReport) -> Void
    private let make: Opening

    /// Creates the work of an extension. Does not open anything yet.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - challenges: answers authentication challenges of servers.
    ///   - request: makes the request for the address of a pack: its header fields, and which networks it may use. It must be the same in the app.
    ///   - logger: receives each request of the system, what was done, and how long it took.
    ///   - report: receives what was done, on the thread on which the system calls.
    ///   - open: creates the delivery. Called again for each callback, because it fails until the device has been unlocked once after a restart.
    public init(
      group: String, challenges: ChallengeHandler = .system,
      request: @escaping @Sendable (URL) -> URLRequest = { URLRequest(url: $0) }, logger: (any PackLogger)? = nil,
      report: @escaping @Sendable (BackgroundReport) -> Void = { _ in }, open: @escaping Opening
    ) {
      self.group = group
      self.challenges = challenges
      self.request = request
      self.logger = logger
      listener = report
      make = open
    }

    /// Creates the usual extension: with the state shared in the app group, and manifests signed with one of the keys.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - keys: the trusted public keys.
    ///   - policy: the timing of deliveries.
    ///   - challenges: answers authentication challenges of servers.
    ///   - request: makes the request for the address of a pack: its header fields, and which networks it may use. It must be the same in the app.
    ///   - device: decides which packs are for this device. It must be the same in the app.
    ///   - isForDevice: a further condition. It must be the same in the app.
    ///   - logger: receives each request of the system, the plan for it, what was done, and how long it took.
    ///   - report: receives what was done, on the thread on which the system calls.
    public init(
      group: String, trusting keys: [SigningPublicKey], policy: DeliveryPolicy = .init(), challenges: ChallengeHandler = .system,
      request: @escaping @Sendable (URL) -> URLRequest = { URLRequest(url: $0) },
      device: DeviceProfile = .current, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true },
      logger: (any PackLogger)? = nil,
      report: @escaping @Sendable (BackgroundReport) -> Void = { _ in }
    ) {
      self.init(group: group, challenges: challenges, request: request, logger: logger, report: report) { () throws(PackError) in
        let state = try SharedState(group: group, policy: policy, logger: logger)
        return ExtensionDelivery(
          state: state, isForDevice: { device.accepts($0) && isForDevice($0) }, trusting: TrustedKeys(keys))
      }
    }

    /// Creates the usual extension with public keys as text, and the system's log under the extension's bundle identifier.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - keys: the trusted public keys, as `packer key public` prints them, or one keys document. A malformed one is reported at each callback, and
    ///     nothing is downloaded.
    ///   - challenges: answers authentication challenges of servers.
    ///   - request: makes the request for the address of a pack: its header fields, and which networks it may use. It must be the same in the app.
    ///   - device: decides which packs are for this device. It must be the same in the app.
    ///   - isForDevice: a further condition. It must be the same in the app.
    ///   - report: receives what was done, on the thread on which the system calls.
    public init(
      group: String, trusting keys: [String], challenges: ChallengeHandler = .system,
      request: @escaping @Sendable (URL) -> URLRequest = { URLRequest(url: $0) },
      device: DeviceProfile = .current, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true },
      report: @escaping @Sendable (BackgroundReport) -> Void = { _ in }
    ) {
      let logger = SystemLogger(subsystem: Bundle.main.bundleIdentifier ?? "packer")
      self.init(group: group, challenges: challenges, request: request, logger: logger, report: report) { () throws(PackError) in
        let trusted = try TrustedKeys(texts: keys)
        let state = try SharedState(group: group, logger: logger)
        return ExtensionDelivery(state: state, isForDevice: { device.accepts($0) && isForDevice($0) }, trusting: trusted)
      }
    }

    // MARK: The callbacks

    /// Implements `downloads(for:manifestURL:extensionInfo:)`: accepts the manifest, makes and records a plan, and returns its downloads to the
    /// system.
    public func downloads(for request: BAContentRequest, manifest: URL, information: BAAppExtensionInfo) -> Set<BADownload> {
      let start = ContinuousClock.now
      let (event, allowance) = (DeliveryEvent(request), Allowance(information))
      logger.record(.notice, .background, "content request", [.public("kind", request.rawValue), .public("event", event.rawValue)])
      defer { logTime(since: start) }
      guard let delivery = opened() else { return [] }
      let answer = delivery.downloads(for: event, manifestAt: manifest.path, allowance: allowance)
      report(.answered(answer))
      var downloads: Set<BADownload> = []
      for (place, planned) in answer.downloads.enumerated() {
        guard let download = planned.systemDownload(in: group, place: place, request: self.request) else {
          dismiss(planned, delivery)
          continue
        }
        downloads.insert(download)
      }
      return downloads
    }

    /// Implements `backgroundDownload(_:finishedWithFileURL:)`: moves and records the file.
    public func finished(_ download: BADownload, file: URL) {
      // The system does not pass on manifests, and any other download is not one of a pack.
      guard case .download(let identifier) = download.subject else { return }
      let start = ContinuousClock.now
      defer { logTime(since: start) }
      guard let delivery = opened() else { return }
      do throws(PackError) {
        let parking = try delivery.finished(file.path, download: identifier)
        report(.arrived(download: identifier, parking))
        if case .wrongSize(.handOverAsNonEssential) = parking { handOverAgain(download, delivery) }
      } catch {
        report(.refused(error))
      }
    }

    /// Implements `backgroundDownload(_:failedWithError:)`: records the failure. A failed essential download is handed over again as a non-essential
    /// one.
    public func failed(_ download: BADownload, _ error: any Error) {
      let failure = DownloadFailure(error)
      let subject = download.subject
      guard case .download = subject else { return report(.manifestFailed(failure)) }
      guard let delivery = opened() else { return }
      if fail(delivery, subject, failure) == .handOverAsNonEssential { handOverAgain(download, delivery) }
    }

    /// Implements `backgroundDownload(_:didReceive:)` with the app's closure.
    public func answer(_ challenge: URLAuthenticationChallenge, of download: BADownload) async -> ChallengeHandler.Answer {
      await challenges.answer(challenge, of: download)
    }

    // MARK: Shared parts

    private func report(_ report: BackgroundReport) {
      if let logger { logger.log(report.logEvent) }
      listener(report)
    }

    /// Logs the time of a callback, because the system limits the time of all callbacks of a day.
    private func logTime(since start: ContinuousClock.Instant) {
      logger.record(
        .info, .background, "callback ended", [.public("milliseconds", Int((ContinuousClock.now - start) / .milliseconds(1)))])
    }

    private func opened() -> ExtensionDelivery? {
      do throws(PackError) {
        return try make()
      } catch {
        report(.refused(error))
        return nil
      }
    }

    @discardableResult
    private func fail(_ delivery: ExtensionDelivery, _ subject: DownloadSubject, _ failure: DownloadFailure) -> FailureRemedy {
      do throws(PackError) {
        let remedy = try delivery.failed(subject, failure)
        if case .download(let identifier) = subject { report(.failed(download: identifier, failure, remedy)) }
        return remedy
      } catch {
        report(.refused(error))
        return .nothing
      }
    }

    /// Records a failure, because otherwise the app would wait for a download that cannot be handed over.
    private func dismiss(_ planned: PlannedDownload, _ delivery: ExtensionDelivery) {
      do throws(PackError) {
        try delivery.note(.downloadFailed(.configuration), ofDownload: planned.identifier.description)
        report(.refused(PackError(.systemRefused, "the system cannot download \(planned.bytes.size) bytes from '\(planned.url)'")))
      } catch {
        report(.refused(error))
      }
    }

    /// Outside a content request, the manager accepts only non-essential downloads.
    private func handOverAgain(_ download: BADownload, _ delivery: ExtensionDelivery) {
      let identifier = download.identifier
      do {
        try BADownloadManager.shared.scheduleDownload(download.removingEssential())
        report(.handedOverAgain(download: identifier, refusal: nil))
      } catch {
        let failure = DownloadFailure(error)
        report(.handedOverAgain(download: identifier, refusal: failure))
        // The system already has it; there is nothing to do.
        guard failure.remedy != .alreadyScheduled else { return }
        fail(delivery, .download(identifier: identifier), failure)
      }
    }
  }

  extension DeliveryEvent {
    /// The reason for the request. Reasons of later systems, such as a changed language of the user, are treated like a periodic check.
    init(_ request: BAContentRequest) {
      if request == .install {
        self = .install
      } else if request == .update {
        self = .update
      } else {
        self = .periodic
      }
    }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension Allowance {
    /// The bytes that the system still permits before the first start of the app; nil after it.
    init?(_ information: BAAppExtensionInfo) {
      let (essential, other) = (information.restrictedEssentialDownloadSizeRemaining, information.restrictedDownloadSizeRemaining)
      guard essential != nil || other != nil else { return nil }
      self.init(essential: essential.map { UInt64(max(0, $0)) } ?? .max, other: other.map { UInt64(max(0, $0)) } ?? .max)
    }
  }
#endif
