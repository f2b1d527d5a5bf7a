package import PackFormat

/// What the bytes of a pack follow from. With the same version of packer, equal identities have equal packs.
package struct PackIdentity: Hashable, Sendable {
  /// The name it is published under.
  package var id: String
  /// The digest that names the tree, 32 bytes.
  package var contentRoot: [UInt8]
  /// The id of the key that opens it, 16 hexadecimal digits.
  package var keyID: String
  /// The settings that its bytes depend on besides content, name and key, as one line of text.
  package var settings: String
  /// The version it gets.
  package var version: UInt64
  /// SHA-256 of the released file with this identity. A pack with other bytes gets the next version. Nil if there is none.
  package var released: [UInt8]?
}

/// A pack that was made elsewhere, and that a build takes instead of making it.
package struct ReadyPack: Sendable {
  /// Where it comes from, for messages: the subject of a sentence.
  package var title: String
  /// The directory of its file, and its name there.
  package var directory: String
  package var file: String
  /// The size of the file in bytes, and its SHA-256. Nil if it is not known which file it must be.
  package var made: (size: UInt64, sha256: [UInt8])?
}

/// A place with packs that were made elsewhere. A build checks every file that it takes from there, content included.
package protocol ReadyPacks: Sendable {
  /// Checks that the packs are for a build.
  func check(_ build: ReleaseBuild) throws(PackError)

  /// Returns the packs with these identities, in this order; nil for each that the build has to make.
  ///
  /// - Throws: if a pack must be there and is not.
  func packs(_ wanted: [PackIdentity]) throws(PackError) -> [ReadyPack?]
}
