/// PK7011.
enum NoResumptionCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7011", "downloads cannot continue after an interruption", .warning, .live, needs: [.manifest, .live],
    what: "The server answers range requests, and each answer has the same strong ETag, or the same Last-Modified.",
    onPhone: "An interrupted download starts again; a large one over a weak network may never end.",
    remedy: "Switch range requests and ETag on, with the same values at all machines that serve the files.")
  static let fault = LiveFault.Kind.noResumption
}
