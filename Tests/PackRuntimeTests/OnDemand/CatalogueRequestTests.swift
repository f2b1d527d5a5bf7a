import TestSupport
import Testing

@testable import PackApp
@testable import PackRuntime
@testable import PackStore

@Suite("Requests by tags of packs in a catalogue", .bounded)
struct CatalogueRequestTests {
  let tags: TagStage
  private var stage: StoreStage { tags.stage }

  init() throws {
    tags = try TagStage()
  }

  /// Twelve packs in four worlds, and one that the manifest itself lists.
  private func offers(_ version: UInt64 = 1) async throws -> [StoreStage.Offer] {
    var offers = [try await tags.offer("core", version, tags: ["world-1"], delivery: .prefetch)]
    for number in 0..<12 {
      let id = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(number)))
      offers.append(try await tags.offer(id, version, tags: ["world-\(number / 3)"], size: 100))
    }
    return offers
  }

  private func attempt(_ tag: String, _ packs: PackLibrary) async -> PackError? {
    await failure { () async throws(PackError) in _ = try await TagRequest([tag], of: packs).begin() }
  }

  /// The names of the shards in the store.
  private var kept: [String] { stage.directory.names(in: "store/catalogue").sorted() }

  // MARK: Refusals

  @Test("a shard that is another file ends the request and is never used, and the next request fetches it again, and nothing else")
  func wrongShard() async throws {
    let release = try await CatalogueRelease(1, offers(), count: 4)
    let wrong = release.address(2)
    let isWrong = Monitor(true)
    tags.failShards { url in url == wrong && isWrong.withLock { $0 } ? .wrong : nil }
    let (store, transport, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    let error = await attempt("world-2", packs)
    #expect(error?.code == .digestMismatch)
    #expect(error?.message.hasPrefix(release.fileNames[2]) == true)
    #expect(transport.calls.isEmpty)
    #expect(!kept.contains(release.name(2)))
    try store.catalogue.keep(release.files[0].bytes, 0, of: release.manifest)
    tags.forgetShardCalls()
    isWrong.update { $0 = false }
    #expect(try await TagRequest(["world-2"], of: packs).begin().packs.map(\.installed.id) == ["g", "h", "i"])
    #expect(tags.shardCalls == [wrong])
    #expect(kept == release.names)
  }

  @Test("a shard that the server does not have ends requests whose packs it may list, never as an unknown tag, and packs that are here run")
  func missingShard() async throws {
    let offers = try await offers()
    let release = try CatalogueRelease(1, offers, count: 4)
    let isMissing = Monitor(true)
    tags.failShards { _ in isMissing.withLock { $0 } ? .missing : nil }
    let (store, _, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    for tag in ["world-2", "world-9"] {
      let error = await attempt(tag, packs)
      #expect(error?.code == .downloadFailed, "\(tag)")
    }
    let refusal = await failure { () async throws(PackError) in try await store.setPreservation(1, tags: ["world-9"]) }
    #expect(refusal?.code == .catalogueNotAvailable)
    try await tags.deliver([offers[0]], to: store)
    #expect(try await store.open("core").read("run") == [1])
    isMissing.update { $0 = false }
    #expect(await attempt("world-9", packs)?.code == .unknownTag)
    #expect(try await TagRequest(["world-2"], of: packs).begin().packs.map(\.installed.id) == ["g", "h", "i"])
  }

  @Test("a tag that no shard has is unknown, and a request without a network says that there is none")
  func refusals() async throws {
    let release = try await CatalogueRelease(1, offers(), count: 2)
    let isOffline = Monitor(true)
    tags.failShards { _ in isOffline.withLock { $0 } ? .offline : nil }
    let (store, _, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    let error = await attempt("world-2", packs)
    #expect(error?.code == .offline && error?.advice == .connect)
    do {
      #expect(try await TagRequest(["world-2"], of: packs).conditionallyBegin() == nil)
    } catch {
      Issue.record(error)
    }
    isOffline.update { $0 = false }
    #expect(await attempt("world-9", packs)?.code == .unknownTag)
  }

  @Test("a signed shard that breaks a rule ends the request as damaged, and is not fetched again")
  func damagedShard() async throws {
    let offers = try await offers()
    let release = try CatalogueRelease(1, offers, count: 2)
    // It lists a pack that belongs in the other one.
    let stray = offers.filter { $0.entry.id == "d" }
    let broken = try CatalogueRelease(1, [offers[0].entry], [release.files[0], .init(CatalogueRelease.json(stray), count: 1)])
    let (store, transport, packs) = try await tags.open()
    tags.serve(broken)
    try await store.adopt(broken.document)
    for _ in 0..<2 { #expect(await attempt("world-1", packs)?.code == .damagedManifest) }
    #expect(transport.calls.isEmpty && tags.shardCalls.count == 2)
    try await store.adopt(CatalogueRelease(2, offers, count: 2).document)
    tags.serve(try CatalogueRelease(2, offers, count: 2))
    #expect(try await TagRequest(["world-1"], of: packs).begin().packs.map(\.installed.id) == ["core", "d", "e", "f"])
  }

  // MARK: Answers

  @Test("all shards are fetched once for all requests, and again only if they changed", arguments: [1, 2, 4])
  func found(count: Int) async throws {
    let offers = try await offers()
    let release = try CatalogueRelease(1, offers, count: count)
    let (store, transport, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    let access = try await TagRequest(["world-1"], of: packs).begin()
    #expect(access.packs.map(\.installed.id) == ["core", "d", "e", "f"])
    #expect(tags.shardCalls.count == count)
    #expect(Set(transport.calls.map(\.request.url)).count == transport.calls.count)
    transport.forgetCalls()
    tags.forgetShardCalls()
    #expect(try await TagRequest(["world-1"], of: packs).conditionallyBegin()?.packs.count == 4)
    #expect(try await TagRequest(["world-1"], of: packs).begin().packs.count == 4)
    #expect(transport.calls.isEmpty && tags.shardCalls.isEmpty)

    let changed = try await tags.offer("a", 2, tags: ["world-0"], size: 100)
    let next = try CatalogueRelease(2, offers.filter { $0.entry.id != "a" } + [changed], count: count)
    tags.serve(next)
    try await store.adopt(next.document)
    #expect(try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.version) == [2, 1, 1])
    let number = try Shard.number(of: "a", among: count)
    #expect(tags.shardCalls == [next.address(number)])
    #expect(kept == next.names)
  }

  @Test("empty shards, which are one file for many places, are fetched once, however many there are")
  func emptyShards() async throws {
    let offer = try await tags.offer("a", tags: ["world"], size: 100)
    let release = try CatalogueRelease(1, [offer], count: 64)
    let (store, _, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    do {
      #expect(try await TagRequest(["world"], of: packs).begin().packs.map(\.installed.id) == ["a"])
    } catch {
      Issue.record(error)
    }
    #expect(tags.shardCalls.count == 2)
    #expect(kept == release.names)
  }

  @Test("the catalog has the tags of the manifest and of the shards on the device, for packs of this device, without a network")
  func catalog() async throws {
    let offers = try await offers()
    let release = try CatalogueRelease(1, offers, count: 2)
    let isLess = Monitor(false)
    let (store, _, packs) = try await tags.start(
      tags.transport(), isForDevice: { pack in isLess.withLock { !$0 } || !["j", "k", "l"].contains(pack.id) })
    tags.serve(release)
    try await store.adopt(release.document)
    #expect(try await packs.tags().tags(.prefetch) == ["world-1"])
    try release.deliver(to: store, [0])
    // Of the packs on demand, 'd', 'e' and 'f' are in the first shard.
    let partial = try await packs.tags()
    #expect(partial.tags == ["world-1"] && partial.packs(of: ["world-1"]).map(\.id) == ["core", "d", "e", "f"])
    _ = try await TagRequest(["world-2"], of: packs).begin()
    tags.forgetShardCalls()
    let catalog = try await packs.tags()
    #expect(catalog.tags == ["world-0", "world-1", "world-2", "world-3"] && catalog.tags(.onDemand) == catalog.tags)
    #expect(catalog.packs(of: ["world-2", "world-3"]).map(\.id) == ["g", "h", "i", "j", "k", "l"])
    isLess.withLock { $0 = true }
    #expect(try await packs.tags().tags == ["world-0", "world-1", "world-2"])
    isLess.withLock { $0 = false }
    #expect(tags.shardCalls.isEmpty)
    // Until the next shards are here, the earlier ones are shown.
    var next: [StoreStage.Offer] = []
    for offer in offers { next.append(try await tags.offer(offer.entry.id, 2, tags: ["next"], size: 100, delivery: offer.entry.delivery)) }
    let later = try CatalogueRelease(2, next, count: 2)
    try await store.adopt(later.document)
    #expect(try await packs.tags().tags == ["next", "world-0", "world-1", "world-2", "world-3"])
    try later.deliver(to: store)
    #expect(try await packs.tags().tags == ["next"])
  }

  @Test("requests at the same time share the downloads of shards")
  func shared() async throws {
    let release = try await CatalogueRelease(1, offers(), count: 4)
    let (store, transport, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { try await TagRequest(["world-3"], of: packs).begin().packs.count } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == [3, 3, 3, 3])
    #expect(Set(transport.calls.map(\.request.url)).count == transport.calls.count)
    #expect(tags.shardCalls.count == 4)
  }

  @Test("a request that was cancelled while shards were downloaded leaves nothing that stops the next one")
  func cancelled() async throws {
    let release = try await CatalogueRelease(1, offers(), count: 2)
    let isStuck = Monitor(true)
    tags.failShards { _ in isStuck.withLock { $0 } ? .held : nil }
    let (store, _, packs) = try await tags.open()
    tags.serve(release)
    try await store.adopt(release.document)
    let request = Task { try await TagRequest(["world-0"], of: packs).begin() }
    while tags.shardCalls.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    request.cancel()
    await #expect(throws: PackError.self) { try await request.value }
    isStuck.update { $0 = false }
    #expect(try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.id) == ["a", "b", "c"])
  }

  @Test("a half finished download of a pack stays while its shard is missing, and goes when no shard lists it")
  func leftover() async throws {
    let (first, second) = (try await tags.offer("a", tags: ["world"]), try await tags.offer("b", tags: ["world"]))
    let releases = [try CatalogueRelease(1, [first], count: 1), try CatalogueRelease(2, [second], count: 1)]
    let (store, transport, packs) = try await tags.open { $0.request.url == first.entry.url ? .stuck(at: 100) : nil }
    for release in releases { tags.serve(release) }
    try await store.adopt(releases[0].document)
    let request = Task { try await TagRequest(["world"], of: packs).begin() }
    try await eventually("it does not begin") { transport.running.contains(TagStage.identifier(first)) }
    request.cancel()
    await #expect(throws: PackError.self) { try await request.value }
    try await store.adopt(releases[1].document)
    tags.failShards { _ in .missing }
    #expect(await failure { () async throws(PackError) in _ = try await TagRequest(["world"], of: packs).begin() }?.code == .downloadFailed)
    try await packs.loop.bring()
    #expect(transport.running == [TagStage.identifier(first)] && !tags.parts.isEmpty)
    tags.failShards { _ in nil }
    #expect(try await TagRequest(["world"], of: packs).begin().packs.map(\.installed.id) == ["b"])
    #expect(transport.running.isEmpty && tags.parts.isEmpty)
  }

  @Test("a new manifest during a request changes its packs only if it changes their entries")
  func newManifest() async throws {
    let offers = try await offers()
    let other = try await tags.offer("l", 2, tags: ["world-3"], size: 100)
    let changed = try await tags.offer("a", 2, tags: ["world-0"], size: 100)
    let isReady = Monitor(false)
    let (store, _, packs) = try await tags.open { _ in
      isReady.update { $0 = true }
      // Long enough for the next manifest to be accepted before the file is installed.
      return .slow(.milliseconds(500))
    }
    // 'l' changes, and with it the shard that 'a' is in. Then 'a' changes.
    let second = offers.filter { $0.entry.id != "l" } + [other]
    let releases = [
      try CatalogueRelease(1, offers, count: 2), try CatalogueRelease(2, second, count: 2),
      try CatalogueRelease(3, second.filter { $0.entry.id != "a" } + [changed], count: 2),
    ]
    for release in releases { tags.serve(release) }
    try await store.adopt(releases[0].document)
    let request = Task { try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.version) }
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    try await store.adopt(releases[1].document)
    #expect(try await request.value == [1, 1, 1])
    try await store.remove("a")
    isReady.update { $0 = false }
    let later = Task { try await TagRequest(["world-0"], of: packs).begin().packs.count }
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    try await store.adopt(releases[2].document)
    let error = await #expect(throws: PackError.self) { try await later.value }
    #expect(error?.code == .manifestChanged)
    #expect(try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.version) == [2, 1, 1])
  }
}

extension TagStage {
  /// Puts the shards of a release on the server.
  func serve(_ release: CatalogueRelease) {
    for (url, bytes) in release.served { serve(bytes, at: url) }
  }
}

extension CatalogueRelease {
  /// - Parameter offers: All packs. Those on demand are in the catalogue.
  init(_ version: UInt64, _ offers: [StoreStage.Offer], count: Int) throws(PackError) {
    try self.init(
      version, offers.filter { $0.entry.delivery != .onDemand }, catalogue: offers.filter { $0.entry.delivery == .onDemand }, count: count)
  }
}
