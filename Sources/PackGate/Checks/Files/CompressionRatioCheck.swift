import PackBuild
import PackFormat
import PackManifest
import PackProject

/// PK2016.
enum CompressionRatioCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2016", "a pack unpacks to far more than it downloads", .warning, needs: [.manifest],
    what: "The content of a pack of more than 64 MiB is at most 200 times as large as the pack.",
    onPhone: "A small download fills the device; usually a file of zeros or a log was packed by mistake.",
    remedy: "Look for the large files with 'packer ls -l', and exclude what does not belong there.")

  static let largestRatio: UInt64 = 200
  private static let smallestContent: UInt64 = 64 << 20

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.entries.compactMap { entry in
      let bound = entry.size.times(largestRatio)
      guard entry.contentSize > smallestContent, entry.contentSize > bound else { return nil }
      return finding(
        "\(entry.size) bytes unpack to \(entry.contentSize), more than \(largestRatio) times as much", pack: entry.id,
        actual: entry.contentSize, limit: bound, hint: "packer ls -l \(ShellWord.path("\(release.directory)/\(entry.fileName)"))")
    }
  }
}
