/// Where the content of a pack is read that has no frames of its own: a delta over its bases (FORMAT.md §13). Shared by all readers of the pack.
///
/// The pack's seek table has the pieces in place of frames.
package protocol PackLayer: Sendable {
  /// The number of deltas over each other, this one included, counting only the longest way.
  var depth: Int { get }
  /// The content roots of the bases, 32 bytes each.
  var baseRoots: [[UInt8]] { get }

  /// Returns the bytes that a piece takes in the payload of the delta; 0 if it comes from a base.
  func compressedSize(ofPiece number: Int) -> UInt64

  /// Makes a reader for exclusive use.
  ///
  /// - Parameter segments: reads the payload of the delta.
  func makeReader(_ segments: SegmentReader) throws(PackError) -> any PieceReader
}

/// Reads the pieces of a layer for one reader of the pack.
package protocol PieceReader: AnyObject {
  /// Reads a piece to the beginning of `buffer`, which must be large enough.
  func read(_ number: Int, into buffer: inout [UInt8]) throws(PackError)
}
