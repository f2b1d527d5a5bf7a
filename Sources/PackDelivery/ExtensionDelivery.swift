public import PackFormat
public import PackManifest

/// All that a downloader extension does, without the system's types: what an adapter of the system calls, and what a rehearsal calls.
///
/// Nothing of a pack is read, hashed or decrypted here. A call takes milliseconds, and a content request less than 6 MB of memory over the largest manifest.
public struct ExtensionDelivery: Sendable {
  /// Checks a manifest's signatures, and reads it: PackTrust's `SignedManifest.verify(trusting:)`.
  public typealias Check = @Sendable (SignedManifest) throws(PackError) -> Manifest

  /// What app and extension share.
  public let state: SharedState
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  private let verify: Check

  /// Puts an extension's work together.
  ///
  /// - Parameters:
  ///   - state: what app and extension share.
  ///   - isForDevice: whether a pack is meant for this device, as the app decides it too.
  ///   - verify: what checks the signatures of a manifest.
  public init(state: SharedState, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }, verify: @escaping Check) {
    self.state = state
    self.isForDevice = isForDevice
    self.verify = verify
  }

  /// What a content request is answered with.
  public struct Answer: Sendable {
    /// What to hand to the system, in this order. Empty where nothing could be recorded: what is not recorded may not be handed over.
    public internal(set) var downloads: [PlannedDownload] = []
    /// The whole plan; nil where there was none to make.
    public internal(set) var plan: DeliveryPlan?
    /// The version of the manifest that was planned with.
    public internal(set) var manifestVersion: UInt64?
    /// What was wrong: with the manifest that came, and then ``plan`` is made with the last one that was accepted; or with the shared state, and then there is none.
    public internal(set) var refusal: PackError?
    /// The names of packs whose records could not be read, and were made anew.
    public internal(set) var rebuilt: [String] = []
  }

  /// Answers a content request: takes the manifest that the system downloaded, plans, and records what is handed over.
  ///
  /// It throws nothing, because an extension has nobody to throw at. A manifest that is not sound, not trusted or old erases nothing.
  ///
  /// - Parameters:
  ///   - event: why the system asks.
  ///   - path: where the manifest lies. It is copied, because the system removes it when the callback returns.
  ///   - allowance: what the system says may still be downloaded before the first start of the app; nil after it.
  public func downloads(for event: DeliveryEvent, manifestAt path: String, allowance: Allowance?) -> Answer {
    var answer = Answer()
    let manifest: Manifest
    do throws(PackError) {
      manifest = try state.accept(manifestAt: path, verify: verify)
    } catch {
      answer.refusal = error
      do throws(PackError) {
        guard let last = try state.lastManifest(verify: verify) else { return answer }
        manifest = last
      } catch {
        // Neither the one that came nor the one that was kept: the first reason is the one to tell.
        return answer
      }
    }
    do throws(PackError) {
      let planned = try state.plan(
        for: manifest, facts: DeliveryFacts(event, at: state.time, allowance: allowance, isForDevice: isForDevice))
      answer.manifestVersion = manifest.version
      answer.downloads = planned.plan.downloads
      answer.plan = planned.plan
      answer.rebuilt = planned.rebuilt
    } catch {
      answer.refusal = error
    }
    return answer
  }

  /// Takes a file that the system downloaded. It must be called before the system's callback returns, which removes the file.
  ///
  /// - Throws: what ``SharedState/park(_:asDownload:)`` throws; the file stays where it is then, and the download is planned anew when it is found to be lost.
  public func finished(_ file: String, download identifier: String) throws(PackError) -> SharedState.Parking {
    try state.park(file, asDownload: identifier)
  }

  /// Records that a download failed, and says what is to be done: where it is ``FailureRemedy/handOverAsNonEssential``, at once.
  public func failed(_ subject: DownloadSubject, _ failure: DownloadFailure) throws(PackError) -> FailureRemedy {
    try state.downloadFailed(subject, failure)
  }

  /// Records what else happened to a download: that it began, or rests.
  @discardableResult
  public func note(_ event: PackEvent, ofDownload identifier: String) throws(PackError) -> PackStatus? {
    try state.note(event, ofDownload: identifier)
  }
}
