/// PK7001.
enum OtherManifestCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7001", "the server sends another manifest than that of the release", .error, .live, needs: [.manifest, .live],
    what: "The manifest at the server is, byte for byte, the one of the release.",
    onPhone: "Devices get the packs of the manifest that is there: an earlier release, or nothing if it is no manifest.",
    remedy: "Publish the manifest after all other files, with 'packer publish', and have caches drop the old one.")
  static let fault = LiveFault.Kind.otherManifest
}
