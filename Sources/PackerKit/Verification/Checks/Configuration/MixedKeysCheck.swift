import PackManifest

/// PK1003.
enum MixedKeysCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1003", "packs of one release need different keys", .warning, needs: [.manifest],
    what: "All packs of a manifest name one content key.",
    onPhone: "An app with one key opens some of the packs only.",
    remedy: "Build all packs with one key, or, where the app holds both during a change of keys, accept it with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let ids = Set(release.entries.map(\.keyID)).sorted()
    guard ids.count > 1 else { return [] }
    let lines = ids.map { id in
      "\(id): \(release.entries.filter { $0.keyID == id }.map(\.id).joined(separator: ", "))"
    }
    return [finding("the packs need \(ids.count) keys: \(ids.joined(separator: ", "))", details: lines, hint: "packer build")]
  }
}
