import TestSupport
import Testing

@Suite("Requests by tags of packs in pages", .bounded)
struct PageRequestTests {
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

  private func isPage(_ call: FaultyTransport.Call) -> Bool { call.request.url.hasSuffix(".page") }

  // MARK: Refusals

  @Test("a page that is another file ends the request and is never used, and the next request fetches it again")
  func wrongPage() async throws {
    // The first page that is fetched is wrong as often as it is fetched. Others are right, so none of them fails after the request has ended.
    let (isWrong, page) = (Monitor(true), Monitor<String?>(nil))
    let (store, transport, queue, packs) = try await tags.open { call in
      guard call.request.url.hasSuffix(".page") else { return nil }
      let first = page.withLock { url in
        url = url ?? call.request.url
        return url
      }
      return first == call.request.url && isWrong.withLock { $0 } ? .wrong(from: 3) : nil
    }
    try await store.adopt(tags.publish(1, offers()))
    let running = Task { try await queue.run() }
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["world-2"], of: packs).begin() }
    #expect(error?.code == .digestMismatch)
    #expect(error?.message.hasPrefix("page 'index-") == true)
    #expect(transport.calls.allSatisfy(isPage))
    let name = try #require(page.withLock { $0 }?.split(separator: "/").last)
    #expect(!stage.directory.names(in: "store/pages").contains("\(name)"))
    isWrong.update { $0 = false }
    let access = try await TagRequest(["world-2"], of: packs).begin()
    #expect(access.packs.map(\.installed.id) == ["g", "h", "i"])
    running.cancel()
  }

  @Test("a tag that no page has is unknown, and a request without a network says that there is none")
  func refusals() async throws {
    let isOffline = Monitor(true)
    let (store, _, queue, packs) = try await tags.open { _ in isOffline.withLock { $0 } ? .failure(.offline) : nil }
    try await store.adopt(tags.publish(1, offers()))
    let running = Task { try await queue.run() }
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["world-2"], of: packs).begin() }
    #expect(error?.code == .offline && error?.advice == .connect)
    #expect(try await TagRequest(["world-2"], of: packs).conditionallyBegin() == nil)
    isOffline.update { $0 = false }
    let unknown = await failure { () async throws(PackError) in _ = try await TagRequest(["world-9"], of: packs).begin() }
    #expect(unknown?.code == .unknownTag)
    running.cancel()
  }

  // MARK: Answers

  @Test("the packs of a tag are found with at most two pages for the tag and two for each pack, once for all requests")
  func found() async throws {
    let (store, transport, queue, packs) = try await tags.open()
    try await store.adopt(tags.publish(1, offers()))
    let running = Task { try await queue.run() }
    let access = try await TagRequest(["world-1"], of: packs).begin()
    #expect(access.packs.map(\.installed.id) == ["core", "d", "e", "f"])
    // The tags of 'd', 'e' and 'f' are in two pages below two index pages, and so are the packs.
    #expect((5...8).contains(transport.calls.count(where: isPage)))
    #expect(Set(transport.calls.map(\.request.url)).count == transport.calls.count)
    #expect(await queue.hasNoOnDemandGroups)
    let before = transport.calls.count
    #expect(try await TagRequest(["world-1"], of: packs).conditionallyBegin()?.packs.count == 4)
    #expect(transport.calls.count == before)
    running.cancel()
  }

  @Test("the catalog has the tags of the manifest and of the pages on the device, for packs of this device, without a network")
  func catalog() async throws {
    let (store, transport, queue, packs) = try await tags.open()
    try await store.adopt(tags.publish(1, offers()))
    #expect(try await packs.catalog().tags(.prefetch) == ["world-1"])
    let running = Task { try await queue.run() }
    _ = try await TagRequest(["world-2"], of: packs).begin()
    running.cancel()
    let before = transport.calls.count
    let catalog = try await packs.catalog()
    // One of the pages lists the tag of 'f', which is fetched only if it is requested.
    #expect(catalog.tags == ["world-1", "world-2", "world-3"] && catalog.tags(.onDemand) == catalog.tags)
    // The pages of 'i' also list 'j', and those of 'k' and 'l' are not here.
    #expect(catalog.packs(of: ["world-2", "world-3"]).map(\.id) == ["g", "h", "i", "j"])
    let others = try await OnDemandPacks(store: store, queue: queue) { $0.id != "j" }
    #expect(try await others.catalog().tags == ["world-1", "world-2"])
    #expect(transport.calls.count == before)
  }

  @Test("the catalog has the tags of pages whose packs are not known, and passes over damaged pages and those that break a rule")
  func partialCatalog() async throws {
    let (store, _, _, packs) = try await tags.open()
    let offers = try await offers()
    let (document, pages) = try stage.manifestInPages(1, offers)
    try await store.adopt(document)
    for (reference, bytes) in pages where reference.kind == .tags { try store.pages.keep(bytes, as: reference) }
    let catalog = try await packs.catalog()
    #expect(catalog.tags == ["world-0", "world-1", "world-2", "world-3"])
    #expect(catalog.delivery(of: "world-1") == .onDemand)
    #expect(catalog.packs(of: ["world-0", "world-1"]).map(\.id) == ["core"])
    for (reference, bytes) in pages where reference.kind == .tags {
      try stage.directory.write(bytes.reversed(), to: "store/pages/\(reference.fileName)")
    }
    #expect(try await packs.catalog().tags == ["world-1"])
    // The page of 'a' lists a pack that the manifest lists itself.
    var (broken, files) = try Manifest(
      version: 2, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil, packs: offers.map(\.entry)
    ).inPages()
    var twice = offers[1].entry
    twice.delivery = .prefetch
    broken.packs.insert(twice, at: 0)
    for (reference, bytes) in files { try store.pages.keep(bytes, as: reference) }
    try await store.adopt(KeysSample.sign(broken))
    #expect(try await packs.catalog().tags == ["world-0", "world-1", "world-2", "world-3"])
  }

  @Test("requests at the same time share the downloads of pages")
  func shared() async throws {
    let (store, transport, queue, packs) = try await tags.open { call in
      call.request.url.hasSuffix(".page") ? .slow(.milliseconds(20)) : nil
    }
    try await store.adopt(tags.publish(1, offers()))
    let running = Task { try await queue.run() }
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { try await TagRequest(["world-3"], of: packs).begin().packs.count } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == [3, 3, 3, 3])
    #expect(Set(transport.calls.map(\.request.url)).count == transport.calls.count)
    running.cancel()
  }

  @Test("a request that was cancelled while pages were downloaded leaves nothing that stops the next one")
  func cancelled() async throws {
    let isStuck = Monitor(true)
    let (store, transport, queue, packs) = try await tags.open { call in
      call.request.url.hasSuffix(".page") && isStuck.withLock { $0 } ? .stuck(at: 10, isKnown: true) : nil
    }
    try await store.adopt(tags.publish(1, offers()))
    let running = Task { try await queue.run() }
    let request = Task { try await TagRequest(["world-0"], of: packs).begin() }
    while transport.calls.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    request.cancel()
    await #expect(throws: PackError.self) { try await request.value }
    isStuck.update { $0 = false }
    #expect(try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.id) == ["a", "b", "c"])
    #expect(await queue.hasNoOnDemandGroups)
    running.cancel()
  }

  @Test("a new manifest during a request changes its packs only if it changes their pages' entries")
  func newManifest() async throws {
    let offers = try await offers()
    let other = try await tags.offer("l", 2, tags: ["world-3"], size: 100)
    let changed = try await tags.offer("a", 2, tags: ["world-0"], size: 100)
    let isReady = Monitor(false)
    let next = Monitor<SignedManifest?>(nil)
    let (store, _, queue, packs) = try await tags.open { call in
      guard !call.request.url.hasSuffix(".page") else { return nil }
      isReady.update { $0 = true }
      // Long enough for the next manifest to be accepted before the file is installed.
      return .slow(.milliseconds(500))
    }
    next.update { [tags] manifest in manifest = try? tags.publish(2, offers.filter { $0.entry.id != "l" } + [other]) }
    try await store.adopt(tags.publish(1, offers))
    let running = Task { try await queue.run() }
    let request = Task { try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.version) }
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    // 'l' changes, and with it pages that the request does not need, and an index page.
    try await store.adopt(#require(next.withLock { $0 }))
    #expect(try await request.value == [1, 1, 1])
    try await store.remove("a")
    isReady.update { $0 = false }
    let last = try tags.publish(3, offers.filter { $0.entry.id != "a" && $0.entry.id != "l" } + [other, changed])
    let second = Task { try await TagRequest(["world-0"], of: packs).begin().packs.count }
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    try await store.adopt(last)
    let error = await #expect(throws: PackError.self) { try await second.value }
    #expect(error?.code == .manifestChanged)
    #expect(try await TagRequest(["world-0"], of: packs).begin().packs.map(\.installed.version) == [2, 1, 1])
    running.cancel()
  }
}

extension TagStage {
  /// Returns a signed manifest whose packs on demand are in pages, which are on the server.
  func publish(_ version: UInt64, _ offers: [StoreStage.Offer]) throws(PackError) -> SignedManifest {
    let (document, pages) = try stage.manifestInPages(version, offers)
    for (reference, bytes) in pages { serve(bytes, at: StoreStage.base + reference.fileName) }
    return document
  }
}

extension StoreStage {
  static let base = "https://cdn.example.com/"

  /// Returns a signed manifest whose packs on demand are in pages of two entries below index pages, and the files of the pages.
  func manifestInPages(
    _ version: UInt64, _ offers: [Offer]
  ) throws(PackError) -> (document: SignedManifest, pages: [PageReference: [UInt8]]) {
    let manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
      defaults: ManifestDefaults(baseURL: Self.base), packs: offers.map(\.entry))
    let (root, files) = try manifest.inPages()
    return (try KeysSample.sign(root), files)
  }
}
