/// The manifest that a store accepted last, the memory of accepted manifests that protects against rollback, and the record of keys documents.
///
/// The memory is written before the manifest. A crash between the two writes then leaves an older manifest, from which nothing is installed any
/// more, and the store accepts the newer one when it comes again. In the other order, a crash would leave a newer manifest that an older one could
/// still replace.
///
/// The record of keys documents is written before both, also if the manifest that brought a document is refused afterwards. A crash after it leaves
/// a manifest that may no longer be signed by enough keys: nothing is installed from it, and the newer one comes again. In the other order, a crash
/// would leave a manifest that no recorded key signed, and a key that was taken back could replace it.
final class StoreManifests: Sendable {
  /// The keys that the app embeds.
  let embedded: TrustedKeys
  /// The shards of the accepted manifest that are at hand.
  let catalogue: Catalogue
  private let directory: StoreDirectory
  private let lowestVersion: UInt64
  private let known = Monitor<Known?>(nil)
  private let knownKeys = Monitor<KnownKeys?>(nil)
  /// What decides which candidates this installation takes. Nil if it takes none.
  let choice = Monitor<RolloutChoice?>(nil)
  private let knownMemory = Monitor<(status: FileStatus, accepted: ManifestMemory.Accepted)?>(nil)

  private struct Known {
    let status: FileStatus
    let keys: TrustedKeys
    let verified: Result<VerifiedManifest, PackError>
  }

  private struct KnownKeys {
    let status: FileStatus
    let keys: TrustedKeys
  }

  private static let name = "manifest"
  private static let memoryName = "memory"
  private static let keysName = "keys"

  init(_ directory: StoreDirectory, trusting trusted: TrustedKeys, lowestVersion: UInt64) {
    self.directory = directory
    catalogue = Catalogue(directory.path(StoreDirectory.catalogue), files: directory.files, backend: directory.backend)
    embedded = trusted
    self.lowestVersion = lowestVersion
  }

  // MARK: Keys

  /// Returns the keys that count now: those that the app embeds, or those of the newest keys document that followed.
  ///
  /// The record is read again only if it changed since the last call. A damaged one counts as missing: the documents come again with the next
  /// manifest.
  func keys() throws(PackError) -> TrustedKeys {
    guard embedded.newest != nil, let status = try directory.status(Self.keysName) else { return embedded }
    if let known = knownKeys.withLock({ $0 }), known.status == status { return known.keys }
    let keys = try recordedKeys()
    knownKeys.withLock { $0 = KnownKeys(status: status, keys: keys) }
    return keys
  }

  private func recordedKeys() throws(PackError) -> TrustedKeys {
    let record = try unless(.damagedStore, directory.contents(of: Self.keysName, limit: KeysChain.largestSize)) ?? nil
    return embedded.restored(from: record, backend: directory.backend)
  }

  /// Follows the keys documents of a manifest, and records those that are accepted before it throws the error of one that is not.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys``, ``PackError/Code/damagedKeys``, ``PackError/Code/unsupported``, or ``PackError/Code/storeBusy``.
  func follow(_ documents: [[UInt8]]) throws(PackError) {
    let progress = try keys().following(documents, backend: directory.backend)
    if try progress.keys != keys() {
      try directory.withLock { () throws(PackError) in
        // Another process may have followed more documents in the meantime.
        let recorded = try recordedKeys()
        let keys = recorded.following(documents, backend: directory.backend).keys
        guard keys != recorded, let record = keys.record else { return }
        try directory.replace(Self.keysName, with: record)
      }
    }
    if let failure = progress.failure { throw failure }
  }

  /// The record of keys documents, for the state that app and extension share. Nil if no document followed the embedded one.
  func keysRecord() throws(PackError) -> [UInt8]? { try keys().record }

  /// Returns whether the record of keys documents is there and is damaged.
  func areKeysDamaged() throws(PackError) -> Bool {
    do throws(PackError) {
      guard let record = try directory.contents(of: Self.keysName, limit: KeysChain.largestSize) else { return false }
      _ = try KeysChain.documents(in: record)
      return false
    } catch {
      guard error.code == .damagedStore || error.code == .damagedKeys else { throw error }
      return true
    }
  }

  /// Removes the record of keys documents, under the store's lock.
  func discardKeys() {
    if let name = directory.discard(Self.keysName) { directory.empty([name]) }
  }

