/// The text of the page: its template with the data in it.
struct HTMLReportText {
  private var data = "{"

  /// Adds a member of the data. Nothing is added for an empty list.
  mutating func add(_ key: String, _ value: JSON) {
    if case .list(let values) = value, values.isEmpty { return }
    start(key)
    data += value.line
  }

  /// Adds a list, each of whose items becomes text at once.
  mutating func add(_ key: String, parts: [JSON]) {
    start(key)
    data += "["
    for (number, part) in parts.enumerated() { data += (number == 0 ? "" : ",\n") + part.line }
    data += "]"
  }

  private mutating func start(_ key: String) { data += (data.utf8.count == 1 ? "\n" : ",\n") + JSON.quoted(key) + ":" }

  /// Returns the page. No text of the data ends the element that it is in, because every `<` is escaped.
  func page(title: String) -> [UInt8] {
    let template = PackageResources.report_html[...]
    var page: [UInt8] = []
    page.reserveCapacity(template.count + data.utf8.count + 1024)
    var rest = template
    while let mark = rest.firstIndex(of: UInt8(ascii: "@")) {
      page += rest[..<mark]
      rest = rest[mark...]
      if rest.starts(with: "@TITLE@".utf8) {
        page += MarkupText.element(title).utf8
        rest = rest.dropFirst("@TITLE@".utf8.count)
      } else if rest.starts(with: "@DATA@".utf8) {
        for byte in data.utf8 {
          if byte == UInt8(ascii: "<") { page += "\\u003c".utf8 } else { page.append(byte) }
        }
        page += "\n}".utf8
        rest = rest.dropFirst("@DATA@".utf8.count)
      } else {
        page.append(rest.removeFirst())
      }
    }
    return page + rest
  }
}
