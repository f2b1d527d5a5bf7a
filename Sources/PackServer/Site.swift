/// The content of a server, independent of sockets: returns a reply for each request.
package protocol Site: Sendable {
  /// Returns the reply to a request. Runs on a thread that may block.
  ///
  /// - Throws: an error for the log of the server. The client gets status 500.
  func reply(to request: PackRequest) throws(PackError) -> SiteReply

  /// Returns the largest body that is read of a request, in bytes; 0 if its body is ignored. Must not block.
  func bodyLimit(of request: PackRequest) -> Int

  /// Takes the body of a request for which ``bodyLimit(of:)`` is not 0, before the reply to it. Runs on a thread that may block.
  func take(_ body: [UInt8], of request: PackRequest)
}

extension Site {
  package func bodyLimit(of request: PackRequest) -> Int { 0 }
  package func take(_ body: [UInt8], of request: PackRequest) {}
}

/// The reply to a request, with a body that is read while it is sent.
package struct SiteReply: Sendable {
  package var status: Int
  /// All header fields, including `Content-Length`, except `Date`, `Server` and `Connection`, which the server adds.
  package var headers: HeaderFields
  /// The body; nil if none is sent, as for every reply to `HEAD`.
  package var body: (any SiteBody)?
  /// The largest speed of the body in bytes per second; nil for no limit.
  package var rate: UInt64?
  /// A short note about the reply for the log of the server.
  package var note: String?

  package init(status: Int, headers: HeaderFields, body: (any SiteBody)? = nil, rate: UInt64? = nil, note: String? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.rate = rate
    self.note = note
  }

  /// Returns a reply with a short text.
  ///
  /// - Parameter isHead: whether the body is left out. Its length is still in `Content-Length`.
  package static func text(
    _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8", headers: HeaderFields = [:], isHead: Bool = false
  ) -> SiteReply {
    let bytes = Array(text.utf8)
    var all = headers
    all.append("Content-Type", type)
    all.append("Content-Length", "\(bytes.count)")
    return SiteReply(status: status, headers: all, body: isHead ? nil : HeldBody(bytes))
  }
}

extension SiteReply {
  init(_ response: PackResponse) {
    self.init(status: response.status, headers: response.headers, body: response.body?.makeReader())
  }

  /// Returns a reply of status 404 that names the path that was probably meant, if there is one.
  ///
  /// - Parameters:
  ///   - text: what is not there, as a sentence.
  ///   - near: the nearest path.
  static func missing(_ text: String, near: String?, headers: HeaderFields = [:], isHead: Bool) -> SiteReply {
    let advice = near.map { " Did you mean /\(RequestTarget.encoded($0))?" } ?? ""
    var reply = SiteReply.text(404, "\(text)\(advice)\n", headers: headers, isHead: isHead)
    reply.note = near.map { "near: \(printable($0.utf8))" }
    return reply
  }
}

/// The bytes of a reply. Used by one owner at a time.
package protocol SiteBody: AnyObject, Sendable {
  /// The number of bytes that the client expects. If the body ends earlier, the server closes the connection, so that the client notices.
  var length: UInt64 { get }
  /// The number of bytes decrypted so far for the pieces that were read.
  var decryptedBytes: UInt64 { get }
  /// Reads the next piece and lends it to `receive`. Returns false at the end. Blocks its thread.
  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool
}

extension SiteBody {
  /// Returns a copy of the next piece; nil at the end.
  func nextPiece() throws(PackError) -> [UInt8]? {
    var piece: [UInt8] = []
    let isThere = try next { (span) throws(PackError) in
      piece = [UInt8](repeating: 0, count: span.count)
      var target = piece.mutableByteSpan
      copy(span, to: &target)
    }
    return isThere ? piece : nil
  }
}

extension BodyReader: SiteBody {}

/// A body that is in memory, or begins there.
final class HeldBody: SiteBody {
  let length: UInt64
  /// The bytes in memory, until they are sent.
  private let bytes: Monitor<[UInt8]?>
  private let rest: (any SiteBody)?

  init(_ bytes: [UInt8]) {
    (length, rest, self.bytes) = (UInt64(bytes.count), nil, Monitor(bytes))
  }

  /// - Parameter length: the number of bytes, with those of the rest.
  init(_ bytes: [UInt8], before rest: any SiteBody, length: UInt64) {
    (self.length, self.rest, self.bytes) = (length, rest, Monitor(bytes))
  }

  var decryptedBytes: UInt64 { rest?.decryptedBytes ?? 0 }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    let taken = bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
    guard let taken else { return try rest?.next(receive) ?? false }
    try receive(taken.byteSpan)
    return true
  }
}

/// The result of a request, for the log of the server.
package struct SiteExchange: Sendable {
  package let request: PackRequest
  package let status: Int
  /// The number of bytes of the body that were passed to the system, or that left on a simulated link.
  package let sentBytes: UInt64
  /// The number of bytes decrypted for them.
  package let decryptedBytes: UInt64
  /// The time from the last header field of the request to the last byte of the reply.
  package let microseconds: Int64
  /// Whether the complete reply was sent.
  package let isComplete: Bool
  /// The note of the site about its reply.
  package let note: String?
  /// The error on the server's side; nil if there was none.
  package let failure: PackError?
}

extension SiteExchange {
  package var json: JSON {
    [
      "type": "request", "method": .text(request.method), "target": .text(request.target), "host": .text(request.headers["Host"]),
      "range": .text(request.headers["Range"]), "status": .number(status), "sentBytes": .number(sentBytes),
      "decryptedBytes": .number(decryptedBytes), "microseconds": .number(microseconds), "isComplete": .flag(isComplete),
      "fault": .text(note),
    ]
  }
}

extension Site {
  /// Returns the host of an absolute target, or else the `Host` field (RFC 9112 §3.2.2).
  static func host(of request: PackRequest) -> String? {
    guard !request.target.utf8.starts(with: "/".utf8), let start = request.target.firstRange(of: "://")?.upperBound else {
      return request.headers["Host"]
    }
    return String(request.target[start...].prefix { !"/?#".contains($0) })
  }
}
