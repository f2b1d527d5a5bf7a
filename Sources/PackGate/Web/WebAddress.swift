/// What an address in a page means (WHATWG URL), for a page that is served from a pack.
package enum WebAddress: Equatable, Sendable {
  /// A file of the same server: the path from its root, percent-encoded as it was written, without query and fragment.
  case path(String)
  /// A file of another host.
  case foreign
  /// A file of the developer's computer.
  case local
  /// Something that is not loaded from anywhere, such as `data:`.
  case other

  /// - Parameters:
  ///   - text: the address as it is written.
  ///   - base: the path of the page or of the file with the address, percent-encoded, with a slash in front.
  package init(_ text: String, from base: String) {
    // Tabs and line breaks inside are ignored.
    var bytes = Array(text.utf8).filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }[...]
    bytes = bytes.drop { $0 <= 0x20 }
    while let last = bytes.last, last <= 0x20 { bytes = bytes.dropLast() }
    if let scheme = Self.scheme(of: bytes) {
      switch scheme {
      case "http", "https", "ws", "wss", "ftp": self = .foreign
      case "file": self = .local
      // A drive of Windows.
      case _ where scheme.utf8.count == 1: self = .local
      default: self = .other
      }
      return
    }
    let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let first = path.first else {
      self = .other
      return
    }
    if Self.isSlash(first), let second = path.dropFirst().first, Self.isSlash(second) {
      self = .foreign
      return
    }
    self = .path(Self.joined(path, from: Self.isSlash(first) ? "" : base))
  }

  /// The largest address that is judged, in bytes: a path in a pack with all its bytes escaped, and a query. It limits the time to join it to others.
  private static let longest = 16 << 10

  /// Whether a reference is not judged: it is empty, only a fragment, very long, or still has the marks of a template or an unknown character
  /// reference.
  static func isSkipped(_ text: String) -> Bool {
    guard text.utf8.count <= longest else { return true }
    var hasAmpersand = false
    var isEmpty = true
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "<"), UInt8(ascii: ">"): return true
      case UInt8(ascii: "&"): hasAmpersand = true
      case UInt8(ascii: ";"): if hasAmpersand { return true }
      case UInt8(ascii: "#"): if isEmpty { return true }
      default: break
      }
      if byte > 0x20 { isEmpty = false }
    }
    return isEmpty
  }

  /// Whether an address is a path from the top of the host.
  static func isAbsolute(_ text: String) -> Bool {
    let bytes = text.utf8.drop { $0 <= 0x20 }
    return bytes.first.map(isSlash) ?? false && !(bytes.dropFirst().first.map(isSlash) ?? false)
  }

  private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

  private static func scheme(of bytes: ArraySlice<UInt8>) -> String? {
    guard let first = bytes.first, isLetter(first), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = bytes[..<colon]
    guard
      scheme.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
    else { return nil }
    return String(decoding: scheme, as: UTF8.self).lowercased()
  }

  /// Joins a path to the directory of another one, and removes `.` and `..`, which end at the root.
  private static func joined(_ path: ArraySlice<UInt8>, from base: String) -> String {
    var joined = Array(base.utf8)
    joined.removeSubrange(((joined.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...)
    if joined.isEmpty { joined.append(UInt8(ascii: "/")) }
    for part in path.split(whereSeparator: isSlash) {
      switch dots(part) {
      case 1: continue
      case 2:
        // The slash at the end, then the component before it.
        if joined.count > 1 { joined.removeLast() }
        joined.removeSubrange(((joined.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...)
        if joined.isEmpty { joined.append(UInt8(ascii: "/")) }
      default:
        joined += part
        joined.append(UInt8(ascii: "/"))
      }
    }
    // Each component got a slash, which the last one may not have.
    let last = path[(path.lastIndex(where: isSlash).map { $0 + 1 } ?? path.startIndex)...]
    if joined.count > 1, !last.isEmpty, dots(last) == 0 { joined.removeLast() }
    return String(decoding: joined, as: UTF8.self)
  }

  /// The number of dots of a component that is `.` or `..`, also if they are written as `%2e`; otherwise 0.
  private static func dots(_ part: ArraySlice<UInt8>) -> Int {
    guard part.count <= 6 else { return 0 }
    var count = 0
    var rest = part
    while let first = rest.first {
      if first == UInt8(ascii: ".") {
        rest = rest.dropFirst()
      } else if rest.count >= 3, first == UInt8(ascii: "%"), rest[rest.startIndex + 1] == UInt8(ascii: "2"),
        rest[rest.startIndex + 2] | 0x20 == UInt8(ascii: "e")
      {
        rest = rest.dropFirst(3)
      } else {
        return 0
      }
      count += 1
    }
    return count <= 2 ? count : 0
  }
}
