/// The publication of a change of rollouts: a manifest, and the shards of its catalogue if packs change.
package struct RolloutPublication: Sendable {
  private let place: any PublishingPlace
  private let own: OwnManifests
  private let configuration: PackerConfiguration
  private let now: ManifestTime

  package init(at place: any PublishingPlace, own: OwnManifests, of configuration: PackerConfiguration, at now: ManifestTime) {
    (self.place, self.own, self.configuration, self.now) = (place, own, configuration, now)
  }

  /// A change before it is published.
  package struct Plan: Sendable {
    /// The release that is there.
    package let published: PlacedRelease
    /// The next manifest.
    package let draft: RolloutDraft
    /// The shards of its catalogue, if packs change.
    fileprivate let catalogue: CatalogueAssembly?
    /// The keys documents that devices need to follow its signing keys.
    fileprivate let documents: [[UInt8]]

    /// The bytes of its keys documents.
    package var keysSize: UInt64 { documents.reduce(0) { $0 + UInt64($1.count) } }
    /// The number of shards of the next manifest.
    package var shards: Int { draft.manifest.catalogue.count }
  }

  /// Reads the place, and makes the next manifest, which is not signed.
  ///
  /// - Parameters:
  ///   - scratch: an empty directory, which gets the files of the next release.
  ///   - version: that of the next manifest, if a build took one for it. Otherwise it follows the published one.
  /// - Throws: the errors of ``PlacedRelease`` and ``RolloutDraft``.
  package func plan(
    in scratch: String, version: UInt64? = nil, _ change: (inout RolloutDraft) throws(PackError) -> Void
  ) throws(PackError) -> Plan {
    let published = try PlacedRelease(at: place, own: own, in: scratch)
    let before = published.manifest
    var draft = RolloutDraft(before, published.packs)
    try change(&draft)
    // It is signed anew, so it is valid as long as one that a build makes now.
    let (end, overflow) = now.secondsSince1970.addingReportingOverflow(Int64(clamping: configuration.validitySeconds))
    if !overflow, let expires = ManifestTime(secondsSince1970: end) { draft.renew(until: expires) }
    // Devices may have seen what is no longer there, as after a copy of an older one was put back.
    let copies = try place.sizes().keys.compactMap { ManifestCopy.version($0) }.filter { $0 <= before.version.adding(Limits.versionStep) }
    let highest = max(before.version, copies.max() ?? 0, own.recordedVersion)
    guard highest < Limits.packVersion else {
      throw PackError(.limitExceeded, "a manifest has version \(highest), which is the highest possible")
    }
    if let version, version <= before.version {
      throw PackError(
        .releaseConflict, of: place.title,
        "has manifest \(before.version), and the release is manifest \(version): it was not made after that",
        hint: ReleaseLock.renewal)
    }
    let documents = try documents(published.document)
    let keysSize = documents.reduce(0) { $0 + $1.count }
    let defaults = draft.manifest.defaults
    var catalogue: CatalogueAssembly?
    try draft.complete(version: max(highest + 1, version ?? 0), issued: now) { (packs) throws(PackError) in
      let assembly = try CatalogueAssembly(
        packs, atLeast: before.catalogue.count, defaults: defaults, backend: CryptoBackends.standard)
      catalogue = assembly
      return assembly.shards
    } budget: { (manifest, packs) throws(PackError) in
      let ceiling = try ManifestReserve.size(for: manifest, keysSize: keysSize, configured: configuration.manifestCeiling)
      return try ReleaseBudget(packs: packs, manifestCeiling: ceiling, headroom: configuration.headroom).install
    }
    return Plan(published: published, draft: draft, catalogue: catalogue, documents: documents)
  }

  /// Returns the keys documents that the oldest app version needs, as a build does.
  private func documents(_ published: SignedManifest) throws(PackError) -> [[UInt8]] {
    guard let path = configuration.keysFile else { return published.keysBytes.map { Array(published.bytes[$0]) } }
    let file = try KeysFile(reading: path)
    return file.documents(after: file.oldestVersion(of: own.apps)).map(\.bytes)
  }

  /// Returns the publication of the files of a plan. Packs are neither uploaded nor read: who can change a manifest at 2 a.m. may not have them.
  package func publication(of files: ReleaseFiles, _ plan: Plan) -> Publication {
    Publication(
      files, at: place, own: own, following: plan.published.document.bytes, packs: plan.draft.hasOtherPacks ? .present : .unchanged)
  }

  /// Signs the next manifest, and writes it with its catalogue.
  ///
  /// - Parameter scratch: that of the plan.
  /// - Returns: its files, and what is recorded of it.
  package func write(
    _ plan: Plan, signedBy signers: [ReleaseSigner], in scratch: String
  ) throws(PackError) -> (files: ReleaseFiles, record: BuildRecord.Manifest) {
    let document = try SignedManifest(signing: plan.draft.manifest.signedBytes(), by: signers, keys: plan.documents)
    guard own.isTrusted(document) else {
      throw PackError(
        .untrustedSignature, "too few of the keys that signed this manifest are trusted by the app",
        hint: "give the signing key that packer.yml names, with --sign-key")
    }
    for file in plan.catalogue?.files ?? [] {
      try OutputFile.write(file.bytes, to: ReleaseFolder.path(file.shard.fileName, in: scratch), files: SystemFiles())
    }
    try OutputFile.write(document.bytes, to: ReleaseFolder.path(ReleaseFile.manifest, in: scratch), files: SystemFiles())
    let files = try ReleaseFiles(scratch)
    guard files.manifest == plan.draft.manifest else {
      throw PackError(.internalError, "the manifest does not read back as it was written")
    }
    return (files, try BuildRecord.Manifest(of: document, files.manifest))
  }

  /// Uploads the packs, deltas and leads of a release that are not at the place, and compares them.
  ///
  /// - Parameters:
  ///   - wanted: the files of the next manifest.
  ///   - release: has the files.
  /// - Returns: the number of files that were uploaded.
  package func upload(_ wanted: [ReleaseFiles.File], of release: ReleaseFiles) throws(PackError) -> Int {
    let there = try place.sizes()
    let own = Set(release.files)
    let missing = wanted.filter { !Shard.isFileName($0.name) && there[$0.name] != $0.size }
    if let file = missing.first(where: { !own.contains($0) }) {
      throw PackError(.releaseConflict, of: place.title, "does not have \(file.name) any more, which the published manifest names")
    }
    guard !missing.isEmpty else { return 0 }
    try release.check(missing, files: SystemFiles())
    try place.checkRoom(for: missing.reduce(0) { $0.adding($1.size) })
    try place.add(missing.map(\.name), from: release.directory)
    let different = try place.different(missing, from: release.directory)
    guard let first = different.first?.name else { return missing.count }
    try place.remove(different.map(\.name))
    throw PackError(.wrongPack, of: place.title, "had another \(first) than was uploaded", hint: "run it again")
  }
}
