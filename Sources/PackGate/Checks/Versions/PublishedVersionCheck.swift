import PackBuild
import PackManifest
import PackProject
import PackTrust

/// PK5014.
enum PublishedVersionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5014", "the release does not follow the manifest that is published now", needs: [.manifest],
    what: """
      With --published, the manifest and every pack have at least the version that is published, and the same version only with the same \
      bytes.
      """,
    onPhone: "Devices that have the published manifest refuse this one as a rollback.",
    remedy: "Run 'packer build --published' with the same address, or restore the newest lock file and build.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let published = release.published, let manifest = release.manifest.manifest else { return [] }
    let (other, hint) = (published.verified.manifest, "packer build --published \(ShellWord.quoted(published.place))")
    var findings: [ReleaseFinding] = []
    if manifest.version < other.version {
      findings.append(
        finding(
          "the manifest has version \(manifest.version), but \(other.version) is published", file: release.manifest.path,
          actual: manifest.version, limit: other.version, hint: hint))
    } else if manifest.version == other.version, release.manifest.signedDigest != published.verified.signedDigest {
      findings.append(
        finding(
          "version \(manifest.version) is published with different content", file: release.manifest.path, limit: manifest.version,
          hint: hint))
    }
    let offered = Dictionary(published.packs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for entry in release.entries {
      guard let old = offered[entry.id] else { continue }
      if entry.version < old.version {
        findings.append(
          finding(
            "it has version \(entry.version), but \(old.version) is published", pack: entry.id, actual: entry.version, limit: old.version,
            hint: hint))
      } else if entry.version == old.version, entry.sha256 != old.sha256 {
        findings.append(finding("version \(entry.version) is published with different bytes", pack: entry.id, hint: hint))
      }
    }
    return findings
  }
}
