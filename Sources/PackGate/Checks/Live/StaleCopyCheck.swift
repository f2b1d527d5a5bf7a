/// PK7016.
enum StaleCopyCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7016", "a cache sends a stale copy", .warning, .live, needs: [.manifest, .live],
    what: "No answer is older (Age) than the time for which caches may keep it.",
    onPhone: "Devices get an old manifest for longer than the server says.",
    remedy: "Check the CDN's own times, and have it drop the copies.")
  static let fault = LiveFault.Kind.stale
}
