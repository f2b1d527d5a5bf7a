import PackProject

/// PK2017.
enum CompanionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2017", "a file beside the manifest contradicts it, or is missing", needs: [.manifest, .pages],
    what: """
      packages.json names the packs of the manifest, with their sizes and URLs, Info.fragment.plist has the manifest's budget, build.json \
      can be read, and ba-package holds the packs with their policies. With Apple's hosting ba-package is there; with managed hosting its absence is a warning.
      """,
    onPhone: """
      An app that reads the other file declares a wrong size or requests a file that does not exist. Archives made from ba-package hold \
      other packs, or there is nothing to make them from.
      """,
    remedy: "Run 'packer build', with --ba-package if packs are managed, which writes all of them together.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    var findings = release.companions.compactMap { companion -> ReleaseFinding? in
      guard let first = companion.disagreements.first else { return nil }
      return finding(
        "\(companion.path): \(first)", file: companion.path, phone: companion.hasWrongSize ? .sizeMismatch : nil,
        details: Array(companion.disagreements.dropFirst()), hint: companion.hint)
    }
    if release.lacksPackageInput, let hosting = release.configuration?.hosting {
      findings.append(
        finding(
          "there is no ba-package, from which the archives for \(hosting == .apple ? "App Store Connect" : "your server") are made",
          level: hosting == .apple ? .error : .warning, file: release.manifest.path, hint: "packer build --ba-package"))
    }
    return findings
  }
}
