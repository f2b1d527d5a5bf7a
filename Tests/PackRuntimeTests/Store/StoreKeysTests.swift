import Foundation
import TestSupport
import Testing

@Suite("Keys documents of a store", .bounded)
struct StoreKeysTests {
  let stage: StoreStage
  let first: KeysDocument
  let second: KeysDocument

  init() throws {
    stage = try StoreStage()
    first = try KeysSample.document(KeysSample.content())
    second = try KeysSample.document(KeysSample.content(2, signers: [4]))
  }

  private func open(_ document: KeysDocument? = nil, as session: String = "one") async throws -> AssetStore {
    try await stage.open(as: session, embedding: TrustedKeys(document ?? first))
  }

  @Test("a document that follows is stored, also if its manifest is refused, and never taken back")
  func stored() async throws {
    let store = try await open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    #expect(stage.directory.bytes(of: "store/keys") == nil)
    let refused = try stage.manifest(2, [offer], signedBy: 0, keys: [second])
    #expect(await failure { () async throws(PackError) in try await store.adopt(refused) }?.code == .untrustedSignature)
    let record = stage.directory.bytes(of: "store/keys")
    #expect(record == KeysChain.text(of: [second.bytes]))
    #expect(await store.manifest == nil)
    #expect(try await store.trustedKeys.newest == second)
    // Another process, and the manifest without the document.
    let other = try await open(as: "two")
    #expect(try await other.trustedKeys.newest == second)
    #expect(
      await failure { () async throws(PackError) in try await other.adopt(try stage.manifest(3, [offer])) }?.code == .untrustedSignature)
    try await other.adopt(stage.manifest(3, [offer], signedBy: 4))
    #expect(stage.directory.bytes(of: "store/keys") == record)
    #expect(await store.manifest?.manifest.version == 3)
  }

  @Test("documents before a refused one are stored")
  func refusedEnd() async throws {
    let store = try await open()
    let broken = try KeysSample.document(KeysSample.content(3, signers: [9]), by: [1])
    let manifest = try stage.manifest(1, [try await stage.offer()], signedBy: 9, keys: [second, broken])
    #expect(await failure { () async throws(PackError) in try await store.adopt(manifest) }?.code == .untrustedKeys)
    #expect(stage.directory.bytes(of: "store/keys") == KeysChain.text(of: [second.bytes]))
  }

  @Test("the highest version of a stolen key is forgotten when a document takes the key out")
  func recovery() async throws {
    let store = try await open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(9_007_199_254_740_991, [offer]))
    try await store.install(offer.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    try await store.adopt(stage.manifest(2, [offer], signedBy: 4, keys: [second]))
    #expect(await store.manifest?.manifest.version == 2)
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
  }

  @Test("an expired document installs nothing and erases nothing, and its successor ends that")
  func expired() async throws {
    let short = try KeysSample.document(KeysSample.content(expires: 1_800_000_100))
    let store = try await open(short)
    let (old, new) = (try await stage.offer(), try await stage.offer("core", 2))
    try await store.adopt(stage.manifest(1, [old]))
    try await store.install(old.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    stage.clock.secondsSince1970 = 1_800_000_100
    #expect(await failure { () async throws(PackError) in try await store.adopt(try stage.manifest(2, [new])) }?.code == .keysExpired)
    let again = await failure { () async throws(PackError) in _ = try await store.install(old.path, as: "core", taking: .copying) }
    #expect(again?.code == .keysExpired)
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
    let renewed = try KeysSample.document(KeysSample.content(2))
    try await store.adopt(stage.manifest(2, [new], keys: [renewed]))
    try await store.install(new.path, as: "core")
  }

  @Test("a damaged record counts as missing, is reported once, and comes again", arguments: 0..<3)
  func damaged(kind: Int) async throws {
    let store = try await open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer], signedBy: 4, keys: [second]))
    let record = try #require(stage.directory.bytes(of: "store/keys"))
    let wrong = kind == 0 ? [] : kind == 1 ? Array(record.dropLast()) : [UInt8](repeating: 0, count: 5 << 20)
    try stage.directory.write(wrong, to: "store/keys")
    #expect(try await store.trustedKeys.newest == first)
    #expect(await store.manifest == nil)
    #expect(try await store.reconcile().contains { $0.kind == .keysDamaged })
    #expect(try await !store.reconcile().contains { $0.kind == .keysDamaged })
    try await store.adopt(stage.manifest(1, [offer], signedBy: 4, keys: [second]))
    #expect(stage.directory.bytes(of: "store/keys") == record)
  }

  @Test("an update of the app that embeds a later document goes on from there, and one with plain keys works as before")
  func appUpdate() async throws {
    let third = try KeysSample.document(KeysSample.content(3, signers: [5]))
    let store = try await open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer], signedBy: 4, keys: [second]))
    let updated = try await open(third, as: "two")
    #expect(try await updated.trustedKeys.newest == third)
    try await updated.adopt(stage.manifest(2, [offer], signedBy: 5))
    let plain = try await stage.open(as: "three", trusting: [5])
    #expect(await plain.manifest?.manifest.version == 2)
    try await plain.adopt(stage.manifest(3, [offer], signedBy: 5, keys: [second, third]))
  }

  @Test("a process that is stopped anywhere while it adopts leaves a store that accepts the manifest, and no way back")
  func crashes() async throws {
    let offer = try await stage.offer()
    let (old, new) = (try stage.manifest(5, [offer]), try stage.manifest(6, [offer], signedBy: 4, keys: [second]))
    let stolen = try stage.manifest(7, [offer])
    func open(_ files: MemoryFiles) async throws(PackError) -> AssetStore {
      try await AssetStore(
        root: "/store", keys: KeyRing(), trusting: TrustedKeys(first), lowestVersion: 0, policy: StoreStage.patient, files: files,
        clock: stage.clock, process: StoreProcess(session: "one") { _ in false }, backend: CryptoBackends.standard)
    }
    let disk = MemoryDisk()
    try await open(MemoryFiles(disk)).adopt(old)
    var stops = 0
    for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: 5)] {
      var number = 0
      while true {
        let copy = disk.after(.kill)
        let files = MemoryFiles(copy, .stopBeforeChange(number))
        _ = await failure { () async throws(PackError) in try await open(files).adopt(new) }
        files.end()
        guard files.struck != nil else { break }
        let store = try await open(MemoryFiles(copy.after(crash)))
        let isFollowed = try await store.trustedKeys.newest == second
        // As long as the record is not there, nothing that came after it is.
        if !isFollowed { #expect(await store.manifest?.manifest.version == 5) }
        if isFollowed {
          #expect(await failure { () async throws(PackError) in try await store.adopt(stolen) }?.code == .untrustedSignature)
        }
        try await store.adopt(new)
        #expect(await store.manifest?.manifest.version == 6)
        #expect(await failure { () async throws(PackError) in try await store.adopt(stolen) }?.code == .untrustedSignature)
        number += 1
        stops += 1
      }
      #expect(number > 8)
    }
    print("stops while a keys document is followed: \(stops)")
  }
}
