#if canImport(BackgroundAssets)
  import Foundation

  /// Something that one of several may do, whoever is first.
  package final class Once: @unchecked Sendable {
    private let lock = NSLock()
    private var isTaken = false

    package init() {}

    /// - Returns: true for the first who asks.
    package func take() -> Bool {
      lock.lock()
      defer { lock.unlock() }
      defer { isTaken = true }
      return !isTaken
    }
  }
#endif
