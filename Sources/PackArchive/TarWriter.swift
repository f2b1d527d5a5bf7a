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

  /// Whether the header is surely one block of 512 bytes. Others may carry a pax header, and have to be made to be measured.
  package var isOneBlock: Bool {
    func fits(_ text: String, _ slash: Int) -> Bool {
      text.withBytes { bytes in
        guard bytes.count + slash <= 100 else { return false }
        var bits: UInt8 = 0
        for index in bytes.indices { bits |= bytes[index] }
        return bits < 0x80
      }
    }
    return fits(path, kind == .directory ? 1 : 0) && fits(linkTarget ?? "", 0) && size < 8 << 30
  }
}

/// Makes the headers of tar entries: plain ones by itself, all others through libarchive. One worker's own.
///
/// A header depends on its entry alone, so any number of workers can make those of different frames, and the content is read from its
/// file straight into the frame without passing through libarchive.
package final class TarWriter {
  private var handle: WriteHandle?
  private var lastSize: UInt64 = 0

  /// The zeros that end every tar, in bytes.
  package static let endSize = 1024
  /// The bytes of a header without a pax header.
  package static let blockSize = 512

  private var plain = PlainHeader()

  package init() {}

  /// Appends the header of an entry to `bytes`: one block, or a pax header and one block.
  package func appendHeader(_ header: TarHeader, to bytes: inout [UInt8]) throws(PackError) {
    // Before the next header libarchive passes zeros in place of the content that it was not given. A new writer is cheaper than many of them.
    if handle == nil || lastSize > 4 << 20 {
      handle = try WriteHandle()
    }
    lastSize = header.size
    try handle?.writeHeader(header, to: &bytes)
  }

  /// Writes the header of an entry that is one block.
  package func writeBlock(_ header: TarHeader, to block: inout MutableSpan<UInt8>) throws(PackError) {
    precondition(block.count == Self.blockSize)
    guard !plain.write(header, to: &block) else { return }
    var bytes: [UInt8] = []
    try appendHeader(header, to: &bytes)
    guard bytes.count == Self.blockSize else {
      throw PackError(.internalError, "the tar header of '\(header.path)' is \(bytes.count) bytes, not \(Self.blockSize)")
    }
    copy(bytes.span, to: &block)
  }
}
