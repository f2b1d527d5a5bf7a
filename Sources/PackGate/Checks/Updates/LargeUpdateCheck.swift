import PackBuild
import PackManifest
import PackProject

/// PK3023.
enum LargeUpdateCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3023", "an update is larger than packer.yml allows", .error, .budget, needs: [.manifest, .pages, .lock, .configuration],
    what: """
      A player who has all packs of a recorded release downloads at most 'updates.largestUpdate' of packer.yml to get to this one: deltas \
      if there are any, full packs otherwise, and new packs that are not onDemand. A new version of the app \
      downloads essential packs whole; that is not counted.
      """,
    onPhone: "Players wait longer for the update, on a connection that may cost them money.",
    remedy: "Change less, or make the changes smaller ('packer explain PK6012'), or raise 'updates.largestUpdate'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration, let limit = configuration.updates?.largest else { return [] }
    return release.downloads.compactMap { update in
      guard update.size > limit, let largest = update.largest else { return nil }
      let sizes = SizeText.pair(limit, update.size)
      return finding(
        "updates.largestUpdate allows \(sizes.0); players with manifest \(update.manifest) download \(sizes.1) (\(SizeText.short(update.size - limit)) too much), of it \(SizeText.short(largest.size)) for '\(largest.id)', \(way(largest))",
        pack: largest.id, file: configuration.path, actual: update.size, limit: limit,
        details: update.packs.count > 1 ? update.packs.map { "\($0.id): \(SizeText.short($0.size)), \(way($0))" } : [],
        hint: "see why: packer build --dry-run; or raise updates.largestUpdate in \(configuration.path)")
    }
  }

  private static func way(_ pack: ReleaseUpdate.Pack) -> String {
    switch pack.deltas {
    case 0: pack.isNew ? "a new pack" : "the full pack"
    case 1: "by a delta"
    default: "by \(pack.deltas) deltas"
    }
  }
}
