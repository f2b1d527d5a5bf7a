public import PackFormat
public import PackManifest

/// The tags of a manifest, and which packs they stand for. A value: it knows nothing of what is on the device.
public struct TagCatalog: Sendable {
  /// All tags, in ascending order.
  public let tags: [String]
  private let packs: [ManifestPack]
  private let deliveries: [String: DeliveryClass]

  /// Reads the tags of packs.
  ///
  /// - Parameter packs: those that count: all of a manifest, or those that are for the device.
  public init(_ packs: [ManifestPack]) {
    var deliveries: [String: DeliveryClass] = [:]
    for pack in packs {
      for tag in pack.tags where pack.delivery.rank > deliveries[tag]?.rank ?? -1 { deliveries[tag] = pack.delivery }
    }
    self.packs = packs
    self.deliveries = deliveries
    tags = deliveries.keys.sorted()
  }

  /// The packs that have one of the tags, in the order of the manifest.
  public func packs(of tags: Set<String>) -> [ManifestPack] {
    packs.filter { !tags.isDisjoint(with: $0.tags) }
  }

  /// When the packs of a tag come to the device; nil where there is no such tag.
  ///
  /// A tag is as late as the latest of its packs: ``DeliveryClass/essential`` where all of them are there when the app first starts, which Apple calls an
  /// initial install tag; ``DeliveryClass/prefetch`` where all of them come by themselves; else ``DeliveryClass/onDemand``.
  public func delivery(of tag: String) -> DeliveryClass? { deliveries[tag] }

  /// The tags of a delivery class, in ascending order.
  public func tags(_ delivery: DeliveryClass) -> [String] { tags.filter { deliveries[$0] == delivery } }

  /// Refuses tags that no pack has.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, which names the tag that was probably meant; ``PackError/Code/usage`` where there is no tag at all.
  public func check(_ wanted: Set<String>) throws(PackError) {
    guard !wanted.isEmpty else { throw PackError(.usage, "no tag was asked for", advice: .developer("name at least one")) }
    guard let tag = wanted.sorted().first(where: { deliveries[$0] == nil }) else { return }
    let nearest = SpellingSuggestion.nearest(to: tag, among: tags).map { " (did you mean '\(printable($0.utf8))'?)" } ?? ""
    throw PackError(.unknownTag, "no pack of the manifest has the tag '\(printable(tag.utf8))'\(nearest)")
  }
}

extension DeliveryClass {
  /// How late packs of the class come.
  fileprivate var rank: Int {
    switch self {
    case .essential: 0
    case .prefetch: 1
    case .onDemand: 2
    }
  }
}
