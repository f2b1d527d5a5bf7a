import PackManifest

/// PK6001.
enum ManifestSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6001", "the manifest is large", .warning, needs: [.manifest],
    what: """
      The manifest, without its pages, is below 80 % of the 1 MiB that clients read (about 2000 packs); from 256 KiB on, this is a note.
      """,
    onPhone:
      "The extension has only a few megabytes of memory to read it. Clients refuse a manifest above 1 MiB, and 'packer build' never makes one.",
    remedy: "Make packs onDemand: more than 64 of them are in pages. Or merge small packs, or shorten tags and descriptions.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let (size, largest) = (release.manifest.size, UInt64(Manifest.largestSize))
    let isNear = size >= largest / 5 * 4
    guard isNear || size >= 256 << 10 else { return [] }
    let sizes = SizeText.pair(size, largest)
    return [
      finding(
        "\(release.manifest.path) is \(sizes.0), and clients read at most \(sizes.1)", level: isNear ? .warning : .note,
        file: release.manifest.path, actual: size, limit: largest, hint: "merge small packs, or shorten tags and descriptions")
    ]
  }
}
