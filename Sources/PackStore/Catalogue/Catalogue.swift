/// The catalogue of on-demand packs on a device: the shards that are at hand, in a directory (FORMAT.md §9.7).
///
/// Any number of processes may use one directory. A shard appears whole or not at all, and is checked against the manifest whenever it is read. One
/// that is missing can be fetched again, so nothing is lost if one process frees what another has just kept.
package final class Catalogue: Sendable {
  /// Serializes the downloads of shards in this process.
  package let fetching = KeyedLock<String>()
  private let path: String
  private let files: any FileSystem
  private let backend: any CryptoBackend
  private let known = Monitor(Known())

  /// The entries of the shards that were opened last for one manifest, so that repeated plans open none twice.
  private struct Known {
    var catalogue: [Shard] = []
    var defaults = ManifestDefaults()
    var packs: [ManifestPack] = []
    /// The places of the packs in the manifest, by id.
    var places: [String: Int] = [:]
    var shards: [Int: [ManifestPack]] = [:]
    var count = 0

    init() {}

    init(_ manifest: Manifest) {
      (catalogue, defaults, packs) = (manifest.catalogue, manifest.defaults, manifest.packs)
      places = Dictionary(packs.enumerated().map { ($1.id, $0) }) { $1 }
    }

    /// The most entries that are kept, about 1 KB each. Most devices have fewer; with more, shards are opened again.
    static let limit = 4096

    /// Whether it is of this manifest.
    func isOf(_ manifest: Manifest) -> Bool {
      catalogue == manifest.catalogue && defaults == manifest.defaults && packs == manifest.packs
    }
  }

  /// - Parameter path: The directory. It is made for the first shard.
  package init(_ path: String, files: any FileSystem, backend: any CryptoBackend) {
    self.path = path
    self.files = files
    self.backend = backend
  }

  // MARK: Looking up

  /// Finds packs by their ids, in the manifest and in the shards that are at hand. Opens only the shards that the ids belong in.
  ///
  /// - Throws: ``PackError/Code/cannotRead``. A shard that breaks a rule does not throw: its ids are unknown.
  package func lookUp(_ ids: Set<String>, in manifest: Manifest) throws(PackError) -> CatalogueLookup {
    var lookup = CatalogueLookup()
    let places = withKnown(of: manifest) { $0.places }
    for id in ids {
      if let place = places[id] {
        lookup.packs[id] = manifest.packs[place]
      } else if !manifest.catalogue.isEmpty {
        lookup.unknown.insert(id)
      }
    }
    guard !lookup.unknown.isEmpty else { return lookup }
    var wanted: [Int: Set<String>] = [:]
    for id in lookup.unknown {
      wanted[try Shard.number(of: id, among: manifest.catalogue.count, backend: backend), default: []].insert(id)
    }
    for (number, ids) in wanted.sorted(by: { $0.key < $1.key }) {
      do throws(PackError) {
        guard let packs = try packs(number, of: manifest) else {
          lookup.missing.append(number)
          continue
        }
        for id in ids {
          let place = packs.partitioningIndex { !$0.id.precedes(id) }
          if place < packs.count, packs[place].id == id { lookup.packs[id] = packs[place] }
        }
        lookup.unknown.subtract(ids)
      } catch {
        guard error.code == .damagedManifest else { throw error }
        lookup.refusal = lookup.refusal ?? error
      }
    }
    return lookup
  }

  /// All packs that a manifest offers, as far as they are known.
  package struct Listing: Sendable {
    /// Those of the manifest in its order, then those of the catalogue in ascending order of their ids.
    package var packs: [ManifestPack]
    /// The numbers of the shards that are not at hand.
    package var missing: [Int] = []
    /// The ids of packs that an earlier shard lists whose successor is not at hand. They are for display only.
    package var outdated: Set<String> = []
    /// The fault of the first shard that is the right file and breaks a rule.
    package var refusal: PackError?

    /// Whether it has all packs, as the manifest offers them.
    package var isComplete: Bool { missing.isEmpty && refusal == nil }
    /// The packs without ``outdated``.
    package var current: [ManifestPack] { outdated.isEmpty ? packs : packs.filter { !outdated.contains($0.id) } }
  }

  /// Returns all packs, opening every shard that is not in memory. Takes 1 KB of memory for each pack.
  ///
  /// - Throws: ``PackError/Code/cannotRead``
  package func listing(of manifest: Manifest) throws(PackError) -> Listing {
    var listing = Listing(packs: manifest.packs)
    var further: [ManifestPack] = []
    var names: [FileName]?
    for number in manifest.catalogue.indices {
      do throws(PackError) {
        if let packs = try packs(number, of: manifest) {
          further += packs
          continue
        }
      } catch {
        guard error.code == .damagedManifest else { throw error }
        listing.refusal = listing.refusal ?? error
        continue
      }
      listing.missing.append(number)
      if names == nil { names = try fileNames() }
      let earlier = try earlier(number, of: manifest, among: names ?? [])
      further += earlier
      listing.outdated.formUnion(earlier.map(\.id))
    }
    listing.packs += further.sorted { $0.id.precedes($1.id) }
    return listing
  }

  /// Returns the entries of a shard, or nil if it is not at hand.
  ///
  /// - Throws: ``PackError/Code/damagedManifest`` if it breaks a rule.
  private func packs(_ number: Int, of manifest: Manifest) throws(PackError) -> [ManifestPack]? {
    if let found = withKnown(of: manifest, { $0.shards[number] }) { return found }
    // A wrong one is fetched again, and replaced.
    guard let bytes = try read(FileName(number, of: manifest)),
      let packs = try unless(.wrongShard, ShardFile.packs(bytes.byteSpan, number, of: manifest, backend: backend))
    else { return nil }
    known.withLock { known in
      guard known.isOf(manifest), packs.count <= Known.limit, known.shards[number] == nil else { return }
      if known.count + packs.count > Known.limit { (known.shards, known.count) = ([:], 0) }
      known.shards[number] = packs
      known.count += packs.count
    }
    return packs
  }

  private func withKnown<Result>(of manifest: Manifest, _ body: (Known) -> Result) -> Result {
    known.withLock { known in
      // Lists that are the same in memory are not compared again.
      if known.isOf(manifest) { known.packs = manifest.packs } else { known = Known(manifest) }
      return body(known)
    }
  }

  /// Returns the entries of the shard with the same number of an earlier manifest, as long as its successor is not at hand. None if it cannot be read.
  private func earlier(_ number: Int, of manifest: Manifest, among names: [FileName]) throws(PackError) -> [ManifestPack] {
    for name in names where name.number == number && name.count == manifest.catalogue.count {
      guard let bytes = try read(name), let size = (try? FrameHeader.parse(bytes.byteSpan, name: name.text))?.contentSize else { continue }
      var former = manifest
      let digest = try backend.digest(of: bytes.byteSpan)
      guard digest.prefix(8).hex == name.digits else { continue }
      // What was in the shard then may be in the manifest now.
      former.packs = []
      former.catalogue[number] = Shard(size: UInt64(bytes.count), contentSize: size, maxCount: size, sha256: digest)
      guard let packs = try? ShardFile.packs(bytes.byteSpan, number, of: former, backend: backend) else { continue }
      let listed = Set(manifest.packs.map(\.id))
      return packs.filter { !listed.contains($0.id) }
    }
    return []
  }

  // MARK: Files

  /// The name of the file of a shard on the device, which says its place in the list of its manifest.
  private struct FileName: Hashable {
    let number: Int
    let count: Int
    /// The first 16 hexadecimal digits of its SHA-256.
    let digits: String

    init(_ number: Int, of manifest: Manifest) {
      self.number = number
      count = manifest.catalogue.count
      digits = manifest.catalogue[number].sha256.prefix(8).hex
    }

    init?(_ text: String) {
      guard text.hasSuffix(Shard.fileExtension) else { return nil }
      let parts = text.dropLast(Shard.fileExtension.count).split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 3, let number = Int(parts[0]), let count = Int(parts[1]), (0..<count).contains(number), parts[2].utf8.count == 16
      else { return nil }
      (self.number, self.count, digits) = (number, count, String(parts[2]))
      guard self.text == text else { return nil }
    }

    var text: String { "\(number)-\(count)-\(digits)\(Shard.fileExtension)" }
  }

  /// Returns the bytes of a file, or nil if it is no file, or more than a shard may be. They are not checked.
  private func read(_ name: FileName) throws(PackError) -> [UInt8]? {
    let path = "\(path)/\(name.text)"
    guard try reading(path, ifPresent(files.status(of: path, in: nil, following: .asThemselves)))?.kind == .file else { return nil }
    return try unless(
      .missingInput, or: .limitExceeded, files.contents(of: path, limit: Shard.largestSize))
  }

  private func fileNames() throws(PackError) -> [FileName] {
    guard let directory = try reading(path, ifPresent(files.open(path, .directory, in: nil))) else { return [] }
    return try reading(path, files.names(in: directory)).compactMap { FileName($0.text) }
  }

  /// Returns the numbers of the shards of a manifest that are not at hand. Reads and checks each of the others that is not in memory.
  ///
  /// - Throws: ``PackError/Code/cannotRead``
  package func missing(of manifest: Manifest) throws(PackError) -> [Int] {
    var missing: [Int] = []
    for number in manifest.catalogue.indices {
      do throws(PackError) {
        if try packs(number, of: manifest) == nil { missing.append(number) }
      } catch {
        guard error.code == .damagedManifest else { throw error }
      }
    }
    return missing
  }

  /// Adds a shard, and removes its predecessor. When this returns, it has reached the disk.
  ///
  /// - Throws: ``PackError/Code/wrongShard`` if the bytes are not those that the manifest names, ``PackError/Code/noSpace``,
  ///   ``PackError/Code/cannotWrite``, ``PackError/Code/outputExists`` if a directory is under its name.
  package func keep(_ bytes: [UInt8], _ number: Int, of manifest: Manifest) throws(PackError) {
    try ShardFile.check(bytes.byteSpan, as: manifest.catalogue[number], backend: backend)
    if try writing(path, unlessExisting(files.makeDirectory(path, mode: 0o755, in: nil))) != nil {
      try writing(path, files.sync(files.open(PathParts(path)?.directory ?? "..", .directory, in: nil)))
    }
    try OutputFile.write(bytes, to: "\(path)/\(FileName(number, of: manifest).text)", files: files)
    try free(for: manifest)
  }

  /// Removes the shards of earlier manifests whose successors are at hand, and what killed processes left. Where the number of shards has changed, that
  /// is not before all of them are.
  package func free(for manifest: Manifest) throws(PackError) {
    guard let directory = try writing(path, ifPresent(files.open(path, .directory, in: nil))) else { return }
    let texts = try writing(path, files.names(in: directory)).map(\.text)
    let present = Set(texts.compactMap(FileName.init))
    let current = Set(manifest.catalogue.indices.map { FileName($0, of: manifest) })
    let isWhole = current.isSubset(of: present)
    for text in texts {
      if let shard = StagedName.output(of: text), FileName(shard) != nil {
        _ = try? StagedName(for: "\(path)/\(shard)", files: files)
      } else if let name = FileName(text), !current.contains(name),
        isWhole || name.count == manifest.catalogue.count && present.contains(FileName(name.number, of: manifest))
      {
        // Another process may remove it, too.
        let kind = try writing(path, ifPresent(files.status(of: text, in: directory, following: .asThemselves)))?.kind
        if let kind, kind != .directory { try writing(path, ifPresent(files.remove(text, kind, in: directory))) }
      }
    }
  }
}
