package import PackFormat

/// Reads the data frames of a payload. One worker's own: it reuses one decoder and one buffer for compressed bytes.
package final class FrameReader {
  private let source: any ByteSource
  private let table: SeekTable
  /// For other frames of the payload, between two calls.
  package let decoder: DecompressionContext
  private var compressed: [UInt8] = []

  package init(source: any ByteSource, table: SeekTable) throws(PackError) {
    self.source = source
    self.table = table
    decoder = try DecompressionContext()
  }

  /// Makes room for the largest frame at once: for who reads all of them, and would make it anew for each that is larger than those before.
  package func reserve() {
    compressed = [UInt8](repeating: 0, count: Int(table.largestCompressedFrame))
  }

  /// Reads frame `index` into `content`, whose length must be the frame's.
  package func read(_ index: Int, into content: inout MutableSpan<UInt8>) throws(PackError) {
    let frame = table[index]
    precondition(content.count == Int(frame.size))
    let size = Int(frame.compressedSize)
    // Moved out and back: a span of a class's own array cannot be lent.
    var buffer: [UInt8] = []
    swap(&buffer, &compressed)
    defer { swap(&buffer, &compressed) }
    if buffer.count < size {
      buffer = [UInt8](repeating: 0, count: size)
    }
    var whole = buffer.mutableSpan
    var target = whole._mutatingExtracting(first: size)
    try source.read(at: frame.offset, into: &target)
    try decoder.decompress(buffer.span.extracting(first: size), into: &content, name: "frame \(index)")
  }
}
