/// PK7006.
enum ServedEncodingCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7006", "the server compresses files", .error, .live, phone: .sizeMismatch, needs: [.manifest, .live],
    what: "Packs, deltas, pages and the manifest come without Content-Encoding, although devices allow gzip.",
    onPhone: "The size is not the one declared, and an interrupted download cannot continue.",
    remedy: "Switch compression off for these files, at the server and at the CDN.")
  static let fault = LiveFault.Kind.encoding
}
