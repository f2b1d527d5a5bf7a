/// PK7004.
enum IncompleteDownloadCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7004", "a download does not complete", .error, .live, needs: [.manifest, .live],
    what: "Every file comes whole, at the second or third attempt at the latest, and every host answers.",
    onPhone: "The download fails or stalls, again and again.",
    remedy: "Look at the server's log and limits, and at the file there, which may be truncated.")
  static let fault = LiveFault.Kind.incomplete
}
