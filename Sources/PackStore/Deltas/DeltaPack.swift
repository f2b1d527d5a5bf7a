/// A delta pack, as far as it can be read without its bases: its header and its head (FORMAT.md §13.7, steps 1 and 2).
package struct DeltaPack: Sendable {
  package let source: PackSource
  /// What the delta says about itself.
  package let head: DeltaHead

  /// Opens the delta at `path`.
  ///
  /// - Throws: ``PackError/Code/usage`` for a full pack, or the error of the pack.
  package static func open(
    _ path: String, key: borrowing PackKey, files: any FileSystem = SystemFiles(), backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> DeltaPack {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta else { throw PackError(.usage, of: path, "is not a delta") }
    return try DeltaPack(PackSource(start, path: path, key: key, files: files, backend: backend))
  }

  /// Reads the head of a delta whose header was opened.
  package init(_ source: PackSource) throws(PackError) {
    self.source = source
    do throws(PackError) {
      let segments = try SegmentReader(source)
      try segments.openLastSegment()
      head = try Self.head(source, segments)
    } catch {
      throw error.about(source)
    }
  }

  private static func head(_ source: PackSource, _ segments: SegmentReader) throws(PackError) -> DeltaHead {
    let payloadSize = source.layout.payloadSize
    let trailerSize = min(UInt64(DeltaHead.trailerSize), payloadSize)
    let trailer = try segments.bytes(payloadSize - trailerSize..<payloadSize)
    let size = try DeltaHead.headSize(trailer: trailer.byteSpan, payloadSize: payloadSize)
    let start = payloadSize - trailerSize - UInt64(size)
    guard size <= Limits.compressBound(Limits.deltaHeadSize) else { throw tooLarge("more than \(Limits.deltaHeadSize)") }
    let frame = try segments.bytes(start..<payloadSize - trailerSize)
    let header = try FrameHeader.parse(frame.byteSpan, name: "the head of the delta")
    guard header.contentSize <= Limits.deltaHeadSize else { throw tooLarge("\(header.contentSize)") }
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    var target = content.mutableByteSpan
    try DecompressionContext().decompress(frame.byteSpan, into: &target, name: "the head of the delta")
    return try DeltaHead(parsing: content.byteSpan, minor: source.header.minor, windowBytes: start)
  }

  private static func tooLarge(_ size: String) -> PackError {
    PackError(.limitExceeded, "the head of the delta expands to \(size) bytes; the limit is \(Limits.deltaHeadSize)")
  }

  /// Reads the whole payload, which checks the tag of every segment.
  ///
  /// - Parameter each: called between pieces of 1 MiB, with the number of bytes that were read.
  package func authenticate(each: (UInt64) throws(PackError) -> Void) throws(PackError) {
    let segments = try SegmentReader(source)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: UInt64 = 0
    while offset < source.layout.payloadSize {
      try each(offset)
      let count = Int(min(UInt64(buffer.count), source.layout.payloadSize - offset))
      var all = buffer.mutableByteSpan
      var span = all._mutatingExtracting(first: count)
      try attributing(to: source.path) { () throws(PackError) in try segments.read(at: offset, into: &span) }
      offset += UInt64(count)
    }
  }
}

extension SegmentReader {
  /// Returns some bytes of the payload.
  fileprivate func bytes(_ range: Range<UInt64>) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
    var target = bytes.mutableByteSpan
    try read(at: range.lowerBound, into: &target)
    return bytes
  }
}

extension Pack {
  /// Opens a pack as far as that needs no other: a full one as always; of a delta, the header, the last segment and the head.
  ///
  /// - Throws: the errors of opening a pack.
  package static func openAlone(
    _ path: String, key: borrowing PackKey, files: any FileSystem = SystemFiles()
  ) throws(PackError) -> (start: PackStart, source: PackSource) {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta else {
      return (start, try Pack(start, path: path, key: key, files: files, backend: CryptoBackends.standard).source)
    }
    return (start, try DeltaPack(PackSource(start, path: path, key: key, files: files, backend: CryptoBackends.standard)).source)
  }
}
