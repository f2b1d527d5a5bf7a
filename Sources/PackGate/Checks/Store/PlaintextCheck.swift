import PackManifest

/// PK6005.
enum PlaintextCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6005", "something can be read in a pack without its key", needs: [.files, .payload],
    what: """
      In the bytes of the pack there are no signatures of archives, images, sounds or documents beyond what chance gives, and no paths of its \
      entries.
      """,
    onPhone: "The assets are published: they can be taken out of a cache or a mirror without any key.",
    remedy: "Build the pack with packer alone, and report it: its own packs show nothing but their header.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let first = file.visible.first else { return nil }
      return finding(
        "\(file.path) shows \(first)", pack: entry.id, file: file.path, details: Array(file.visible.dropFirst()),
        hint: release.rebuild(entry.id))
    }
  }
}
