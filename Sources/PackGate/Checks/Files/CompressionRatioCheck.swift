import PackBuild
import PackFormat
import PackManifest
import PackProject

/// PK2016.
enum CompressionRatioCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2016", "a pack is far larger unpacked than as a download", .warning, needs: [.manifest],
    what: "If the content is larger than 64 MiB, it is at most 200 times as large as the pack.",
    onPhone: "A small download fills the device; usually a file of zeros or a log was packed by mistake.",
    remedy: "Find the large files with 'packer ls -l', and exclude those that do not belong in the pack.")

  static let largestRatio: UInt64 = 200
  private static let smallestContent: UInt64 = 64 << 20

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.entries.compactMap { entry in
      let bound = entry.size.times(largestRatio)
      guard entry.contentSize > smallestContent, entry.contentSize > bound else { return nil }
      return finding(
        "\(SizeText.short(entry.size)) unpack to \(SizeText.short(entry.contentSize)), more than \(largestRatio) times as much",
        pack: entry.id, actual: entry.contentSize, limit: bound,
        hint: "packer ls -l \(ShellWord.path("\(release.directory)/\(entry.fileName)"))")
    }
  }
}
