#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation

  /// Exclusive control over the system's download manager, asked for and never waited for without an end.
  ///
  /// It is known not to come free sometimes, and not to be answered at all. What is done under it here, asking what the system has and handing over
  /// what is missing, is right without it too: identifiers are the same in app and extension, and the system refuses a second download of the same
  /// name. The records that app and extension share have a lock of their own (``PackDelivery/SharedState``), held for milliseconds; files are moved
  /// without any.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct ExclusiveControl: Sendable {
    /// How long it is waited for, in seconds.
    public var patienceSeconds: Double

    /// Makes a value from its parts.
    public init(patienceSeconds: Double = 2) {
      self.patienceSeconds = max(0, patienceSeconds)
    }

    /// Runs `body` once: with exclusive control where the system grants it in time, and without it otherwise.
    ///
    /// The extension's running time counts until `body` returns, so the extension has no use for this.
    ///
    /// - Parameter body: gets whether it has exclusive control. It runs on a thread of the system's, or of nobody in particular; it may block it for a short time.
    public func run<Result: Sendable>(_ body: @escaping @Sendable (_ isExclusive: Bool) -> Result) async -> Result {
      let once = Once()
      return await withCheckedContinuation { (continuation: CheckedContinuation<Result, Never>) in
        let end = { @Sendable (isExclusive: Bool) in
          if once.take() { continuation.resume(returning: body(isExclusive)) }
        }
        BADownloadManager.shared.withExclusiveControl(beforeDate: Date(timeIntervalSinceNow: patienceSeconds)) { isAcquired, error in
          end(isAcquired && error == nil)
        }
        // The date is the system's promise; this is for where it does not keep it.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patienceSeconds + 0.5) { end(false) }
      }
    }
  }
#endif
