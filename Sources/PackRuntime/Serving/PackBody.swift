package import PackPayload

/// The bytes of a response, which are read from the pack piece by piece.
///
/// A value holds the pack open and no content. It may be read any number of times, by several readers at once.
public struct PackBody: Sendable {
  /// What the body consists of.
  package enum Part: Sendable {
    /// Bytes that stand in no file: what separates the parts of several ranges.
    case text([UInt8])
    /// A part of the file.
    case content(Range<UInt64>)
  }

  /// The length in bytes.
  public let length: UInt64

  let pack: Pack
  let entry: Entry
  let parts: [Part]

  package init(_ pack: Pack, _ entry: Entry, _ parts: [Part]) {
    self.pack = pack
    self.entry = entry
    self.parts = parts
    length = parts.reduce(0) { sum, part in
      switch part {
      case .text(let bytes): sum + UInt64(bytes.count)
      case .content(let range): sum + (range.upperBound - range.lowerBound)
      }
    }
  }

  /// A reader that starts with the first byte.
  public func makeReader() -> BodyReader {
    BodyReader(self)
  }
}
