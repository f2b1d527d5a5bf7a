/// The manifests at a place: the published one, and the copies that every publication leaves.
package struct PlaceHistory {
  /// A manifest there, by the name of its file.
  private struct File { let name: String, version: UInt64 }

  private let scratch: String
  private let trusted: TrustedKeys
  private let manifests: [File]
  /// What cannot be used, with the reason.
  package private(set) var faults: [String] = []

  /// Copies the manifests and shards of a place.
  ///
  /// - Parameters:
  ///   - trusted: the keys, one of which must have signed a manifest.
  ///   - scratch: an empty directory for them.
  /// - Throws: ``PackError/Code/missingInput`` if there is no manifest.
  package init(of place: any PublishingPlace, trusting trusted: TrustedKeys, in scratch: String) throws(PackError) {
    (self.scratch, self.trusted) = (scratch, trusted)
    let names = try place.sizes().keys.sorted()
    let copies = names.filter { ManifestCopy.version($0) != nil }
    let current = names.filter { $0 == ReleaseFile.manifest }
    guard !(current + copies).isEmpty else {
      throw PackError(.missingInput, of: place.title, "has no manifest", hint: "name the place to which releases were published, with --to")
    }
    let wanted =
      (current + copies).map { ($0, UInt64(Manifest.largestSize)) } + names.filter(Shard.isFileName).map { ($0, UInt64(Shard.largestSize)) }
    let brought = try place.bring(wanted, to: scratch)
    if let failure = brought.failures.first { throw failure }
    faults = brought.larger.map { "\($0) is larger than any manifest or shard" }
    // The others are here whole, or not at all.
    var found = copies.filter { !brought.larger.contains($0) }.compactMap { name in
      ManifestCopy.version(name).map { File(name: name, version: $0) }
    }
    if let name = current.first, let manifest = try? ReleaseFiles(ReleaseFolder.path(name, in: scratch)),
      !copies.contains(manifest.copyName)
    {
      found.append(File(name: name, version: manifest.manifest.version))
    }
    manifests = found.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
  }

  /// Calls `body` with each manifest that can be used, in ascending order of their versions. One is in memory at a time.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if none can be used.
  package mutating func visit(_ body: (PublishedManifest) throws(PackError) -> Void) throws(PackError) {
    var count = 0
    for file in manifests {
      try Task.checkpoint()
      let manifest: PublishedManifest
      do throws(PackError) {
        manifest = try PublishedManifest.read(ReleaseFolder.path(file.name, in: scratch), trusting: trusted)
      } catch {
        guard error.code != .cancelled else { throw error }
        faults.append("\(file.name): \(error.code == .untrustedSignature ? "no trusted key signed it" : error.message)")
        continue
      }
      count += 1
      try body(manifest)
    }
    guard count == 0 else { return }
    throw PackError(
      .missingInput, "no manifest there can be used", details: faults,
      hint: "trust the keys that signed them, in packer.yml or with --trust")
  }
}
