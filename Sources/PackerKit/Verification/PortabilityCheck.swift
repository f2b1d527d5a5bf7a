public import PackFormat
import PackPayload
import PackRuntime

/// Looks for paths that some platform cannot hold, or takes for one another (FORMAT.md §5.2). Readers tolerate them; tools refuse them unless told
/// otherwise, when a pack is made and when it is checked.
enum PortabilityCheck {
  static func run(_ pack: Pack) throws(PackError) {
    var open: [OpenDirectory] = [OpenDirectory(name: "")]
    var problems: [String] = []
    try pack.forEachEntry { (entry) throws(PackError) in
      if let problem = EntryPath.portabilityProblem(of: entry.path) {
        problems.append("'\(printable(entry.path.utf8))' \(problem)")
      }
      let names = entry.path.unicodeScalars.split(separator: "/").map { String($0) }
      // Byte order keeps all that lies in a directory together, so only the directories above the current entry are open.
      var depth = 0
      while depth + 1 < open.count, depth + 1 < names.count, open[depth + 1].name.utf8.elementsEqual(names[depth].utf8) {
        depth += 1
      }
      open.removeSubrange((depth + 1)...)
      for level in depth..<names.count {
        if !open[level].folded.insert(EntryPath.caseFolded(names[level])).inserted {
          problems.append("'\(printable(entry.path.utf8))' and another path are one where case does not count")
        }
        if level + 1 < names.count { open.append(OpenDirectory(name: names[level])) }
      }
    }
    guard !problems.isEmpty else { return }
    let hint = "pack again with other names, or accept them with --allow-unportable-paths"
    if problems.count == 1 {
      throw PackError(.unportablePath, problems[0], hint: hint).about(pack.source.path)
    }
    throw PackError(
      .unportablePath, "\(problems.count) paths would not survive on every platform", details: problems, hint: hint
    ).about(pack.source.path)
  }

  /// A directory on the way to the current entry, and what lies in it so far.
  private struct OpenDirectory {
    var name: String
    var folded: Set<String> = []
  }
}

extension PackError.Code {
  /// A pack holds paths that some platform cannot hold, and nobody said that they are wanted.
  public static let unportablePath = Self(rawValue: "unportable-path")
}
