/// The files that pages and style sheets of a pack name, to find names in the wrong case.
///
/// Windows and macOS find such a file, the paths of a pack do not. Names that fit no file in any case are not reported: a script may answer them.
enum PageReferences {
  /// Larger pages are not read, in bytes.
  private static let largestPage: UInt64 = 1 << 20
  /// The sum of the sizes of the pages that are read, in bytes.
  private static let largestSum: UInt64 = 64 << 20
  /// The largest number of names that are searched for among all paths.
  private static let mostMissing = 10_000

  /// A name in the wrong case.
  struct Misspelling {
    let page: String
    /// The path that it means.
    let path: String
    let sentence: String

    /// Page and path, to compare it with a reference that was found in another way.
    var id: String { "\(page)\0\(path)" }
  }

  /// Returns the names that differ from the path of a file only in case, in the order of the pages.
  static func misspelled(in pack: Pack) throws(PackError) -> [Misspelling] {
    var pages: [String] = []
    var sum: UInt64 = 0
    try pack.forEachEntry { (entry) throws(PackError) in
      guard entry.kind == .file, entry.size <= largestPage, isPage(entry.path), sum <= largestSum else { return }
      sum += entry.size
      pages.append(entry.path)
    }
    var missing: [String: [Missing]] = [:]
    var count = 0
    for page in pages {
      for name in Set(names(in: try pack.read(page), isStyle: page.lowercased().hasSuffix(".css"))).sorted() {
        guard count < mostMissing, let path = resolve(name, from: page), try pack.find(path) == nil else { continue }
        missing[path.lowercased(), default: []].append(Missing(page: page, name: name, path: path))
        count += 1
      }
    }
    guard !missing.isEmpty else { return [] }
    var found: [Misspelling] = []
    try pack.forEachEntry { (entry) throws(PackError) in
      for other in missing[entry.path.lowercased()] ?? [] {
        let sentence =
          "'\(printable(other.page.utf8))' names '\(printable(other.name.utf8))', but the file is '\(printable(entry.path.utf8))'"
        found.append(Misspelling(page: other.page, path: other.path, sentence: sentence))
      }
    }
    return found.sorted { ($0.page, $0.sentence) < ($1.page, $1.sentence) }
  }

  private struct Missing {
    let page: String
    let name: String
    let path: String
  }

  private static func isPage(_ path: String) -> Bool {
    let lower = path.lowercased()
    return lower.hasSuffix(".html") || lower.hasSuffix(".htm") || lower.hasSuffix(".css")
  }

  // MARK: Text

  /// Returns the values of `src`, `href` and `poster` outside comments, and what stands in `url(…)`. A page with a base address gives none.
  static func names(in text: [UInt8], isStyle: Bool) -> [String] {
    var names: [String] = []
    var index = 0
    while index < text.count {
      if !isStyle, text[index] == UInt8(ascii: "<") {
        if has("<!--", at: index, in: text) {
          index += 4
          while index < text.count, !has("-->", at: index, in: text) { index += 1 }
        } else if has("<base ", at: index, in: text) {
          return []
        }
      } else if !isStyle, text[index] == UInt8(ascii: "="), isAttribute(before: index, in: text) {
        if let value = quoted(after: index, in: text) { names.append(value) }
      } else if text[index] == UInt8(ascii: "("), index >= 3, has("url(", at: index - 3, in: text) {
        if let value = quoted(after: index, in: text) ?? upToParenthesis(after: index, in: text) { names.append(value) }
      }
      index += 1
    }
    return names
  }

  /// Whether a word in lower case is at a position, in any case.
  private static func has(_ word: String, at index: Int, in text: [UInt8]) -> Bool {
    var at = index
    for byte in word.utf8 {
      guard at < text.count, text[at] == byte || (0x41...0x5A).contains(text[at]) && text[at] | 0x20 == byte else { return false }
      at += 1
    }
    return true
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isAttribute(before index: Int, in text: [UInt8]) -> Bool {
    var end = index
    while end > 0, isBlank(text[end - 1]) { end -= 1 }
    return ["src", "href", "poster"].contains { word in
      let start = end - word.utf8.count
      guard start > 0, has(word, at: start, in: text) else { return false }
      // A property of an element in a script too.
      return isBlank(text[start - 1]) || "\"'.".utf8.contains(text[start - 1])
    }
  }

  /// The most bytes that a name has.
  private static let longestName = 1024

  private static func quoted(after index: Int, in text: [UInt8]) -> String? {
    var start = index + 1
    while start < text.count, isBlank(text[start]) { start += 1 }
    guard start < text.count, "\"'".utf8.contains(text[start]) else { return nil }
    let rest = text[(start + 1)...].prefix(longestName)
    guard let end = rest.firstIndex(where: { $0 == text[start] || $0 == 0x0A }), text[end] == text[start] else { return nil }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  private static func upToParenthesis(after index: Int, in text: [UInt8]) -> String? {
    let rest = text[(index + 1)...].prefix(longestName)
    guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: ")") || $0 == 0x0A }), text[end] == UInt8(ascii: ")") else { return nil }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  // MARK: Addresses

  /// Returns the path in the pack that a page means by a relative address. Nil if it means something else, or is put together by a script.
  static func resolve(_ name: String, from page: String) -> String? {
    var bytes = name.utf8.drop(while: isBlank).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
    guard let first = bytes.first, !bytes.contains(where: { "{}$<>\\+".utf8.contains($0) }) else { return nil }
    let isFromRoot = first == UInt8(ascii: "/")
    guard !isFromRoot || bytes.dropFirst().first != first else { return nil }
    // An address with a scheme.
    guard !bytes.prefix(while: { $0 != UInt8(ascii: "/") }).contains(UInt8(ascii: ":")) else { return nil }
    guard let decoded = decoded(bytes) else { return nil }
    var parts = isFromRoot ? [] : page.split(separator: "/").dropLast()
    for part in decoded.split(separator: "/") {
      switch part {
      case ".": continue
      case "..": if parts.popLast() == nil { return nil }
      default: parts.append(part)
      }
    }
    if decoded.hasSuffix("/") { parts.append("index.html") }
    return parts.isEmpty ? nil : parts.joined(separator: "/")
  }

  /// Replaces escapes such as `%20`. Nil if one is malformed, or the text is not UTF-8.
  private static func decoded(_ bytes: some Sequence<UInt8>) -> String? {
    var text: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        text.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }),
        let low = iterator.next().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue })
      else { return nil }
      text.append(UInt8(high << 4 | low))
    }
    return String(validUTF8: text)
  }
}
