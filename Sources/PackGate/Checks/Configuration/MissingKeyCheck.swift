import PackProject

/// PK1002.
enum MissingKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1002", "no content key was given, so no pack was opened", .warning, needs: [.files],
    what: "With --quick the gate runs without a key, but then cannot tell a pack of another key, or one whose header was changed.",
    onPhone: "A pack of another key cannot be opened there.",
    remedy: "Give the key with --key, with PACKER_KEY_FILE, or as 'key' in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard !release.hasKey, !release.packs.isEmpty else { return [] }
    return [
      finding(
        "no content key was given: headers were read, but not authenticated",
        hint: "packer verify \(ShellWord.path(release.directory)) --quick --key game.key")
    ]
  }
}
