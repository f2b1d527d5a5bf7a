import PackManifest

/// PK2010.
enum InstallSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2010", "a manifest entry has the wrong size on the device", needs: [.files, .payload],
    what: "installSize is the size of the unpacked tree: each file rounded up to 4 KiB, and 4 KiB for each directory.",
    onPhone: "The App Store shows a wrong size, and the check for free space before unpacking accepts a pack that does not fit.",
    remedy: "Run 'packer build', which computes it.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let size = file.installSize, size != entry.installSize else { return nil }
      let sizes = SizeText.pair(size, entry.installSize)
      return finding(
        "the tree takes \(sizes.0) on a device, but the manifest says \(sizes.1)", pack: entry.id, file: file.path,
        actual: size, limit: entry.installSize, hint: release.rebuild(entry.id))
    }
  }
}
