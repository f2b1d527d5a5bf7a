/// PK2017.
enum CompanionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2017", "a file beside the manifest contradicts it", phone: .sizeMismatch, needs: [.manifest],
    what: """
      packages.json names the packs of the manifest, with their sizes and URLs, Info.fragment.plist has the manifest's budget, and \
      ba-package holds the packs with their policies.
      """,
    onPhone: "An app that reads the other file declares a wrong size or requests a file that does not exist.",
    remedy: "Run 'packer build', which writes all of them together.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.companions.compactMap { companion in
      guard let first = companion.disagreements.first else { return nil }
      return finding(
        "\(companion.path): \(first)", file: companion.path, details: Array(companion.disagreements.dropFirst()), hint: "packer build")
    }
  }
}
