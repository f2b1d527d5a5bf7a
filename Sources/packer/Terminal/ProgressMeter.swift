/// Shows the progress of a long operation: a bar on a terminal, otherwise a line every few seconds.
final class ProgressMeter: Sendable {
  private struct State {
    var phase: PackProgress.Phase?
    var past: Set<PackProgress.Phase> = []
    var done: UInt64 = 0
    /// The largest number of bytes that a phase has processed.
    var most: UInt64 = 0
    /// When the phase began.
    var start: ContinuousClock.Instant
    var next: ContinuousClock.Instant
    /// Whether anything was shown.
    var wasShown = false
    var hasEnded = false
  }

  private let console: Console
  private let start = ContinuousClock.now
  private let state: Monitor<State>

  private static let barInterval = Duration.milliseconds(100)
  private static let lineInterval = Duration.seconds(5)

  /// Creates a meter, or returns nil with `--json` or `--quiet`.
  init?(console: Console) {
    guard !console.isJSON, !console.isQuiet else { return nil }
    self.console = console
    let first = console.hasMovableCursor ? Self.barInterval : Self.lineInterval
    state = Monitor(State(start: start, next: start + first))
  }

  /// The handler for the library to call, from any thread.
  var handler: ProgressHandler {
    { [self] progress in update(progress) }
  }

  /// Removes the progress display. Later updates are ignored.
  ///
  /// - Parameter isComplete: whether the work is done. Then the time and the speed are shown, if any progress was.
  func end(isComplete: Bool) {
    let (most, wasShown) = state.withLock { state in
      state.hasEnded = true
      return (state.most, state.wasShown)
    }
    console.clearBar()
    let elapsed = ContinuousClock.now - start
    guard isComplete, wasShown, elapsed >= Self.shortest, most > 0 else { return }
    console.note("\(ByteCount(most)) in \(Self.seconds(elapsed)), \(Self.speed(most, elapsed))")
  }

  private func update(_ progress: PackProgress) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      if state.phase != progress.phase {
        // Threads finish in any order: an update of an earlier phase would make the bar jump back.
        guard state.past.insert(progress.phase).inserted else { return }
        state.phase = progress.phase
        state.done = 0
        state.start = .now
      }
      guard progress.done >= state.done else { return }
      state.done = progress.done
      state.most = max(state.most, progress.done)
      let now = ContinuousClock.now
      guard now >= state.next else { return }
      state.wasShown = true
      if console.hasMovableCursor {
        state.next = now + Self.barInterval
        let speed = Self.speed(progress.done, now - state.start)
        console.drawBar { Self.bar(progress, speed, width: $0) }
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

  /// The time below which no speed is shown after the work.
  private static let shortest = Duration.seconds(1)

  private static func seconds(_ time: Duration) -> String {
    let tenths = time.components.seconds * 10 + time.components.attoseconds / 100_000_000_000_000_000
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 600) min \(tenths / 10 % 60) s"
  }

  private static func speed(_ bytes: UInt64, _ time: Duration) -> String {
    "\(ByteCount(UInt64(Double(bytes) / max(time / .seconds(1), 0.001))))/s"
  }

  private static func bar(_ progress: PackProgress, _ speed: String, width: Int) -> String {
    let name = progress.phase.rawValue
    guard progress.total > 0 else { return String("\(name)  \(ByteCount(progress.done))".prefix(width)) }
    let done = min(progress.done, progress.total)
    let number = String(percent(progress))
    let front = Table.left(name, 10) + Table.right(number, 4) + " %"
    let back = "\(ByteCount(done)) of \(ByteCount(progress.total)), \(speed)"
    let cells = min(40, width - front.count - back.count - 6)
    guard cells >= 4 else { return String("\(front)  \(back)".prefix(width)) }
    let filled = Int(Double(done) / Double(progress.total) * Double(cells))
    return "\(front)  [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: cells - filled))]  \(back)"
  }

  private static func percent(_ progress: PackProgress) -> Int {
    // A multiplication by 100 in integers could overflow: the total is not checked against the limits of packs here.
    Int(Double(min(progress.done, progress.total)) / Double(progress.total) * 100)
  }
}
