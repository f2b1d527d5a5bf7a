import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Deltas between packs with different keys", .bounded)
struct StoreDeltaKeyTests {
  private let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  /// Makes a pack with the key that counts up from `first`, or with one that is derived from it.
  private func pack(_ version: UInt64, keyFrom first: UInt8, ofItsOwn: Bool = false) async throws -> Pack {
    try DeltaStage.tree(version).write(to: "\(version).source", in: stage.directory)
    let path = stage.directory("\(version).pack")
    var job = PackJob(source: stage.directory("\(version).source"), output: path, name: try PackName(DeltaStage.id))
    (job.packVersion, job.settings.segmentSize, job.jobs, job.usesPackKey) = (version, 4096, 1, ofItsOwn)
    _ = try await job.run(key: try key(filledFrom: first))
    return try Pack.open(path, key: try key(filledFrom: first))
  }

  /// Returns a manifest that lists a file as a pack, and another one as a delta to it.
  private func release(_ pack: Pack, _ file: String, delta: String? = nil, over base: Pack? = nil) throws -> SignedManifest {
    var deltas: [ManifestDelta] = []
    if let base, let delta, let bytes = stage.directory.bytes(of: delta) {
      let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan)
      deltas = [ManifestDelta(bases: [base.contentRoot], size: UInt64(bytes.count), sha256: digest)]
    }
    let entry = try DeltaStage.entry(of: pack, stage.directory.bytes(of: file) ?? [], .packed)
    return try DeltaStage.release(of: DeltaStage.entry(entry, deltas))
  }

  private func refusal(_ file: String, in store: AssetStore, mode: InstallMode? = nil) async -> PackError.Code? {
    await failure { () async throws(PackError) in
      try await store.install(stage.directory(file), as: DeltaStage.id, taking: .copying, mode: mode)
    }?.code
  }

  @Test("a delta to a pack with another key needs the keys of both, and makes a pack with the new one", arguments: [false, true])
  func rotation(ofItsOwn: Bool) async throws {
    let (old, new) = (try await pack(1, keyFrom: 0, ofItsOwn: ofItsOwn), try await pack(2, keyFrom: 7, ofItsOwn: ofItsOwn))
    try #require(old.keyID != new.keyID)
    _ = try await DeltaJob(from: old, to: new, output: stage.directory("1-2.delta")).run(key: try key(filledFrom: 7))
    let ring = KeyRing(try key(filledFrom: 0))
    let store = try await stage.open(keys: ring)
    try await store.adopt(release(old, "1.pack"))
    try await store.install(stage.directory("1.pack"), as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id, onTrial: false)
    try await store.adopt(release(new, "2.pack", delta: "1-2.delta", over: old))
    #expect(await refusal("1-2.delta", in: store) == .wrongKey, "without the new key")
    ring.add(try key(filledFrom: 7))
    ring.remove(try key(filledFrom: 0).id)
    #expect(await refusal("1-2.delta", in: store) == .wrongBase, "without the old key")
    ring.add(try key(filledFrom: 0))
    #expect(await refusal("1-2.delta", in: store) == nil)
    #expect(stage.directory.names(in: "store/staging") == [])

    ring.remove(try key(filledFrom: 0).id)
    try await store.activate(DeltaStage.id, onTrial: false)
    let opened = try await store.open(DeltaStage.id)
    let made = try #require(opened.pack)
    #expect(made.keyID == new.keyID && made.contentRoot == new.contentRoot && made.header.packID == new.header.packID)
    try await made.verify(jobs: 2)
  }

  @Test("a recipient's key opens a delta, but makes no pack file: that takes the key of the pack")
  func recipient() async throws {
    let (old, new) = (try await pack(1, keyFrom: 0), try await pack(2, keyFrom: 0))
    _ = try await DeltaJob(from: old, to: new, output: stage.directory("1-2.delta")).run(key: try key(filledFrom: 0))
    let reader = try PackKey(bytes: (0..<32).map { 0x40 &+ $0 }, kind: .recipient)
    for name in ["1.pack", "2.pack", "1-2.delta"] {
      let root = try key(filledFrom: 0)
      let wrapped = stage.directory("wrapped-\(name)")
      _ = try await WrappedCopy.write(stage.directory(name), to: wrapped, key: root) { (header) throws(PackError) in
        if let recipient = reader.recipient { try header.add(recipient) }
      }
    }
    let ring = KeyRing(reader)
    let store = try await stage.open(keys: ring)
    try await store.adopt(release(old, "wrapped-1.pack"))
    try await store.install(stage.directory("wrapped-1.pack"), as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id, onTrial: false)
    try await store.adopt(release(new, "wrapped-2.pack", delta: "wrapped-1-2.delta", over: old))
    #expect(await refusal("wrapped-1-2.delta", in: store) == .wrongKey)
    #expect(stage.directory.names(in: "store/staging") == [])
    #expect(await refusal("wrapped-1-2.delta", in: store, mode: .unpacked) == nil, "a tree has no key")
    ring.add(try key(filledFrom: 0))
    #expect(await refusal("wrapped-1-2.delta", in: store) == nil)
    let made = try #require(try await store.installed().last)
    #expect(made.version == 2 && made.mode == .packed)
    let pack = try PackRuntimeTests.open(made.path)
    #expect(pack.keyID == new.keyID && pack.recipientIDs.isEmpty)
  }

  // MARK: Two bases

  private func release(_ version: UInt64, _ packs: [ManifestPack]) throws(PackError) -> SignedManifest {
    try KeysSample.sign(
      Manifest(
        version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
        defaults: ManifestDefaults(baseURL: StoreStage.base), packs: packs))
  }

  /// Returns an entry for what a delta makes. There is no such full pack.
  private func entry(_ delta: DeltaPack, over bases: [Pack], _ file: [UInt8], _ mode: InstallMode) throws -> ManifestPack {
    let target = try DeltaApplication(delta, over: bases).target
    var entry = ManifestPack(
      id: "vector", version: delta.source.header.packVersion, url: "https://cdn.example.com/vector.pack", size: 100_000,
      sha256: [UInt8](repeating: 9, count: 32), contentRoot: delta.head.target, contentSize: target.contentSize,
      installSize: try target.measured().installSize, files: UInt64(target.count), maxFrame: 65_536,
      keyID: "\(delta.source.stanzas.keyID)", delivery: .prefetch, install: mode, basePack: "engine")
    let digest = try CryptoBackends.standard.digest(of: file.byteSpan)
    entry.deltas = [ManifestDelta(bases: bases.map(\.contentRoot), size: UInt64(file.count), sha256: digest)]
    return entry
  }

  @Test(
    "a delta over an earlier version and over another pack, each with a key of its own, is installed when both are there",
    arguments: InstallMode.allCases, InstallMode.allCases)
  func twoBases(mode: InstallMode, baseMode: InstallMode) async throws {
    let vector = try TestVector(named: "deltas/valid/bases-other-keys.delta-vector")
    let store = try await stage.open(keys: KeyRing(try vector.key.packKey()))
    var (entries, bases): ([ManifestPack], [Pack]) = ([], [])
    for (id, name) in zip(["vector", "engine"], vector.bases) {
      let file = TestVector.folder.appendingPathComponent("deltas/bases/\(name)")
      bases.append(try Pack.open(file.path, key: try vector.key.packKey()))
      var entry = try DeltaStage.entry(of: bases[bases.count - 1], [UInt8](Data(contentsOf: file)), baseMode)
      (entry.id, entry.url) = (id, "https://cdn.example.com/\(name)")
      entries.append(entry)
    }
    let path = try stage.directory.write(vector.pack, to: "vector.delta")
    let delta = try DeltaPack.open(path, key: try vector.key.packKey())
    try await store.adopt(release(1, [entries[1], entries[0]]))
    try await store.install(bases[0].source.path, as: "vector", taking: .copying)
    try await store.adopt(release(2, [entries[1], entry(delta, over: bases, vector.pack, mode)]))
    let error = await failure { () throws(PackError) in try await store.install(path, as: "vector", taking: .copying) }
    #expect(error?.code == .wrongBase)

    try await store.install(bases[1].source.path, as: "engine", taking: .copying)
    let installed = try await store.install(path, as: "vector", taking: .copying)
    #expect(installed.version == delta.source.header.packVersion && installed.mode == mode)
    try await store.activate("vector", onTrial: false)
    let opened = try await store.open("vector")
    #expect(mode == .unpacked || opened.pack?.keyID == delta.source.stanzas.keyID)
    for record in vector.records { if let digest = record.sha256 { #expect(try sha256(opened.read(record.path)) == digest) } }
    #expect(try await store.reconcile(.thorough) == [])
  }
}
