import PackPayload
import PackReading

/// The bytes of a response, which are read from the pack piece by piece.
///
/// A value holds the pack open and no content. It may be read any number of times, by several readers at once.
public struct PackBody: Sendable {
  /// What the body consists of.
  enum Part: Sendable {
    /// Bytes that stand in no file: what separates several ranges.
    case text([UInt8])
    /// A part of a file, or all of it.
    case content(Entry, Range<UInt64>)
  }

  /// The length in bytes.
  public let length: UInt64

  let pack: Pack
  /// The largest file whose digest is checked, in bytes.
  let digestLimit: UInt64
  /// None of them is empty.
  let parts: [Part]

  init(_ pack: Pack, _ parts: [Part], digestLimit: UInt64 = .max) {
    self.pack = pack
    self.digestLimit = digestLimit
    self.parts = parts
    length = parts.reduce(0) { sum, part in
      switch part {
      case .text(let bytes): sum + UInt64(bytes.count)
      case .content(_, let range): sum + (range.upperBound - range.lowerBound)
      }
    }
  }

  /// A reader that starts with the first byte.
  public func makeReader() -> BodyReader {
    BodyReader(self)
  }
}
