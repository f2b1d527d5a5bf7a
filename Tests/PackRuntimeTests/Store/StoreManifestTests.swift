import Foundation
import TestSupport
import Testing

@Suite("Manifests of a store", .bounded)
struct StoreManifestTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  @Test("a manifest that is untrusted, older, expired or changed is refused, and nothing changes")
  func refusals() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(5, [offer]))
    let before = try stage.snapshot()
    let lower = try await stage.offer("core", 0)
    let other = try await stage.offer("core", 1, salt: 1)
    let documents: [(SignedManifest, PackError.Code)] = [
      (try stage.manifest(4, [offer]), .manifestRollback), (try stage.manifest(5, [other]), .manifestRollback),
      (try stage.manifest(6, [lower]), .manifestRollback), (try stage.manifest(6, [offer], signedBy: 9), .untrustedSignature),
      (try stage.manifest(6, [offer], expires: 1_800_000_000), .manifestExpired),
    ]
    for (document, code) in documents {
      #expect(await failure { () async throws(PackError) in try await store.adopt(document) }?.code == code)
      #expect(try stage.snapshot() == before)
      #expect(await store.manifest?.manifest.version == 5)
    }
    // The same manifest again is not a rollback, and writes nothing.
    try await store.adopt(stage.manifest(5, [offer]))
    #expect(try stage.snapshot() == before)
    try await store.adopt(stage.manifest(6, [offer]))
    #expect(await store.manifest?.manifest.version == 6)
  }

  @Test("an app accepts no manifest below its lowest version, and installs nothing from an older one")
  func lowestVersion() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(5, [offer]))
    let newer = try await stage.open(as: "two", lowestVersion: 6)
    #expect(
      await failure { () async throws(PackError) in try await newer.adopt(try stage.manifest(5, [offer])) }?.code == .manifestRollback)
    #expect(await failure { () async throws(PackError) in try await newer.install(offer.path, as: "core") }?.code == .manifestRollback)
  }

  @Test("nothing is installed from a manifest that is older than the last accepted one")
  func crashBetween() async throws {
    let (store, old, new) = try await stage.updatable()
    let manifest = try #require(stage.directory.bytes(of: "store/manifest"))
    try await store.adopt(stage.manifest(3, [new]))
    try stage.directory.write(manifest, to: "store/manifest")
    #expect(await failure { () async throws(PackError) in try await store.install(new.path, as: "core") }?.code == .manifestRollback)
    #expect(await failure { () async throws(PackError) in try await store.adopt(try stage.manifest(1, [old])) }?.code == .manifestRollback)
    try await store.adopt(stage.manifest(3, [new]))
    try await store.install(new.path, as: "core")
  }

  @Test("a missing, damaged or untrusted manifest never erases installed packs", arguments: 0..<5)
  func unusable(kind: Int) async throws {
    let (first, _, _) = try await stage.updatable()
    let path = stage.directory("store/manifest")
    var bytes = try #require(stage.directory.bytes(of: "store/manifest"))
    switch kind {
    case 0: try FileManager.default.removeItem(atPath: path)
    case 1: try stage.directory.write([], to: "store/manifest")
    case 2:
      bytes[bytes.count / 2] ^= 1
      try stage.directory.write(bytes, to: "store/manifest")
    case 3: try stage.directory.write([UInt8](repeating: 0, count: 2 << 20), to: "store/manifest")
    default: break
    }
    let store = try await stage.open(as: "two", trusting: kind == 4 ? [7] : [0])
    #expect(await store.manifest == nil)
    #expect(await failure { () async throws(PackError) in _ = try await store.plan() }?.code == .noManifest)
    let findings = try await store.reconcile(.thorough)
    #expect(findings.map(\.kind) == (kind == 0 ? [] : [.manifestUnusable]))
    #expect(try await store.reconcile(.thorough).map(\.kind) == (kind == 2 || kind == 4 ? [.manifestUnusable] : []))
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
    #expect(try await store.purge(toFree: 0).removed == [])
    if kind != 4 {
      // The memory of accepted manifests is still there without the manifest.
      let offer = try await stage.offer()
      #expect(
        await failure { () async throws(PackError) in try await store.adopt(try stage.manifest(1, [offer])) }?.code == .manifestRollback)
    }
    withExtendedLifetime(first) {}
  }

  @Test("the memory of accepted manifests is rebuilt from the manifest", arguments: [false, true])
  func memoryLost(isRemoved: Bool) async throws {
    let (store, old, _) = try await stage.updatable()
    let memory = stage.directory.bytes(of: "store/memory")
    if isRemoved {
      try FileManager.default.removeItem(atPath: stage.directory("store/memory"))
    } else {
      try stage.directory.write(Array("{\"packs\":{}".utf8), to: "store/memory")
    }
    #expect(await failure { () async throws(PackError) in try await store.adopt(try stage.manifest(1, [old])) }?.code == .manifestRollback)
    #expect(try await store.reconcile().map(\.kind) == [.memoryDamaged])
    #expect(try await store.reconcile() == [])
    #expect(stage.directory.bytes(of: "store/memory") == memory)
  }

  @Test("a plan lists missing, installed and obsolete packs, and their sizes")
  func plan() async throws {
    let store = try await stage.open()
    let (a, b, c) = (try await stage.offer("a"), try await stage.offer("b", 1, install: .unpacked), try await stage.offer("c"))
    #expect(try await store.adopt(stage.manifest(1, [a, b, c])).downloads.map(\.id) == ["a", "b", "c"])
    try await store.install(a.path, as: "a", taking: .copying)
    try await store.install(c.path, as: "c", taking: .copying)
    let plan = try await store.plan()
    #expect(plan.downloads.map(\.id) == ["b"])
    #expect(plan.installed == ["a", "c"])
    #expect(plan.downloadSize == b.entry.size)
    #expect(plan.peakSize == b.entry.installSize + b.entry.size)
    #expect(!plan.isEmpty)
    let next = try await store.adopt(stage.manifest(2, [a, b]))
    #expect(next.obsolete.map(\.id) == ["c"])
    #expect(stage.directory.names(in: "store/packs").count == 2)
    // The same content in other bytes: the files are installed, but the publisher signed other bytes.
    var wrapped = a
    wrapped.entry.sha256[0] ^= 1
    wrapped.entry.version = 2
    #expect(try await store.adopt(stage.manifest(3, [wrapped, b])).downloads.map(\.id) == ["a", "b"])
  }

  @Test("another process sees a manifest at once")
  func otherProcess() async throws {
    let (one, two) = (try await stage.open(), try await stage.open(as: "two"))
    let offer = try await stage.offer()
    #expect(await two.manifest == nil)
    for version in 1...5 as ClosedRange<UInt64> {
      try await one.adopt(stage.manifest(version, [offer]))
      #expect(await two.manifest?.manifest.version == version)
    }
  }
}
