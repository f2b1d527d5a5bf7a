/// PK7007.
enum ServedSecurityCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7007", "devices do not accept the server's connection", .error, .live, needs: [.manifest, .live],
    what: "The server's certificate is valid, names the host, and leads to a known authority; the connection has TLS 1.2 or newer.",
    onPhone: "Nothing can be downloaded from the host.",
    remedy: "Renew the certificate, and send all those between it and the authority; 'openssl s_client -connect HOST:443' shows them.")
  static let fault = LiveFault.Kind.insecure
}
