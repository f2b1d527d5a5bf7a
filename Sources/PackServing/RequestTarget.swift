/// The path that a request asks for.
package struct RequestTarget {
  /// The path in the pack: decoded once, without a leading slash or repeated slashes, in normalization form C like all paths in packs. Pages often
  /// build addresses with two slashes in a row; servers treat these as one.
  package let path: String
  /// The query with its question mark, with the characters escaped that end an attribute in HTML. Nil if there is no query or if it cannot be sent
  /// back.
  package let query: String?

  /// Whether the target is a directory, so that its index is wanted.
  package var isDirectory: Bool { path.isEmpty || path.utf8.last == UInt8(ascii: "/") }

  /// Parses the target of a request (RFC 9112 §3.2). Returns nil if the target is invalid: a malformed escape, a control character, text that is not
  /// UTF-8, or a component `.` or `..`.
  package init?(_ target: String) {
    var bytes = Array(target.utf8)[...]
    if bytes.first != UInt8(ascii: "/") {
      guard let authority = Self.authority(bytes) else { return nil }
      bytes = bytes[authority...]
      bytes = bytes[(bytes.firstIndex { Self.endsAuthority($0) } ?? bytes.endIndex)...]
    }
    if let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) { bytes = bytes[..<fragment] }
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    let query = bytes[mark...]
    guard let decoded = Self.decode(bytes[..<mark]), let text = String(validUTF8: decoded) else { return nil }
    for component in decoded.split(separator: UInt8(ascii: "/"))
    where component.allSatisfy({ $0 == UInt8(ascii: ".") }) && component.count <= 2 {
      return nil
    }
    path = decoded.allSatisfy { $0 < 0x80 } ? text : Self.normalized(text)
    self.query = query.isEmpty || !query.allSatisfy { (0x21...0x7E).contains($0) } ? nil : Self.escaped(query)
  }

  /// Returns the start of the host in a full URL.
  private static func authority(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
      bytes[(colon + 1)...].starts(with: "//".utf8), bytes[..<colon].allSatisfy({ $0 > 0x20 && !endsAuthority($0) })
    else { return nil }
    return colon + 3
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  /// Decodes escapes, merges repeated slashes and removes leading ones. Returns nil if an escape is malformed or if the path has an invalid
  /// character.
  private static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= bytes.endIndex, let high = hexDigit(bytes[index]), let low = hexDigit(bytes[index + 1]) else { return nil }
        byte = high << 4 | low
        index += 2
      } else if byte == UInt8(ascii: " ") {
        return nil
      }
      guard byte >= 0x20, byte != 0x7F else { return nil }
      if byte != UInt8(ascii: "/") || decoded.last ?? byte != byte { decoded.append(byte) }
    }
    return decoded
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func normalized(_ text: String) -> String {
    var normalized = String.UnicodeScalarView()
    normalized.append(contentsOf: EntryPath.normalized(text))
    return String(normalized)
  }

  /// Percent-encodes a path of a pack for an address.
  package static func encoded(_ path: String) -> String {
    escape(path.utf8) { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
  }

  private static func escaped(_ query: ArraySlice<UInt8>) -> String {
    escape(query) { !"\"'<>`".utf8.contains($0) }
  }

  private static func escape(_ bytes: some Sequence<UInt8>, unless isPlain: (UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in bytes {
      if isPlain(byte) { escaped.append(byte) } else { escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
