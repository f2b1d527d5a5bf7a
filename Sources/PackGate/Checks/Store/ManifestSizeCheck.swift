import PackManifest

/// PK6001.
enum ManifestSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6001", "the manifest is large", .warning, needs: [.manifest],
    what: "The manifest is below 80 % of the 1 MiB that clients read (about 2 000 packs); from 256 KiB on it is a note.",
    onPhone:
      "The extension has a few megabytes of memory for reading it; above 1 MiB it is refused, and 'packer build' makes no such manifest.",
    remedy: "Put small packs together, shorten tags and descriptions.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let (size, largest) = (release.manifest.size, UInt64(Manifest.largestSize))
    let isNear = size >= largest / 5 * 4
    guard isNear || size >= 256 << 10 else { return [] }
    return [
      finding(
        "\(release.manifest.path) is \(size) bytes, and \(largest) are the most that clients read", level: isNear ? .warning : .note,
        file: release.manifest.path, actual: size, limit: largest, hint: "put small packs together, or shorten tags and descriptions")
    ]
  }
}
