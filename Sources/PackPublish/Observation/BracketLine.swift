/// The lines of access logs with the time in brackets: Common and Combined, as nginx and Apache write them, also behind the name of the host, and those of
/// Amazon S3.
enum BracketLine {
  /// Returns nil if the line is none.
  static func request(_ line: Span<UInt8>) -> LogRequest? {
    var cursor = LineCursor()
    var request = LogRequest()
    var first = 0..<0
    var count = 0
    while count < 2 || cursor.peek(line) != UInt8(ascii: "[") {
      // Two before the time of S3, three before that of Common, and the host.
      guard count < 8, let token = cursor.token(line) else { return nil }
      if count == 0 { first = token }
      if count == 1 { request.address = token }
      count += 1
    }
    if count != 4 { request.address = first }
    guard let time = cursor.bracketed(line) else { return nil }
    request.seconds = LogTime.inBrackets(line, time)
    let isS3 = count == 2
    if isS3 {
      guard let address = cursor.token(line) else { return nil }
      request.address = address
      // The requester, the request's id, the operation and the key.
      guard cursor.pass(4, line) else { return nil }
    }
    guard readRequest(line, &cursor, &request), let status = cursor.token(line).flatMap({ LogRequest.status(line, $0) }) else { return nil }
    request.status = status
    // The error code.
    guard !isS3 || cursor.pass(1, line), let sent = cursor.token(line) else { return nil }
    // No bytes are a hyphen.
    request.bytes = line.isText("-", at: sent) ? 0 : line.number(in: sent)
    guard request.bytes != nil else { return nil }
    // The size of the object and two times.
    if isS3, !cursor.pass(3, line) { return nil }
    if cursor.quoted(line) != nil, let agent = cursor.quoted(line) { request.agent = agent }
    return request
  }

  /// Reads `"GET /path HTTP/1.1"`. What else a client sent is a request without a target.
  private static func readRequest(_ line: Span<UInt8>, _ cursor: inout LineCursor, _ request: inout LogRequest) -> Bool {
    if cursor.peek(line) == UInt8(ascii: "-") { return cursor.pass(1, line) }
    guard let whole = cursor.quoted(line) else { return false }
    guard let space = whole.first(where: { line[$0] == 0x20 }) else { return true }
    request.isGet = line.isText("GET", at: whole.lowerBound..<space)
    let rest = space + 1..<whole.upperBound
    request.target = rest.lowerBound..<(rest.first { line[$0] == 0x20 } ?? rest.upperBound)
    return true
  }
}

extension LineCursor {
  /// Passes tokens, and returns whether they were there.
  fileprivate mutating func pass(_ count: Int, _ line: Span<UInt8>) -> Bool {
    for _ in 0..<count where token(line) == nil { return false }
    return true
  }
}
