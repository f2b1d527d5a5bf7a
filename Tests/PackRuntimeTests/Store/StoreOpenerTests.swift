import Foundation
import TestSupport
import Testing

@testable import PackStore

/// An edition with a key of its own, and the file that opens it.
struct SealedOffer: Sendable {
  var offer: StoreStage.Offer
  let opener: [UInt8]

  /// The time at which it opens: ten minutes after the stage's clock.
  static let opens = ManifestTime(secondsSince1970: 1_800_000_600)

  var entry: ManifestPack { offer.entry }
  var openerURL: String { StoreStage.base + (entry.openerFile?.name ?? "") }
}

extension StoreStage {
  /// The key that the app has: that of a pack, which follows from the root key.
  static func ownKey(_ id: String = "core") throws(PackError) -> PackKey { try key(filledFrom: 0).packKey(for: PackName(id)) }

  /// Opens the store with the keys of packs and without the root key.
  func openSealed(
    as session: String = "one", ids: [String] = ["core"], files: any FileSystem = FaultyFiles()
  ) async throws(PackError) -> AssetStore {
    let ring = KeyRing()
    for id in ids { ring.add(try Self.ownKey(id)) }
    return try await open(as: session, files: files, keys: ring)
  }

  /// Creates a pack with the pack's own key, or that of its version.
  func offer(_ id: String, _ version: UInt64, size: Int = 5000, isSealed: Bool) async throws -> SealedOffer {
    var offer = try await offer(id, version, size: size)
    var job = PackJob(
      source: directory("\(id)-\(version)-0.source"), output: directory("\(id)-\(version)-own.pack"), name: try PackName(id))
    (job.packVersion, job.usesPackKey, job.usesVersionKey, job.jobs) = (version, true, isSealed, 1)
    job.settings.segmentSize = 4096
    job.files = FaultyFiles()
    let root = try key(filledFrom: 0)
    let report = try await job.run(key: root)
    let bytes = directory.bytes(of: "\(id)-\(version)-own.pack") ?? []
    offer = Offer(path: job.output, tree: offer.tree, entry: offer.entry)
    offer.entry.url = "https://cdn.example.com/\(id)-\(version)-own.pack"
    (offer.entry.size, offer.entry.keyID) = (UInt64(bytes.count), "\(report.keyID)")
    offer.entry.sha256 = try CryptoBackends.standard.digest(of: bytes.byteSpan)
    guard isSealed else { return SealedOffer(offer: offer, opener: []) }
    let opener = try Opener(of: offer.entry.edition(), root: root)
    offer.entry.opener = try ManifestOpener(of: opener, opens: SealedOffer.opens)
    return SealedOffer(offer: offer, opener: opener.bytes)
  }

  /// Returns a signed manifest of packs that have openers.
  func manifest(_ version: UInt64, of offers: [SealedOffer], expires: Int64 = 1_900_000_000) throws(PackError) -> SignedManifest {
    let manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime(secondsSince1970: expires) ?? ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
      defaults: ManifestDefaults(baseURL: Self.base), packs: offers.map(\.entry))
    return try KeysSample.sign(manifest, by: [0], keys: [])
  }
}

