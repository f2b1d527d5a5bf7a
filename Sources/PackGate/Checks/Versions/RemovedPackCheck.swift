import PackBuild
import PackManifest

/// PK5013.
enum RemovedPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5013", "a pack of the last release is no longer offered", .warning, needs: [.manifest, .pages, .lock],
    what: "Every pack that packer.lock.json recorded as offered is in the manifest.",
    onPhone: "Apps that request it get an error, and may remove their copy.",
    remedy: """
      Put it back into packer.yml: a folder may be missing from the checkout. If no app version in use requests it, accept the finding with \
      'ignore' in packer.yml, or record the release.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let offered = Set(release.entries.map(\.id))
    return (release.lock?.released?.packs ?? []).filter { !$0.isRemoved && !offered.contains($0.id) }.map { pack in
      finding(
        "version \(pack.version) was released, but the pack is not in the manifest", pack: pack.id, file: release.manifest.path,
        hint: "put it back into packer.yml, or accept this: ignore: [{rule: PK5013, pack: \(pack.id), reason: …}]")
    }
  }
}
