/// Files of a tree that a proposal would exclude, for a warning when they are packed.
package struct UnneededFiles: Hashable, Sendable {
  /// The pattern that excludes them.
  package let pattern: String
  /// What they are, for a person.
  package let reason: String
  /// Their number.
  package internal(set) var files: Int
  /// The sum of their sizes in bytes.
  package internal(set) var contentSize: UInt64

  /// Finds them, by pattern, the largest first.
  package static func find(in entries: [SourceEntry]) -> [UnneededFiles] {
    var search = ProposalRule.Search()
    var found: [String: UnneededFiles] = [:]
    for entry in entries where entry.kind != .directory {
      guard let rule = search.first(for: entry.path) else { continue }
      found[rule.pattern, default: UnneededFiles(pattern: rule.pattern, reason: rule.reason, files: 0, contentSize: 0)].files += 1
      found[rule.pattern]?.contentSize += entry.size
    }
    return found.values.sorted { ($1.contentSize, $0.pattern) < ($0.contentSize, $1.pattern) }
  }

  /// A search for files that were hardly meant to ship, whatever the game is. Paths of the same directory should follow each other.
  package struct Search {
    private var search = ProposalRule.Search()

    /// Makes a search.
    package init() {}

    /// Returns what a file is, or nil.
    package mutating func reason(for path: String) -> String? {
      guard let rule = search.first(for: path), ProposalRule.unintended.contains(rule.reason) else { return nil }
      return rule.reason
    }
  }
}
