/// A connection that failed before its first request.
package struct ConnectionFailure: Sendable {
  package enum Kind: Hashable, Sendable {
    /// HTTP to a port that serves HTTPS.
    case plainHTTP
    /// HTTPS to a port that serves HTTP.
    case encrypted
    /// The client does not trust the certificate, or asked for another name.
    case refusal
    /// Client and server have no version of TLS in common, or the client sent something else.
    case handshake
    /// The client ended the handshake and gave no reason.
    case abandoned
    /// The client did not complete the handshake in time.
    case stalled
  }

  package let kind: Kind
  /// What happened, with the client's address.
  package let message: String

  /// - Parameters:
  ///   - reason: the alert of the client or the reason of OpenSSL, for the kinds that have one.
  ///   - address: the address of the client, if it is known.
  init(_ kind: Kind, _ reason: String, from address: String?) {
    self.kind = kind
    let client = address.map { "the client at \($0)" } ?? "a client"
    message =
      switch kind {
      case .plainHTTP: "\(client) sent HTTP, and this port serves HTTPS"
      case .encrypted: "\(client) sent HTTPS, and this port serves HTTP"
      case .refusal: "\(client) refused the certificate: \(reason)"
      case .handshake: "the TLS handshake with \(client) failed: \(reason)"
      case .abandoned: "\(client) ended the TLS handshake without a reason"
      case .stalled: "\(client) did not complete the TLS handshake in time"
      }
  }
}
