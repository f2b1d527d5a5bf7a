import TestSupport
import Testing

@testable import PackRemote

@Suite("Content from a pack", .bounded)
struct PackContentTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func key() throws(PackError) -> PackKey {
    let bytes = (0..<32).map { UInt8($0) }
    return try PackKey(bytes: bytes.byteSpan)
  }

  private func signer() throws(PackError) -> SigningKey {
    let seed = (0..<32).map { UInt8($0) }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  private func store() async throws(PackError) -> AssetStore {
    try await AssetStore(
      root: directory("store"), keys: KeyRing(try key()), trusting: [try signer().publicKey],
      policy: StorePolicy(keepVersions: 5, freeSpaceMargin: 0))
  }

  /// Packs a config, installs it and activates it.
  private func release(_ version: UInt64, _ config: String, _ store: AssetStore, install mode: InstallMode = .packed) async throws {
    let name = "core-\(version)"
    try directory.write(config.utf8, to: "\(name)/config.txt")
    var job = PackJob(source: directory(name), output: directory("\(name).pack"), name: try PackName("core"))
    job.packVersion = version
    job.jobs = 1
    _ = try await job.run(key: try key())
    let pack = try Pack.open(directory("\(name).pack"), key: try key())
    let bytes = try #require(directory.bytes(of: "\(name).pack"))
    let entry = ManifestPack(
      id: "core", version: version, url: "https://cdn.example.com/\(name).pack", size: UInt64(bytes.count),
      sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan), contentRoot: pack.contentRoot, contentSize: pack.contentSize,
      installSize: try PackCensus(pack).installSize, files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame),
      keyID: "\(pack.keyID)",
      delivery: .prefetch, install: mode)
    let expires = try #require(ManifestTime("2090-01-01T00:00:00Z"))
    let signed = try Manifest(version: version, issued: nil, expires: expires, budget: nil, packs: [entry]).signedBytes()
    let signature = try SignedManifest.signature(of: signed, by: try signer())
    try await store.adopt(try SignedManifest(signed: signed, signatures: [signature]))
    try await store.install(directory("\(name).pack"), as: "core")
    try await store.activate("core", onTrial: false)
  }

  private func asset(_ store: AssetStore, path: String = "config.txt", limit: Int = 1000) throws(PackError) -> RemoteAsset<String> {
    try RemoteAsset(
      "config", bundled: .text("bundled"), as: AssetPlace.materializer, from: .pack(store: store, id: "core", path: path),
      cache: directory("cache"), appVersion: "1", sizeLimit: limit, files: FaultyFiles(), clock: clock)
  }

  @Test("if the pack is not installed, or has no such path, the value stays")
  func missing() async throws {
    let store = try await store()
    let result = await (try asset(store)).refresh()
    #expect(result.isUnavailable)
    #expect(result.error?.code == .notInstalled)
    try await release(1, "first", store)
    let other = try asset(store, path: "none.txt")
    #expect(await other.refresh().error?.code == .noSuchEntry)
    #expect(other.value == "bundled")
  }

  @Test("the file becomes the value, once for each version", arguments: [InstallMode.packed, .unpacked])
  func content(_ mode: InstallMode) async throws {
    let store = try await store()
    try await release(1, "first", store, install: mode)
    let asset = try asset(store)
    #expect(await asset.refresh().isKept)
    #expect(asset.value == "first")
    #expect(await asset.refresh().isUnchanged)
    try await release(2, "second", store, install: mode)
    #expect(await asset.refresh().isKept)
    #expect(asset.value == "second")
    // The next start has it without the store.
    #expect(try self.asset(store).value == "second")
    // A version in which only another file changed does not change the value.
    try await release(3, "second", store, install: mode)
    #expect(await asset.refresh().isUnchanged)
  }

  @Test("a file larger than the limit is not read", arguments: [InstallMode.packed, .unpacked])
  func tooLarge(_ mode: InstallMode) async throws {
    let store = try await store()
    try await release(1, "12345678", store, install: mode)
    #expect(await (try asset(store, limit: 7)).refresh().error?.code == .limitExceeded)
    #expect(await (try asset(store, limit: 8)).refresh().isKept)
  }

  @Test("a running asset follows activations and rollbacks without polling")
  func events() async throws {
    let store = try await store()
    try await release(1, "first", store)
    let asset = try asset(store)
    let task = Task { await asset.run() }
    var values = asset.updates.makeAsyncIterator()
    while let value = await values.next(), value != "first" {}
    try await release(2, "second", store)
    #expect(await values.next() == "second")
    // Content of a pack that does not materialize is refused too.
    try await release(3, "bad", store)
    while asset.status.lastResult?.isInvalid != true { await Task.yield() }
    #expect(asset.value == "second")
    try await release(4, "fourth", store)
    #expect(await values.next() == "fourth")
    _ = try await store.rollback("core", reason: "it is wrong")
    _ = try await store.rollback("core", reason: "it is wrong")
    while let value = await values.next(), value != "second" {}
    #expect(asset.value == "second")
    task.cancel()
    await task.value
    #expect(clock.sleeperCount == 0)
  }
}
