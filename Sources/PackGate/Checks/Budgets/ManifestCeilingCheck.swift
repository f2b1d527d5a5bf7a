import PackProject

/// PK3005.
enum ManifestCeilingCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3005", "the manifest is larger than the space reserved for it", phone: .outOfAllowance,
    needs: [.manifest, .configuration],
    what: """
      The manifest is not larger than manifestCeiling in packer.yml, which every budget includes; with pages, 'packer build' reserves more if \
      it is needed. From 80 % on, this is a warning.
      """,
    onPhone: "The manifest counts against the essential allowance. If it is too large, its download fails with 203, and no pack comes.",
    remedy: "Raise manifestCeiling and ship an app with the new Info.plist first, or shorten tags and descriptions.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration, let ceiling = release.manifestCeiling else { return [] }
    let size = release.manifest.size
    guard size > ceiling / 5 * 4 else { return [] }
    let sizes = SizeText.pair(size, ceiling)
    return [
      finding(
        "\(release.manifest.path) is \(sizes.0), \(size > ceiling ? "more than" : "near") the \(sizes.1) reserved for it",
        level: size > ceiling ? .error : .warning, file: release.manifest.path, actual: size, limit: ceiling,
        hint: "raise manifestCeiling in \(configuration.path), then: packer build")
    ]
  }
}
