/// Searches the bytes of a pack for signs of plaintext: the first bytes of well-known file types, and paths of entries.
///
/// In encrypted bytes, a pattern of k bytes occurs by chance once in 256^k positions. Only patterns that occur more often are reported.
struct PlaintextSearch: Sendable {
  private struct Pattern: Sendable {
    let name: String
    let bytes: [UInt8]
    var count = 0
  }

  private var patterns: [Pattern]
  /// The numbers of the patterns, by their first two bytes.
  private var starts: [UInt16: [Int]] = [:]
  /// Whether any pattern starts with two bytes. A quick test, because most positions match no pattern.
  private var mayStart = [Bool](repeating: false, count: 1 << 16)
  private var longest = 0
  /// The last bytes of the previous piece, in which a pattern may have begun.
  private var tail: [UInt8] = []
  private var size: UInt64 = 0

  init() {
    patterns = []
    for (name, bytes) in Self.signatures { add(name, bytes) }
  }

  /// The first bytes of file types, with their names.
  private static let signatures: [(String, [UInt8])] = [
    ("a PNG image", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    ("a JPEG image", [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46]),
    ("a WebP image", Array("WEBPVP8".utf8)),
    ("a ZIP archive", [0x50, 0x4B, 0x03, 0x04]),
    ("a tar archive", Array("ustar\0".utf8) + Array("00".utf8)),
    ("zstd frames", [0x28, 0xB5, 0x2F, 0xFD]),
    ("a 7z archive", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
    ("gzip data", [0x1F, 0x8B, 0x08, 0x00]),
    ("Ogg sound", Array("OggS\0".utf8)),
    ("an SQLite database", Array("SQLite format 3\0".utf8)),
    ("an HTML page", Array("<!DOCTYPE html".utf8)),
    ("an HTML page", Array("<!doctype html".utf8)),
    ("a private key", Array("PRIVATE KEY-----".utf8)),
    ("a WebAssembly module", [0x00, 0x61, 0x73, 0x6D, 0x01, 0x00, 0x00, 0x00]),
  ]

  /// Adds a path to the search. Paths below 10 bytes are ignored, because they may occur by chance.
  mutating func add(path: String) {
    guard path.utf8.count >= 10 else { return }
    add("the path '\(printable(path.utf8))'", Array(path.utf8))
  }

  private mutating func add(_ name: String, _ bytes: [UInt8]) {
    let start = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    starts[start, default: []].append(patterns.count)
    mayStart[Int(start)] = true
    longest = max(longest, bytes.count)
    patterns.append(Pattern(name: name, bytes: bytes))
  }

  /// Searches the next piece of the file.
  mutating func look(at piece: Span<UInt8>) {
    // A pattern may have begun in the previous piece.
    if !tail.isEmpty {
      var seam = tail
      seam.append(copying: piece.extracting(first: min(piece.count, longest - 1)))
      search(seam.byteSpan, startingBefore: tail.count)
    }
    search(piece, startingBefore: piece.count)
    size += UInt64(piece.count)
    var rest = [UInt8](copying: piece.extracting(last: min(piece.count, longest - 1)))
    if rest.count < longest - 1 { rest = Array((tail + rest).suffix(longest - 1)) }
    tail = rest
  }

  /// Counts the patterns that begin before `end` and lie completely in `bytes`.
  ///
  /// In the seam between two pieces, a pattern must reach beyond `end`. A pattern that ends earlier was counted with the previous piece.
  private mutating func search(_ bytes: Span<UInt8>, startingBefore end: Int) {
    let isSeam = end < bytes.count
    guard bytes.count >= 2 else { return }
    var previous = Int(bytes[0])
    for index in 0..<min(end, bytes.count - 1) {
      let next = Int(bytes[index + 1])
      let start = previous << 8 | next
      previous = next
      guard mayStart[start] else { continue }
      for number in starts[UInt16(start)] ?? [] {
        let pattern = patterns[number].bytes
        guard index + pattern.count <= bytes.count, !isSeam || index + pattern.count > end,
          equal(bytes.extracting(index..<index + pattern.count), pattern.byteSpan)
        else { continue }
        patterns[number].count += 1
      }
    }
  }

  /// The patterns that occur more often than chance explains: for patterns below 6 bytes, more than the expected count plus six standard deviations
  /// plus three.
  var sightings: [String] {
    patterns.filter { pattern in
      guard pattern.count > 0, pattern.bytes.count < 6 else { return pattern.count > 0 }
      var expected = Double(size)
      for _ in pattern.bytes { expected /= 256 }
      return Double(pattern.count) > expected + 6 * expected.squareRoot() + 3
    }.map { "\($0.name), \($0.count) \($0.count == 1 ? "time" : "times")" }
  }
}
