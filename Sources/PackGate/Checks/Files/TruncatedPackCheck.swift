import PackFormat
import PackManifest

/// PK2006.
enum TruncatedPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2006", "a pack is truncated", .error, .truncated, needs: [.files],
    what: "Every pack is complete: its last segment is marked as the last one.",
    onPhone: "The app refuses the pack when it opens it, and keeps the version it has.",
    remedy: "Fetch or build the pack again: a transfer or a full disk truncated it before the manifest was made.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let failure = file.failure, failure.code == .truncated, file.size == entry.size else { return nil }
      return finding(failure.message, pack: entry.id, file: file.path, hint: release.rebuild(entry.id))
    }
      + release.deltas.compactMap { sighting in
        guard let failure = sighting.failure, failure.code == .truncated, sighting.isPublished else { return nil }
        return finding(failure.message, pack: sighting.id, file: sighting.path, hint: "packer build")
      }
  }
}
