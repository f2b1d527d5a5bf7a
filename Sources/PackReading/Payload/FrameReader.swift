/// Reads the data frames of a payload. It belongs to one worker and reuses one decoder.
package final class FrameReader {
  private let source: any ByteSource
  private let table: SeekTable
  /// The decoder, which the worker may use for other frames between two calls.
  package let decoder: DecompressionContext

  package init(source: any ByteSource, table: SeekTable) throws(PackError) {
    self.source = source
    self.table = table
    decoder = try DecompressionContext()
  }

  /// Returns the buffer size that ``read(_:into:)`` needs for a frame of `size` bytes. The compressed and the decompressed frame share the buffer.
  package static func room(for size: UInt32) -> Int {
    DecompressionContext.room(for: Int(size))
  }

  /// Reads frame `index` to the beginning of `buffer`, which must have at least ``room(for:)`` bytes.
  ///
  /// If a frame cannot be decompressed in place, it is read again into extra memory of its compressed size. Usual encoders make no such frames.
  package func read(_ index: Int, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    let frame = table[index]
    precondition(buffer.count >= Self.room(for: frame.size))
    let size = Int(frame.compressedSize)
    let name = "frame \(index)"
    if size <= buffer.count {
      do {
        var compressed = buffer._mutatingExtracting(last: size)
        try source.read(at: frame.offset, into: &compressed)
      }
      if (try? decoder.decompress(last: size, of: &buffer, toFirst: Int(frame.size), name: name)) != nil { return }
    }
    var compressed = [UInt8](repeating: 0, count: size)
    var target = compressed.mutableByteSpan
    try source.read(at: frame.offset, into: &target)
    var content = buffer._mutatingExtracting(first: Int(frame.size))
    try decoder.decompress(compressed.byteSpan, into: &content, name: name)
  }
}
