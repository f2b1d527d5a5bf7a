import TestSupport

/// Three releases of two packs: pack files, signed manifests and shards. One pack is installed unpacked, the other is kept encrypted.
struct CrashSample: Sendable {
  /// The trees by pack and version, from 1.
  let trees: [String: [UInt64: SampleTree]]
  let packs: [String: [UInt64: [UInt8]]]
  let entries: [String: [UInt64: ManifestPack]]
  private(set) var manifests: [UInt64: SignedManifest]
  /// The same releases, with the packed pack in a catalogue.
  private let catalogueManifests: [UInt64: SignedManifest]
  /// The same two, with deltas to all packs.
  private let deltaManifests: [UInt64: SignedManifest]
  private let catalogueDeltaManifests: [UInt64: SignedManifest]
  /// The deltas by pack.
  let deltas: [String: [Delta]]
  /// The shards, by file name.
  private let shards: [String: [UInt8]]

  /// The delta from a version to the next one.
  struct Delta: Sendable {
    let old: UInt64
    let bytes: [UInt8]
    /// What the manifest of the version after `old` says.
    let offer: ManifestDelta
  }

  static let unpacked = "core"
  static let packed = "movie"
  static let ids = [unpacked, packed]
  static let versions: ClosedRange<UInt64> = 1...3

  private static let made = Task { try await CrashSample() }

  /// Returns the sample, which is created once for all tests.
  static func shared() async throws -> CrashSample { try await made.value }

  /// The sample with the packed pack in the catalogue of each manifest: one shard at first, then two.
  var inCatalogue: CrashSample {
    var sample = self
    sample.manifests = hasDeltas ? catalogueDeltaManifests : catalogueManifests
    return sample
  }

  private var hasDeltas = false

  /// The sample with deltas in the entries of each manifest.
  var withDeltas: CrashSample {
    var sample = self
    sample.hasDeltas = true
    sample.manifests = deltaManifests
    return sample
  }

  /// Writes all shards to the directory from which stores take them.
  func writeShards(to disk: MemoryDisk) {
    for (name, bytes) in shards { disk.write(bytes, to: "\(Self.published)/\(name)") }
  }

