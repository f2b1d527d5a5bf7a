/// What a delta needs of a tree that it is applied to: a pack, or the files of an unpacked one (FORMAT.md §13.3).
///
/// The contents of a base lie in a row of bytes, for a full pack its tar, and each is known by its offset there. Contents that overlap without being
/// the same make the base damaged.
package protocol DeltaBase: Sendable {
  typealias ContentVisitor = (
    _ path: Span<UInt8>, _ kind: IndexRecord.Kind, _ size: UInt64, _ offset: UInt64, _ digest: Span<UInt8>
  ) throws(PackError) -> Void

  /// The path of the base, as errors name it.
  var basePath: String { get }
  /// The content root of the tree, 32 bytes. The records are held against it before anything is read from the base.
  var contentRoot: [UInt8] { get }
  /// Calls `body` with every record in the order of the index: its path, kind and size, where its content starts in the row, and its SHA-256.
  func forEachContent(_ body: ContentVisitor) throws(PackError)
  /// Makes a reader for exclusive use.
  ///
  /// - Parameter visit: Called with each frame that is decompressed.
  func makeContentReader(_ visit: FrameVisitor?) throws(PackError) -> any BaseReader
}

extension DeltaBase {
  /// Receives a frame of a pack: which bytes of the tar it has, and its content.
  package typealias FrameVisitor = (_ place: Range<UInt64>, _ content: Span<UInt8>) -> Void

  package func makeContentReader() throws(PackError) -> any BaseReader { try makeContentReader(nil) }
}

/// Reads contents of a base, for one worker.
package protocol BaseReader: AnyObject {
  /// Copies bytes of one content to a place in a buffer.
  ///
  /// - Throws: about the base if the bytes cannot be read, are not authentic, or were changed since the base was opened.
  func copy(_ range: Range<UInt64>, to buffer: inout [UInt8], at target: Int) throws(PackError)
  /// Whether the byte at an offset is in memory.
  func holds(_ offset: UInt64) -> Bool
  /// The bytes of all frames that were decompressed so far. 0 for a tree.
  var decompressedBytes: UInt64 { get }
}

extension Pack: DeltaBase {
  package var basePath: String { source.path }

  package func forEachContent(_ body: ContentVisitor) throws(PackError) {
    try forEachRecord { (block, row) throws(PackError) in
      try block.withDigest(of: row) { (digest) throws(PackError) in
        try block.withPath(of: row) { (path) throws(PackError) in
          try body(path, block.kind(of: row), block.size(of: row), block.offset(of: row), digest)
        }
      }
    }
  }

  package func makeContentReader(_ visit: FrameVisitor?) throws(PackError) -> any BaseReader {
    PackContentReader(self, try PackReader(self), visit)
  }
}

/// Reads contents of a pack that is a base, frame by frame.
private final class PackContentReader: BaseReader {
  private let pack: Pack
  private let reader: PackReader
  private let visit: Pack.FrameVisitor?
  var decompressedBytes: UInt64 { reader.decodedBytes }

  init(_ pack: Pack, _ reader: PackReader, _ visit: Pack.FrameVisitor?) {
    self.pack = pack
    self.reader = reader
    self.visit = visit
  }

  func copy(_ range: Range<UInt64>, to buffer: inout [UInt8], at target: Int) throws(PackError) {
    try attributing(to: pack.source.path) { () throws(PackError) in
      var position = range.lowerBound
      while position < range.upperBound {
        let number = pack.table.frame(holding: position)
        let isHeld = number == reader.heldFrame
        let place = try reader.load(number)
        if !isHeld, let visit { try reader.withFrame { (content) throws(PackError) in visit(place, content) } }
        let part = position..<min(range.upperBound, place.upperBound)
        try reader.withFrame { (content) throws(PackError) in
          var whole = buffer.mutableByteSpan
          let start = Int(part.lowerBound - place.lowerBound)
          PackFormat.copy(content.extracting(start..<start + part.count), to: &whole, at: target + Int(part.lowerBound - range.lowerBound))
        }
        position = part.upperBound
      }
    }
  }

  func holds(_ offset: UInt64) -> Bool { reader.heldFrame.map { pack.table.frame(holding: offset) == $0 } ?? false }
}
