/// A field of logs whose fields have names.
enum LogField: UInt8, Hashable {
  case target, method, status, address, agent
  /// The time, or its two parts.
  case stamp, date, clock
  /// The bytes of the body that were sent; those with the header; the length that the header says.
  case body, sent, length

  /// The names of fields, in CloudFront, Cloudflare, Fastly's examples, Caddy, and JSON that nginx is configured to write.
  static let names: [(name: StaticString, field: LogField)] = [
    ("cs-uri-stem", .target), ("cs-method", .method), ("sc-status", .status), ("c-ip", .address), ("cs(User-Agent)", .agent),
    ("date", .date), ("time", .clock), ("timestamp", .stamp), ("sc-bytes", .sent), ("sc-content-len", .length),
    ("ClientRequestURI", .target), ("ClientRequestPath", .target), ("ClientRequestMethod", .method), ("EdgeResponseStatus", .status),
    ("ClientIP", .address), ("ClientRequestUserAgent", .agent), ("EdgeStartTimestamp", .stamp), ("EdgeEndTimestamp", .stamp),
    ("EdgeResponseBodyBytes", .body), ("EdgeResponseBytes", .sent),
    ("url", .target), ("request_method", .method), ("response_status", .status), ("client_ip", .address), ("request_user_agent", .agent),
    ("response_body_size", .body),
    ("uri", .target), ("method", .method), ("status", .status), ("remote_ip", .address), ("User-Agent", .agent), ("ts", .stamp),
    ("size", .body),
    ("request_uri", .target), ("remote_addr", .address), ("http_user_agent", .agent), ("time_iso8601", .stamp), ("time_local", .stamp),
    ("body_bytes_sent", .body), ("bytes_sent", .sent),
  ]

  /// Returns the field with a name, or nil.
  static func named(_ line: Span<UInt8>, _ place: Range<Int>) -> LogField? {
    guard place.count <= longest else { return nil }
    for number in byLength[place.count] where line.isText(names[number].name, at: place) { return names[number].field }
    return nil
  }

  private static let longest = names.map(\.name.utf8CodeUnitCount).max() ?? 0
  /// The numbers of the names of each length.
  private static let byLength = (0...longest).map { length in names.indices.filter { names[$0].name.utf8CodeUnitCount == length } }
}

/// The places of the fields of one line.
struct LogFields {
  private var target = 0..<0, method = 0..<0, status = 0..<0, address = 0..<0, agent = 0..<0
  private var stamp = 0..<0, date = 0..<0, clock = 0..<0, body = 0..<0, sent = 0..<0, length = 0..<0

  /// Notes the place of a field. Of two with one meaning, the first counts.
  mutating func note(_ field: LogField, at place: Range<Int>) {
    func set(_ known: inout Range<Int>) { if known.isEmpty { known = place } }
    switch field {
    case .target: set(&target)
    case .method: set(&method)
    case .status: set(&status)
    case .address: set(&address)
    case .agent: set(&agent)
    case .stamp: set(&stamp)
    case .date: set(&date)
    case .clock: set(&clock)
    case .body: set(&body)
    case .sent: set(&sent)
    case .length: set(&length)
    }
  }

  /// Returns the request, or nil if the line has no target or no status, or a number is none.
  func request(_ line: Span<UInt8>) -> LogRequest? {
    guard !target.isEmpty, !status.isEmpty, let known = LogRequest.status(line, status) else { return nil }
    var request = LogRequest()
    (request.target, request.status, request.address, request.agent) = (target, known, address, agent)
    request.isGet = method.isEmpty || line.isText("GET", at: method)
    guard let body = Self.size(line, body), let sent = Self.size(line, sent), let length = Self.size(line, length) else { return nil }
    // What was sent includes the header. So no more than the length that it says is body.
    request.bytes = body ?? sent.map { min($0, length ?? .max) }
    request.seconds =
      if !stamp.isEmpty { LogTime.stamp(line, stamp) ?? LogTime.inBrackets(line, stamp) } else if date.isEmpty {
        LogTime.stamp(line, clock)
      } else { LogTime.parts(line, date: date, clock: clock) }
    return request
  }

  /// Returns a size: nil inside if the field is missing, and nil if it is no number.
  private static func size(_ line: Span<UInt8>, _ place: Range<Int>) -> UInt64?? {
    if place.isEmpty || line.isText("-", at: place) || line.isText("null", at: place) { return .some(nil) }
    return line.number(in: place).map { .some($0) }
  }
}
