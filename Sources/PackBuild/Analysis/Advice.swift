/// One proposal that makes a pack smaller, or what players wait for.
package struct Advice: Hashable, Sendable {
  /// What it is about.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Another compression level.
    case level
    /// Files that no player needs.
    case unneeded
    /// Files that several packs have.
    case shared
    /// Files that a recorded run did not load.
    case unused
    /// The files that a recorded run loaded first.
    case start
    /// The order of the files.
    case layout
    /// Media in a format that is larger than browsers need.
    case media

    /// Whether players download less. Otherwise they download a part later, or what it would save was not tried.
    package var isSaving: Bool {
      switch self {
      case .level, .unneeded, .shared: true
      case .unused, .start, .layout, .media: false
      }
    }
  }

  package let kind: Kind
  /// The packs that it is about.
  package let packs: [String]
  /// The fact, for a person.
  package let text: String
  /// What to do about it.
  package let remedy: String
  /// The bytes of packs as served that players download less or later if it is followed, that a launch reads less, or that the files take. Measured by packing
  /// that way.
  package let bytes: UInt64
  /// The bytes of the packs now.
  package let size: UInt64
  /// The paths of the files that it is about, in byte order; those of the first pack if there are several. Empty if it is about all.
  package var files: [String] = []
}

extension Advice {
  /// Sizes are in bytes.
  package var json: JSON {
    [
      "type": "advice", "kind": .text(kind.rawValue), "packs": .texts(packs), "text": .text(text), "remedy": .text(remedy),
      "saving": kind.isSaving ? .number(bytes) : nil, "bytes": kind.isSaving ? nil : .number(bytes), "size": .number(size),
      "files": .texts(files),
    ]
  }
}
