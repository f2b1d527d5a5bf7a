/// PK7005.
enum ServedContentCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7005", "a file at the server has other bytes", .error, .live, needs: [.manifest, .live],
    what: """
      The SHA-256 of every file is the one in the manifest. With --quick, parts of large files are compared with those in the \
      directory.
      """,
    onPhone: "The download succeeds, but the app refuses to install the pack, each time again.",
    remedy: "Run 'packer publish' again, which compares and uploads it, and have caches drop the other one.")
  static let fault = LiveFault.Kind.content
}
