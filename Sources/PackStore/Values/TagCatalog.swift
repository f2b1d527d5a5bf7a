/// The tags of a manifest and their packs. A plain value that does not depend on the packs installed on the device.
public struct TagCatalog: Sendable {
  /// All tags, in ascending order.
  public let tags: [String]
  private let packs: [ManifestPack]
  private let deliveries: [String: DeliveryClass]

  /// Collects the tags of packs.
  ///
  /// - Parameter packs: All packs of a manifest, or only those that are for this device.
  public init(_ packs: [ManifestPack]) {
    var deliveries: [String: DeliveryClass] = [:]
    for pack in packs {
      for tag in pack.tags where pack.delivery.rank > deliveries[tag]?.rank ?? -1 { deliveries[tag] = pack.delivery }
    }
    self.packs = packs
    self.deliveries = deliveries
    tags = deliveries.keys.sorted()
  }

  /// Returns the packs that have at least one of the tags, in the order of the manifest.
  public func packs(of tags: Set<String>) -> [ManifestPack] {
    packs.filter { !tags.isDisjoint(with: $0.tags) }
  }

  /// Returns the delivery class of a tag, or nil if there is no such tag.
  ///
  /// It is the latest class of the tag's packs: ``DeliveryClass/essential`` if all of them are on the device when the app first starts, which Apple
  /// calls an initial install tag; ``DeliveryClass/prefetch`` if all of them are downloaded without a request; otherwise
  /// ``DeliveryClass/onDemand``.
  public func delivery(of tag: String) -> DeliveryClass? { deliveries[tag] }

  /// Returns the tags of a delivery class, in ascending order.
  public func tags(_ delivery: DeliveryClass) -> [String] { tags.filter { deliveries[$0] == delivery } }

  /// Checks that each tag belongs to at least one pack.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, with a suggestion if a tag has a similar name; ``PackError/Code/usage`` if `wanted` is empty.
  public func check(_ wanted: Set<String>) throws(PackError) {
    guard !wanted.isEmpty else { throw PackError(.usage, "no tag was requested", advice: .developer("pass at least one tag")) }
    guard let tag = wanted.sorted().first(where: { deliveries[$0] == nil }) else { return }
    let nearest = SpellingSuggestion.nearest(to: tag, among: tags).map { " (did you mean '\(printable($0.utf8))'?)" } ?? ""
    throw PackError(.unknownTag, "no pack of the manifest has the tag '\(printable(tag.utf8))'\(nearest)")
  }
}

extension DeliveryClass {
  /// The order in which packs of the classes come to the device.
  fileprivate var rank: Int {
    switch self {
    case .essential: 0
    case .prefetch: 1
    case .onDemand: 2
    }
  }
}
