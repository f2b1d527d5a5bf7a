import PackFormat
import PackManifest

/// PK2004.
enum PackDigestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2004", "a pack holds other bytes than the manifest says", .error, .damaged, needs: [.files],
    what: "The SHA-256 of every pack file is the one of its entry.",
    onPhone: "The download succeeds, and the app refuses to install it: the player has waited for nothing.",
    remedy: "Run 'packer build' and upload all of it; never replace a published file by another one of the same name.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard file.isChanged(since: entry), let digest = file.sha256 else { return nil }
      return finding(
        "\(file.path) has the SHA-256 \(digest.hex), but the manifest says \(entry.sha256.hex)", pack: entry.id, file: file.path,
        hint: release.rebuild(entry.id))
    }
  }
}
