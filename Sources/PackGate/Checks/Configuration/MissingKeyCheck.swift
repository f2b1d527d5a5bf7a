import PackProject

/// PK1002.
enum MissingKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1002", "no content key was given, so no pack was opened", .warning, needs: [.files],
    what: "A key was given. With --quick, verify runs without one, but then cannot detect a pack of another key or a changed header.",
    onPhone: "The app cannot open a pack of another key.",
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
