/// PK7009.
enum BrokenRedirectCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7009", "a redirect leads nowhere", .error, .live, needs: [.manifest, .live],
    what: "Redirects lead to addresses that devices download from, over https, and there are at most five.",
    onPhone: "The download fails.",
    remedy: "Serve the files under their own addresses.")
  static let fault = LiveFault.Kind.redirect
}
