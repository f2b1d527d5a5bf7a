/// One request to the server.
struct LiveRequest: Hashable, Sendable {
  var url: String
  /// The bytes to ask for; nil for the whole file.
  var range: ClosedRange<UInt64>?
  /// The largest body in bytes. A larger one is not fetched if the server says its length.
  var limit: UInt64
  /// Whether the bytes are returned. Otherwise only their digest is.
  var keepsBytes = false
  /// Header fields besides the usual ones.
  var fields: [String] = []
  /// Whether the server may encode the body, as devices allow it.
  var allowsEncoding = true
  /// Whether the server is asked for an encoded body, which is decoded.
  var isDecoded = false
}

/// What the server answered to one request.
struct LiveAnswer: Hashable, Sendable {
  /// The address that answered, after redirects.
  var url: String
  /// The status of HTTP; 0 if there was no answer.
  var status = 0
  /// The exit status of the transfer as `curl` has it, and its words; 0 for a complete one.
  var failure = 0
  var failureText = ""
  /// The address that it redirects to.
  var redirect: String?
  /// The header fields by their names in lower case. The values of repeated ones are joined by a comma.
  var fields: [String: String] = [:]
  /// The number of bytes that came.
  var received: UInt64 = 0
  /// SHA-256 of these bytes, 32 bytes; nil if the answer is not complete.
  var sha256: [UInt8]?
  var bytes: [UInt8]?
  /// The end of the server's certificate, as `Nov 27 14:00:00 2026 GMT`; nil if it is not known.
  var certificateEnd: String?
  /// Why a redirect was not followed.
  var refusal: LiveFault?
  /// Whether nothing was asked, because the host failed before.
  var isUnasked = false

  /// The exit status of `curl` for a body above the limit.
  static let tooLarge = 63

  /// Whether the connection was refused as not secure.
  var isInsecure: Bool { [35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98].contains(failure) }
  /// Whether the server says that it cannot answer now.
  var isBusy: Bool { status == 429 || (500...599).contains(status) }
  /// The kind of fault that the status of an answer without the file is.
  var fault: LiveFault.Kind { isBusy ? .busy : status == 401 || status == 403 ? .refused : .missing }
  /// Whether there was no connection.
  var isSilent: Bool { status == 0 && [5, 6, 7, 28, 52, 97].contains(failure) }
}

/// Sends requests.
protocol LiveFetcher: Sendable {
  /// Sends requests, several at a time, and repeats those whose fault may pass. Redirects are not followed.
  ///
  /// - Returns: one answer to each, in their order.
  func fetch(_ requests: [LiveRequest]) async throws(PackError) -> [LiveAnswer]
}
