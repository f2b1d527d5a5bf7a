package import PackFormat

/// What the tar says of one entry (FORMAT.md §4.2).
package struct TarHeader: Hashable, Sendable {
  package var path: String
  package var kind: IndexRecord.Kind
  /// The length of the content that follows, in bytes: 0 for a link.
  package var size: UInt64
  /// The path of the earlier entry that holds the same content.
  package var linkTarget: String?

  package init(path: String, kind: IndexRecord.Kind, size: UInt64, linkTarget: String?) {
    self.path = path
    self.kind = kind
    self.size = size
    self.linkTarget = linkTarget
  }

  /// Whether the header is surely one block of 512 bytes. Others may have a pax header, and must be made to be measured.
  package var isOneBlock: Bool {
    func fits(_ text: String, _ slash: Int) -> Bool {
      text.withBytes { bytes in
        bytes.count + slash <= 100 && isASCII(bytes)
      }
    }
    return fits(path, kind == .directory ? 1 : 0) && fits(linkTarget ?? "", 0) && size < 8 << 30
  }
}
