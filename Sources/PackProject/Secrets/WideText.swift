/// Texts in UTF-16, which some shells and editors write.
package enum WideText {
  /// Returns a text in UTF-16 with one byte for each unit, so that keys and tokens, which are ASCII, can be searched for. Other units become spaces.
  /// Nil if the content does not start with a byte order mark, or is larger than 1 MiB.
  package static func narrowed(_ content: Span<UInt8>) -> [UInt8]? {
    guard (4...largestSize).contains(content.count), content.count.isMultiple(of: 2) else { return nil }
    let low: Int
    switch (content[0], content[1]) {
    case (0xFF, 0xFE): low = 0
    case (0xFE, 0xFF): low = 1
    default: return nil
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.count / 2)
    for unit in stride(from: 2, to: content.count, by: 2) {
      let isNarrow = content[unit + 1 - low] == 0 && content[unit + low] < 0x80
      bytes.append(isNarrow ? content[unit + low] : UInt8(ascii: " "))
    }
    return bytes
  }

  private static let largestSize = 1 << 20
}
