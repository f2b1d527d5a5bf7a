/// The work of a downloader extension, independent of the system's types. It is called by an adapter for the system or by a simulation.
///
/// It plans essential and prefetch packs, which the manifest lists itself; packs of its catalogue stay as they are. It does not read, hash
/// or decrypt packs. A call takes milliseconds. Of the 6 MB that the system gives to an extension, a content request allocates at most
/// 2 MiB at any moment, also with the largest manifest.
public struct ExtensionDelivery: Sendable {
  /// A function that checks the signatures of a manifest: `SignedManifest.checkSignatures(trusting:)`.
  public typealias Check = @Sendable (SignedManifest) throws(PackError) -> Void

  /// The state that app and extension share.
  public let state: SharedState
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// Check a new manifest, and the last accepted one.
  private let (check, checkLast): (Check, Check)

  /// Creates the work of an extension.
  ///
  /// - Parameters:
  ///   - state: the state that app and extension share.
  ///   - isForDevice: returns whether a pack is meant for this device. It must agree with the app's decision.
  ///   - verify: checks the signatures of a manifest.
  public init(state: SharedState, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }, verify: @escaping Check) {
    self.state = state
    self.isForDevice = isForDevice
    (check, checkLast) = (verify, verify)
  }

  /// Creates the work of an extension that follows keys documents.
  ///
  /// - Parameters:
  ///   - state: the state that app and extension share.
  ///   - isForDevice: returns whether a pack is meant for this device. It must agree with the app's decision.
  ///   - trust: the keys that the extension embeds: `TrustedKeys`. They must be those of the app.
  public init(
    state: SharedState, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }, trusting trust: some ManifestTrust
  ) {
    self.state = state
    self.isForDevice = isForDevice
    (check, checkLast) = (state.following(trust), state.check(by: trust))
  }

  /// The answer to a content request.
  public struct Answer: Sendable {
    /// The downloads to hand to the system, in this order. Empty if the plan could not be recorded: a download that is not recorded must not be
    /// handed over.
    public internal(set) var downloads: [PlannedDownload] = []
    /// The whole plan; nil if none could be made.
    public internal(set) var plan: DeliveryPlan?
    /// The version of the manifest that the plan was made with.
    public internal(set) var manifestVersion: UInt64?
    /// The error, if any. If the new manifest is at fault, ``plan`` is made with the last accepted manifest. If the shared state is at fault, there
    /// is no plan.
    public internal(set) var refusal: PackError?
    /// The names of packs whose records could not be read and were recreated.
    public internal(set) var rebuilt: [String] = []
  }

  /// Answers a content request: accepts the manifest that the system downloaded, makes a plan, and records the downloads that are handed over.
  ///
  /// Does not throw, because an extension cannot handle errors. A manifest that is damaged, untrusted or old changes nothing.
  ///
  /// - Parameters:
  ///   - event: the reason for the content request.
  ///   - path: the path of the manifest. The file is copied, because the system removes it when the callback returns.
  ///   - allowance: the bytes that may still be downloaded before the first start of the app, as reported by the system; nil after it.
  public func downloads(for event: DeliveryEvent, manifestAt path: String, allowance: Allowance?) -> Answer {
    var answer = Answer()
    let manifest: ManifestListing
    do throws(PackError) {
      manifest = try state.accept(manifestAt: path, check)
    } catch {
      answer.refusal = error
      do throws(PackError) {
        guard let last = try state.lastListing(checkLast) else { return answer }
        manifest = last
      } catch {
        // Neither the new manifest nor the stored one is usable: report the first error.
        return answer
      }
    }
    let facts = DeliveryFacts(event, at: state.time, allowance: allowance, isForDevice: isForDevice)
    do throws(PackError) {
      let planned = try state.plan(for: manifest, facts: facts)
      answer.manifestVersion = manifest.head.version
      answer.downloads = planned.plan.downloads
      answer.plan = planned.plan
      answer.rebuilt = planned.rebuilt
    } catch {
      answer.refusal = error
    }
    return answer
  }

  /// Moves a file that the system downloaded into the shared directory. Call it before the system's callback returns, because the system removes the
  /// file then.
  ///
  /// - Throws: the errors of ``SharedState/park(_:asDownload:)``. The file then stays where it is. The download is planned again when it is detected
  ///   as lost.
  public func finished(_ file: String, download identifier: String) throws(PackError) -> SharedState.Parking {
    try state.park(file, asDownload: identifier)
  }

  /// Records that a download failed and returns what to do. If this is ``FailureRemedy/handOverAsNonEssential``, do it at once.
  public func failed(_ subject: DownloadSubject, _ failure: DownloadFailure) throws(PackError) -> FailureRemedy {
    try state.downloadFailed(subject, failure)
  }

  /// Records another event of a download, for example that it started or was paused.
  @discardableResult
  public func note(_ event: PackEvent, ofDownload identifier: String) throws(PackError) -> PackStatus? {
    try state.note(event, ofDownload: identifier)
  }
}
