import Foundation
import TestSupport

@testable import PackStore

/// A store with editions of one pack that differ a little, and the deltas between them.
struct DeltaStage: Sendable {
  let stage: StoreStage
  let install: InstallMode
  /// The size of a file that is new in each version, in bytes.
  private let freshSize: Int
  /// The offer of each version, from 1.
  let offers: [UInt64: StoreStage.Offer]

  /// A delta, with its file.
  struct Delta: Sendable {
    let path: String
    let offer: ManifestDelta
  }

  static let versions: ClosedRange<UInt64> = 1...5
  static let id = "core"

  init(_ install: InstallMode = .packed, freshSize: Int = 0) async throws {
    try await self.init(install, in: try StoreStage(), freshSize: freshSize)
  }

  init(_ install: InstallMode, in stage: StoreStage, freshSize: Int = 0) async throws {
    self.stage = stage
    self.install = install
    self.freshSize = freshSize
    var offers: [UInt64: StoreStage.Offer] = [:]
    for version in Self.versions { offers[version] = try await Self.offer(version, install, stage, freshSize) }
    self.offers = offers
  }

  /// Version by version a file is changed, one is renamed and one is new. Most stays as it is.
  static func tree(_ version: UInt64, freshSize: Int = 0) -> SampleTree {
    var random = SeededGenerator(seed: 77)
    var tree = SampleTree(
      [
        "index.html": .init(Array("version \(version)".utf8)), "run": .init([1], isExecutable: true), "empty.txt": .init([]),
        "js/level.bin": .init(random.bytes(60_000)), "js/same.bin": .init(random.bytes(20_000)),
        "names/\(version).bin": .init(random.bytes(9000)),
      ], emptyDirectories: ["saves"])
    for step in 0..<Int(version) { tree.files["js/level.bin"]?.bytes[step * 10_000] ^= 1 }
    if freshSize > 0 {
      var own = SeededGenerator(seed: 78 + version)
      tree.files["new.bin"] = .init(own.bytes(freshSize))
    }
    return tree
  }

  /// The tree of a version of this stage.
  func tree(_ version: UInt64) -> SampleTree { Self.tree(version, freshSize: freshSize) }

  private static func offer(
    _ version: UInt64, _ install: InstallMode, _ stage: StoreStage, _ freshSize: Int
  ) async throws -> StoreStage.Offer {
    let tree = tree(version, freshSize: freshSize)
    try tree.write(to: "\(version).source", in: stage.directory)
    let path = stage.directory("\(version).pack")
    var job = PackJob(source: stage.directory("\(version).source"), output: path, name: try PackName(Self.id))
    job.packVersion = version
    job.settings.segmentSize = 4096
    job.jobs = 1
    _ = try await job.run(key: try knownKey())
    let bytes = stage.directory.bytes(of: "\(version).pack") ?? []
    return StoreStage.Offer(path: path, tree: tree, entry: try Self.entry(of: PackRuntimeTests.open(path), bytes, install))
  }

