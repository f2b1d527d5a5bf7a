import PackFormat
import PackManifest

/// PK2004.
enum PackDigestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2004", "the SHA-256 of a pack is not the one in the manifest", .error, .damaged, needs: [.files],
    what: "The SHA-256 of every pack file, deltas included, is the one in the manifest or page.",
    onPhone: "The download succeeds, but the app refuses to install the pack. Instead of a delta it then downloads the full pack.",
    remedy: "Run 'packer build' and upload all of it; never replace a published file with another one of the same name.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard file.isChanged(since: entry), let digest = file.sha256 else { return nil }
      return finding(
        "\(file.path) has the SHA-256 \(digest.hex), but the manifest says \(entry.sha256.hex)", pack: entry.id, file: file.path,
        hint: release.rebuild(entry.id))
    }
      + release.deltas.compactMap { sighting in
        guard sighting.isChanged, let digest = sighting.sha256 else { return nil }
        return finding(
          "\(sighting.title) has the SHA-256 \(digest.hex), but its page says \(sighting.delta.sha256.hex)", pack: sighting.id,
          file: sighting.path, hint: "packer build")
      }
  }
}
