/// PK7002.
enum MissingFileCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7002", "a file of the release is not at the server", .error, .live, phone: .notFound, needs: [.manifest, .live],
    what: "The server answers 200 for the manifest, and for every pack, delta and page of the release, after several attempts.",
    onPhone: "The pack cannot be downloaded. Without a delta, devices download the full pack; without the manifest, nothing.",
    remedy: "Upload what is missing with 'packer publish', and check what the server allows to be read.")
  static let fault = LiveFault.Kind.missing
}
