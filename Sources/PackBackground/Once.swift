#if canImport(BackgroundAssets)
  import Foundation

  /// A permission that only the first caller gets.
  package final class Once: @unchecked Sendable {
    private let lock = NSLock()
    private var isTaken = false

    package init() {}

    /// - Returns: true for the first caller.
    package func take() -> Bool {
      lock.lock()
      defer { lock.unlock() }
      defer { isTaken = true }
      return !isTaken
    }
  }
#endif
