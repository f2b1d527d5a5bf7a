/// One difference between a pack and a directory.
package struct TreeDifference: Hashable, Sendable {
  /// In which way they differ.
  package enum Kind: String, Hashable, Sendable {
    /// The pack has an entry that the directory lacks.
    case missing
    /// The directory has an entry that the pack lacks.
    case extra
    /// Both have it, but not the same.
    case differs
  }

  /// In which way they differ.
  package let kind: Kind
  /// The path of the entry.
  package let path: String
  /// The difference, for a person.
  package let message: String

  package init(kind: Kind, path: String, message: String) {
    self.kind = kind
    self.path = path
    self.message = message
  }
}
