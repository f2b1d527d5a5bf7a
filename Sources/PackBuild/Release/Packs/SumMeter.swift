/// Adds up the progress of operations, each of which counts from zero. They may run at the same time.
final class SumMeter: Sendable {
  private let phase: PackProgress.Phase
  private let total: UInt64
  private let handler: ProgressHandler?
  private let sum = Monitor<UInt64>(0)

  /// - Parameter total: all bytes of content, or 0 if unknown.
  init(_ phase: PackProgress.Phase, total: UInt64 = 0, handler: ProgressHandler?) {
    self.phase = phase
    self.total = total
    self.handler = handler
  }

  /// Runs an operation with a handler for its progress. When it ends, its whole total counts as done.
  func measure<Result>(_ operation: (ProgressHandler?) async throws(PackError) -> Result) async throws(PackError) -> Result {
    guard let handler else { return try await operation(nil) }
    let own = Monitor(PackProgress(phase: phase, done: 0, total: 0))
    let result = try await operation { [phase, sum, total] progress in
      guard progress.phase == phase else { return }
      own.withLock { own in
        sum.withLock { sum in
          sum += progress.done - min(own.done, progress.done)
          own = progress
          handler(PackProgress(phase: phase, done: sum, total: total))
        }
      }
    }
    own.withLock { own in
      // Copies of files take no time.
      sum.withLock { $0 += own.total - min(own.done, own.total) }
    }
    return result
  }
}
