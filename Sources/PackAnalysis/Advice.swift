/// One proposal that makes a pack smaller, or what players wait for.
package struct Advice: Hashable, Sendable {
  /// What it is about.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Another compression level.
    case level
    /// The frame size of the level, and not that of packer.yml.
    case frames
    /// Files that no player needs.
    case unneeded
    /// Files that several packs have.
    case shared
    /// Files that a recorded run did not load.
    case unused
    /// The files that a recorded run loaded first.
    case start
    /// Media in a format that is larger than browsers need.
    case media
  }

  package let kind: Kind
  /// The packs that it is about.
  package let packs: [String]
  /// The fact, for a person.
  package let text: String
  /// What to do about it.
  package let remedy: String
  /// What following it saves, in bytes of packs as served: measured by packing that way. 0 for ``Kind/media``, which was not tried.
  package let saving: UInt64
  /// The bytes of the packs now.
  package let size: UInt64
}
