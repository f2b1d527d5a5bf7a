import PackBuild
import PackFormat
import PackManifest

/// PK5011.
enum PackVersionReusedCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5011", "a pack changed, but its version did not", needs: [.manifest, .lock],
    what: "A pack with the version of the last release has exactly the bytes of that release.",
    onPhone: "Devices that have the version never fetch the new bytes; those that are downloading it get a mix of two files.",
    remedy: "Run 'packer build' with the recorded lock file: it assigns the next version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.recorded.compactMap { entry, recorded in
      guard entry.version == recorded.version, entry.sha256 != recorded.sha256 else { return nil }
      return finding(
        "version \(entry.version) was released with the SHA-256 \(recorded.sha256.hex), but this file has \(entry.sha256.hex)",
        pack: entry.id,
        hint: "packer build")
    }
  }
}
