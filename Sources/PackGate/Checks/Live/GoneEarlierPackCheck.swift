/// PK7012.
enum GoneEarlierPackCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7012", "a pack of an earlier release is gone", .error, .live, phone: .notFound, needs: [.manifest, .live, .lock],
    what: "The packs of recorded releases whose manifests have not expired are still at the server, with their size.",
    onPhone: "A device that still has that manifest cannot download them until it gets the new one.",
    remedy: "Upload them again from 'released', and delete packs only after the manifests that name them have expired.")
  static let fault = LiveFault.Kind.goneEarlier
}