  // MARK: The manifest

  /// Returns the manifest that was accepted last, or nil if there is none.
  ///
  /// The file is read again only if it changed since the last call.
  ///
  /// - Throws: The error of the manifest file, for example if it is damaged or not signed by a trusted key.
  func verified() throws(PackError) -> VerifiedManifest? {
    let keys = try keys()
    guard let status = try directory.status(Self.name) else { return nil }
    if let known = known.withLock({ $0 }), known.status == status, known.keys == keys { return try known.verified.get() }
    guard let bytes = try directory.contents(of: Self.name, limit: Manifest.largestSize) else { return nil }
    let result: Result<VerifiedManifest, PackError>
    do throws(PackError) {
      result = .success(try SignedManifest(bytes).verify(trusting: keys, backend: directory.backend))
    } catch {
      result = .failure(error.about(directory.path(Self.name)))
    }
    if case .failure(let error) = result, Self.isOutside(error) { throw error }
    known.withLock { $0 = Known(status: status, keys: keys, verified: result) }
    return try result.get()
  }

  /// Returns the manifest in a document that is signed by trusted keys, even if it is old or expired. Its keys documents are not followed.
  func authenticated(_ document: SignedManifest) throws(PackError) -> Manifest {
    try document.verify(trusting: keys(), backend: directory.backend).manifest
  }

  /// Returns the manifest that was accepted last. Returns nil if there is none, or it is damaged or not signed by a trusted key.
  func usable() throws(PackError) -> VerifiedManifest? {
    do throws(PackError) {
      return try verified()
    } catch {
      guard !Self.isOutside(error) else { throw error }
      return nil
    }
  }

  /// Returns whether an error is not about the manifest itself, because the file could not be read. The manifest may be valid the next time.
  static func isOutside(_ error: PackError) -> Bool { error.code == .cannotRead || error.code == .internalError }

  /// Returns the manifest that was accepted last, for callers that need one.
  ///
  /// - Throws: ``PackError/Code/noManifest``
  func required() throws(PackError) -> VerifiedManifest {
    do throws(PackError) {
      if let manifest = try verified() { return manifest }
    } catch {
      guard !Self.isOutside(error) else { throw error }
      throw PackError(
        .noManifest, "the accepted manifest cannot be used: \(error.message)",
        advice: .acceptManifest)
    }
    throw PackError(
      .noManifest, of: directory.root, "has accepted no manifest yet", advice: .acceptManifest)
  }

  /// Returns the manifest that was accepted last, for callers that install something new from it.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestRollback`` if a newer one was accepted but its file is missing,
  ///   ``PackError/Code/manifestExpired``, ``PackError/Code/keysExpired``.
  func installable() throws(PackError) -> VerifiedManifest {
    let manifest: VerifiedManifest
    do throws(PackError) {
      manifest = try remembered()
    } catch {
      guard error.code == .manifestRollback else { throw error }
      // Another process may have written one of the two files and not yet the other. It holds the lock meanwhile.
      try? directory.withLock { () throws(PackError) in }
      manifest = try remembered()
    }
    try manifest.manifest.checkExpiry(at: now)
    try keys().checkExpiry(at: now)
    return manifest
  }

  /// Returns the manifest that was accepted last, unless the memory has a newer one.
  private func remembered() throws(PackError) -> VerifiedManifest {
    let manifest = try required()
    try rememberedOrNothing().check(manifest)
    return manifest
  }

  /// Checks the signatures of a document by the keys that count now.
  func verify(_ document: SignedManifest) throws(PackError) -> VerifiedManifest {
    try document.verify(trusting: keys(), backend: directory.backend)
  }

  /// Checks a document and stores it, under the store's lock.
  func adopt(_ document: SignedManifest, _ candidate: VerifiedManifest) throws(PackError) {
    let keys = try keys()
    // Another process may have followed a keys document since the signatures were checked.
    let isStillSigned = Set(keys.signingKeys.map(\.id)).intersection(candidate.signers).count >= keys.threshold
    let candidate = isStillSigned ? candidate : try verify(document)
    // If the memory is lost or damaged, the stored manifest contains most of it.
    let remembered = try rememberedOrNothing()
    var memory = remembered
    let ids = try recordedIDs()
    if memory.accepted == nil, let present = try usable() { try? memory.accept(present, keeping: ids) }
    try memory.accept(candidate, keeping: ids)
    try candidate.manifest.checkExpiry(at: now)
    try keys.checkExpiry(at: now)
    if let accepted = memory.accepted, accepted != remembered.accepted {
      try directory.replace(Self.memoryName, with: accepted.text)
    }
    guard try directory.contents(of: Self.name, limit: Manifest.largestSize) != document.bytes else { return }
    try directory.replace(Self.name, with: document.bytes)
  }

