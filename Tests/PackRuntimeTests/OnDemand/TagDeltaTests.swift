import Foundation
import TestSupport
import Testing

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
    PagedRelease.base + ManifestPack.publishedName(DeltaStage.id, delta.offer.sha256)
  }

  /// Publishes a version with deltas, and has a store accept its manifest.
  private func publish(_ version: UInt64, _ deltas: [DeltaStage.Delta], _ stage: DeltaStage, by store: AssetStore) async throws {
    var entry = stage.offer(version).entry
    entry.tags = ["boot"]
    tags.serve(try file(stage.offer(version).path), at: entry.url)
    for delta in deltas { tags.serve(try file(delta.path), at: Self.url(of: delta)) }
    var manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
      defaults: ManifestDefaults(baseURL: PagedRelease.base), packs: [entry])
    let updates = PackUpdates(
      id: DeltaStage.id, deltas: deltas.map(\.offer).sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) })
    let assembly = try PageAssembly(
      [], updates: deltas.isEmpty ? [] : [updates], defaults: manifest.defaults, backend: CryptoBackends.standard)
    manifest.pages = assembly.references
    for page in assembly.files { tags.serve(page.bytes, at: PagedRelease.base + page.reference.fileName) }
    try await store.adopt(KeysSample.sign(manifest))
  }

  /// Has version 1 on the device, then requests version 2, to which there is a delta.
  ///
  /// - Parameters:
  ///   - isDamaged: Whether the version on the device is damaged in between.
  ///   - decide: What is wrong with a download.
  /// - Returns: the installed version, and the URLs that were fetched for it.
  private func update(
    isDamaged: Bool = false, _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) async throws -> (installed: InstalledPack?, urls: [String], delta: String, full: String) {
    let stage = try await DeltaStage(.packed, in: tags.stage)
    let delta = try await stage.delta(1, 2)
    let (store, transport, queue, packs) = try await tags.open(decide)
    try await publish(1, [], stage, by: store)
    return try await queue.running {
      _ = try await TagRequest(["boot"], of: packs).begin()
      try await store.activate(DeltaStage.id, onTrial: false)
      if isDamaged { try stage.damage(stage.item(1)) }
      try await publish(2, [delta], stage, by: store)
      transport.forgetCalls()
      _ = try await TagRequest(["boot"], of: packs).begin()
      try await store.activate(DeltaStage.id, onTrial: false)
      #expect(try await stage.difference(store, 2) == [])
      #expect(await queue.hasNoOnDemandGroups)
      return (
        try await store.current(DeltaStage.id), transport.calls.map(\.request.url), Self.url(of: delta), stage.offer(2).entry.url
      )
    }
  }

  @Test(
    "if the delta does not fit the version on the device, or the server does not have it, the full pack comes", arguments: [true, false])
  func fallBack(isDamaged: Bool) async throws {
    let (installed, urls, delta, full) = try await update(isDamaged: isDamaged) { call in
      !isDamaged && call.request.size < 4000 && call.request.url.hasSuffix(".pack") ? .failure(.status(404, retryAfter: nil)) : nil
    }
    #expect(installed?.version == 2 && installed?.deltaCount == 0)
    #expect(urls.dropFirst() == [delta, full])
  }

  @Test(
    "a delta that was half downloaded when the app ended is continued, and removed if the manifest no longer offers it",
    arguments: [true, false])
  func nextProcess(isOffered: Bool) async throws {
    let stage = try await DeltaStage(.packed, in: tags.stage)
    let delta = try await stage.delta(1, 2)
    let (store, transport, queue, packs) = try await tags.open { call in
      call.request.url == Self.url(of: delta) ? .stuck(at: 100, isKnown: true) : nil
    }
    try await publish(1, [], stage, by: store)
    try await queue.running {
      _ = try await TagRequest(["boot"], of: packs).begin()
      try await store.activate(DeltaStage.id, onTrial: false)
      try await publish(2, [delta], stage, by: store)
      let request = TagRequest(["boot"], of: packs)
      let file = try #require(try await packs.files(of: [stage.offer(2).entry], fetchingFor: request)[DeltaStage.id])
      // The process ends without leaving the download.
      _ = try await packs.join(request, stage.offer(2).entry, file)
      try await eventually("it does not begin") { transport.running.count == 1 }
    }
    await queue.close()
    if !isOffered { try await publish(3, [], stage, by: store) }
    let next = tags.transport()
    let later = try await tags.queue(next)
    let again = try await OnDemandPacks(store: store, queue: later)
    #expect(await later.hasNoOnDemandGroups == !isOffered)
    try await later.running {
      _ = try await TagRequest(["boot"], of: again).begin()
      #expect(await later.hasNoOnDemandGroups)
    }
    let calls = next.calls.filter { !$0.request.url.hasSuffix(".page") }
    #expect(calls.map(\.offset) == [isOffered ? 100 : 0])
    #expect(calls.map(\.request.url) == [isOffered ? Self.url(of: delta) : stage.offer(3).entry.url])
  }

  @Test("the page with the deltas is fetched, then the delta, and nothing of the full pack")
  func delta() async throws {
    let (installed, urls, delta, _) = try await update()
    #expect(installed?.version == 2 && installed?.deltaCount == 1)
    #expect(urls.count == 2 && urls.first?.hasSuffix(".page") == true && urls.last == delta)
  }
}
