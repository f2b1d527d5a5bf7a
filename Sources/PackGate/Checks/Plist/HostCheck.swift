import PackBuild
import PackProject

/// PK4004.
enum HostCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4004", "a host is not in the domain allow list", phone: .hostNotPermitted, needs: [.manifest, .plist],
    what: """
      The hosts of all pack URLs and of the manifest are in BADownloadDomainAllowList, directly or through a wildcard. *.example.com does \
      not match example.com.
      """,
    onPhone: "Before the first launch, the download fails with 202.",
    remedy: "Run 'packer plist merge Info.plist', which adds the hosts in use.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    // With Apple hosting, packs come from Apple's servers, which need no entry.
    guard let plist = release.plist, let list = plist.keys.allowList, plist.keys.hosting != .apple else { return [] }
    var used = release.hosts
    if let text = plist.keys.manifestURL, let url = try? ServedURL(text), !used.contains(where: { $0.host == url.host }) {
      used.append((url.host, []))
    }
    // An entry with a variable may be for the host, which PK4005 says.
    guard !list.entries.contains(where: AppTargets.isVariable) else { return [] }
    return used.filter { !list.allows(host: $0.host) }.map { host, packs in
      finding(
        "\(host) serves \(packs.isEmpty ? "the manifest" : packs.summary), but is not in the domain allow list", file: plist.path,
        details: list.entries, hint: plist.mergeHint)
    }
  }
}
