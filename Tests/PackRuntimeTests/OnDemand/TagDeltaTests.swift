import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackRuntime
@testable import PackStore

@Suite("Requests by tags for packs that have deltas", .bounded)
struct TagDeltaTests {
  let tags: TagStage

  init() throws {
    tags = try TagStage()
  }

  private func file(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  private static func url(of delta: DeltaStage.Delta) -> String {
    StoreStage.base + ManifestPack.publishedName(DeltaStage.id, delta.offer.sha256)
  }

  /// Publishes a version with deltas, and has a store accept its manifest.
  ///
  /// - Parameter inCatalogue: Whether the pack is on demand, so that its entry is in a shard.
  @discardableResult
  private func publish(
    _ version: UInt64, _ deltas: [DeltaStage.Delta], _ stage: DeltaStage, inCatalogue: Bool = false, by store: AssetStore
  ) async throws -> ManifestPack {
    var offer = stage.offer(version)
    offer.entry = DeltaStage.entry(offer.entry, deltas.map(\.offer))
    offer.entry.tags = ["boot"]
    if inCatalogue { offer.entry.delivery = .onDemand }
    tags.serve(try file(offer.path), at: offer.entry.url)
    for delta in deltas { tags.serve(try file(delta.path), at: Self.url(of: delta)) }
    let release = try CatalogueRelease(version, [offer], count: 1)
    tags.serve(release)
    try await store.adopt(release.document)
    return offer.entry
  }

  /// Has version 1 on the device, then requests version 2, to which there is a delta.
  ///
  /// - Parameters:
  ///   - isDamaged: Whether the version on the device is damaged in between.
  ///   - inCatalogue: Whether the entry of the pack is in a shard.
  ///   - decide: What is wrong with a download.
  /// - Returns: the installed version, and the URLs that were fetched for it.
  private func update(
    isDamaged: Bool = false, inCatalogue: Bool = false,
    _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) async throws -> (installed: InstalledPack?, urls: [String], delta: String, full: String) {
    let stage = try await DeltaStage(.packed, in: tags.stage)
    let delta = try await stage.delta(1, 2)
    let (store, transport, packs) = try await tags.open(decide)
    tags.forgetShardCalls()
    try await publish(1, [], stage, by: store)
    _ = try await TagRequest(["boot"], of: packs).begin()
    try await store.activate(DeltaStage.id, onTrial: false)
    if isDamaged { try stage.damage(stage.item(1)) }
    try await publish(2, [delta], stage, inCatalogue: inCatalogue, by: store)
    transport.forgetCalls()
    tags.forgetShardCalls()
    _ = try await TagRequest(["boot"], of: packs).begin()
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
    return (
      try await store.current(DeltaStage.id), tags.shardCalls + transport.calls.map(\.request.url), Self.url(of: delta),
      stage.offer(2).entry.url
    )
  }

  @Test(
    "if the delta does not fit the version on the device, or the server does not have it, the full pack comes", arguments: [true, false])
  func fallBack(isDamaged: Bool) async throws {
    let (installed, urls, delta, full) = try await update(isDamaged: isDamaged) { call in
      !isDamaged && call.request.size < 4000 && call.request.url.hasSuffix(".pack") ? .failure(.status(404, retryAfter: nil)) : nil
    }
    #expect(installed?.version == 2)
    // A server is asked for a delta twice.
    #expect(urls == (isDamaged ? [delta, full] : [delta, delta, full]))
  }

  @Test(
    "a delta that was half downloaded when the app ended is continued, and removed if the manifest no longer offers it",
    arguments: [true, false])
  func nextProcess(isOffered: Bool) async throws {
    let stage = try await DeltaStage(.packed, in: tags.stage)
    let delta = try await stage.delta(1, 2)
    do {
      let (store, transport, packs) = try await tags.open { call in call.request.url == Self.url(of: delta) ? .stuck(at: 100) : nil }
      try await publish(1, [], stage, by: store)
      _ = try await TagRequest(["boot"], of: packs).begin()
      try await store.activate(DeltaStage.id, onTrial: false)
      try await publish(2, [delta], stage, by: store)
      let request = Task { try await TagRequest(["boot"], of: packs).begin() }
      try await eventually("it does not begin") { transport.running.count == 1 && !tags.parts.isEmpty }
      request.cancel()
      _ = await request.result
    }
    tags.stage.end("one")
    let (store, next, packs) = try await tags.start(tags.transport(), session: "two")
    if !isOffered { try await publish(3, [], stage, by: store) }
    _ = try await TagRequest(["boot"], of: packs).begin()
    #expect(next.calls.map(\.offset) == [isOffered ? 100 : 0])
    #expect(next.calls.map(\.request.url) == [isOffered ? Self.url(of: delta) : stage.offer(3).entry.url])
    #expect(tags.parts.isEmpty)
  }

  @Test("the delta is fetched, after the shard that lists it if it is in one, and nothing of the full pack", arguments: [false, true])
  func delta(inCatalogue: Bool) async throws {
    let (installed, urls, delta, _) = try await update(inCatalogue: inCatalogue)
    #expect(installed?.version == 2)
    #expect(urls.map { $0.hasSuffix(Shard.fileExtension) } == (inCatalogue ? [true, false] : [false]) && urls.last == delta)
  }
}
