import PackManifest

/// PK2024.
enum TagPagesCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2024", "the pages of tags differ from the tags of the packs", .error, .damaged, needs: [.manifest, .pages],
    what: "The pages of tags list each pack of the pages under each of its tags, and nothing else.",
    onPhone: "An app that requests a tag misses packs, or refuses the pages.",
    remedy: "Run 'packer build', which makes all pages together.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let fault = release.tagFault else { return [] }
    return [finding(fault, file: release.manifest.path, hint: "packer build")]
  }
}
