/// Work during which the system does not suspend the process. It ends when this is released.
package final class ProcessActivity: Sendable {
  private let end: @Sendable () -> Void

  package init(end: @escaping @Sendable () -> Void = {}) {
    self.end = end
  }

  deinit { end() }
}

/// A lock that is held for milliseconds, in an activity that ends after it: iOS ends an app that is suspended while it holds a lock in the container of an
/// app group (0xdead10cc).
package final class BriefLock {
  private var file: OpenFile?
  private let activity: ProcessActivity

  init(_ file: OpenFile, _ activity: ProcessActivity) {
    self.file = file
    self.activity = activity
  }

  /// Releases the lock before the activity ends.
  func unlock() { file = nil }

  deinit { unlock() }
}
