/// The publication of a release at a place, from which devices fetch it.
///
/// Packs, deltas and shards come first: under names that no other file ever has, so that nothing a device may be reading changes. They are read back.
/// The manifest, which names them, comes last. Stopped anywhere, the place has the earlier release or this one, whole; run again, it goes on.
package struct Publication: Sendable {
  package let release: ReleaseFiles
  private let place: any PublishingPlace
  private let own: OwnManifests
  /// The version of the manifest there that may be replaced although it is another product's, or a thief's.
  private let replaced: UInt64?
  /// The bytes of the manifest that this one was made from, by a change of its rollouts. Nil for a release that was built.
  private let before: [UInt8]?
  private let packs: Packs

  /// What is done about packs, deltas and leads.
  package enum Packs: Sendable {
    /// Those that are missing are uploaded, and all are compared.
    case uploaded
    /// They must be at the place.
    case present
    /// They are what devices have already, at the place or not.
    case unchanged
  }

  package init(_ release: ReleaseFiles, at place: any PublishingPlace, own: OwnManifests, replacing replaced: UInt64? = nil) {
    (self.release, self.place, self.own, self.replaced) = (release, place, own, replaced)
    (before, packs) = (nil, .uploaded)
  }

  /// The publication of a manifest that was made from the one at the place, whose bytes these are.
  init(_ release: ReleaseFiles, at place: any PublishingPlace, own: OwnManifests, following before: [UInt8], packs: Packs) {
    (self.release, self.place, self.own, self.before, self.packs) = (release, place, own, before, packs)
    replaced = nil
  }

  /// The files that are uploaded and compared.
  private var brought: [ReleaseFiles.File] { packs == .uploaded ? release.files : release.files.filter { Shard.isFileName($0.name) } }

  /// The files that must be at the place when the manifest comes.
  private var required: [ReleaseFiles.File] { packs == .unchanged ? brought : release.files }

  /// What a publication does, before it does anything.
  package struct Plan: Sendable {
    /// The files that are not at the place, or have another size there.
    package let missing: [ReleaseFiles.File]
    /// The number of files that are there, and the sum of their sizes in bytes.
    package let present: (count: Int, size: UInt64)
    /// The packs, deltas and shards there that the release does not name, and the sum of their sizes in bytes. Devices with earlier releases may need them.
    package let others: (count: Int, size: UInt64)
    /// Those of the files there that are compared with the release: an upload that was stopped may have left those that the published manifest does not
    /// name itself, and all are compared if nothing else is left to do.
    let unsure: [ReleaseFiles.File]
    /// The names of the shards there.
    let shards: [String]
    /// The bytes of the manifest that is there; nil if there is none.
    let published: [UInt8]?
    /// Its version; nil if there is none, or if it cannot be read.
    package let publishedVersion: UInt64?
    /// Whether it is that of the release.
    package let isPublished: Bool
    /// Whether the copy of the release's manifest is there.
    let hasCopy: Bool
  }

  /// Looks at the place.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if a newer manifest is there, another one of the same version, one
  ///   more than ``PackFormat/Limits/versionStep`` versions earlier, or one of another product.
  package func plan() throws(PackError) -> Plan {
    let there = try place.sizes()
    let published = there[ReleaseFile.manifest] == nil ? nil : try place.contents(of: ReleaseFile.manifest, limit: Manifest.largestSize)
    let isPublished = published == release.manifestBytes
    if let before, published != before, !isPublished {
      throw conflict("has another manifest than a moment ago: another publisher is at work", hint: "run it again")
    }
    let former = published.flatMap(Self.manifest)
    if let published, former == nil, !release.manifestBytes.starts(with: published) {
      throw conflict(
        "has a \(ReleaseFile.manifest) that cannot be read as a manifest of packs",
        hint: "name another place, or update packer; if an upload was cut, remove it there")
    }
    let version = former?.version
    let ours = release.manifest.version
    if let replaced, let version, replaced != version { throw conflict("has manifest \(version), not \(replaced)", hint: Self.look) }
    // Devices forget the versions of keys that were dropped, and never had those of other products.
    let predecessor = try isPublished ? former : checked(published, former)
    if let version = predecessor?.version, version > ours {
      throw conflict("has manifest \(version), which is newer than manifest \(ours) of this release")
    }
    if let version = predecessor?.version, version == ours, !isPublished {
      throw conflict("has another manifest \(version) than this release")
    }
    try checkVersions(after: predecessor)
    if let predecessor, !isPublished { try checkRollouts(of: predecessor) }
    let missing = brought.filter { there[$0.name] != $0.size }
    let names = Set(release.files.map(\.name) + release.openers.keys.map(\.name))
    let others = there.filter { name, _ in !names.contains(name) && ManifestPack.isPublishedName(name) }
    // Its shards are not read.
    let named = Set((predecessor?.packs ?? []).map(\.fileName))
    let unsure = brought.filter { there[$0.name] == $0.size && (isPublished || !named.contains($0.name)) }
    let size = (release.files.reduce(0 as UInt64) { $0.adding($1.size) }, missing.reduce(0 as UInt64) { $0.adding($1.size) })
    return Plan(
      missing: missing, present: (release.files.count - missing.count, size.0 - size.1),
      others: (others.count, others.reduce(0 as UInt64) { $0.adding($1.value) }), unsure: unsure,
      shards: there.filter { Shard.isFileName($0.key) && $0.value <= Shard.largestSize }.keys.sorted(), published: published,
      publishedVersion: version,
      isPublished: isPublished, hasCopy: there[release.copyName] == UInt64(release.manifestBytes.count))
  }

  /// Returns the published manifest if devices take it; nil if there is none, or one that may be replaced whatever its version.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if it is that of another product, as far as keys, address and records show, and is not to be replaced.
  private func checked(_ bytes: [UInt8]?, _ former: Manifest?) throws(PackError) -> Manifest? {
    guard let bytes, let former else { return nil }
    let signed = try SignedManifest(bytes)
    let isTrusted = own.isTrusted(signed)
    let hasAddress = former.defaults.baseURL == release.manifest.defaults.baseURL
    if isTrusted, hasAddress { return former }
    // A project that was copied has the records of the first one, too. A product does not change its keys and its address at a time.
    if isTrusted || hasAddress, try own.isRecorded(signed, version: former.version) { return former }
    guard replaced == nil else { return isTrusted ? former : nil }
    let signers = signed.signatures.map(\.keyID).joined(separator: ", ")
    throw conflict(
      "has manifest \(former.version) for \(former.defaults.baseURL ?? "no address"), signed by \(signers), which is not one of this product: "
        + (isTrusted ? "this release is for \(release.manifest.defaults.baseURL ?? "no address")" : "no trusted key signed it"),
      hint: "name the place of this product; if that manifest must go: packer publish --replace \(former.version)")
  }

  private static let look = "see what is there, with: packer publish --dry-run"

  /// Throws if a version is too far above the published one. Catalogues are not compared: 'packer verify --published' does.
  private func checkVersions(after former: Manifest?) throws(PackError) {
    let known = Dictionary((former?.packs ?? []).map { ($0.id, $0.version) }, uniquingKeysWith: max)
    let pairs =
      [("manifest", former?.version ?? 0, release.manifest.version)]
      + release.manifest.packs.map { ("pack '\($0.id)' in version", known[$0.id] ?? 0, $0.version) }
    guard let (name, old, new) = pairs.first(where: { Limits.isVersionJump(from: $0.1, to: $0.2) }) else { return }
    throw conflict(
      "has \(name) \(old), and this release has \(new): devices would refuse every version between",
      hint: "bring back the lock file before that change, then build again with 'packer build'")
  }

  /// Throws if the release would end a rollout under way, or brings to everybody what was withdrawn.
  private func checkRollouts(of former: Manifest) throws(PackError) {
    // One that replaces whatever is there, and one that changes rollouts, may end them.
    guard before == nil, replaced == nil, !former.rollouts.isEmpty else { return }
    if let rollout = former.rollouts.first(where: { $0.state != .halted }) {
      throw conflict(
        "has rollout '\(rollout.id)' under way, which this release would end",
        hint: "packer rollout finish \(rollout.id), or halt; or begin another one with this release: packer rollout start")
    }
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let names = Set(release.files.map(\.name))
    for pack in try PlacedRelease.packs(of: former, at: place, in: scratch.path) {
      guard let withdrawn = pack.takingCandidate(former.defaults), names.contains(withdrawn.fileName) else { continue }
      throw RolloutDraft.withdrawn(withdrawn)
    }
  }

  private func conflict(_ what: String, hint: String = ReleaseLock.renewal) -> PackError {
    PackError(.releaseConflict, of: place.title, what, hint: hint)
  }

  /// Reads a manifest, whose signature is not checked.
  static func manifest(_ bytes: [UInt8]) -> Manifest? { try? SignedManifest(bytes).parsed() }

  /// Uploads the files that are missing, and compares them with those of the release. Files that an upload that was stopped may have left are
  /// compared, too, and replaced if they are others.
  ///
  /// - Parameters:
  ///   - isAnnounced: whether the manifest follows. Then its copy comes before the packs, so that no other process removes them meanwhile.
  ///   - noticed: called with the names of files there that have other bytes, before they are replaced.
  /// - Returns: the number of files that were uploaded.
  /// - Throws: ``PackError/Code/wrongPack`` if a file of the release, or a file there after the upload, is not the one that the manifest names. Such
  ///   files are removed there.
  package func upload(
    _ plan: Plan, isAnnounced: Bool = true, files: any FileSystem = SystemFiles(), noticed: ([String]) -> Void = { _ in }
  ) throws(PackError) -> Int {
    let doubtful = try doubtful(plan)
    let others = try doubtful.isEmpty ? [] : place.different(doubtful, from: release.directory)
    if !others.isEmpty { noticed(others.map(\.name)) }
    let wanted = plan.missing + others
    try release.check(wanted, files: files)
    try place.checkRoom(for: wanted.reduce(0) { $0.adding($1.size) })
    // A copy can be read only with its shards.
    let shards = wanted.filter { Shard.isFileName($0.name) }
    let packs = wanted.filter { !Shard.isFileName($0.name) }
    if !shards.isEmpty { try place.add(shards.map(\.name), from: release.directory) }
    if isAnnounced, !plan.hasCopy { try place.add(release.manifestPath, as: release.copyName) }
    if !packs.isEmpty { try place.add(packs.map(\.name), from: release.directory) }
    guard !wanted.isEmpty else { return 0 }
    let different = try place.different(wanted, from: release.directory)
    guard let first = different.first?.name else { return wanted.count }
    // They have the right sizes, so the next run would take them for uploaded.
    try place.remove(different.map(\.name))
    throw PackError(
      .wrongPack, of: place.title,
      "had another \(first) than was uploaded\(different.count == 1 ? "" : ", and \(different.count - 1) more")",
      hint: "run it again; the manifest there is still the earlier one")
  }

  /// Returns the files that an upload that was stopped may have left, or that may have been changed since. Where comparing needs a download, those that
  /// the published manifest names are none.
  private func doubtful(_ plan: Plan) throws(PackError) -> [ReleaseFiles.File] {
    guard !plan.unsure.isEmpty, let published = plan.published, try !place.hasDigests() else { return plan.unsure }
    guard !plan.isPublished else { return [] }
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    try OutputFile.write(published, to: ReleaseFolder.path(ReleaseFile.manifest, in: scratch.path), files: SystemFiles())
    if !plan.shards.isEmpty { try place.fetch(plan.shards.map { ($0, UInt64(Shard.largestSize)) }, to: scratch.path) }
    // Somebody who replaced the manifest may have replaced packs, too.
    guard let former = try? ReleaseFiles(scratch.path), try own.isTrusted(SignedManifest(published)) else { return plan.unsure }
    let named = Set(former.files)
    return plan.unsure.filter { !named.contains($0) }
  }

  /// Returns the names of files at the place that have the right size and other bytes. A place where comparing needs a download is not asked.
  package func changed(_ plan: Plan) throws(PackError) -> [String] {
    guard !plan.unsure.isEmpty, try place.hasDigests() else { return [] }
    return try place.different(plan.unsure, from: release.directory).map(\.name)
  }

  /// Replaces the manifest, and reads it back. Does nothing if it is there.
  ///
  /// - Parameter replaced: called when the manifest was there, even if another one took its place at once: devices may have it then.
  /// - Throws: ``PackError/Code/releaseConflict`` if another one came in its place meanwhile.
  package func publish(_ plan: Plan, replaced: () -> Void = {}) throws(PackError) {
    guard !plan.isPublished else { return }
    try Task.checkpoint()
    try place.exclusively { () throws(PackError) in
      // A process that removes what earlier releases needed may have been at work.
      let there = try place.sizes()
      if let file = required.first(where: { there[$0.name] != $0.size }) {
        throw PackError(
          .releaseConflict, of: place.title, "does not have \(file.name) any more, which was there before",
          hint: packs == .uploaded ? "run it again" : "bring it back from the release directory or 'released', then run it again")
      }
      try place.replaceManifest(with: release.manifestPath, known: plan.published)
    }
    replaced()
    guard try place.contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) == release.manifestBytes else {
      throw PackError(
        .releaseConflict, of: place.title, "has another manifest than was uploaded: another publisher is at work",
        hint: "see that one pipeline publishes at a time, and publish the newest release again")
    }
    // Where nothing excludes the other process, it may have looked before this one did.
    let there = try place.sizes()
    let lost = required.filter { there[$0.name] != $0.size }
    guard let one = lost.first else { return }
    guard packs == .uploaded else {
      throw PackError(
        .wrongPack, of: place.title, "has lost \(one.name)", hint: "bring it back from the release directory or 'released'")
    }
    try place.add(lost.map(\.name), from: release.directory)
    guard let first = try place.different(lost, from: release.directory).first else { return }
    throw PackError(
      .wrongPack, of: place.title, "has lost \(first.name) since it was uploaded", hint: "publish it again, and not while files are removed"
    )
  }
}
