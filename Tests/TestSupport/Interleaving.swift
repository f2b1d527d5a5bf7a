/// Two processes of which one runs at a time, and that are switched before chosen file operations.
///
/// The same switches give the same order of file operations. A process also makes way while it waits for a lock, and when it has ended.
package final class Interleaving: Sendable {
  private struct State {
    var turn = 0
    /// The number of file operations of each process so far.
    var counts = [0, 0]
    var hasEnded = [false, false]
    var switches: [Int?]
    var switchCount = 0
  }

  private let state: Monitor<State>

  /// - Parameters:
  ///   - first: The number of the operation of process 0 before which process 1 continues, from 0.
  ///   - second: The number of the operation of process 1 before which process 0 continues. Nil if process 1 runs until it waits or ends.
  package init(first: Int, second: Int? = nil) {
    state = Monitor(State(switches: [first, second]))
  }

  /// The number of file operations of each process so far.
  package var counts: [Int] { state.withLock { $0.counts } }
  /// How often the processes were switched.
  package var switchCount: Int { state.withLock { $0.switchCount } }

  /// Waits until it is the turn of a process, and switches if that is planned. Called before each file operation.
  package func step(_ process: Int) {
    wait(process)
    state.update { state in
      if state.switches[process] == state.counts[process] { Self.make(way: process, &state) }
      state.counts[process] += 1
    }
    wait(process)
  }

  /// Lets the other process continue. Called while a process waits for a lock.
  package func pause(_ process: Int) {
    state.update { Self.make(way: process, &$0) }
    wait(process)
  }

  /// Lets the other process run to its end.
  package func end(_ process: Int) {
    state.update { state in
      state.hasEnded[process] = true
      Self.make(way: process, &state)
    }
  }

  private static func make(way process: Int, _ state: inout State) {
    guard state.turn == process, !state.hasEnded[1 - process] else { return }
    state.turn = 1 - process
    state.switchCount += 1
  }

  private func wait(_ process: Int) {
    _ = state.wait { $0.turn == process || $0.hasEnded[1 - process] ? true : nil }
  }
}

extension MemoryFiles {
  /// Removes a lock file that no process holds, as a person or the system may do. A process may have opened it already.
  package func removeFreeLock(_ path: String) {
    guard let file = try? open(path, .readUnlinked, in: nil), (try? tryLock(file)) == true else { return }
    try? remove(path, .file, in: nil)
    withExtendedLifetime(file) {}
  }
}
