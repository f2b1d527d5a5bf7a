import PackProject

/// PK3005.
enum ManifestCeilingCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3005", "the manifest is larger than what is reserved for it", .error, .budget, phone: .outOfAllowance,
    needs: [.manifest, .configuration],
    what: "The manifest file is at most manifestCeiling of packer.yml, at which every budget counts it. From 80 % on it is a warning.",
    onPhone: "It counts against the essential allowance: where it outgrows its place, its own download ends with 203, and nothing works.",
    remedy: "Raise manifestCeiling and ship an app with the new Info.plist first, or shorten tags and descriptions.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration else { return [] }
    let (size, ceiling) = (release.manifest.size, configuration.manifestCeiling)
    guard size > ceiling / 5 * 4 else { return [] }
    return [
      finding(
        "\(release.manifest.path) is \(size) bytes, \(size > ceiling ? "more than" : "near") the \(ceiling) that are reserved for it",
        level: size > ceiling ? .error : .warning, file: release.manifest.path, actual: size, limit: ceiling,
        hint: "raise manifestCeiling in \(configuration.path), then: packer build")
    ]
  }
}
