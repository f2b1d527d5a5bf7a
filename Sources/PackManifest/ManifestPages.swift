/// The pages that a device has: PackPages' `PageFolder`, for targets without cryptography.
package protocol ManifestPages: Sendable {
  /// Finds packs of a manifest by their ids, as far as the pages on the device permit.
  ///
  /// - Throws: an error of the file system.
  func lookup(_ ids: [String], in manifest: Manifest) throws(PackError) -> PageLookup

  /// Finds the deltas to packs of a manifest, as far as the pages on the device permit.
  ///
  /// - Throws: an error of the file system.
  func updates(to ids: [String], in manifest: Manifest) throws(PackError) -> UpdateLookup

  /// Adds a page that arrived.
  ///
  /// - Returns: the error if the bytes are not those that the reference names. They are not kept then.
  /// - Throws: an error of the file system.
  func take(_ bytes: [UInt8], as reference: PageReference) throws(PackError) -> PackError?
}

/// What the pages on a device say about the deltas to some packs.
package struct UpdateLookup: Sendable {
  /// The deltas that were found, by the id of the pack.
  package var deltas: [String: [ManifestDelta]] = [:]
  /// The ids that cannot be answered yet, because a page is missing. A page that breaks a rule offers no deltas.
  package var unknown: Set<String> = []
  /// The pages that are missing.
  package var missing: [PageReference] = []
  /// The fault of the first page that is the right file and breaks a rule.
  package var refusal: PackError?

  package init() {}
}

/// What the pages on a device say about some ids.
package struct PageLookup: Sendable {
  /// The packs that were found. Ids that the manifest does not offer are neither here nor in ``unknown``.
  package var packs: [ManifestPack] = []
  /// The ids that cannot be answered yet: a page is missing, or is not valid.
  package var unknown: Set<String> = []
  /// What is known of the deltas to those packs that are to be updated.
  package var updates = UpdateLookup()
  /// The pages that are missing. With them the search comes further, and ends after at most two rounds.
  package var missing: [PageReference] = []
  /// The fault of the first page that is the right file and breaks a rule.
  package var refusal: PackError?

  package init() {}
}
