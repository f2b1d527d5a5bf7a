/// The body of a response, which is read from the pack piece by piece.
///
/// A value keeps the pack open and holds no content. It may be read any number of times, by several readers at once.
public struct PackBody: Sendable {
  /// A part of the body.
  enum Part: Sendable {
    /// Bytes that are in no file: the separators between several ranges.
    case text([UInt8])
    /// A part of a file, or all of it.
    case content(Entry, Range<UInt64>)
  }

  /// The length in bytes.
  public let length: UInt64

  let pack: Pack
  /// The maximum size in bytes of a file whose digest is checked.
  let digestLimit: UInt64
  /// The number of bytes decrypted before the body is read.
  let decryptedBytes: UInt64
  /// The parts of the body, none of them empty.
  let parts: [Part]

  init(_ pack: Pack, _ parts: [Part], digestLimit: UInt64 = .max, decryptedBytes: UInt64 = 0) {
    (self.pack, self.decryptedBytes) = (pack, decryptedBytes)
    self.digestLimit = digestLimit
    self.parts = parts
    length = parts.reduce(0) { sum, part in
      switch part {
      case .text(let bytes): sum + UInt64(bytes.count)
      case .content(_, let range): sum + (range.upperBound - range.lowerBound)
      }
    }
  }

  /// Creates a reader that starts at the first byte.
  public func makeReader() -> BodyReader {
    BodyReader(self)
  }
}
