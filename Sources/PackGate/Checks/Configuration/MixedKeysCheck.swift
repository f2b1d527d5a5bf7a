import PackManifest
import PackProject

/// PK1003.
enum MixedKeysCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1003", "packs of one release need different keys", .warning, needs: [.manifest],
    what: "All packs of a manifest use one content key, or keys derived from one root key.",
    onPhone: "An app with one key can open only some of the packs.",
    remedy: "Build all packs with one key. If the app holds both keys during a key change, accept the finding with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let packs = Dictionary(grouping: release.entries) { release.roots[$0.keyID] ?? $0.keyID }
    let ids = packs.keys.sorted()
    guard ids.count > 1 else { return [] }
    // Without a known root key, keys of single packs cannot be traced to one root.
    if release.configuration?.perPackKeys ?? false, release.roots.isEmpty { return [] }
    let lines = ids.map { id in "\(id): \((packs[id] ?? []).map(\.id).joined(separator: ", "))" }
    return [finding("the packs need \(ids.count) keys: \(ids.joined(separator: ", "))", details: lines, hint: "packer build")]
  }
}
