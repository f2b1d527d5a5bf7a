/// PK7013.
enum ServedTypeCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7013", "a file has a type that suggests text", .warning, .live, needs: [.manifest, .live],
    what: "The Content-Type of packs, deltas and pages is not one of texts, and that of the manifest is not one of web pages.",
    onPhone: "Networks and CDNs may compress or change the file.",
    remedy: "Serve *.pack and *.page as application/octet-stream.")
  static let fault = LiveFault.Kind.type
}
