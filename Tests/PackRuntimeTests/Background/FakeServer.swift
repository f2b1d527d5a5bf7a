import Foundation
import TestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An HTTP server in memory, which counts what it sends, and fails as it is told.
final class FakeServer: Sendable {
  struct File: Sendable {
    var bytes: [UInt8]
    var tag: String? = "\"1\""
    var modified: String?
  }

  /// One request and what became of it.
  struct Exchange: Sendable {
    let number: Int
    let path: String
    let range: String?
    let condition: String?
    let authorization: String?
    var status = 0
    /// The number of bytes of the body that were sent.
    var sent = 0
  }

  enum Fault: Sendable {
    /// The connection breaks after so many bytes of the body.
    case cut(Int)
    /// No byte is sent, and the connection stays.
    case stall
    /// The connection stays after half of the body.
    case stallHalf
    case status(Int, [String: String] = [:])
    /// The response comes from another address.
    case redirect(to: String)
  }

  struct Answer {
    let response: HTTPURLResponse
    let body: [UInt8]
    /// The number of bytes after which the connection breaks.
    let cut: Int?
    /// Whether the rest never comes.
    let isStuck: Bool
  }

  private struct State {
    var files: [String: File] = [:]
    var exchanges: [Exchange] = []
    var changes: [Int: (path: String, file: File)] = [:]
    var sendsRanges = true
    var knowsConditions = true
    var token: String?
    var decide: @Sendable (Exchange) -> Fault? = { _ in nil }
  }

  private let state = Monitor(State())

  /// What was asked for, in order.
  var exchanges: [Exchange] { state.withLock { $0.exchanges } }
  /// The number of bytes that were sent in all successful responses, complete or not.
  var sent: Int { exchanges.filter { (200...299).contains($0.status) }.reduce(0) { $0 + $1.sent } }

  func serve(_ path: String, _ file: File) { state.withLock { $0.files[path] = file } }
  func serve(_ path: String, _ bytes: [UInt8]) { serve(path, File(bytes: bytes)) }

  /// Changes how the server behaves.
  func set(ranges: Bool? = nil, conditions: Bool? = nil, token: String?? = nil) {
    state.withLock { state in
      if let ranges { state.sendsRanges = ranges }
      if let conditions { state.knowsConditions = conditions }
      if let token { state.token = token }
    }
  }

  func fail(_ decide: @escaping @Sendable (Exchange) -> Fault?) { state.withLock { $0.decide = decide } }

  /// Replaces a file after a request was answered.
  func replace(_ path: String, by file: File, after number: Int) { state.withLock { $0.changes[number] = (path, file) } }

  /// Answers a request. Returns nil if it never does.
  func answer(_ request: URLRequest) -> Answer? {
    state.withLock { state in
      var exchange = Exchange(
        number: state.exchanges.count, path: request.url?.path ?? "", range: request.value(forHTTPHeaderField: "Range"),
        condition: request.value(forHTTPHeaderField: "If-Range"), authorization: request.value(forHTTPHeaderField: "Authorization"))
      defer {
        state.exchanges.append(exchange)
        if let (path, file) = state.changes[exchange.number] { state.files[path] = file }
      }
      var (url, cut, isStuck) = (request.url!, Int?.none, false)
      func answer(_ status: Int, _ headers: [String: String] = [:], _ body: [UInt8] = []) -> Answer {
        exchange.status = status
        exchange.sent = min(cut ?? .max, body.count)
        var headers = headers
        headers["Content-Length"] = "\(body.count)"
        headers["Date"] = "Thu, 02 Jul 2026 13:46:40 GMT"
        return Answer(
          response: HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)!, body: body, cut: cut,
          isStuck: isStuck)
      }
      switch state.decide(exchange) {
      case nil: break
      case .cut(let count): cut = count
      case .stall: return nil
      case .stallHalf: isStuck = true
      case .status(let status, let headers): return answer(status, headers, Array("no".utf8))
      case .redirect(let address): url = URL(string: address)!
      }
      if let token = state.token, exchange.authorization != token { return answer(401, [:], Array("who are you?".utf8)) }
      guard let file = state.files[exchange.path] else { return answer(404, [:], Array("not here".utf8)) }
      var headers: [String: String] = [:]
      if let tag = file.tag { headers["ETag"] = tag }
      if let modified = file.modified { headers["Last-Modified"] = modified }
      let isSame =
        !state.knowsConditions || exchange.condition == nil || exchange.condition == file.tag || exchange.condition == file.modified
      guard state.sendsRanges, isSame, let range = exchange.range?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) }),
        range.count == 2
      else { return answer(200, headers, file.bytes) }
      guard range[0] < file.bytes.count else { return answer(416, ["Content-Range": "bytes */\(file.bytes.count)"]) }
      let end = min(range[1], file.bytes.count - 1)
      headers["Content-Range"] = "bytes \(range[0])-\(end)/\(file.bytes.count)"
      return answer(206, headers, Array(file.bytes[range[0]...end]))
    }
  }
}
