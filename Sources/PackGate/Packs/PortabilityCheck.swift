/// Finds paths that some platforms cannot store or treat as equal (FORMAT.md §5.2). Readers accept such paths. Tools refuse them when a pack is made
/// and when it is checked, unless they are explicitly allowed.
enum PortabilityCheck {
  static func run(_ pack: Pack) throws(PackError) {
    var check = PathCheck()
    try pack.forEachRecord { (block, row) throws(PackError) in block.withPath(of: row) { check.add($0) } }
    try check.finish(pack.source.path)
  }

  /// Checks the target of a delta.
  ///
  /// - Parameter path: The path of the delta.
  static func run(_ target: borrowing DeltaTarget, _ path: String) throws(PackError) {
    var check = PathCheck()
    for record in 0..<target.count { target.withPath(of: record) { check.add($0) } }
    try check.finish(path)
  }

  /// Checks paths in their byte order.
  private struct PathCheck {
    /// The root comes first. Elements beyond the depth of the current entry are kept to reuse their memory.
    private var open: [OpenDirectory] = [OpenDirectory()]
    private var depth = 0
    private var problems: [String] = []

    mutating func add(_ path: Span<UInt8>) {
      if let problem = EntryPath.portabilityProblem(of: path) { problems.append("'\(printable([UInt8](copying: path)))' \(problem)") }
      // Byte order keeps the entries of a directory together, so only the directories above the current entry are open.
      var level = 0
      var start = 0
      var isSame = true
      while start <= path.count {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        let name = path.extracting(start..<end)
        start = end + 1
        if start > path.count || level >= depth { isSame = false }
        if isSame { isSame = open[level + 1].isNamed(name) }
        if !isSame {
          if let twin = open[level].twin(of: name) {
            problems.append(
              "'\(printable([UInt8](copying: path)))': '\(printable([UInt8](copying: name)))' and '\(twin)' differ only in case")
          }
          if start <= path.count {
            if open.count == level + 1 { open.append(OpenDirectory()) }
            open[level + 1].begin(name)
          }
        }
        level += 1
      }
      depth = level - 1
    }

    func finish(_ path: String) throws(PackError) {
      guard !problems.isEmpty else { return }
      let hint = "pack again with other names, or accept them with --allow-unportable-paths"
      guard problems.count > 1 else { throw PackError(.unportablePath, problems[0], hint: hint).about(path) }
      throw PackError(
        .unportablePath, "\(problems.count) paths cannot be stored on every platform", details: problems, hint: hint
      ).about(path)
    }
  }

  /// A directory above the current entry, with the case-folded names in it so far.
  private struct OpenDirectory {
    private(set) var name: [UInt8] = []
    private var folded: Set<String> = []
    /// The names that differ from their folded forms, by these.
    private var spellings: [String: [UInt8]] = [:]

    func isNamed(_ name: Span<UInt8>) -> Bool { equal(self.name.byteSpan, name) }

    mutating func begin(_ name: Span<UInt8>) {
      self.name.removeAll(keepingCapacity: true)
      self.name.append(copying: name)
      folded.removeAll(keepingCapacity: true)
      spellings.removeAll(keepingCapacity: true)
    }

    /// Returns an earlier name in the directory that differs only in case. If there is none, remembers this one.
    mutating func twin(of name: Span<UInt8>) -> String? {
      let key = EntryPath.caseFolded(name)
      guard folded.insert(key).inserted else { return printable(spellings[key] ?? Array(key.utf8)) }
      if !equal(Array(key.utf8).byteSpan, name) { spellings[key] = [UInt8](copying: name) }
      return nil
    }
  }
}

extension PackError.Code {
  /// A pack has paths that some platforms cannot store, and they are not explicitly allowed.
  package static let unportablePath = Self(rawValue: "unportable-path")
}
