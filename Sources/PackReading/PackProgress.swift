import PackWork

/// How far a long operation has come.
public struct PackProgress: Hashable, Sendable {
  /// What is being done.
  public enum Phase: String, Hashable, Sendable {
    /// Looking at the source tree.
    case scanning
    /// Looking for identical files.
    case hashing
    /// Reading and compressing files.
    case packing
    /// Encrypting.
    case sealing
    /// Decrypting and checking.
    case verifying
    /// Decrypting, checking and writing files.
    case unpacking
    /// Bringing written files to the disk.
    case syncing
  }

  /// What is being done.
  public var phase: Phase
  /// The bytes of content done so far.
  public var done: UInt64
  /// All bytes of content; 0 where that is not known yet.
  public var total: UInt64

  package init(phase: Phase, done: UInt64, total: UInt64) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// Hears how far an operation has come. It is called from any thread, one call at a time, up to once per frame, and must return quickly.
public typealias ProgressHandler = @Sendable (PackProgress) -> Void

/// Adds up the progress of many threads.
package final class ProgressCounter: Sendable {
  private let progress: Monitor<PackProgress>
  private let handler: ProgressHandler?

  package init(_ phase: PackProgress.Phase, total: UInt64, handler: ProgressHandler?) {
    progress = Monitor(PackProgress(phase: phase, done: 0, total: total))
    self.handler = handler
    handler?(PackProgress(phase: phase, done: 0, total: total))
  }

  package func add(_ bytes: UInt64) {
    guard let handler else { return }
    progress.withLock { progress in
      progress.done += bytes
      handler(progress)
    }
  }
}
