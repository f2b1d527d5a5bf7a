import PackReading
import PackWork

/// Shows the progress of a long operation: a bar on a terminal, otherwise a line every few seconds.
final class ProgressMeter: Sendable {
  private struct State {
    var phase: PackProgress.Phase?
    var past: Set<PackProgress.Phase> = []
    var done: UInt64 = 0
    var next: ContinuousClock.Instant
    var hasEnded = false
  }

  private let console: Console
  private let state: Monitor<State>

  private static let barInterval = Duration.milliseconds(100)
  private static let lineInterval = Duration.seconds(5)

  /// Creates a meter, or returns nil with `--json` or `--quiet`.
  init?(console: Console) {
    guard !console.isJSON, !console.isQuiet else { return nil }
    self.console = console
    let first = console.hasMovableCursor ? Self.barInterval : Self.lineInterval
    state = Monitor(State(next: .now + first))
  }

  /// The handler for the library to call, from any thread.
  var handler: ProgressHandler {
    { [self] progress in update(progress) }
  }

  /// Removes the progress display. Later updates are ignored.
  func end() {
    state.withLock { $0.hasEnded = true }
    console.clearBar()
  }

  private func update(_ progress: PackProgress) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      if state.phase != progress.phase {
        // Threads finish in any order: an update of an earlier phase would make the bar jump back.
        guard state.past.insert(progress.phase).inserted else { return }
        state.phase = progress.phase
        state.done = 0
      }
      guard progress.done >= state.done else { return }
      state.done = progress.done
      let now = ContinuousClock.now
      guard now >= state.next else { return }
      if console.hasMovableCursor {
        state.next = now + Self.barInterval
        console.drawBar { Self.bar(progress, width: $0) }
      } else {
        state.next = now + Self.lineInterval
        console.note(Self.line(progress))
      }
    }
  }

  private static func line(_ progress: PackProgress) -> String {
    guard progress.total > 0 else { return "\(progress.phase.rawValue), \(ByteCount(progress.done))" }
    let done = min(progress.done, progress.total)
    return "\(progress.phase.rawValue), \(percent(progress)) %, \(ByteCount(done)) of \(ByteCount(progress.total))"
  }

  private static func bar(_ progress: PackProgress, width: Int) -> String {
    let name = progress.phase.rawValue
    guard progress.total > 0 else { return String("\(name)  \(ByteCount(progress.done))".prefix(width)) }
    let done = min(progress.done, progress.total)
    let number = String(percent(progress))
    let front = padded(name, to: 10) + String(repeating: " ", count: 4 - number.count) + number + " %"
    let back = "\(ByteCount(done)) of \(ByteCount(progress.total))"
    let cells = min(40, width - front.count - back.count - 6)
    guard cells >= 4 else { return String("\(front)  \(back)".prefix(width)) }
    let filled = Int(Double(done) / Double(progress.total) * Double(cells))
    return "\(front)  [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: cells - filled))]  \(back)"
  }

  private static func percent(_ progress: PackProgress) -> Int {
    // A multiplication by 100 in integers could overflow: the total is not checked against the limits of packs here.
    Int(Double(min(progress.done, progress.total)) / Double(progress.total) * 100)
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
