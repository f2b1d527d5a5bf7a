/// PK7015.
enum LongCachingCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7015", "caches keep the manifest for a long time", .warning, .live, needs: [.manifest, .live],
    what: "Caches may keep the manifest for an hour at most. A manifest without a time is a note.",
    onPhone: "Devices get a new release that much later.",
    remedy: "Serve the manifest with 'Cache-Control: public, max-age=60'.")
  static let fault = LiveFault.Kind.longCaching
}
