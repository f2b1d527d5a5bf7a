import PackFormat

/// PK5001.
enum UnreadableManifestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5001", "the manifest cannot be read", .error, .damaged, needs: [],
    what: "The manifest is in the canonical form of a signed manifest, and at most 1 MiB (FORMAT.md §9.1).",
    onPhone: "The app refuses it and keeps its manifest; a new install gets no packs.",
    remedy: "Run 'packer build'. Do not edit or reformat the file: it is signed byte for byte.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard release.manifest.manifest == nil, let failure = release.manifest.failure else { return [] }
    return [
      finding(failure.message, file: release.manifest.path, details: failure.details, hint: release.wording(failure) ?? "packer build")
    ]
  }
}
