/// One difference between a pack and a directory.
package struct TreeDifference: Hashable, Sendable {
  /// The kind of difference.
  package enum Kind: String, Hashable, Sendable {
    /// The pack has an entry that the directory does not have.
    case missing
    /// The directory has an entry that the pack does not have.
    case extra
    /// Both have the entry, but it differs.
    case differs
  }

  /// The kind of difference.
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

extension TreeDifference {
  /// - Parameter file: the pack that differs from the directory.
  package func json(of file: String) -> JSON {
    ["type": "finding", "file": .text(file), "kind": .text(kind.rawValue), "path": .text(path), "message": .text(message)]
  }
}
