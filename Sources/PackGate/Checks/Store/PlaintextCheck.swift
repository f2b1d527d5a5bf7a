import PackManifest

/// PK6005.
enum PlaintextCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6005", "part of a pack can be read without its key", needs: [.files, .payload],
    what: """
      The bytes of the pack hold no more signatures of archives, images, sounds or documents than chance explains, and no paths of its \
      entries.
      """,
    onPhone: "The assets are public: they can be read from a cache or a mirror without any key.",
    remedy: "Build the pack with packer. If packer made it, report a bug: only the header of a pack should be readable.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let first = file.visible.first else { return nil }
      return finding(
        "\(file.path) contains in plaintext: \(first)", pack: entry.id, file: file.path, details: Array(file.visible.dropFirst()),
        hint: release.rebuild(entry.id))
    }
  }
}