  /// Returns the names of the packs that have a record.
  func recordedIDs() throws(PackError) -> Set<String> {
    Set(try directory.names(in: .state).compactMap { PackName(fileName: $0)?.text })
  }

  /// Returns the memory of accepted manifests, or nil if there is none. The file is read again only if it changed since the last call.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  func memory() throws(PackError) -> ManifestMemory? {
    guard let status = try directory.status(Self.memoryName) else { return nil }
    let known = knownMemory.withLock { $0 }
    if let known, known.status == status { return ManifestMemory(known.accepted, lowestVersion: lowestVersion, trusting: try keys()) }
    guard let bytes = try directory.contents(of: Self.memoryName, limit: ManifestMemory.Accepted.largestSize) else { return nil }
    let accepted = try ManifestMemory.Accepted(parsing: bytes)
    knownMemory.withLock { $0 = (status, accepted) }
    return ManifestMemory(accepted, lowestVersion: lowestVersion, trusting: try keys())
  }

  /// Returns the memory of accepted manifests, or an empty one if it is missing or damaged.
  ///
  /// - Throws: ``PackError/Code/cannotRead``
  func rememberedOrNothing() throws(PackError) -> ManifestMemory {
    if let memory = try unless(.damagedStore, memory()) ?? nil { return memory }
    return ManifestMemory(nil, lowestVersion: lowestVersion, trusting: try keys())
  }

  /// Records the versions of packs in the catalogue that are installed, under the store's lock and before a new one is in the store.
  func note(_ packs: [ManifestPack]) throws(PackError) {
    guard let noted = try noted(packs) else { return }
    try directory.replace(Self.memoryName, with: noted.text)
  }

  /// Records that the accepted manifest lists installed packs in its catalogue, after another one did, maybe with other signers. Errors are ignored: the next
  /// call does it.
  func noteAgain(_ packs: [ManifestPack]) {
    guard (try? noted(packs)) != nil else { return }
    try? directory.withLock { () throws(PackError) in try note(packs) }
  }

  /// Returns the memory with packs in the catalogue that are installed, or nil if it has them.
  private func noted(_ packs: [ManifestPack]) throws(PackError) -> ManifestMemory.Accepted? {
    var memory = try rememberedOrNothing()
    return memory.note(packs) ? memory.accepted : nil
  }

  /// Rebuilds the memory from the stored manifest, under the store's lock.
  ///
  /// - Returns: Whether there is a usable manifest.
  func rebuildMemory() throws(PackError) -> Bool {
    guard let present = try usable() else { return false }
    var memory = ManifestMemory(nil, trusting: try keys())
    try memory.accept(present)
    guard let accepted = memory.accepted else { return false }
    try directory.replace(Self.memoryName, with: accepted.text)
    return true
  }

  /// Removes the file of the memory or of the manifest, under the store's lock.
  func discard(memory: Bool) {
    if let name = directory.discard(memory ? Self.memoryName : Self.name) { directory.empty([name]) }
  }

  // MARK: Packs

  /// Returns a manifest as this device sees it: of each pack, the edition that it takes.
  func editions(of manifest: Manifest) throws(PackError) -> Manifest {
    manifest.rollouts.isEmpty ? manifest : try chooser(of: manifest).editions(of: manifest)
  }

  /// Finds packs of a manifest as ``Catalogue/lookUp(_:in:)`` does, as this device sees them.
  func lookUp(_ ids: Set<String>, in manifest: Manifest) throws(PackError) -> CatalogueLookup {
    var lookup = try catalogue.lookUp(ids, in: manifest)
    guard !manifest.rollouts.isEmpty else { return lookup }
    let chooser = chooser(of: manifest)
    for (id, pack) in lookup.packs where pack.candidate != nil { lookup.packs[id] = try chooser.edition(of: pack) }
    return lookup
  }

  /// Lists the packs of a manifest as ``Catalogue/listing(of:)`` does, as this device sees them.
  func listing(of manifest: Manifest) throws(PackError) -> Catalogue.Listing {
    var listing = try catalogue.listing(of: manifest)
    guard !manifest.rollouts.isEmpty else { return listing }
    let chooser = chooser(of: manifest)
    for (index, pack) in listing.packs.enumerated() where pack.candidate != nil { listing.packs[index] = try chooser.edition(of: pack) }
    return listing
  }

  private func chooser(of manifest: Manifest) -> EditionChooser {
    EditionChooser(manifest, choice.withLock { $0 }, at: now, backend: directory.backend) { [directory] (id, bytes) throws(PackError) in
      try unless(.damagedStore, directory.record(id))??.standing(of: bytes) ?? .other
    }
  }

  /// Records which versions on the device are candidates: they become stable editions, and a record that was rebuilt without a manifest does not say it.
  func noteCandidates(of manifest: Manifest) throws(PackError) {
    let records = try directory.records().filter { record in
      !manifest.rollouts.isEmpty || record.contents.contains(where: \.isCandidate)
    }
    guard !records.isEmpty else { return }
    let lookup = try catalogue.lookUp(Set(records.map(\.id)), in: manifest)
    for record in records {
      guard let entry = lookup.packs[record.id] else { continue }
      let candidate = entry.candidate?.bytes
      let isRight = record.contents.allSatisfy { content in
        content.bytes == entry.bytes ? !content.isCandidate : content.bytes == candidate ? content.isCandidate : true
      }
      guard !isRight else { continue }
      try directory.change(record.id) { record in
        record.setCandidate(entry.bytes, false)
        if let candidate { record.setCandidate(candidate, true) }
      }
    }
  }

  /// Returns the entry of a pack that is to be installed.
  ///
  /// - Throws: ``PackError/Code/unknownPack``, ``PackError/Code/catalogueNotAvailable``, ``PackError/Code/damagedManifest`` if its shard breaks a rule,
  ///   ``PackError/Code/manifestRollback`` if a newer version was installed before, ``PackError/Code/cannotRead``.
  func entry(_ id: String, in manifest: Manifest) throws(PackError) -> ManifestPack {
    let lookup = try lookUp([id], in: manifest)
    if let entry = lookup.packs[id] {
      try rememberedOrNothing().check(entry)
      return entry
    }
    if let refusal = lookup.refusal { throw refusal }
    if !lookup.missing.isEmpty { throw .missing(lookup.missing, of: manifest, for: "pack '\(printable(id.utf8))'") }
    throw PackError(
      .unknownPack, "manifest version \(manifest.version) names no pack '\(printable(id.utf8))'", advice: .acceptManifest)
  }

  /// Returns whether a pack of a manifest or of its catalogue has a tag.
  ///
  /// - Throws: ``PackError/Code/catalogueNotAvailable``, ``PackError/Code/damagedManifest`` if a shard breaks a rule, ``PackError/Code/cannotRead``.
  func hasTag(_ tag: String, in manifest: Manifest) throws(PackError) -> Bool {
    if manifest.packs.contains(where: { $0.tags.contains(tag) }) { return true }
    let listing = try catalogue.listing(of: manifest)
    if listing.current.contains(where: { $0.tags.contains(tag) }) { return true }
    if let refusal = listing.refusal { throw refusal }
    if !listing.missing.isEmpty { throw .missing(listing.missing, of: manifest, for: "tag '\(printable(tag.utf8))'") }
    return false
  }

  /// Removes the shards that the accepted manifest does not need. Errors are ignored: the next call removes them.
  func freeShards() {
    guard (try? directory.status(StoreDirectory.catalogue)) != nil, let manifest = try? usable()?.manifest else { return }
    try? catalogue.free(for: manifest)
  }

  /// Returns whether a manifest or the newest keys document has expired, so that nothing may be installed.
  func isExpired(_ manifest: VerifiedManifest) -> Bool {
    (try? manifest.manifest.checkExpiry(at: now)) == nil || (try? keys().checkExpiry(at: now)) == nil
  }

  /// The current time, limited to the range of times in a manifest.
  private var now: ManifestTime { ManifestTime(clamping: directory.clock.secondsSince1970) }
}
