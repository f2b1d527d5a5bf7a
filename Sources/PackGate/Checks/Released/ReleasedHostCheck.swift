import PackBuild
import PackFormat
import PackManifest
import PackProject

/// PK3008.
enum ReleasedHostCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3008", "an app version already released may not download from a host", .error, .released, phone: .hostNotPermitted,
    needs: [.manifest, .lock],
    what: "The hosts of all pack URLs are in the domain allow list of every app version that is not retired.",
    onPhone: "Before the first launch of that version, the download fails with 202.",
    remedy: "Serve the packs from a host that all versions allow, or run 'packer release retire VERSION'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let hosts = release.hosts
    return release.apps.flatMap { app -> [ReleaseFinding] in
      guard let list = app.hosts.map(AllowList.init) else { return [] }
      return hosts.filter { !list.allows(host: $0.host) }.map { host in
        finding(
          "app \(app.title) may not download from \(host.host), which serves \(host.packs.summary)", app: app.version,
          file: release.lockPath,
          hint: "packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }
}

extension ReleaseContext {
  /// The hosts that packs are served from, in ascending order, each with the ids of its packs. Invalid URLs are reported by PK4007.
  var hosts: [(host: String, packs: [String])] {
    var packs: [String: [String]] = [:]
    for entry in entries {
      guard let url = try? ServedURL(entry.url) else { continue }
      packs[url.host, default: []].append(entry.id)
    }
    return packs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension [String] {
  /// The only pack in quotes, or the number of packs.
  var summary: String { count == 1 ? "'\(self[0])'" : "\(count) packs" }
}
