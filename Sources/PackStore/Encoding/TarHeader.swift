/// The header of one entry of the tar (FORMAT.md §4.2).
package struct TarHeader: Hashable, Sendable {
  package var path: String
  package var kind: IndexRecord.Kind
  /// The length of the content that follows, in bytes: 0 for a link.
  package var size: UInt64
  /// The path of the earlier entry with the same content; nil if the entry is not a link.
  package var linkTarget: String?

  package init(path: String, kind: IndexRecord.Kind, size: UInt64, linkTarget: String?) {
    self.path = path
    self.kind = kind
    self.size = size
    self.linkTarget = linkTarget
  }

  /// The length of the header in bytes: one block, or a pax header and one block.
  package var byteCount: Int { isOneBlock ? Self.blockSize : bytes.count }

  /// Whether the header is known to be one block. Of another header the bytes must be made to know their number.
  private var isOneBlock: Bool {
    func fits(_ text: String, _ slash: Int) -> Bool {
      text.withBytes { bytes in
        bytes.count + slash <= Self.nameSize && isASCII(bytes)
      }
    }
    return fits(path, kind == .directory ? 1 : 0) && fits(linkTarget ?? "", 0) && size < Self.octalSizeEnd
  }

  /// The length of the name and of the link's target in a block, in bytes.
  static let nameSize = 100
  /// The first size that needs a pax record.
  static let octalSizeEnd: UInt64 = 1 << 33
  /// The number of bytes of a block.
  static let blockSize = 512
  /// The number of zero bytes at the end of every tar.
  package static let endSize = 1024
}

/// Whether all bytes are below 0x80.
package func isASCII(_ bytes: Span<UInt8>) -> Bool {
  var bits: UInt8 = 0
  for index in bytes.indices { bits |= bytes[index] }
  return bits < 0x80
}
