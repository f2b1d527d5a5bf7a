#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation
  public import PackCrypto
  public import PackDelivery
  public import PackFormat
  public import PackManifest
  import PackTrust

  /// What a downloader extension does when the system calls it: each of its methods is one callback.
  ///
  /// Nothing of a pack is read, hashed, decrypted or copied. A finished file is moved by one rename, recorded, and the callback returns.
  /// Nothing throws, because the system would not hear it: what happened goes to the report.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct BackgroundDelivery: Sendable {
    /// Makes the extension's part of the delivery.
    public typealias Opening = @Sendable () throws(PackError) -> ExtensionDelivery

    /// The app group of app and extension.
    public let group: String
    private let challenges: ChallengeHandler
    private let report: @Sendable (BackgroundReport) -> Void
    private let make: Opening

    /// Puts an extension's part together. Opens nothing yet.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - challenges: what is answered to servers that ask who is there.
    ///   - report: hears what was done, on whatever thread the system calls.
    ///   - open: makes the delivery. It is called anew for each callback: a device that was not unlocked since it started refuses, and soon does not any more.
    public init(
      group: String, challenges: ChallengeHandler = .system, report: @escaping @Sendable (BackgroundReport) -> Void = { _ in },
      open: @escaping Opening
    ) {
      self.group = group
      self.challenges = challenges
      self.report = report
      make = open
    }

    /// The usual part: the state that the group shares, and manifests that one of these keys signed.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - keys: the public keys whose signatures count.
    ///   - policy: how patient it is.
    ///   - challenges: what is answered to servers that ask who is there.
    ///   - isForDevice: whether a pack is meant for this device, as the app decides it too.
    ///   - report: hears what was done, on whatever thread the system calls.
    public init(
      group: String, trusting keys: [SigningPublicKey], policy: DeliveryPolicy = .init(), challenges: ChallengeHandler = .system,
      isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true },
      report: @escaping @Sendable (BackgroundReport) -> Void = { _ in }
    ) {
      self.init(group: group, challenges: challenges, report: report) { () throws(PackError) in
        ExtensionDelivery(state: try SharedState(group: group, policy: policy), isForDevice: isForDevice) { (document) throws(PackError) in
          try document.verify(trusting: keys).manifest
        }
      }
    }

    // MARK: The callbacks

    /// `downloads(for:manifestURL:extensionInfo:)`: takes the manifest, plans, records, and hands everything over as the system wants it, by returning it.
    public func downloads(for request: BAContentRequest, manifest: URL, information: BAAppExtensionInfo) -> Set<BADownload> {
      guard let delivery = opened() else { return [] }
      let answer = delivery.downloads(
        for: DeliveryEvent(request), manifestAt: manifest.path, allowance: Allowance(information))
      report(.answered(answer))
      var downloads: Set<BADownload> = []
      for (place, planned) in answer.downloads.enumerated() {
        guard let download = planned.systemDownload(in: group, place: place) else {
          dismiss(planned, delivery)
          continue
        }
        downloads.insert(download)
      }
      return downloads
    }

    /// `backgroundDownload(_:finishedWithFileURL:)`: moves the file, records that, and returns.
    public func finished(_ download: BADownload, file: URL) {
      // The system keeps manifests to itself; whatever else comes is none of ours either.
      guard case .download(let identifier) = download.subject, let delivery = opened() else { return }
      do throws(PackError) {
        let parking = try delivery.finished(file.path, download: identifier)
        report(.arrived(download: identifier, parking))
        if case .wrongSize(.handOverAsNonEssential) = parking { handOverAgain(download, delivery) }
      } catch {
        report(.refused(error))
      }
    }

    /// `backgroundDownload(_:failedWithError:)`: records the failure, and hands an essential download over again as one that is not.
    public func failed(_ download: BADownload, _ error: any Error) {
      let failure = DownloadFailure(error)
      let subject = download.subject
      guard case .download = subject else { return report(.manifestFailed(failure)) }
      guard let delivery = opened() else { return }
      if fail(delivery, subject, failure) == .handOverAsNonEssential { handOverAgain(download, delivery) }
    }

    /// `backgroundDownload(_:didReceive:)`: asks the app's closure.
    public func answer(_ challenge: URLAuthenticationChallenge, of download: BADownload) async -> ChallengeHandler.Answer {
      await challenges.answer(challenge, of: download)
    }

    // MARK: What they share

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

    /// What is recorded as handed over, and cannot be, would be waited for.
    private func dismiss(_ planned: PlannedDownload, _ delivery: ExtensionDelivery) {
      do throws(PackError) {
        try delivery.note(.downloadFailed(.configuration), ofDownload: planned.identifier.description)
        report(.refused(PackError(.systemRefused, "the system takes no download of \(planned.bytes.size) bytes from '\(planned.url)'")))
      } catch {
        report(.refused(error))
      }
    }

    /// Outside a content request the manager takes downloads, but no essential ones.
    private func handOverAgain(_ download: BADownload, _ delivery: ExtensionDelivery) {
      let identifier = download.identifier
      do {
        try BADownloadManager.shared.scheduleDownload(download.removingEssential())
        report(.handedOverAgain(download: identifier, refusal: nil))
      } catch {
        let failure = DownloadFailure(error)
        report(.handedOverAgain(download: identifier, refusal: failure))
        // It is with the system already, and nothing is to be done.
        guard failure.remedy != .alreadyScheduled else { return }
        fail(delivery, .download(identifier: identifier), failure)
      }
    }
  }

  extension DeliveryEvent {
    /// Why the system asks. What later systems add, such as another language of the person's, is planned like a look for something new.
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
    /// What the system says is left before the first start of the app; nil after it.
    init?(_ information: BAAppExtensionInfo) {
      let (essential, other) = (information.restrictedEssentialDownloadSizeRemaining, information.restrictedDownloadSizeRemaining)
      guard essential != nil || other != nil else { return nil }
      self.init(essential: essential.map { UInt64(max(0, $0)) } ?? .max, other: other.map { UInt64(max(0, $0)) } ?? .max)
    }
  }
#endif
