/// A writer of tar headers, through libarchive. Each worker needs its own.
///
/// A header depends only on its entry, so several workers can make the headers of different frames. Content is read from its file directly into the
/// frame, without libarchive.
package final class TarWriter {
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
    precondition(target.count == TarHeader.blockSize)
    block.removeAll(keepingCapacity: true)
    try appendHeader(header, to: &block)
    guard block.count == TarHeader.blockSize else {
      throw PackError(.internalError, "the tar header of '\(header.path)' is \(block.count) bytes, not \(TarHeader.blockSize)")
    }
    let made = block
    copy(made.byteSpan, to: &target)
  }
}

/// A writer of one kind of header, and the content size that it still expects.
private struct Writer: ~Copyable {
  private let format: WriteHandle.Format
  private var handle: WriteHandle?
  /// The size in bytes of the content that the last header announced.
  private var announced: UInt64 = 0

  /// Before the next header libarchive writes zeros in place of that content, a kilobyte at a time. Above this number of bytes a new writer takes
  /// less time.
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
