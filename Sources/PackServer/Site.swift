package import PackServing
import PackWork

/// What a server serves. It knows requests and replies, and nothing of sockets.
package protocol Site: Sendable {
  /// The reply to a request. Runs on a thread that may block.
  ///
  /// - Throws: what the person at the server should read; the client is told 500.
  func reply(to request: PackRequest) throws(PackError) -> SiteReply
}

/// The answer to a request, with a body that is read while it is sent.
package struct SiteReply: Sendable {
  package var status: Int
  /// Everything but `Date`, `Server` and `Connection`, which are the server's. `Content-Length` is among it.
  package var headers: HeaderFields
  /// nil where none is sent, as with every reply to `HEAD`.
  package var body: (any SiteBody)?
  /// How fast the body may go, in bytes per second; as fast as the client takes it where it is nil.
  package var rate: UInt64?
  /// What is to be known about the reply at the server, in a word or two.
  package var note: String?

  package init(status: Int, headers: HeaderFields, body: (any SiteBody)? = nil, rate: UInt64? = nil, note: String? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.rate = rate
    self.note = note
  }

  /// A reply of a few words.
  ///
  /// - Parameter isHead: whether the words are counted and left out.
  package static func text(
    _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8", headers: HeaderFields = [:], isHead: Bool = false
  ) -> SiteReply {
    let bytes = Array(text.utf8)
    var all = headers
    all.append("Content-Type", type)
    all.append("Content-Length", "\(bytes.count)")
    return SiteReply(status: status, headers: all, body: isHead ? nil : TextBody(bytes))
  }
}

/// The bytes of a reply. One owner's at a time.
package protocol SiteBody: AnyObject, Sendable {
  /// The bytes that the client was promised. Where fewer come the connection is closed, so that the client notices.
  var length: UInt64 { get }
  /// The bytes that were decrypted so far to make those that were handed out.
  var decryptedBytes: UInt64 { get }
  /// Reads the next piece, lends it to `receive`, and returns whether there was one: false at the end. Blocks its thread.
  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool
}

/// A body that is in memory.
private final class TextBody: SiteBody {
  let length: UInt64
  let decryptedBytes: UInt64 = 0
  private let bytes: Monitor<[UInt8]?>

  init(_ bytes: [UInt8]) {
    length = UInt64(bytes.count)
    self.bytes = Monitor(bytes)
  }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    let taken = bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
    guard let taken else { return false }
    try receive(taken.span)
    return true
  }
}

/// What became of a request.
package struct SiteExchange: Sendable {
  package let request: PackRequest
  package let status: Int
  /// The bytes of the body that were handed to the system.
  package let sentBytes: UInt64
  /// The bytes that were decrypted for them.
  package let decryptedBytes: UInt64
  /// From the request's last header field to the last byte of the reply.
  package let microseconds: Int64
  /// Whether all that was promised was sent.
  package let isComplete: Bool
  /// What the site had to say about its reply.
  package let note: String?
  /// What went wrong on this side, if something did.
  package let failure: PackError?
}
