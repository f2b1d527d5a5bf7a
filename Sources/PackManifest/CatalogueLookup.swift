/// What a manifest and the shards at hand say of some packs.
package struct CatalogueLookup: Sendable {
  /// The packs that were found, by id. Ids that the manifest does not offer are neither here nor in ``unknown``.
  package var packs: [String: ManifestPack] = [:]
  /// The ids that cannot be answered, because their shard is not at hand or breaks a rule.
  package var unknown: Set<String> = []
  /// The numbers of the shards that are not at hand, in ascending order.
  package var missing: [Int] = []
  /// The fault of the first shard that is the right file and breaks a rule.
  package var refusal: PackError?

  package init() {}
}
