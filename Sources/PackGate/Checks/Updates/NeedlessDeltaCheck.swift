import PackManifest

/// PK2027.
enum NeedlessDeltaCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2027", "a delta is not smaller than its pack", needs: [.manifest, .pages],
    what: "Every listed delta is smaller than the pack that it leads to.",
    onPhone: "No device downloads the delta, because the pack is the shorter way.",
    remedy: "Run 'packer build', which lists only deltas that save at least 'updates.worth' of packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let sizes = Dictionary(release.entries.map { ($0.id, $0.size) }) { first, _ in first }
    return release.deltas.compactMap { sighting in
      guard let size = sizes[sighting.id], sighting.delta.size >= size else { return nil }
      let texts = SizeText.pair(sighting.delta.size, size)
      return finding(
        "\(sighting.title) is \(texts.0), and the pack \(texts.1)", pack: sighting.id, file: sighting.path, actual: sighting.delta.size,
        limit: size, hint: "packer build")
    }
  }
}
