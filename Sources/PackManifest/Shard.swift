/// A part of the catalogue, as the manifest names it (FORMAT.md §9.7): a file with the entries of the on-demand packs whose ids belong in it.
package struct Shard: Hashable, Sendable {
  /// The exact size of the file in bytes, as served.
  package var size: UInt64
  /// The size of its JSON in bytes.
  package var contentSize: UInt64
  /// The largest number of its entries. Writers state the number itself.
  package var maxCount: UInt64
  /// The SHA-256 of the file, 32 bytes.
  package var sha256: [UInt8]

  package init(size: UInt64, contentSize: UInt64, maxCount: UInt64, sha256: [UInt8]) {
    self.size = size
    self.contentSize = contentSize
    self.maxCount = maxCount
    self.sha256 = sha256
  }

  /// The largest JSON that a reader takes, in bytes (1 MiB).
  package static let largestContentSize: UInt64 = 1 << 20
  /// The size of the largest file, in bytes.
  package static let largestSize = Limits.compressBound(Int(largestContentSize))
  /// The largest number of shards is 2 to this power.
  package static let mostBits = 10
  /// The end of the names of published shards.
  package static let fileExtension = ".shard"
  private static let front = "catalogue-"

  /// The name of the published file.
  package var fileName: String { "\(Self.front)\(sha256.prefix(8).hex)\(Self.fileExtension)" }

  /// Whether a file may be a shard, by its name.
  package static func isFileName(_ name: String) -> Bool {
    name.hasPrefix(front) && name.hasSuffix(fileExtension)
      && ManifestRules.isKeyID(String(name.dropFirst(front.count).dropLast(fileExtension.count)))
  }

  /// Returns the number of the shard that an id belongs in: the first bits of a digest of it.
  ///
  /// - Parameter count: The number of shards, a power of two of at most 2^``mostBits``.
  package static func number(
    of id: String, among count: Int, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Int {
    let digest = try backend.digest(of: (Label.shard.bytes + Array(id.utf8)).byteSpan)
    return (Int(digest[0]) << 8 | Int(digest[1])) >> (16 - count.trailingZeroBitCount)
  }

  /// Returns the faults of the list of shards, as texts.
  static func faults(of shards: [Shard]) -> [String] {
    var faults = shards.enumerated().flatMap { number, shard in shard.faults.map { "shard \(number): \($0)" } }
    let count = shards.count
    if count & (count - 1) != 0 || count > 1 << mostBits {
      faults.append("\(count) shards are not a power of two up to \(1 << mostBits)")
    }
    return faults
  }

  private var faults: [String] {
    var faults: [String] = []
    if sha256.count != 32 { faults.append("sha256 is \(sha256.count) bytes, not 32") }
    if !(1...Self.largestContentSize).contains(contentSize) {
      faults.append("contentSize is \(contentSize), more than \(Self.largestContentSize) or nothing")
    } else if !(1...UInt64(Limits.compressBound(Int(contentSize)))).contains(size) {
      faults.append("size is \(size) for \(contentSize) bytes")
    }
    if maxCount > contentSize { faults.append("maxCount is \(maxCount) for \(contentSize) bytes") }
    return faults
  }
}

extension Shard {
  /// Writes the reference.
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.integer("contentSize", contentSize)
      writer.integer("maxCount", maxCount)
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
    }
  }

  /// Reads the list of a manifest.
  static func list(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [Shard] {
    var array = try cursor.beginArray("shards", depth: 3, in: bytes)
    var shards: [Shard] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard shards.count < 1 << mostBits else { throw cursor.fault("has too many shards") }
      shards.append(try Shard(&cursor, bytes))
    }
    guard !shards.isEmpty else { throw cursor.fault("has an empty catalogue") }
    return shards
  }

  private init(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a shard", depth: 4, in: bytes)
    var (size, contentSize, maxCount): (UInt64?, UInt64?, UInt64?)
    var sha256: [UInt8]?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "contentSize": contentSize = try cursor.integer("a contentSize", in: bytes)
      case "maxCount": maxCount = try cursor.integer("a maxCount", in: bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "size": size = try cursor.integer("a size", in: bytes)
      default: try cursor.skip(depth: 5, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s shard"
    self.init(
      size: try required(size, "size", of: owner), contentSize: try required(contentSize, "contentSize", of: owner),
      maxCount: try required(maxCount, "maxCount", of: owner), sha256: try required(sha256, "sha256", of: owner))
  }
}

/// The JSON of a shard: entries of on-demand packs in ascending order of their ids (FORMAT.md §9.7).
package enum ShardContent {
  /// Reads a shard. The caller must have checked its digest.
  ///
  /// - Parameters:
  ///   - number: That of the shard in the manifest's list.
  ///   - manifest: The manifest that names the shard.
  /// - Throws: ``PackError/Code/damagedManifest``
  package static func packs(
    parsing bytes: Span<UInt8>, _ number: Int, of manifest: Manifest, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> [ManifestPack] {
    let shard = manifest.catalogue[number]
    let name = shard.fileName
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: name)
    var object = try cursor.beginObject("a shard", depth: 1, in: bytes)
    var packs: [ManifestPack]?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      if key == "packs" {
        packs = try ManifestEntryReader(manifest.defaults, isInShard: true, depth: 2).packs(&cursor, bytes)
      } else {
        try cursor.skip(depth: 2, in: bytes)
      }
    }
    guard cursor.isAtEnd else { throw cursor.fault("continues after its content") }
    guard let packs else { throw PackError(.damagedManifest, "\(name) has no 'packs'") }
    func refuse(_ fault: String) -> PackError { PackError(.damagedManifest, "\(name) breaks its rules: \(fault)") }
    if let fault = faults(of: packs).first { throw refuse(fault) }
    let rollouts = Set(manifest.rollouts.map { $0.id })
    for pack in packs {
      guard let candidate = pack.candidate, !rollouts.contains(candidate.rollout) else { continue }
      throw refuse("pack '\(pack.id)': there is no rollout '\(candidate.rollout)'")
    }
    guard packs.count <= shard.maxCount else { throw refuse("it has \(packs.count) entries, more than \(shard.maxCount)") }
    let listed = Set(manifest.packs.map { $0.id })
    for pack in packs {
      guard try Shard.number(of: pack.id, among: manifest.catalogue.count, backend: backend) == number else {
        throw refuse("pack '\(pack.id)' belongs in another shard")
      }
      guard !listed.contains(pack.id) else { throw refuse("it lists pack '\(pack.id)', which the manifest lists itself") }
    }
    return packs
  }

  /// Returns the JSON of a shard.
  ///
  /// - Parameter packs: On-demand packs in ascending order of their ids.
  /// - Throws: ``PackError/Code/invalidManifest`` for values that a shard may not contain. The details list all of them.
  package static func bytes(_ packs: [ManifestPack], _ defaults: ManifestDefaults) throws(PackError) -> [UInt8] {
    let faults = faults(of: packs)
    if let first = faults.first { throw PackError(.invalidManifest, "catalogue: \(first)", details: faults.count == 1 ? [] : faults) }
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.array("packs", packs) { writer, pack in pack.write(to: &writer, defaults, isInShard: true) }
    }
    return writer.bytes
  }

  private static func faults(of packs: [ManifestPack]) -> [String] {
    var faults = packs.flatMap { pack in ManifestRules.faults(of: pack).map { "pack '\(pack.id)': \($0)" } }
    for pack in packs where pack.delivery != .onDemand {
      faults.append("pack '\(pack.id)' is \(pack.delivery.rawValue), so it belongs in the manifest")
    }
    for (left, right) in zip(packs, packs.dropFirst()) where !left.id.precedes(right.id) {
      faults.append("pack '\(right.id)' comes after '\(left.id)', but ids must ascend")
    }
    return faults
  }
}

extension ManifestPack {
  /// The bytes of the entry in a shard.
  package func sizeInShard(_ defaults: ManifestDefaults) -> Int {
    var writer = CanonicalWriter()
    write(to: &writer, defaults, isInShard: true)
    return writer.bytes.count
  }
}

extension String {
  /// Whether the text comes before another in the order of their bytes.
  package func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
