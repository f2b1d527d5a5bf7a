import PackManifest
import PackProject

/// PK1005.
enum BaseURLCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1005", "a pack is not served from the base URL", phone: .notFound, needs: [.manifest, .configuration],
    what: "Every URL of the manifest starts with serve.baseURL of packer.yml.",
    onPhone: "The app downloads from a server that does not have the packs, usually a staging server.",
    remedy: "Set serve.baseURL in packer.yml and run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration else { return [] }
    let base = configuration.serve.baseURL
    return release.entries.compactMap { entry in
      guard !entry.url.hasPrefix(base) else { return nil }
      return finding(
        "its URL is \(entry.url), but packs are served from \(base)", pack: entry.id, file: configuration.path, hint: "packer build")
    }
  }
}
