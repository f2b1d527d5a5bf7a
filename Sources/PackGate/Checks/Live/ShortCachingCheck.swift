/// PK7014.
enum ShortCachingCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7014", "caches keep packs only for a short time", .warning, .live, needs: [.manifest, .live],
    what: "Caches may keep packs, deltas and pages for a day or longer. A file without a time is a note.",
    onPhone: "Downloads come from further away, and take longer.",
    remedy: "Serve them with 'Cache-Control: public, max-age=31536000, immutable': a name never gets other bytes.")
  static let fault = LiveFault.Kind.shortCaching
}
