/// `packages.json`: a list of the packs in the format that Background Assets tutorials use, for apps with their own parser.
///
/// The format has essential packs and others, which an app downloads as soon as it may. It has no leads, so a pack with one is not essential there.
/// On-demand packs are not in the budget, so they have a separate key that such an app does not read.
struct PackagesList {
  private let packs: [ManifestPack]
  /// The times at which the packs were made, by id.
  private let created: [String: ManifestTime]

  init(_ packs: [ManifestPack], created: [String: ManifestTime]) {
    self.packs = packs
    self.created = created
  }

  var document: [UInt8] {
    let onDemand = packs.filter { $0.delivery == .onDemand }
    return JSON.sorted([
      "onDemand": onDemand.isEmpty ? nil : .list(onDemand.map(entry)),
      "packages": .list(packs.filter { $0.delivery != .onDemand }.map(entry)),
    ]).document
  }

  private func entry(_ pack: ManifestPack) -> JSON {
    [
      "id": .text(pack.id),
      "essential": .flag(pack.isEssentialAsWhole),
      "name": .text(pack.name),
      "description": .text(pack.description),
      "path": .text(pack.url),
      "size": .number(pack.size),
      "created": .number(UInt64(max(0, created[pack.id]?.secondsSince1970 ?? 0))),
    ]
  }
}
