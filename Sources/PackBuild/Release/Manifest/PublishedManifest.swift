/// The manifest that devices get now.
package struct PublishedManifest: Sendable {
  /// Where it was read, as the caller named it.
  package let place: String
  /// The manifest, with a valid signature.
  package let verified: VerifiedManifest
  /// Its version.
  var version: UInt64 { verified.manifest.version }
  /// All its packs, those in its catalogue included.
  package let packs: [ManifestPack]
  /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes.
  let contentDigest: [UInt8]

  /// Reads it from a file, or from an address with `curl`, which knows the machine's proxies and certificates.
  ///
  /// - Parameter place: a path, or an address that starts with `https://`.
  /// - Throws: ``PackError/Code/cannotRead`` or ``PackError/Code/missingInput``, ``PackError/Code/untrustedSignature``, or the error of a damaged manifest.
  package static func read(_ place: String, trusting keys: TrustedKeys) throws(PackError) -> PublishedManifest {
    let files = SystemFiles()
    return try attributing(to: place) { () throws(PackError) in
      let bytes = try place.contains("://") ? fetched(place) : files.contents(of: place, limit: Manifest.largestSize)
      if UnfitContent(bytes.byteSpan) == .page {
        throw PackError(.damagedManifest, "it is a web page, not a manifest", hint: "check the address, and what the server answers there")
      }
      let verified = try SignedManifest(bytes).verify(trusting: keys)
      let manifest = verified.manifest
      let packs =
        place.contains("://")
        ? try fetchedPacks(manifest)
        : try ReleaseCatalogue(manifest, in: PathParts(place)?.directory ?? ".").packs
      let content = try manifest.contentBytes()
      return PublishedManifest(
        place: place, verified: verified, packs: packs, contentDigest: try CryptoBackends.standard.digest(of: content.byteSpan))
    }
  }

  private static func fetched(_ address: String) throws(PackError) -> [UInt8] {
    _ = try ServedURL(address)
    do throws(PackError) {
      let bytes = try fetched([address], limit: Manifest.largestSize)
      guard bytes.count <= Manifest.largestSize else {
        throw PackError(.damagedManifest, "it is more than \(Manifest.largestSize) bytes, which no manifest is")
      }
      return bytes
    } catch {
      guard error.code == .cannotRead else { throw error }
      throw error.advising(.developer("check the address; without 'curl', fetch the manifest and name the file"))
    }
  }

  /// Returns the bytes at several addresses, one after the other.
  private static func fetched(_ addresses: [String], limit: Int) throws(PackError) -> [UInt8] {
    let words = [
      "--fail", "--fail-early", "--location", "--globoff", "--proto", "=https", "--proto-redir", "=https", "--tlsv1.2", "--max-time", "60",
      "--",
    ]
    let limits = Curl.limits.flatMap { ["--\($0)", $1] }
    return try ProgramOutput.read(Curl.words + limits + words + addresses, limit: limit, files: SystemFiles())
  }

  /// The number of shards that one run of `curl` fetches, over one connection.
  private static let shardsPerRun = 64

  /// Returns the packs of a manifest with its catalogue, which is fetched as it names it.
  private static func fetchedPacks(_ manifest: Manifest) throws(PackError) -> [ManifestPack] {
    var shards: [Shard: [UInt8]] = [:]
    for start in stride(from: 0, to: manifest.catalogue.count, by: shardsPerRun) {
      let batch = manifest.catalogue[start..<min(start + shardsPerRun, manifest.catalogue.count)]
      // With a catalogue, a manifest has a base.
      let addresses = batch.map { (manifest.defaults.baseURL ?? "") + $0.fileName }
      var bytes = try fetched(addresses, limit: batch.reduce(0) { $0 + Int($1.size) })[...]
      // A shard of another size makes the digests of all that follow wrong.
      for shard in batch {
        shards[shard] = Array(bytes.prefix(Int(shard.size)))
        bytes = bytes.dropFirst(Int(shard.size))
      }
    }
    return try ReleaseCatalogue(manifest) { (shard) in shards[shard] ?? [] }.packs
  }
}

