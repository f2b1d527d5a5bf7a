import PackBuild
import PackManifest

/// PK5010.
enum PackRollbackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5010", "a pack's version is below the one released last", needs: [.manifest, .lock],
    what:
      "The version of every pack is at least the one that packer.lock.json recorded, even if the pack was removed in between, and higher if two branches released it.",
    onPhone: "The app refuses the pack, or the whole manifest, as a rollback.",
    remedy: "Pull the newest lock file and run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.recorded.compactMap { entry, recorded in
      if entry.version == recorded.version, recorded.isDoubled {
        return finding(
          "version \(entry.version) went out twice, with different content", pack: entry.id, actual: entry.version,
          limit: recorded.version + 1,
          hint: "packer build")
      }
      guard entry.version < recorded.version else { return nil }
      return finding(
        "it has version \(entry.version), but \(recorded.version) was released", pack: entry.id, actual: entry.version,
        limit: recorded.version,
        hint: "packer build")
    }
  }
}

extension ReleaseContext {
  /// The entries of the manifest that the lock file also has, each with its record there.
  var recorded: [(entry: ManifestPack, recorded: ReleaseLock.Pack)] {
    var packs: [String: ReleaseLock.Pack] = [:]
    for pack in lock?.released?.packs ?? [] { packs[pack.id] = pack }
    return entries.compactMap { entry in packs[entry.id].map { (entry, $0) } }
  }
}
