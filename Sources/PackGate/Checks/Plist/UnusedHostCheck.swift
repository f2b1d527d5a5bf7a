import PackBuild
import PackProject

/// PK4006.
enum UnusedHostCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4006", "an entry of the domain allow list is not used", .note, needs: [.manifest, .plist],
    what: "Every entry allows the host of a pack or of the manifest, or is one of serve.hosts in packer.yml.",
    onPhone: "No effect, but App Review looks at the list, and a forgotten host stays allowed in every released app.",
    remedy: "Remove the entry, or add it to serve.hosts in packer.yml if later releases need it.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let list = plist.keys.allowList else { return [] }
    var used = release.hosts.map(\.host)
    if let text = plist.keys.manifestURL, let url = try? ServedURL(text) { used.append(url.host) }
    let wished = Set(release.configuration?.serve.hosts ?? [])
    return list.entries.compactMap { entry in
      let single = AllowList([entry])
      guard AllowList.problem(of: entry) == nil, !wished.contains(entry), !used.contains(where: { single.allows(host: $0) }) else {
        return nil
      }
      return finding("no file of this release is served from '\(entry)' in the domain allow list", file: plist.path)
    }
  }
}