  /// Returns the entry of a pack in a manifest.
  static func entry(of pack: Pack, _ bytes: [UInt8], _ install: InstallMode) throws -> ManifestPack {
    let version = pack.header.packVersion
    return ManifestPack(
      id: Self.id, version: version, url: "https://cdn.example.com/\(version).pack", size: UInt64(bytes.count),
      sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan), contentRoot: pack.contentRoot, contentSize: pack.contentSize,
      installSize: try PackCensus(pack).installSize, files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame),
      keyID: "\(pack.keyID)", delivery: .prefetch, install: install)
  }

  func offer(_ version: UInt64) -> StoreStage.Offer {
    guard let offer = offers[version] else { preconditionFailure("there is no version \(version)") }
    return offer
  }

  /// Makes the delta between two versions.
  func delta(_ old: UInt64, _ new: UInt64) async throws -> Delta {
    let name = "\(old)-\(new).delta"
    let path = stage.directory(name)
    if stage.directory.bytes(of: name) == nil {
      let job = DeltaJob(
        from: try PackRuntimeTests.open(offer(old).path), to: try PackRuntimeTests.open(offer(new).path), output: path)
      _ = try await job.run(key: try knownKey())
    }
    let bytes = stage.directory.bytes(of: name) ?? []
    return Delta(
      path: path,
      offer: ManifestDelta(
        bases: [offer(old).entry.contentRoot], size: UInt64(bytes.count),
        sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan)))
  }

  /// Returns the manifest of a version, with deltas in its entry.
  func release(_ version: UInt64, _ deltas: [ManifestDelta]) throws(PackError) -> SignedManifest {
    try Self.release(of: Self.entry(offer(version).entry, deltas))
  }

  /// Returns the manifest with one pack, of the same version.
  static func release(of entry: ManifestPack) throws(PackError) -> SignedManifest {
    try KeysSample.sign(
      Manifest(
        version: entry.version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
        defaults: ManifestDefaults(baseURL: StoreStage.base), packs: [entry]))
  }

  /// Returns an entry with deltas in it.
  static func entry(_ entry: ManifestPack, _ deltas: [ManifestDelta]) -> ManifestPack {
    var entry = entry
    entry.deltas = deltas.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
    return entry
  }

  /// Has a store accept the manifest of a version, with deltas in its entry.
  func adopt(_ version: UInt64, _ deltas: [ManifestDelta], by store: AssetStore) async throws(PackError) {
    try await store.adopt(release(version, deltas))
  }

  /// Writes a release as `packer build` does: the manifest of a version, its pack and its deltas.
  func publish(_ version: UInt64, _ deltas: [Delta], in folder: String) throws {
    var entry = Self.entry(offer(version).entry, deltas.map(\.offer))
    entry.url = StoreStage.base + ManifestPack.publishedName(Self.id, entry.sha256)
    try stage.directory.write(Self.release(of: entry).bytes, to: "\(folder)/manifest.json")
    for file in [(offer(version).path, entry.fileName)] + deltas.map({ ($0.path, ManifestPack.publishedName(Self.id, $0.offer.sha256)) }) {
      try FileManager.default.copyItem(atPath: file.0, toPath: stage.directory("\(folder)/\(file.1)"))
    }
  }

  /// Opens a store in which version 1 is current, from its full pack.
  func start(_ policy: StorePolicy = StoreStage.patient) async throws -> AssetStore {
    let store = try await stage.open(policy)
    try await adopt(1, [], by: store)
    try await store.install(offer(1).path, as: Self.id, taking: .copying)
    try await store.activate(Self.id, onTrial: false)
    return store
  }

  /// Installs a version by the delta from another one, and activates it.
  @discardableResult
  func update(_ old: UInt64, _ new: UInt64, in store: AssetStore) async throws -> InstalledPack {
    let delta = try await delta(old, new)
    try await adopt(new, [delta.offer], by: store)
    let installed = try await store.install(delta.path, as: Self.id, taking: .copying)
    try await store.activate(Self.id, onTrial: false)
    return installed
  }

  /// Returns what differs between the open version and the tree of a version.
  func difference(_ store: AssetStore, _ version: UInt64) async throws -> [String] {
    let opened = try await store.open(Self.id)
    var complaints: [String] = opened.installed.version == version ? [] : ["version \(opened.installed.version) runs"]
    for (path, file) in tree(version).files where try opened.read(path) != file.bytes { complaints.append(path) }
    if let directory = opened.directory, try SampleTree(reading: directory) != tree(version) { complaints.append("the tree") }
    return complaints
  }

  /// The names of the pack files in the store that were made by deltas.
  var rewrittenItems: [String] { stage.directory.names(in: "store/packs").filter { ItemName($0)?.isRewritten == true } }

  /// The name of a full pack, or of a tree, in the store.
  func item(_ version: UInt64) -> String {
    "core@\(version)-\(offer(version).entry.sha256.prefix(8).hex)\(install == .packed ? ".pack" : "")"
  }

  /// Removes a file or directory of the store, as the system or a person would.
  func remove(_ name: String) { try? FileManager.default.removeItem(atPath: stage.directory(name)) }

  /// Changes bytes in the middle of a file in the store.
  func damage(_ item: String) throws {
    let path = "store/packs/\(item)"
    var bytes = stage.directory.bytes(of: path) ?? []
    bytes[bytes.count / 2] ^= 1
    try stage.directory.write(bytes, to: path)
  }
}
