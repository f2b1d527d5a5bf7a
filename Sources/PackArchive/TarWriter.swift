package import PackFormat

/// Has libarchive make the headers of tar entries. One worker's own.
///
/// A header depends on its entry alone, so any number of workers can make those of different frames, and the content is read from its
/// file straight into the frame without passing through libarchive.
package final class TarWriter {
  /// The zeros that end every tar, in bytes.
  package static let endSize = 1024
  /// The bytes of a header without a pax header.
  package static let blockSize = 512

  private var pax = Writer(.pax)
  private var ustar = Writer(.ustar)
  private var block: [UInt8] = []

  package init() {}

  /// Appends the header of an entry to `bytes`: one block, or a pax header and one block.
  package func appendHeader(_ header: TarHeader, to bytes: inout [UInt8]) throws(PackError) {
    if header.isOneBlock {
      try ustar.appendHeader(header, to: &bytes)
    } else {
      try pax.appendHeader(header, to: &bytes)
    }
  }

  /// Writes the header of an entry that is one block.
  package func writeBlock(_ header: TarHeader, to target: inout MutableSpan<UInt8>) throws(PackError) {
    precondition(target.count == Self.blockSize)
    block.removeAll(keepingCapacity: true)
    try appendHeader(header, to: &block)
    guard block.count == Self.blockSize else {
      throw PackError(.internalError, "the tar header of '\(header.path)' is \(block.count) bytes, not \(Self.blockSize)")
    }
    let made = block
    copy(made.span, to: &target)
  }
}

/// One kind of header, and what the writer that makes it still waits for.
private struct Writer: ~Copyable {
  private let format: WriteHandle.Format
  private var handle: WriteHandle?
  /// The content that the last header announced, in bytes.
  private var announced: UInt64 = 0

  /// Before the next header libarchive passes on zeros in the place of that content, a kilobyte at a time. From here on a new writer takes less.
  private static let mostZeros: UInt64 = 16 << 10

  init(_ format: WriteHandle.Format) {
    self.format = format
  }

  mutating func appendHeader(_ header: TarHeader, to bytes: inout [UInt8]) throws(PackError) {
    if handle == nil || announced > Self.mostZeros {
      handle = try WriteHandle(format)
    }
    announced = header.size
    try handle?.writeHeader(header, to: &bytes)
  }
}

func isASCII(_ bytes: Span<UInt8>) -> Bool {
  var bits: UInt8 = 0
  for index in bytes.indices { bits |= bytes[index] }
  return bits < 0x80
}
