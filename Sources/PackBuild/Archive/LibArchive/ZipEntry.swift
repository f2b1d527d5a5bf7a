/// An entry of a zip archive, as its directory describes it.
package struct ZipEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file, directory, symbolicLink, other
  }

  /// The path as stored; nil if it is not UTF-8.
  package let path: String?
  package let kind: Kind
  /// The path to which a symbolic link leads, as stored; nil for anything else, or if it is not UTF-8.
  package let linkTarget: String?
  /// The length of the content in bytes, as the archive claims.
  package let size: UInt64
  package let isEncrypted: Bool
}
