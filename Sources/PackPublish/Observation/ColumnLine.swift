/// The columns of a log of CloudFront, as its `#Fields:` line names them.
struct LogColumns {
  private let fields: [LogField?]

  /// - Parameter line: a line that starts with `#`. Returns nil if it does not name the columns that are needed.
  init?(_ line: Span<UInt8>) {
    guard line.count > Self.start, line.isText("#Fields:", at: 0..<Self.start) else { return nil }
    var fields: [LogField?] = []
    var index = Self.start
    while index < line.count {
      let start = index
      while index < line.count, line[index] != 0x20, line[index] != 0x09 { index += 1 }
      if start < index {
        guard fields.count < Self.most else { return nil }
        fields.append(LogField.named(line, start..<index))
      }
      index += 1
    }
    guard fields.contains(.target), fields.contains(.status) else { return nil }
    self.fields = fields
  }

  private static let start = 8
  /// More than any log has.
  private static let most = 256

  /// Returns the request in a line, or nil if it does not have these columns.
  func request(_ line: Span<UInt8>) -> LogRequest? {
    var found = LogFields()
    var start = 0
    for field in fields {
      guard start <= line.count else { return nil }
      var end = start
      while end < line.count, line[end] != 0x09 { end += 1 }
      if let field { found.note(field, at: start..<end) }
      start = end + 1
    }
    return start == line.count + 1 ? found.request(line) : nil
  }
}