  /// Lets a store follow a rollout of version 2 to all devices, over version 1; without a state, version 2 is for everybody.
  func follow(_ state: Rollout.State?, manifest version: UInt64, by store: AssetStore) async throws(PackError) {
    store.choose(by: RolloutChoice(installation: Array(0..<32)))
    let base = "https://cdn.example.com/packs/"
    var manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
      defaults: ManifestDefaults(baseURL: base), packs: [])
    for id in Self.ids {
      guard var stable = entries[id]?[1], var candidate = entries[id]?[2] else { continue }
      stable.url = base + ManifestPack.publishedName(id, stable.sha256)
      candidate.url = base + ManifestPack.publishedName(id, candidate.sha256)
      if state == nil { stable = candidate } else { stable.candidate = ManifestCandidate(candidate, in: "winter") }
      manifest.packs.append(stable)
    }
    if let state {
      manifest.rollouts = [
        Rollout(
          id: "winter", salt: Array(repeating: 7, count: 16), share: Rollout.wholeShare, state: state,
          until: ManifestTime(secondsSince1970: 1_800_000_000)!)
      ]
    }
    try await store.adopt(try KeysSample.sign(manifest))
  }

  /// Lets a store run version 1, and installs version 2 as candidates that have not begun.
  func offerCandidates(to store: AssetStore) async throws(PackError) {
    try await release(1, to: store)
    try await follow(.running, manifest: 2, by: store)
    for id in Self.ids { try await store.install(download(id, 2), as: id, taking: .copying) }
  }

  /// The directory of all shards.
  static let published = "/published"

  /// The public half of the key that signs the manifests.
  static let trusted: TrustedKeys = {
    guard let key = try? KeysSample.signer(0) else { preconditionFailure("32 bytes are a seed") }
    return TrustedKeys([key.publicKey])
  }()

  private init() async throws {
    let directory = try TemporaryDirectory()
    var trees: [String: [UInt64: SampleTree]] = [:]
    var packs: [String: [UInt64: [UInt8]]] = [:]
    var entries: [String: [UInt64: ManifestPack]] = [:]
    for id in Self.ids {
      for version in Self.versions {
        var random = SeededGenerator(seed: version)
        let tree = SampleTree(
          [
            "index.html": .init(Array("<title>\(id) \(version)</title>".utf8)), "js/main.js": .init(random.bytes(300), isExecutable: true),
            "empty.txt": .init([]), "same.bin": .init(Array(repeating: 7, count: 500)),
          ], emptyDirectories: ["saves"])
        let name = "\(id)-\(version)"
        try tree.write(to: name, in: directory)
        var job = PackJob(source: directory(name), output: directory("\(name).pack"), name: try PackName(id))
        job.packVersion = version
        job.settings.segmentSize = 4096
        job.jobs = 1
        job.files = FaultyFiles()
        _ = try await job.run(key: try knownKey())
        let bytes = directory.bytes(of: "\(name).pack") ?? []
        let pack = try open(directory("\(name).pack"))
        let digest = try CryptoBackends.standard.makeDigest()
        try digest.update(bytes.byteSpan)
        trees[id, default: [:]][version] = tree
        packs[id, default: [:]][version] = bytes
        entries[id, default: [:]][version] = ManifestPack(
          id: id, version: version, url: "https://cdn.example.com/\(name).pack", size: UInt64(bytes.count), sha256: try digest.finish(),
          contentRoot: pack.contentRoot, contentSize: pack.contentSize, installSize: Self.installSize(of: tree),
          files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame), keyID: "\(pack.keyID)",
          delivery: id == Self.unpacked ? .prefetch : .onDemand, install: id == Self.unpacked ? .unpacked : .packed)
      }
    }
    var deltas: [String: [Delta]] = [:]
    for id in Self.ids {
      for old in Self.versions.dropLast() { deltas[id, default: []].append(try await Self.delta(id, old, in: directory)) }
    }
    var manifests: [UInt64: SignedManifest] = [:]
    var catalogueManifests: [UInt64: SignedManifest] = [:]
    var deltaManifests: [UInt64: SignedManifest] = [:]
    var catalogueDeltaManifests: [UInt64: SignedManifest] = [:]
    var shards: [String: [UInt8]] = [:]
    func catalogued(_ manifest: Manifest) throws(PackError) -> SignedManifest {
      let (root, files) = try manifest.withCatalogue(of: manifest.version == 1 ? 1 : 2)
      for file in files { shards[file.shard.fileName] = file.bytes }
      return try KeysSample.sign(root)
    }
    for version in Self.versions {
      var manifest = Manifest(
        version: version, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
        packs: Self.ids.compactMap { entries[$0]?[version] })
      manifests[version] = try KeysSample.sign(manifest)
      catalogueManifests[version] = try catalogued(manifest)
      manifest.defaults.baseURL = "https://cdn.example.com/packs/"
      for (index, id) in Self.ids.enumerated() {
        manifest.packs[index].deltas = (deltas[id] ?? []).filter { $0.old + 1 == version }.map(\.offer)
      }
      deltaManifests[version] = try KeysSample.sign(manifest)
      catalogueDeltaManifests[version] = try catalogued(manifest)
    }
    self.trees = trees
    self.packs = packs
    self.entries = entries
    self.manifests = manifests
    self.catalogueManifests = catalogueManifests
    self.deltaManifests = deltaManifests
    self.catalogueDeltaManifests = catalogueDeltaManifests
    self.deltas = deltas
    self.shards = shards
  }

  private static func delta(_ id: String, _ old: UInt64, in directory: TemporaryDirectory) async throws -> Delta {
    let name = "\(id)-\(old)-\(old + 1).delta"
    let new = try open(directory("\(id)-\(old + 1).pack"))
    let base = try open(directory("\(id)-\(old).pack"))
    var job = DeltaJob(from: base, to: new, output: directory(name))
    job.jobs = 1
    job.files = FaultyFiles()
    _ = try await job.run(key: try knownKey())
    let bytes = directory.bytes(of: name) ?? []
    let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan)
    return Delta(
      old: old, bytes: bytes, offer: ManifestDelta(bases: [base.contentRoot], size: UInt64(bytes.count), sha256: digest))
  }

  private static func installSize(of tree: SampleTree) -> UInt64 {
    // Each file and each directory, including the root, takes whole blocks.
    let files = tree.files.values.reduce(0) { $0 + (UInt64($1.bytes.count) + 4095) / 4096 * 4096 }
    return files + 4096 * 3
  }
}
