public import Foundation

/// The content of a file in a pack, in pieces. The version is not removed while the sequence or an iterator exists.
public struct PackByteStream: AsyncSequence, Sendable {
  /// A piece of the content.
  public typealias Element = Data

  let pack: OpenedPack
  let path: String
  /// The size of the whole file in bytes.
  public let size: UInt64
  let pieceSize: Int

  /// Reads the pieces in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let stream: PackByteStream
    var position: UInt64 = 0

    /// Returns the next piece, or nil after the last one. Reads on a thread of its own.
    ///
    /// - Throws: ``PackError``: the error of a damaged pack, or ``PackError/Code/cancelled``.
    public mutating func next() async throws -> Data? {
      guard position < stream.size else { return nil }
      let range = position..<Swift.min(position + UInt64(stream.pieceSize), stream.size)
      let (pack, path) = (stream.pack, stream.path)
      let bytes = try await WorkerPool.settled { () throws(PackError) in try pack.read(path, range: range) }
      position = range.upperBound
      return Data(bytes)
    }
  }

  /// Creates an iterator that begins at the first byte.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
