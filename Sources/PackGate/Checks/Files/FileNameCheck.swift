import PackBuild
import PackFormat
import PackManifest

/// PK2014.
enum FileNameCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2014", "a file is not named after its content", .warning, needs: [.manifest],
    what: "The last component of every URL is <id>-<first 16 digits of the SHA-256>.pack.",
    onPhone: "An HTTP cache may serve the previous version at the URL of the new version, and the download fails or is refused.",
    remedy: "Publish the files under the names that 'packer build' gives them.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.entries.compactMap { entry in
      let name = entry.fileName
      let wanted = ReleaseBuild.fileName(entry.id, entry.sha256)
      guard name != wanted else { return nil }
      return finding("it is published as '\(name)', not as '\(wanted)'", pack: entry.id, hint: "packer build")
    }
  }
}
