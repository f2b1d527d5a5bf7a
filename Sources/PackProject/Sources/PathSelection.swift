/// The paths that match one of some patterns, and everything below a directory that does.
///
/// The patterns are those of `exclude` in packer.yml: one without a slash matches a name at any depth, `*` and `?` stay inside one component, and `**`
/// crosses them.
package struct PathSelection: Sendable {
  private let globs: [Glob]
  /// The patterns as they were written.
  private let patterns: [String]

  /// - Throws: ``PackError/Code/usage`` for a pattern that is refused.
  package init(_ patterns: [String]) throws(PackError) {
    try Glob.check(patterns)
    self.patterns = patterns
    globs = patterns.map(Glob.init)
  }

  /// Throws if a pattern matched nothing.
  ///
  /// - Parameter used: the numbers of the patterns that matched something.
  package func check(_ used: Set<Int>, of pack: Pack) throws(PackError) {
    guard let number = patterns.indices.first(where: { !used.contains($0) }) else { return }
    throw PackError(.noSuchEntry, "nothing in the pack matches '\(printable(patterns[number].utf8))'", advice: .chooseEntry)
      .about(pack.source)
  }

  /// Returns the numbers of the patterns that match a path, or a directory that it is in.
  package func matches(_ path: String, isDirectory: Bool) -> [Int] {
    let components = Glob.components(of: path)
    return globs.indices.filter { number in
      (1...components.count).contains { count in
        globs[number].matches(components.prefix(count), isDirectory: isDirectory || count < components.count)
      }
    }
  }
}
