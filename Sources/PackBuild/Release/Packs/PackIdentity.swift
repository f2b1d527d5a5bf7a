/// What the bytes of a pack follow from, and how devices keep it. With the same version of packer, equal identities have equal packs.
struct PackIdentity: Hashable, Sendable {
  /// The name it is published under.
  var id: String
  /// The digest that names the tree, 32 bytes.
  var contentRoot: [UInt8]
  /// The id of the key that opens it, 16 hexadecimal digits.
  var keyID: String
  /// The settings that its bytes depend on besides content, name and key, as one line of text.
  var settings: String
  /// How devices keep it.
  var install: InstallMode
}
