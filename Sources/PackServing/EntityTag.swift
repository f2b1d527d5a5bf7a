/// The entity tag of a file, always a strong one (RFC 9110 §8.8.3).
package struct EntityTag {
  /// The tag as it appears in a header field, with its quotation marks.
  package let text: String

  /// Uses 16 bytes of the digest: different files do not share them by chance, and only the maker of the pack could create two that do.
  package init(_ entry: Entry) {
    text = "\"\(entry.sha256.prefix(16).hex)\""
  }

  /// - Parameter text: a strong tag with its quotation marks.
  package init(text: String) {
    self.text = text
  }

  /// Returns whether the tag is in the list of an `If-Match` or `If-None-Match` field (RFC 9110 §13.1.1 and §13.1.2).
  ///
  /// Everything after an invalid tag is ignored.
  ///
  /// - Parameter isWeak: whether a weak tag in the list matches.
  package func isListed(in value: String, isWeak: Bool) -> Bool {
    let bytes = Array(value.utf8)
    var rest = bytes[...].drop { Self.separates($0) }
    if rest.first == UInt8(ascii: "*") { return rest.dropFirst().allSatisfy { $0 == 0x20 || $0 == 0x09 } }
    let own = Array(text.utf8)
    while !rest.isEmpty {
      let isListedWeak = rest.starts(with: "W/".utf8)
      if isListedWeak { rest = rest.dropFirst(2) }
      guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { return false }
      if isWeak || !isListedWeak, rest[...end].elementsEqual(own) { return true }
      rest = rest[(end + 1)...].drop { Self.separates($0) }
    }
    return false
  }

  private static func separates(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == 0x20 || byte == 0x09
  }
}
