import PackFormat
import PackManifest
import PackProject

/// PK4007.
enum PackURLCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4007", "the system cannot download the URL of a pack", needs: [.manifest],
    what: "Every URL is https, with a host name, and without credentials or fragment. A query or an odd port is a warning.",
    onPhone: "The download fails, at least on some networks.",
    remedy: "Set serve.baseURL in packer.yml and run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.entries.flatMap { entry -> [ReleaseFinding] in
      do throws(PackError) {
        return try ServedURL(entry.url).warnings.map { finding($0, level: .warning, pack: entry.id) }
      } catch {
        return [
          finding(error.message, pack: entry.id, hint: release.wording(error) ?? "set serve.baseURL in packer.yml, then: packer build")
        ]
      }
    }
  }
}