extension ReleaseLock {
  /// Raises the versions to those of the published manifest, if that has other ones than the lock.
  ///
  /// - Returns: What the lock does not know; nil if it knows everything.
  @discardableResult
  mutating func raise(to published: PublishedManifest) -> String? {
    let manifest = published.verified.manifest
    guard let released, manifest.version <= released.manifestVersion else {
      adopt(published)
      return "manifest \(manifest.version)"
    }
    let known = Dictionary(uniqueKeysWithValues: released.packs.map { ($0.id, $0) })
    // The version of a candidate is taken, too.
    let newest = published.packs.map { $0.takingCandidate(manifest.defaults) ?? $0 }
    let isOther = manifest.version == released.manifestVersion && published.verified.signedDigest != released.signedDigest
    let others = newest.filter { entry in
      known[entry.id].map { $0.version < entry.version || $0.version == entry.version && $0.sha256 != entry.sha256 } ?? true
    }
    guard isOther || !others.isEmpty else { return nil }
    // Whatever is built gets a version after both.
    self.released?.contentDigest = Self.noContent
    adopt(others, of: manifest, forcing: true)
    return isOther ? "this manifest \(manifest.version)" : "pack '\(others[0].id)' of manifest \(manifest.version)"
  }

  private mutating func adopt(_ published: PublishedManifest) {
    let manifest = published.verified.manifest
    let known = Dictionary(uniqueKeysWithValues: (released?.packs ?? []).map { ($0.id, $0.version) })
    released = Release(
      manifestVersion: manifest.version, signedDigest: published.verified.signedDigest, contentDigest: published.contentDigest,
      issued: manifest.issued ?? manifest.expires, expires: manifest.expires, rootKeyID: released?.rootKeyID, packs: released?.packs ?? [],
      shards: max(released?.shards ?? 1, manifest.catalogue.count))
    let newest = published.packs.map { $0.takingCandidate(manifest.defaults) ?? $0 }
    adopt(newest.filter { $0.version >= known[$0.id] ?? 0 }, of: manifest, forcing: false)
    released?.note(published.packs, manifest.rollouts)
    let offered = Set(published.packs.map(\.id))
    for (index, pack) in (released?.packs ?? []).enumerated() where !offered.contains(pack.id) { released?.packs[index].isRemoved = true }
  }

  /// - Parameter forcing: whether the next build of the same content gets another version too, because two contents have this one.
  private mutating func adopt(_ entries: [ManifestPack], of manifest: Manifest, forcing: Bool) {
    let adopted = packs(
      replacing: entries.map { entry in
        Pack(
          id: entry.id, version: entry.version, size: entry.size, sha256: entry.sha256,
          contentRoot: forcing ? Self.noContent : entry.contentRoot, keyID: entry.keyID, settings: "",
          created: entry.created ?? manifest.issued ?? manifest.expires, install: entry.install)
      })
    released?.packs = adopted
  }
}

extension ReleaseLock.Release {
  /// Records what the entries of a manifest say of its packs: that a version is for everybody, a candidate, or withdrawn.
  mutating func note(_ entries: [ManifestPack], _ rollouts: [Rollout]) {
    let known = Dictionary(entries.map { ($0.id, $0) }) { first, _ in first }
    let halted = Set(rollouts.filter { $0.state == .halted }.map(\.id))
    for (index, pack) in packs.enumerated() {
      guard let entry = known[pack.id] else { continue }
      if entry.sha256 == pack.sha256 {
        packs[index].standing = nil
      } else if let candidate = entry.candidate, candidate.sha256 == pack.sha256 {
        packs[index].standing = halted.contains(candidate.rollout) ? .withdrawn : .candidate
      }
    }
  }
}
