/// The bytes of the tar that contain the next header, while a reader goes through the tar.
///
/// Another tool may interpret the bytes of a header differently from libarchive. So every header must be the one that a writer makes for the entry
/// (FORMAT.md §4.2.2), except for names that a pax record overrides.
final class HeaderBytes {
  private var bytes: [UInt8] = []
  /// The offset of `bytes` in the tar.
  private var start: UInt64 = 0
  /// The offset from which bytes are still needed.
  private var kept: UInt64 = 0
  private let writer = TarWriter()
  private var expected: [UInt8] = []

  /// Appends the next piece of the tar. The bytes between it and the previous piece are missing, and contain no header.
  func append(_ piece: TarPiece) {
    if piece.start > start + UInt64(bytes.count) {
      bytes.removeAll(keepingCapacity: true)
      start = piece.start
    }
    append(piece.bytes)
  }

  /// Appends bytes of the tar that directly follow the previous ones.
  func append(_ piece: some RandomAccessCollection<UInt8>) {
    // Bytes are removed here and not for every entry: moving the rest of a frame for each of its headers takes quadratic time.
    let passed = kept > start ? min(Int(kept - start), bytes.count) : 0
    bytes.removeSubrange(..<passed)
    start += UInt64(passed)
    let end = start + UInt64(bytes.count)
    if end <= kept {
      // All bytes here belong to the content of an entry.
      bytes.removeAll(keepingCapacity: true)
      start = end
      let pieceEnd = end + UInt64(piece.count)
      guard pieceEnd > kept else {
        start = pieceEnd
        return
      }
      bytes += piece.dropFirst(Int(kept - end))
      start = kept
    } else {
      bytes += piece
    }
  }

  /// Allows the bytes before `offset` to be dropped.
  func drop(before offset: UInt64) {
    kept = offset
  }

  /// Returns whether the bytes of `range` are the headers that a writer makes.
  func areWritten(_ range: Range<UInt64>, for header: TarHeader) throws(PackError) -> Bool {
    guard range.lowerBound >= start, range.upperBound <= start + UInt64(bytes.count) else { return false }
    let place = Int(range.lowerBound - start)..<Int(range.upperBound - start)
    expected.removeAll(keepingCapacity: true)
    try writer.appendHeader(header, to: &expected)
    guard place.count == expected.count else { return false }
    let (held, written) = (bytes, expected)
    if equal(held.byteSpan.extracting(place), written.byteSpan) { return true }
    guard expected.count > 512 else { return false }
    var actual = Array(bytes[place])
    // Libraries shorten names differently. If a pax record has the full name, readers ignore the short form.
    let keys = Self.keys(of: expected[512..<expected.count - 512])
    var masks = [(0, Self.name), (0, Self.prefix), (0, Self.checksum), (actual.count - 512, Self.checksum)]
    if keys.contains("path") { masks += [(actual.count - 512, Self.name), (actual.count - 512, Self.prefix)] }
    if keys.contains("linkpath") { masks.append((actual.count - 512, Self.linkName)) }
    for (block, field) in masks {
      for index in field {
        actual[block + index] = 0
        expected[block + index] = 0
      }
    }
    return actual == expected
  }

  /// Returns the keys of pax records. Each record starts with its own length, so text in a value is never mistaken for a key.
  private static func keys(of records: ArraySlice<UInt8>) -> Set<String> {
    var keys: Set<String> = []
    var rest = records
    while let space = rest.firstIndex(of: UInt8(ascii: " ")),
      let length = Int(String(decoding: rest[..<space], as: UTF8.self)), (1...rest.count).contains(length),
      let equals = rest[space...].firstIndex(of: UInt8(ascii: "="))
    {
      keys.insert(String(decoding: rest[(space + 1)..<equals], as: UTF8.self))
      rest = rest.dropFirst(length)
    }
    return keys
  }

  private static let name = 0..<100
  private static let checksum = 148..<156
  private static let linkName = 157..<257
  private static let prefix = 345..<500
}
