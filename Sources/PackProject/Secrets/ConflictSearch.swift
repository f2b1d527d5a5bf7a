/// A search for the three marks that a merge leaves around a conflict, in this order and each at the start of a line. The last one may be missing, as
/// after half a correction. A heading that is underlined with equality signs is not a conflict.
struct ConflictSearch: Sendable {
  /// Where the first conflict starts; nil until all its marks were seen, or the file ended after the second.
  private(set) var found: UInt64?
  /// Where the next byte is in the file.
  private var position: UInt64
  /// The number of bytes of the line so far, and how many of them are equal to the first.
  private var (count, equal): (Int, Int) = (0, 0)
  private var first: UInt8 = 0
  private var start: (offset: UInt64, isDivided: Bool)?

  /// Makes a search that starts at the beginning of a line.
  init(at position: UInt64) {
    self.position = position
  }

  /// Where the bytes start that come next.
  var next: UInt64 { position }

  mutating func add(_ byte: UInt8) {
    if count == 0 { (first, equal) = (byte, 0) }
    if equal == count, byte == first { equal += 1 }
    // The byte after the seven decides.
    if count == 7, equal == 7 { note(isEnd: byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r"), isBlank: byte == UInt8(ascii: " ")) }
    count = byte == UInt8(ascii: "\n") ? 0 : min(count + 1, 8)
    position += 1
  }

  private mutating func note(isEnd: Bool, isBlank: Bool) {
    switch first {
    case UInt8(ascii: "<") where isBlank:
      start = (position - 7, false)
    case UInt8(ascii: "=") where isEnd:
      start?.isDivided = true
    case UInt8(ascii: ">") where isEnd || isBlank:
      if let start, start.isDivided, found == nil { found = start.offset }
      start = nil
    default:
      break
    }
  }

  /// Ends the search at the end of the file.
  mutating func finish() {
    if count == 7, equal == 7 { note(isEnd: true, isBlank: false) }
    if let start, start.isDivided, found == nil { found = start.offset }
  }
}
