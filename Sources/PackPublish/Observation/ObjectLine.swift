/// A line with a JSON object, as Cloudflare, Fastly, Caddy and CloudFront write them.
///
/// Only the members of the object itself count, and of Caddy's `request` in it, so that a header that a client sends cannot stand for one.
enum ObjectLine {
  /// What the members of an object stand for.
  private enum Part: UInt64 {
    case other, whole, request, headers
  }

  private static let greatestDepth = 30

  /// Returns nil if the line is no object, or has no request.
  static func request(_ line: Span<UInt8>) -> LogRequest? {
    var found = LogFields()
    // Two bits for each object or list that is open, and one: whether it is a list.
    var parts: UInt64 = 0
    var lists: UInt64 = 0
    var depth = 0
    var index = 0
    var key: Range<Int>?
    var upcoming = Part.whole
    while index < line.count {
      let byte = line[index]
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth < greatestDepth, depth > 0 || byte == UInt8(ascii: "{") && parts == 0 else { return nil }
        let isList = byte == UInt8(ascii: "[")
        // A list stands for the member that it is the value of.
        (parts, lists) = (parts << 2 | upcoming.rawValue, lists << 1 | (isList ? 1 : 0))
        depth += 1
        index += 1
        if !isList { key = nil }
        upcoming = .other
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0, (lists & 1 == 1) == (byte == UInt8(ascii: "]")) else { return nil }
        depth -= 1
        (parts, lists) = (parts >> 2, lists >> 1)
        index += 1
        key = nil
        if depth == 0 { return isBlank(line, from: index) ? found.request(line) : nil }
      case UInt8(ascii: ","):
        index += 1
        if lists & 1 == 0 { key = nil }
      case UInt8(ascii: "\""):
        guard let text = string(line, &index) else { return nil }
        if lists & 1 == 0, key == nil {
          while index < line.count, line[index] == 0x20 { index += 1 }
          guard index < line.count, line[index] == UInt8(ascii: ":") else { return nil }
          index += 1
          key = text
          upcoming = part(line, text, in: Part(rawValue: parts & 3) ?? .other)
        } else {
          note(line, key, text, in: parts, isList: lists & 1 == 1, &found)
        }
      case 0x20, 0x09, 0x0D:
        index += 1
      default:
        let start = index
        while index < line.count, !isEnd(line[index]) { index += 1 }
        guard index > start, depth > 0 else { return nil }
        note(line, key, start..<index, in: parts, isList: lists & 1 == 1, &found)
      }
    }
    return nil
  }

  /// Returns what an object stands for that is the value of a member.
  private static func part(_ line: Span<UInt8>, _ key: Range<Int>, in part: Part) -> Part {
    switch part {
    case .whole: line.isText("request", at: key) ? .request : .other
    case .request: line.isText("headers", at: key) ? .headers : .other
    // The values of a header are a list, and only the agent counts.
    case .headers: line.isText("User-Agent", at: key) ? .headers : .other
    case .other: .other
    }
  }

  private static func note(
    _ line: Span<UInt8>, _ key: Range<Int>?, _ value: Range<Int>, in parts: UInt64, isList: Bool, _ found: inout LogFields
  ) {
    guard let key, let part = Part(rawValue: parts & 3), part != .other, let field = LogField.named(line, key),
      part == .headers ? field == .agent && isList : !isList
    else { return }
    found.note(field, at: value)
  }

  /// Returns the place of a string without its quotes, and passes it. Escapes stay as they are: no name of a release has any.
  private static func string(_ line: Span<UInt8>, _ index: inout Int) -> Range<Int>? {
    let start = index + 1
    index = start
    while index < line.count {
      let byte = line[index]
      if byte == UInt8(ascii: "\"") {
        index += 1
        return start..<index - 1
      }
      index += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), 0x20, 0x09,
      0x0D:
      true
    default: false
    }
  }

  private static func isBlank(_ line: Span<UInt8>, from index: Int) -> Bool {
    for index in index..<line.count where line[index] != 0x20 && line[index] != 0x0D && line[index] != UInt8(ascii: ",") { return false }
    return true
  }
}
