import PackBuild
import PackManifest
import PackProject

/// PK6007.
enum CollidingPathCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6007", "managed packs have the same file name", needs: [.manifest, .configuration],
    what: """
      With managed hosting, no two packs have the same file name, because the system puts the files of all asset packs into one namespace. \
      Names that differ only in case count as the same. Paths inside packs cannot collide: an asset pack holds one file, the pack.
      """,
    onPhone: "The app gets either pack, and which one is undefined.",
    remedy: "Give each pack an id of its own.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration, configuration.hosting != .unmanaged else { return [] }
    var findings: [ReleaseFinding] = []
    var first: [String: ManifestPack] = [:]
    for entry in release.entries {
      let name = BAPackageManifest.payloadName(for: entry.id).lowercased()
      if let other = first.updateValue(entry, forKey: name), other.id != entry.id {
        findings.append(
          finding(
            "its file name '\(name)' is also used by '\(other.id)'", pack: entry.id, file: configuration.path,
            hint: "give it another id in \(configuration.path)"))
      }
    }
    return findings
  }
}
