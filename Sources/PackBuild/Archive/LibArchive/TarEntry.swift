/// An entry of the tar, as an ordinary tar program sees it.
package struct TarEntry: Hashable, Sendable {
  /// The path as stored, with the final `/` of a directory; nil if it is not UTF-8.
  package let path: String?
  /// The path to which the entry is a hard link; nil if it is not a link.
  package let linkTarget: String?
  package let isFile: Bool
  package let isDirectory: Bool
  /// The permission bits.
  package let permissions: UInt32
  /// The length of the content in bytes.
  package let size: UInt64
  /// Where the entry's first header starts in the tar.
  package let start: UInt64
  /// Where its content starts in the tar.
  package let dataOffset: UInt64
}
