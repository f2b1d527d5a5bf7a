import PackFormat
import PackManifest

/// PK2004.
enum PackDigestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2004", "the SHA-256 of a pack is not the one in the manifest", .error, .damaged, needs: [.files],
    what: "The SHA-256 of every pack file is the one in its manifest entry.",
    onPhone: "The download succeeds, but the app refuses to install the pack.",
    remedy: "Run 'packer build' and upload all of it; never replace a published file with another one of the same name.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard file.isChanged(since: entry), let digest = file.sha256 else { return nil }
      return finding(
        "\(file.path) has the SHA-256 \(digest.hex), but the manifest says \(entry.sha256.hex)", pack: entry.id, file: file.path,
        hint: release.rebuild(entry.id))
    }
  }
}
