/// A file that stays open, unless a ``FileBudget`` closes it for others; then the next use opens it again.
package final class HeldFile: Sendable {
  private struct State {
    var file: OpenFile?
    var isUsed = true
    var budget: FileBudget?
    /// What has to be the same when it is opened again.
    var identity: FileStatus?
    var onRest: @Sendable () -> Void = {}
  }

  private let path: String
  private let files: any FileSystem
  private let reopen: @Sendable () throws(FileFailure) -> OpenFile
  private let state: Monitor<State>

  /// - Parameters:
  ///   - path: its path, for messages.
  ///   - reopen: opens it again.
  package init(_ file: OpenFile, path: String, files: any FileSystem, reopen: @escaping @Sendable () throws(FileFailure) -> OpenFile) {
    self.path = path
    self.files = files
    self.reopen = reopen
    state = Monitor(State(file: file))
  }

  /// Lets a budget close it from now on.
  ///
  /// - Parameter onRest: called when it was closed.
  package func join(_ budget: FileBudget, onRest: @escaping @Sendable () -> Void = {}) throws(PackError) {
    let file = try open()
    let identity = try reading(path, files.status(of: file))
    state.withLock { state in
      (state.budget, state.identity, state.onRest) = (budget, identity, onRest)
    }
    budget.opened(self)
  }

  /// Returns the open file, which stays open while the result is retained.
  ///
  /// - Throws: ``PackError/Code/sourceChanged`` if another file has its name now, or the error of opening it again.
  package func open() throws(PackError) -> OpenFile {
    let (known, budget, identity) = state.withLock { state in
      state.isUsed = true
      return (state.file, state.budget, state.identity)
    }
    if let known { return known }
    let file = try reading(path, reopen())
    let now = try reading(path, files.status(of: file))
    guard now.inode == identity?.inode, now.device == identity?.device, now.size == identity?.size else {
      throw PackError(.sourceChanged, of: path, "is another file now", advice: .tryAgain)
    }
    state.withLock { $0.file = file }
    budget?.opened(self)
    return file
  }

  /// Closes it, when those who use it now have ended.
  fileprivate func rest() {
    let onRest = state.withLock { state in
      state.file = nil
      return state.onRest
    }
    onRest()
  }

  /// Returns whether it was used since the last call.
  fileprivate func wasUsed() -> Bool {
    state.withLock { state in
      defer { state.isUsed = false }
      return state.isUsed
    }
  }
}

/// Bounds the number of files that are open. The one that was not used for longest is closed, approximately.
package final class FileBudget: Sendable {
  private struct Entry {
    weak var file: HeldFile?
  }

  private let limit: Int
  private let entries = Monitor<[Entry]>([])

  /// - Parameter limit: the number of files, at least 1.
  package init(limit: Int) {
    self.limit = max(1, limit)
  }

  fileprivate func opened(_ file: HeldFile) {
    let resting = entries.withLock { entries -> [HeldFile] in
      entries.removeAll { $0.file == nil || $0.file === file }
      entries.append(Entry(file: file))
      var resting: [HeldFile] = []
      // Each pass forgets what was used before it, so that the second finds one.
      var turns = 2 * entries.count
      while entries.count > limit, turns > 0 {
        turns -= 1
        let first = entries.removeFirst()
        guard let candidate = first.file, candidate !== file else {
          if first.file != nil { entries.append(first) }
          continue
        }
        if candidate.wasUsed() { entries.append(first) } else { resting.append(candidate) }
      }
      return resting
    }
    for file in resting { file.rest() }
  }
}
