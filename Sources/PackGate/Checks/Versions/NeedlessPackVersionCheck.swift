import PackBuild
import PackManifest
import PackTrust

/// PK5012.
enum NeedlessPackVersionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5012", "a pack has a new version, but its content did not change", .warning, needs: [.manifest, .lock],
    what: "A pack with a new version has different content or a different key than the last released version.",
    onPhone: "Every player downloads the pack again and gets the same files.",
    remedy: "Run 'packer build' with the recorded lock file and the same settings: it keeps the version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let published = Dictionary((release.published?.packs ?? []).map { ($0.id, $0.version) }, uniquingKeysWith: { first, _ in first })
    return release.recorded.compactMap { entry, recorded in
      guard entry.version > recorded.version, !recorded.isRemoved, entry.contentRoot == recorded.contentRoot, entry.keyID == recorded.keyID
      else { return nil }
      // A later version with other content is published, so devices need a version after it.
      guard published[entry.id].map({ $0 <= recorded.version }) ?? true else { return nil }
      return finding(
        "version \(entry.version) has the content of version \(recorded.version): players download \(SizeText.short(entry.size)) unnecessarily",
        pack: entry.id,
        actual: entry.version, limit: recorded.version, hint: "packer build")
    }
  }
}
