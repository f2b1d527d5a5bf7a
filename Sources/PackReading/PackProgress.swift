/// The progress of a long operation.
public struct PackProgress: Hashable, Sendable {
  /// The current step.
  public enum Phase: String, Hashable, Sendable {
    /// Scanning the source tree.
    case scanning
    /// Searching for identical files.
    case hashing
    /// Reading and compressing files.
    case packing
    /// Encrypting.
    case sealing
    /// Decrypting and checking.
    case verifying
    /// Decrypting, checking and writing files.
    case unpacking
    /// Flushing written files to disk.
    case syncing
  }

  /// The current step.
  public var phase: Phase
  /// The number of bytes of content done so far.
  public var done: UInt64
  /// The total number of bytes of content; 0 if not known yet.
  public var total: UInt64

  package init(phase: Phase, done: UInt64, total: UInt64) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// A function that receives the progress of an operation. It is called from any thread, one call at a time, up to once per frame. It must return
/// quickly.
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
