import CVector

/// A search for any of some hundred texts of four bytes, 32 bytes at a time.
///
/// The texts are in 16 groups. A bit of a vector's byte says whether the byte at a place is one that a text of a group has there. Where a group is left
/// after four bytes, a hash decides. The method is known as Teddy, from Hyperscan.
struct AnchorSearch: Sendable {
  /// How a processor searches. All find the same texts.
  enum Method: Int, CaseIterable, Sendable {
    /// One byte after the other, on any processor. It passes more of what only has the same hash.
    case bytes = 1
    /// With SSSE3, or on arm64.
    case vectors16 = 16
    /// With AVX2.
    case vectors32 = 32

    /// The fastest one of this processor.
    static let best = Method(rawValue: packer_find_width()) ?? .bytes
    /// Those that this processor has.
    static var available: [Method] { allCases.filter { $0.rawValue <= best.rawValue } }
  }

  private let table: [UInt8]
  private let width: Int

  /// - Parameter texts: the texts as numbers, whose lowest byte is the first, and the groups they are in, 0 to 15. The fewer different bytes the texts
  ///   of a group have at the same places, the faster is the search.
  init(_ texts: [(text: UInt32, group: Int)], method: Method = .best) {
    var table = [UInt8](repeating: 0, count: packer_anchor_table)
    for (text, group) in texts {
      precondition((0..<16).contains(group) && text & 0x8080_8080 == 0, "an anchor of other than ASCII, or in no group")
      for place in 0..<4 {
        let byte = Int(text >> UInt32(8 * place) & 0xFF)
        let mask = 64 * place + 32 * (group / 8)
        table[mask + byte & 15] |= 1 << UInt8(group % 8)
        table[mask + 16 + byte >> 3] |= 1 << UInt8(group % 8)
      }
      let hash = Int(packer_anchor_hash(text))
      table[packer_anchor_masks + hash >> 3] |= 1 << UInt8(hash & 7)
    }
    self.table = table
    width = method.rawValue
  }

  /// Returns the first place in a range whose four bytes may be one of the texts; nil if there is none. The three bytes after the range must exist.
  func next(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
    precondition(range.lowerBound >= 0 && (range.isEmpty || range.upperBound <= bytes.count - 3), "a search outside of the bytes")
    guard !range.isEmpty else { return nil }
    let place = unsafe bytes.withUnsafeBufferPointer { (bytes) -> Int in
      // Not empty, as checked above.
      guard let start = bytes.baseAddress else { return range.upperBound }
      return unsafe packer_find(table, width, start, range.lowerBound, range.upperBound)
    }
    return place < range.upperBound ? place : nil
  }

  /// Returns a place in the first 16 or more bytes of ASCII text in a range, or nil. Takes a fifth of the time of ``next(_:in:)``.
  func nextText(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a search outside of the bytes")
    let place = unsafe bytes.withUnsafeBufferPointer { (bytes) -> Int in
      guard let start = bytes.baseAddress else { return range.upperBound }
      return unsafe packer_find_text(width, start, range.lowerBound, range.upperBound)
    }
    return place < range.upperBound ? place : nil
  }
}
