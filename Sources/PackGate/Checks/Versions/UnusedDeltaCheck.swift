import PackFormat
import PackManifest

/// PK5018.
enum UnusedDeltaCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5018", "a delta is of no use to any player", .warning, needs: [.pages, .lock, .configuration],
    what: """
      What a delta is read over is a pack of a recorded release that players may have, or what another delta to the same pack makes. A delta \
      to an edition in between has another one that is read over that edition.
      """,
    onPhone: "No device downloads the delta. It takes space on the server.",
    remedy:
      "Run 'packer build', which makes deltas only from recorded releases. If players have that content, restore the record of their release."
  )

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    deadEnds(release) + withoutBase(release)
  }

  private static func deadEnds(_ release: ReleaseContext) -> [ReleaseFinding] {
    let known = Dictionary(grouping: release.deltas, by: \.id)
    return release.deltas.compactMap { sighting in
      guard let target = sighting.delta.target else { return nil }
      guard known[sighting.id]?.contains(where: { $0.delta.target == nil && $0.delta.bases == [target] }) != true else { return nil }
      return finding(
        "\(sighting.title) leads to content \(target.prefix(8).hex), from which no delta leads on", pack: sighting.id, file: sighting.path,
        hint: "packer build")
    }
  }

  private static func withoutBase(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let recorded = release.recordedRoots else { return [] }
    let known = recorded.union(release.entries.map(\.contentRoot))
    return release.deltas.compactMap { sighting in
      let made = Set(release.deltas.filter { $0.id == sighting.id }.compactMap(\.delta.target))
      guard let root = sighting.delta.bases.first(where: { !known.contains($0) && !made.contains($0) }) else { return nil }
      return finding(
        "\(sighting.title) is read over content \(root.prefix(8).hex), which no recorded release has", pack: sighting.id,
        file: sighting.path, hint: "packer build")
    }
  }
}
