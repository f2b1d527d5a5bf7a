import PackFormat
import PackManifest
import PackProject

/// PK4007.
enum PackURLCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4007", "a pack has a URL that the system does not download", needs: [.manifest],
    what: "Every URL is https, with a host by name, without credentials and fragment. A query or an odd port is a warning.",
    onPhone: "The download cannot be made, or fails on some networks.",
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
