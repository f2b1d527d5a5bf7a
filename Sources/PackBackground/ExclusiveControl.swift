#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation

  /// Exclusive control over the system's download manager, requested with a time limit.
  ///
  /// The system sometimes does not release exclusive control, and sometimes does not respond to a request for it. The work done under it here is also
  /// correct without it: listing the system's downloads and handing over those that are missing. App and extension use the same identifiers, and the
  /// system refuses a second download with the same identifier. The shared records have their own lock (``PackDelivery/SharedState``), which is held
  /// for milliseconds. Files are moved without a lock.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct ExclusiveControl: Sendable {
    /// The time limit in seconds.
    public var patienceSeconds: Double

    /// Creates a value.
    public init(patienceSeconds: Double = 2) {
      self.patienceSeconds = max(0, patienceSeconds)
    }

    /// Runs `body` once: with exclusive control if the system grants it in time, otherwise without.
    ///
    /// Do not use this in the extension: its running time counts until `body` returns.
    ///
    /// - Parameter body: receives whether it has exclusive control. It runs on a thread of the system or of a global queue, and may block it for a
    ///   short time.
    public func run<Result: Sendable>(_ body: @escaping @Sendable (_ isExclusive: Bool) -> Result) async -> Result {
      let once = Once()
      return await withCheckedContinuation { (continuation: CheckedContinuation<Result, Never>) in
        let end = { @Sendable (isExclusive: Bool) in
          if once.take() { continuation.resume(returning: body(isExclusive)) }
        }
        Task {
          do {
            try await BADownloadManager.shared.withExclusiveControl(before: Date(timeIntervalSinceNow: patienceSeconds)) { @Sendable in
              end(true)
            }
          } catch {
            end(false)
          }
        }
        // The system should keep to the deadline; this applies if it does not.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patienceSeconds + 0.5) { end(false) }
      }
    }
  }
#endif
