/// The removal of files that devices no longer need from the place of releases.
///
/// The copies of manifests there say which files each release has. Kept are the files of the manifest that is published, of newer ones, of the newest
/// releases up to a number, and of all whose manifest a device may still use. Files that no copy of this product's manifests names are never touched.
package struct Pruning: Sendable {
  private let place: any PublishingPlace
  /// The number of the newest releases that keep their files.
  package var keep = PackerConfiguration.Publish.defaultKeep
  /// Names of files that stay in any case.
  package var needed: Set<String> = []
  private let own: OwnManifests
  private let now: ManifestTime

  package init(of place: any PublishingPlace, own: OwnManifests, now: ManifestTime) { (self.place, self.own, self.now) = (place, own, now) }

  /// A release at the place.
  package struct Release: Hashable, Sendable {
    /// The version of its manifest.
    package let version: UInt64
    /// Why its files stay; nil if they do not.
    package let reason: String?
  }

  /// What is removed, and what stays.
  package struct Plan: Hashable, Sendable {
    /// Newest first.
    package let releases: [Release]
    /// The files to remove, in ascending order of their names.
    package let removed: [ReleaseFiles.File]
    /// The copies of manifests to remove: their number, and the sum of their sizes in bytes.
    package var copies: (count: Int, size: UInt64) {
      (copyNames.count, copyNames.reduce(0 as UInt64) { $0.adding(there[$1] ?? 0) })
    }
    fileprivate let copyNames: [String]
    /// The number of files of releases that stay, and the sum of their sizes in bytes.
    package let kept: (count: Int, size: UInt64)
    /// The files that no manifest names, which stay: their number and the sum of their sizes in bytes.
    package let unknown: (count: Int, size: UInt64)
    /// The files there, by whose names and sizes a change is noticed.
    fileprivate let there: [String: UInt64]
    fileprivate let manifest: [UInt8]

    package static func == (left: Plan, right: Plan) -> Bool { left.releases == right.releases && left.removed == right.removed }
    package func hash(into hasher: inout Hasher) { hasher.combine(removed) }
  }

  /// Reads the manifests at the place, and decides.
  ///
  /// - Parameter scratch: an empty directory for them.
  /// - Throws: ``PackError/Code/missingInput`` if there is no manifest; the error of a manifest or shard that is damaged;
  ///   ``PackError/Code/releaseConflict`` if the manifest is another product's, or has expired, because then the clock may be wrong.
  package func plan(in scratch: String) throws(PackError) -> Plan {
    let there = try place.sizes()
    let copies = there.keys.filter { ManifestCopy.version($0) != nil }.sorted()
    if let large = copies.first(where: { there[$0].map { $0 > Manifest.largestSize } ?? false }) {
      throw unreadable(large, "it has \(there[large] ?? 0) bytes, more than a manifest can have")
    }
    // None that is larger belongs to a release.
    let shards = there.filter { Shard.isFileName($0.key) && $0.value <= Shard.largestSize }.keys
    guard there[ReleaseFile.manifest] != nil else {
      throw PackError(.missingInput, of: place.title, "has no \(ReleaseFile.manifest)", hint: "packer publish makes one")
    }
    let manifests = ([ReleaseFile.manifest] + copies).map { ($0, UInt64(Manifest.largestSize)) }
    try place.fetch(manifests + shards.sorted().map { ($0, UInt64(Shard.largestSize)) }, to: scratch)
    let current = try ReleaseFiles(ReleaseFolder.path(ReleaseFile.manifest, in: scratch))
    guard try own.has(current) else {
      throw PackError(
        .releaseConflict, of: place.title,
        "has manifest \(current.manifest.version), which no trusted key signed, so it is not known what may go",
        hint: "name the place of this product, and packer.yml with -c")
    }
    guard current.manifest.expires > now else {
      throw PackError(
        .releaseConflict, of: place.title,
        "has manifest \(current.manifest.version), which expired at \(current.manifest.expires); now it is \(now), if the clock is right",
        hint: "set the clock, or publish a manifest that is valid: packer build --renew")
    }
    var releases: [(name: String, files: ReleaseFiles)] = []
    for name in copies where name != current.copyName {
      let found: ReleaseFiles
      do throws(PackError) {
        found = try ReleaseFiles(ReleaseFolder.path(name, in: scratch))
      } catch {
        throw unreadable(name, error.message)
      }
      guard found.copyName == name else { throw unreadable(name, "it has other bytes than its name says") }
      if try own.has(found) { releases.append((name, found)) }
    }
    releases.sort { ($1.files.manifest.version, $0.name) < ($0.files.manifest.version, $1.name) }

    var reasons = [Release(version: current.manifest.version, reason: "published")]
    var kept = Set(current.files).union(current.openers.keys)
    var older: Set<ReleaseFiles.File> = []
    var removedCopies: [String] = []
    var count: UInt64 = 1
    for (name, release) in releases {
      let manifest = release.manifest
      if manifest.version < current.manifest.version { count += 1 }
      let reason = reason(manifest, place: count, than: current.manifest.version)
      reasons.append(Release(version: manifest.version, reason: reason))
      if reason == nil {
        older.formUnion(release.files)
        older.formUnion(release.openers.keys)
        removedCopies.append(name)
      } else {
        kept.formUnion(release.files)
        kept.formUnion(release.openers.keys)
      }
    }
    let keptNames = Set(kept.map(\.name))
    let removed = older.filter { file in
      guard ManifestPack.isPublishedName(file.name) else { return false }
      if keptNames.contains(file.name) { return false }
      return !needed.contains(file.name) && there[file.name] != nil
    }
    let named = keptNames.union(older.map(\.name)).union(releases.map(\.name)).union([current.copyName])
    let unknown = there.filter { !named.contains($0.key) && $0.key != ReleaseFile.manifest }
    return Plan(
      releases: reasons.sorted { $1.version < $0.version }, removed: removed.sorted { $0.name < $1.name }, copyNames: removedCopies,
      kept: (kept.count, kept.reduce(0 as UInt64) { $0.adding($1.size) }),
      unknown: (unknown.count, unknown.reduce(0 as UInt64) { $0.adding($1.value) }), there: there, manifest: current.manifestBytes)
  }

  private func unreadable(_ copy: String, _ reason: String) -> PackError {
    PackError(
      .damagedManifest, of: place.title, "has the copy \(copy), which cannot be read, so it is not known what may go: \(reason)",
      hint: "if it was never published, remove it there; otherwise bring it back")
  }

  /// Returns why the files of a release stay; nil if they do not.
  private func reason(_ manifest: Manifest, place: UInt64, than current: UInt64) -> String? {
    if manifest.version >= current { return "not older than the published one" }
    if place <= keep { return "one of the newest \(keep)" }
    return manifest.expires > now ? "valid until \(manifest.expires)" : nil
  }

  /// Removes what a plan says. Stopped before the last step, doing it again completes it; stopped there, shards may stay, which are small.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if a manifest came since the plan was made.
  package func run(_ plan: Plan) throws(PackError) {
    guard !plan.removed.isEmpty || !plan.copyNames.isEmpty else { return }
    let copies = plan.there.keys.filter { ManifestCopy.version($0) != nil }
    try place.exclusively { () throws(PackError) in
      guard try found(plan) == Set(copies) else {
        throw PackError(.releaseConflict, of: place.title, "got another manifest meanwhile, so nothing was removed", hint: "run it again")
      }
      // The copies say what is left to do, and need the shards for that.
      let shards = plan.removed.filter { Shard.isFileName($0.name) }
      try place.remove(plan.removed.filter { !Shard.isFileName($0.name) }.map(\.name))
      try place.remove(plan.copyNames)
      try place.remove(shards.map(\.name))
    }
    guard try found(plan) == Set(copies).subtracting(plan.copyNames) else {
      throw PackError(
        .releaseConflict, of: place.title, "got another manifest while files were removed, which may need some of them",
        hint: "packer publish uploads what is missing; do not run both at a time")
    }
  }

  /// Returns the names of the copies there; nil if another manifest is published.
  private func found(_ plan: Plan) throws(PackError) -> Set<String>? {
    guard try place.contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) == plan.manifest else { return nil }
    return Set(try place.sizes().keys.filter { ManifestCopy.version($0) != nil })
  }
}