@Suite("A version that opens later", .bounded)
struct StoreOpenerTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  /// Returns a store in which version 1 runs and version 2 is sealed.
  private func sealed() async throws -> (store: AssetStore, old: SealedOffer, new: SealedOffer) {
    let store = try await stage.openSealed()
    let old = try await stage.offer("core", 1, isSealed: false)
    let new = try await stage.offer("core", 2, isSealed: true)
    try await store.adopt(stage.manifest(1, of: [old]))
    try await store.install(old.offer.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    try await store.adopt(stage.manifest(2, of: [new]))
    let installed = try await store.install(new.offer.path, as: "core", taking: .copying)
    #expect(installed.state == .sealed && installed.version == 2)
    return (store, old, new)
  }

  private func running(_ store: AssetStore) async throws -> UInt64? { try await store.current("core")?.version }

  @Test("is installed without a key, and neither runs nor opens before its opener is there; the version before runs until then")
  func opening() async throws {
    let (store, old, new) = try await sealed()
    #expect(try await store.sealed().map(\.openerURL) == [new.openerURL])
    #expect(try await store.sealed().map(\.opens) == [SealedOffer.opens])
    #expect(await failure { () async throws(PackError) in try await store.activate("core", version: 2) }?.code == .sealed)
    // What is not said is the newest version that opens.
    try await store.activate("core", onTrial: false)
    #expect(try await running(store) == 1)
    #expect(try await store.open("core").read("index.html") == old.offer.tree.files["index.html"]?.bytes)
    // The clock decides nothing.
    stage.clock.secondsSince1970 = 1_890_000_000
    #expect(try await store.sealed().count == 1)
    stage.clock.secondsSince1970 = 0
    let opened = try await store.unseal("core", with: new.opener)
    #expect(opened.state == .installed)
    #expect(try await store.sealed().isEmpty)
    #expect(try await store.unseal("core", with: []).version == 2, "it is open, and nothing is read")
    try await store.activate("core", onTrial: false)
    let pack = try await store.open("core")
    #expect(pack.installed.version == 2)
    for (path, file) in new.offer.tree.files { #expect(try pack.read(path) == file.bytes) }
  }

  @Test("opens again in every later process, without a network, and after its file was removed and installed again")
  func again() async throws {
    let (first, _, new) = try await sealed()
    try await first.unseal("core", with: new.opener)
    try await first.activate("core", onTrial: false)
    stage.end("one")
    let store = try await stage.openSealed(as: "two")
    #expect(try await store.reconcile().isEmpty)
    let path = try #require(try await store.current("core")).path
    #expect(try await store.open("core").installed.version == 2)
    try FileManager.default.removeItem(atPath: path)
    let installed = try await store.install(new.offer.path, as: "core", taking: .copying)
    #expect(installed.state == .current)
    #expect(try await store.open("core").read("run") == [1])
  }

  @Test("alone on the device throws that it is sealed, whatever is asked for")
  func only() async throws {
    let store = try await stage.openSealed()
    let new = try await stage.offer("core", 2, isSealed: true)
    try await store.adopt(stage.manifest(1, of: [new]))
    try await store.install(new.offer.path, as: "core")
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .sealed)
    #expect(await failure { () async throws(PackError) in try await store.activate("core") }?.code == .sealed)
    let opening = await failure { () async throws(PackError) in
      let opened = try await store.open("core", activating: 2, onTrial: true)
      withExtendedLifetime(opened) {}
    }
    #expect(opening?.code == .sealed)
    #expect(try await running(store) == nil)
    try await store.unseal("core", with: new.opener)
    #expect(try await store.open("core", activating: 2, onTrial: false).installed.version == 2)
  }

  @Test("is refused by everything that is not its opener, with an error for each, and nothing changes")
  func refusals() async throws {
    let (store, _, new) = try await sealed()
    let before = try stage.snapshot()
    let next = try await stage.offer("core", 3, isSealed: true)
    let other = try await stage.offer("game", 2, isSealed: true)
    var changed = new.opener
    changed[120] ^= 1
    for bytes in [[], Array(new.opener.dropLast()), new.opener + [0], changed, next.opener, other.opener, Array("<html>".utf8)] {
      let error = await failure { () async throws(PackError) in try await store.unseal("core", with: bytes) }
      #expect(error?.code == .digestMismatch)
    }
    #expect(try stage.snapshot() == before)
    #expect(try await store.sealed().count == 1)
    let stranger = try await stage.open(as: "two", keys: KeyRing(key(filledFrom: 77)))
    #expect(await failure { () async throws(PackError) in try await stranger.unseal("core", with: new.opener) }?.code == .wrongKey)
    let keyless = try await stage.open(as: "three", keys: KeyRing())
    #expect(await failure { () async throws(PackError) in try await keyless.unseal("core", with: new.opener) }?.code == .noKey)
    #expect(await failure { () async throws(PackError) in try await store.unseal("game", with: other.opener) }?.code == .unknownPack)
    #expect(try stage.snapshot() == before)
  }

  @Test("four faults of an opener that the manifest names are four errors: another edition, damaged, cut, another key")
  func namedFaults() async throws {
    let new = try await stage.offer("core", 2, isSealed: true)
    let root = try key(filledFrom: 0)
    var edition = try new.entry.edition()
    edition.version = 3
    let other = try Opener(of: edition, root: root).bytes
    let another = try Opener(of: new.entry.edition(), root: key(filledFrom: 9)).bytes
    var damaged = new.opener
    damaged[155] ^= 1
    let cases: [([UInt8], PackError.Code)] = [
      (other, .wrongPack), (damaged, .damagedOpener), (Array(new.opener.dropLast()), .truncated), (another, .wrongKey),
    ]
    for (number, (bytes, code)) in cases.enumerated() {
      let stage = try StoreStage()
      let store = try await stage.openSealed()
      var offer = new
      offer.offer.entry.opener = ManifestOpener(
        size: UInt64(bytes.count), sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan))
      try await store.adopt(stage.manifest(1, of: [offer]))
      try await store.install(new.offer.path, as: "core", taking: .copying)
      let error = await failure { () async throws(PackError) in try await store.unseal("core", with: bytes) }
      #expect(error?.code == code, "\(number): \(error?.description ?? "opens")")
      #expect(try await store.sealed().count == 1)
    }
  }

  @Test("is not installed if its file or its header is not the one that the manifest names, or if it is to be unpacked")
  func otherFiles() async throws {
    let store = try await stage.openSealed()
    let new = try await stage.offer("core", 2, isSealed: true)
    try await store.adopt(stage.manifest(1, of: [new]))
    var bytes = stage.directory.bytes(of: "core-2-own.pack") ?? []
    bytes[bytes.count / 2] ^= 1
    let changed = try stage.directory.write(bytes, to: "changed.pack")
    #expect(await failure { () async throws(PackError) in try await store.install(changed, as: "core") }?.code == .digestMismatch)
    let cut = try stage.directory.write(bytes.dropLast(), to: "cut.pack")
    #expect(await failure { () async throws(PackError) in try await store.install(cut, as: "core") }?.code == .truncated)
    let unpacking = await failure { () async throws(PackError) in
      try await store.install(new.offer.path, as: "core", taking: .copying, mode: .unpacked)
    }
    #expect(unpacking?.code == .usage)
    var renamed = new
    renamed.offer.entry.version = 3
    try await store.adopt(stage.manifest(2, of: [renamed]))
    #expect(await failure { () async throws(PackError) in try await store.install(new.offer.path, as: "core") }?.code == .wrongPack)
    #expect(try await store.installed().isEmpty)
  }

  @Test("nothing that someone with the app can have opens it before: keys of the app, packs, manifests, openers of other versions")
  func attacker() async throws {
    let (store, old, new) = try await sealed()
    let earlier = try await stage.offer("core", 4, isSealed: true)
    let other = try await stage.offer("game", 2, isSealed: true)
    let own = try StoreStage.ownKey()
    // Every key that follows from what was published: those of the packs, and of versions that are open.
    let ring = KeyRing(own)
    ring.add(try StoreStage.ownKey("game"))
    for offer in [earlier, other] {
      let opener = try Opener(parsing: offer.opener)
      let holder = try StoreStage.ownKey(offer.entry.id)
      ring.add(try opener.open(try #require(KeyID(offer.entry.keyID)), with: holder))
      #expect(
        await failure { () async throws(PackError) in _ = try await Pack.open(new.offer.path, keys: OpenerKeys(opener, over: ring)) } != nil
      )
      #expect(await failure { () async throws(PackError) in try await store.unseal("core", with: offer.opener) } != nil)
    }
    #expect(await failure { () async throws(PackError) in _ = try await Pack.open(new.offer.path, keys: ring) }?.code == .wrongKey)
    // As root keys, they lead to other keys.
    let packID = try PackID.bytes(for: PackName("core"))
    for id in ring.keyIDs {
      let held = try ring.key(for: KeyRequest(keyID: id, packID: packID))
      #expect(try "\(held.editionKey(forPackID: packID, version: 2).id)" != new.entry.keyID)
      #expect(try "\(held.packKey(forPackID: packID).id)" != new.entry.keyID)
    }
    // An opener that the app could make for itself, and one of the other version with this one's fields.
    #expect(try Opener(of: new.entry.edition(), root: own).bytes != new.opener)
    var forged = Array(earlier.opener)
    forged.replaceSubrange(16..<96, with: new.opener[16..<96])
    #expect(throws: PackError.self) {
      _ = try Opener(parsing: forged).open(try #require(KeyID(new.entry.keyID)), with: own)
    }
    // Neither a pack, a manifest nor a record has the key or the opener.
    let files = try stage.snapshot().values + [old, new].map { stage.directory.bytes(of: "core-\($0.entry.version)-own.pack") ?? [] }
    let secret = try key(filledFrom: 0).editionKey(forPackID: packID, version: 2).secret.withSpan { [UInt8](copying: $0) }
    for bytes in files {
      #expect(bytes.firstRange(of: secret) == nil && bytes.firstRange(of: new.opener[108...]) == nil)
      #expect(bytes.firstRange(of: Array(secret.hex.utf8)) == nil)
    }
  }

  @Test("opens by the opener and a few kilobytes of the pack, however large that is")
  func cost() async throws {
    var counts: [UInt64] = []
    for size in [100_000, Effort.number(quick: 8_000_000, full: 1_000_000_000)] {
      let stage = try StoreStage()
      let new = try await stage.offer("core", 2, size: size, isSealed: true)
      #expect(new.opener.count <= 2048)
      let files = FaultyFiles()
      let store = try await stage.openSealed(files: files)
      try await store.adopt(stage.manifest(1, of: [new]))
      try await store.install(new.offer.path, as: "core", taking: .moving)
      let before = files.bytesRead
      try await store.unseal("core", with: new.opener)
      counts.append(files.bytesRead - before)
    }
    #expect(counts[1] <= counts[0] + 50_000 && counts[1] < 100_000, "\(counts)")
  }

  @Test("is sealed or open, and nothing else, if its opening stops or fails at any operation")
  func stops() async throws {
    var number = 0
    var isReached = true
    while isReached {
      let stage = try StoreStage()
      let new = try await stage.offer("core", 2, size: 100, isSealed: true)
      let store = try await stage.openSealed()
      try await store.adopt(stage.manifest(1, of: [new]))
      try await store.install(new.offer.path, as: "core")
      let last = Monitor(Int.max)
      let files = FaultyFiles { call in call.number >= last.withLock { $0 } ? .failure(.inputOutput) : nil }
      let faulty = try await stage.openSealed(as: "two", files: files)
      let first = files.calls.count
      last.withLock { $0 = first + number }
      let error = await failure { () async throws(PackError) in try await faulty.unseal("core", with: new.opener) }
      isReached = files.calls.count > first + number
      stage.end("two")
      let next = try await stage.openSealed(as: "three")
      _ = try await next.reconcile()
      let states = try await next.installed().map(\.state)
      #expect(states == [.sealed] || states == [.installed], "stopped at \(number): \(states)")
      #expect(isReached || error == nil && states == [.installed])
      try await next.unseal("core", with: new.opener)
      try await next.activate("core", onTrial: false)
      #expect(try await next.open("core").read("run") == [1])
      number += 1
    }
    #expect(number > 5)
  }

  @Test("is asked for again after its record was lost, and is not taken for the version that runs")
  func lostRecord() async throws {
    let (_, _, new) = try await sealed()
    stage.end("one")
    let records = stage.directory.names(in: "store/state")
    for name in records { try stage.directory.write("{".utf8, to: "store/state/\(name)") }
    let store = try await stage.openSealed(as: "two")
    _ = try await store.reconcile()
    #expect(try await running(store) == 1)
    #expect(try await store.sealed().map(\.version) == [2])
    try await store.unseal("core", with: new.opener)
    try await store.activate("core", onTrial: false)
    #expect(try await running(store) == 2)
  }

  @Test("does not take the place of a version that waits to be activated, and another sealed one takes its place")
  func surplus() async throws {
    let store = try await stage.openSealed()
    var offers: [SealedOffer] = []
    for version in 1...4 as ClosedRange<UInt64> { offers.append(try await stage.offer("core", version, isSealed: version > 2)) }
    for (number, offer) in offers.enumerated() {
      try await store.adopt(stage.manifest(UInt64(number) + 1, of: [offer]))
      try await store.install(offer.offer.path, as: "core", taking: .copying)
      if number == 0 { try await store.activate("core", onTrial: false) }
    }
    #expect(try await store.installed("core").map(\.version) == [1, 2, 4])
    #expect(try await store.installed("core").map(\.state) == [.current, .installed, .sealed])
    try await store.activate("core", onTrial: false)
    #expect(try await running(store) == 2)
    try await store.unseal("core", with: offers[3].opener)
    try await store.activate("core", onTrial: false)
    #expect(try await running(store) == 4)
  }
}
