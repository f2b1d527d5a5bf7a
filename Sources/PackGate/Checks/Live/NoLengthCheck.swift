/// PK7017.
enum NoLengthCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7017", "the server does not say the length of a file", .warning, .live, needs: [.manifest, .live],
    what: "Every answer with a file has its Content-Length.",
    onPhone: "The app cannot show how far a download is.",
    remedy: "Serve the files as they are, and not through filters that may change them.")
  static let fault = LiveFault.Kind.noLength
}
