import Foundation
import TestSupport
import Testing

@Suite("The app's side of deliveries", .bounded)
struct AppDeliveryTests {
  let place: DeliveryStage

  init() throws {
    place = try DeliveryStage()
  }

  private var stage: StoreStage { place.stage }

  // MARK: Refusals

  @Test("without a manifest nothing is planned, and the app's start finds nothing wrong")
  func noManifest() async throws {
    let app = try await place.app()
    let start = try await app.start()
    #expect(start.refusal == nil)
    #expect(await failure { () async throws(PackError) in _ = try await app.plan() }?.code == .noManifest)
  }

  @Test("a manifest that the store refuses is reported, and the store keeps its own")
  func refusedManifest() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try place.deliver(stage.manifest(5, [old]), [old])
    let app = try await place.app()
    _ = try await app.start()
    let before = try stage.snapshot()
    let bad: [(SignedManifest, PackError.Code)] = [
      (try stage.manifest(4, [old]), .manifestRollback), (try stage.manifest(6, [new], signedBy: 1), .untrustedSignature),
      (try stage.manifest(6, [new], expires: 1_700_000_000), .manifestExpired),
    ]
    for (document, code) in bad {
      #expect(await failure { () async throws(PackError) in try await app.adopt(document.bytes) }?.code == code)
    }
    #expect(try stage.snapshot() == before)
    #expect(try await app.plan().handOver.map(\.id) == ["core"])
    #expect(try place.state().lastDocument() == stage.manifest(5, [old]).bytes)
    // The extension accepted this manifest, but the store refuses it and keeps its own.
    let expired = try stage.manifest(6, [new], expires: 1_700_000_000)
    _ = try place.extension().downloads(for: .periodic, manifestAt: try place.download(expired), allowance: nil)
    #expect(try await app.start().refusal?.code == .manifestExpired)
    #expect(try await app.plan().handOver.map(\.id) == ["core"])
  }

  @Test("an app that drops a stolen key accepts its publisher's manifest again, and so does its extension")
  func stolenKey() async throws {
    let core = try await stage.offer()
    let robbed = AppDelivery(state: try place.state(), store: try await stage.open(trusting: [0, 1]))
    try await robbed.adopt(stage.manifest(1 << 53 - 1, [core], signedBy: 1).bytes)
    let ours = try stage.manifest(2, [core])
    #expect(await failure { () async throws(PackError) in try await robbed.adopt(ours.bytes) }?.code == .manifestRollback)
    stage.end("one")
    let app = try await place.app(session: "two")
    try await app.adopt(ours.bytes)
    #expect(try place.state().lastDocument() == ours.bytes)
    let path = try place.download(stage.manifest(3, [core]))
    #expect(try place.extension().downloads(for: .periodic, manifestAt: path, allowance: nil).refusal == nil)
  }

  @Test("if two manifests are adopted at once, the newer one stays in store and shared state")
  func adoptedAtOnce() async throws {
    let core = try await stage.offer()
    // A long timeout, so that the calls really wait for the lock.
    var policy = DeliveryPolicy()
    policy.lockTimeoutMilliseconds = 60_000
    let state = try SharedState(directory: stage.directory("shared"), store: stage.directory("store"), policy: policy)
    let app = AppDelivery(state: state, store: try await stage.open())
    for round in 1...80 as ClosedRange<UInt64> {
      let (old, new) = (try stage.manifest(2 * round, [core]).bytes, try stage.manifest(2 * round + 1, [core]).bytes)
      async let first = try? app.adopt(old)
      async let second = try? app.adopt(new)
      _ = await (first, second)
      #expect(try app.state.lastDocument() == new)
      #expect(await app.store.manifest?.manifest.version == 2 * round + 1)
    }
  }

  // Bytes 8 and 104 belong to the format version and the key id.
  @Test("a file that does not match the manifest is downloaded again, and the others are still installed", arguments: [8, 104, 3000])
  func wrongBytes(offset: Int) async throws {
    let (core, other) = (try await stage.offer("core"), try await stage.offer("other"))
    let ours = try place.extension()
    let answer = ours.downloads(for: .install, manifestAt: try place.download(stage.manifest(1, [core, other])), allowance: nil)
    for download in answer.downloads {
      let file = try download.id == "core" ? place.download(core, changing: offset) : place.download(other)
      _ = try ours.finished(file, download: download.identifier.description)
    }
    let app = try await place.app()
    _ = try await app.start()
    let installations = try await app.install(try await app.plan())
    #expect(installations.first { $0.id == "core" }?.failure?.code == .digestMismatch)
    #expect(installations.first { $0.id == "core" }?.status?.state == .failed(.wrongBytes))
    #expect(installations.first { $0.id == "other" }?.installed != nil)
    #expect(place.waiting == [])
    #expect(try await app.plan().postponed.first?.reason == .failed(.wrongBytes, secondsLeft: 1))
    place.clock.advance(2)
    #expect(try await app.plan().downloads.map(\.id) == ["core"])
  }

  @Test("if there is no room, a file waits, and is installed later")
  func putOff() async throws {
    let core = try await stage.offer("core", size: 40_000)
    try place.deliver(stage.manifest(1, [core]), [core])
    let full = try await place.app(policy: StorePolicy(quota: 4096, freeSpaceMargin: 0))
    _ = try await full.start()
    let refused = try await full.install(try await full.plan())
    #expect(refused.first?.failure?.code == .quotaExceeded)
    #expect(refused.count == 1 && refused.first?.status == nil)
    #expect(place.waiting.count == 1)
    let app = try await place.app()
    #expect(try await app.install(try await app.plan()).first?.installed != nil)
    #expect(place.waiting == [])
  }

  @Test("bytes that failed their trial are neither downloaded nor installed again")
  func fallen() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let store = try await stage.open()
    try await store.adopt(stage.manifest(1, [old]))
    try await store.install(old.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    try place.deliver(stage.manifest(2, [new]), [new], event: .update)
    let app = try await place.app()
    _ = try await app.start()
    _ = try await app.install(try await app.plan())
    try await app.store.activate("core")
    _ = try await app.store.rollback("core", reason: "black screen")
    let plan = try await app.plan(downloads: [])
    #expect(plan.downloads == [] && plan.handOver == [])
    #expect(plan.postponed.first?.reason == .failed(.rejected, secondsLeft: nil))
  }

  // MARK: The catalogue

  /// One pack in the manifest, and two in different shards.
  private func catalogue(_ version: UInt64 = 1) async throws -> (offers: [StoreStage.Offer], release: CatalogueRelease) {
    var offers = [try await stage.offer("core", version)]
    for id in ["level", "arena"] { offers.append(try await stage.offer(id, version, delivery: .onDemand)) }
    return (offers, try CatalogueRelease(version, offers, count: 2))
  }

  @Test("the catalogue is not fetched without a manifest or a network")
  func noCatalogue() async throws {
    let (_, release) = try await catalogue()
    let app = try await place.app()
    func fetch() async throws(PackError) -> Bool {
      try await app.fetchShards(for: nil) { (_, _) throws(PackError) in throw PackError(.offline, "there is no network") }
    }
    #expect(try await !fetch())
    #expect(try await app.lookup(["level"]).unknown.isEmpty)
    try await app.adopt(release.document.bytes)
    #expect(try await app.lookup(["level"]).unknown == ["level"])
    #expect(await failure { () async throws(PackError) in _ = try await fetch() }?.code == .offline)
  }

  @Test("while a shard is missing, nothing of its packs is decided or lost, other packs come, and with the shard its packs come, too")
  func undecided() async throws {
    let (offers, release) = try await catalogue()
    let app = try await place.app(try place.network(offers))
    try await app.delivery.adopt(release.document.bytes)
    let plan = try await app.plan(asked: ["level"])
    #expect(plan.downloads.map(\.id) == ["core"] && plan.undecided == ["level"] && plan.obsolete == [])
    let served = release.served
    func fetch(_ ids: Set<String>) async throws -> Bool {
      try await app.delivery.fetchShards(for: ids) { (_, address) throws(PackError) in served[address] ?? [] }
    }
    #expect(try await fetch(["level"]))
    #expect(stage.directory.names(in: "store/catalogue") == [release.name(0)])
    #expect(try await app.delivery.lookup(["arena", "level"]).unknown == ["arena"])
    // What was asked before the shard was here is still wanted.
    let next = try await app.plan()
    #expect(next.downloads.map(\.id).contains("level") && next.undecided == [])
    try await app.download(next)
    let installed = try await app.delivery.install(try await app.plan())
    #expect(installed.contains { $0.id == "level" && $0.installed != nil })

    // The next release has other shards. Until they are here, the pack stays.
    let (_, later) = try await catalogue(2)
    try await app.delivery.adopt(later.document.bytes)
    let between = try await app.plan()
    #expect(between.undecided == ["level"] && between.obsolete == [] && !between.downloads.map(\.id).contains("level"))
    _ = try await app.delivery.tidy(between)
    #expect(try await app.store.installed().contains { $0.id == "level" })
    try later.deliver(to: app.store)
    #expect(try await app.plan().downloads.contains { $0.id == "level" && $0.bytes.version == 2 })
  }

  @Test("all shards are fetched once, what is here is not fetched again, and one that is wrong does not hold up the others")
  func wholeCatalogue() async throws {
    let (_, release) = try await catalogue()
    let app = try await place.app()
    try await app.adopt(release.document.bytes)
    let served = release.served
    let calls = Monitor<[String]>([])
    let wrong = Monitor<String?>(release.address(0))
    func fetch(_ ids: Set<String>?) async throws(PackError) -> Bool {
      try await app.fetchShards(for: ids) { (_, address) throws(PackError) in
        calls.withLock { $0.append(address) }
        return address == wrong.withLock { $0 } ? [1] : served[address] ?? []
      }
    }
    #expect(await failure { () async throws(PackError) in _ = try await fetch(nil) }?.code == .wrongShard)
    #expect(try await app.lookup(["arena", "level"]).unknown == ["level"])
    wrong.withLock { $0 = nil }
    #expect(try await fetch(["arena", "level"]))
    #expect(try await !fetch(nil))
    #expect(calls.withLock { $0 } == [release.address(0), release.address(1), release.address(0)])
    #expect(try await app.lookup(["arena", "level"]).packs.count == 2)
  }

  // MARK: Installing

  @Test("files from the extension are installed at the next start of the app", arguments: InstallMode.allCases)
  func install(mode: InstallMode) async throws {
    let (core, other) = (try await stage.offer("core", install: mode), try await stage.offer("other", delivery: .essential))
    try place.deliver(stage.manifest(1, [core, other]), [core, other])
    #expect(place.waiting.count == 2)
    let app = try await place.app()
    #expect(try await app.start().refusal == nil)
    let plan = try await app.plan(downloads: [])
    #expect(plan.downloads == [])
    let installations = try await app.install(plan)
    #expect(Set(installations.map(\.id)) == ["core", "other"])
    #expect(installations.allSatisfy { $0.installed != nil && $0.failure == nil })
    #expect(try await app.store.installed().first { $0.id == "core" }?.mode == mode)
    #expect(place.waiting == [])
    let after = try await app.plan(downloads: [])
    #expect(Set(after.ready) == ["core", "other"])
    #expect(after.handOver == [] && after.downloads == [])
  }

  @Test("what the app installed leaves no delivery record, and the extension does not download it again, also without any records")
  func extensionAfterInstallation() async throws {
    let (core, other) = (try await stage.offer("core"), try await stage.offer("other"))
    try place.deliver(stage.manifest(1, [core]), [core])
    let app = try await place.app()
    _ = try await app.start()
    _ = try await app.install(try await app.plan())
    #expect(try app.state.content() == SharedState.Content())
    for _ in 0..<2 {
      let path = try place.download(stage.manifest(2, [core, other]))
      let answer = try place.extension().downloads(for: .periodic, manifestAt: path, allowance: nil)
      #expect(answer.plan?.ready == ["core"] && answer.downloads.map(\.id) == ["other"])
      try FileManager.default.removeItem(atPath: stage.directory("shared"))
    }
  }

  @Test("a shared state with the path of another store is refused")
  func otherStore() async throws {
    let state = try SharedState(directory: stage.directory("shared"), store: stage.directory("elsewhere"))
    let app = AppDelivery(state: state, store: try await stage.open())
    #expect(await failure { () async throws(PackError) in _ = try await app.start() }?.code == .usage)
  }

  @Test("packs that the store lost are downloaded again, whatever was recorded")
  func purged() async throws {
    let core = try await stage.offer("core")
    try place.deliver(stage.manifest(1, [core]), [core])
    let app = try await place.app()
    _ = try await app.start()
    _ = try await app.install(try await app.plan())
    try await app.store.remove("core")
    #expect(try await app.plan(downloads: []).downloads.map(\.id) == ["core"])
  }

  // MARK: Tidying

  @Test("packs that are no longer offered are removed, except open ones")
  func tidy() async throws {
    let (core, other, last) = (try await stage.offer("core"), try await stage.offer("other"), try await stage.offer("last"))
    try place.deliver(stage.manifest(1, [core, other, last]), [core, other, last])
    let app = try await place.app()
    _ = try await app.start()
    _ = try await app.install(try await app.plan())
    try await app.store.activate("core", onTrial: false)
    let open = try await app.store.open("core")
    try await app.adopt(stage.manifest(2, [last]).bytes)
    let plan = try await app.plan(downloads: [])
    #expect(plan.obsolete.map(\.id) == ["core", "other"])
    let tidied = try await app.tidy(plan)
    #expect(tidied.removed == ["other"] && tidied.inUse == ["core"])
    #expect(try await app.store.installed().map(\.id).sorted() == ["core", "last"])
    #expect(open.pack != nil)
    withExtendedLifetime(open) {}
  }

  @Test("a file of another version that arrived too late is discarded")
  func orphans() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try place.deliver(stage.manifest(1, [old]), [old])
    try place.deliver(stage.manifest(2, [new]), [], event: .periodic)
    let app = try await place.app()
    _ = try await app.start()
    let plan = try await app.plan()
    #expect(plan.orphans.count == 1)
    #expect(try await app.tidy(plan).freed == old.entry.size)
    #expect(place.waiting == [])
  }

  // MARK: Downloading

  @Test("the downloads of a plan are recorded, moved and installed, and nothing else remains")
  func fetch() async throws {
    let offers = [try await stage.offer("core", size: 20_000), try await stage.offer("extra", delivery: .onDemand)]
    let transport = try place.network(offers)
    let app = try await place.app(transport)
    _ = try await app.delivery.start()
    try await app.delivery.adopt(stage.manifest(1, offers).bytes)
    for asked in [[], ["extra"]] as [Set<String>] {
      let plan = try await app.plan(asked: asked)
      #expect(plan.downloads.map(\.id) == (asked.isEmpty ? ["core"] : ["extra"]))
      let id = plan.downloads[0].id
      try await app.service.hand(plan, asked: [])
      // Planning again finds the downloads in progress.
      #expect(try await app.plan().downloads == [])
      var states: [DeliveryState] = []
      var events = app.service.transfers.events.makeAsyncIterator()
      while await !app.service.transfers.identifiers.isEmpty, let event = await events.next() {
        await app.service.record(event)
        if let state = try app.state.status(of: id)?.state, states.last != state { states.append(state) }
      }
      #expect(states == [.loading] && place.waiting.count == 1)
      #expect(try await app.delivery.install(try await app.plan()).allSatisfy { $0.installed != nil })
    }
    #expect(transport.calls.count == 2)
    #expect(transport.calls.allSatisfy { DownloadIdentifier($0.request.identifier) != nil })
    #expect(Set(try await app.plan().ready) == ["core", "extra"])
    #expect(place.waiting == [])
    try await app.service.hand(try await app.plan(), asked: [])
    #expect(stage.directory.names(in: "downloads").sorted() == ["downloads", "lock"])
  }

  @Test("a file that was complete when the app ended is not fetched again")
  func finishedUnheard() async throws {
    let core = try await stage.offer("core")
    let transport = try place.network([core])
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    try await app.service.hand(try await app.plan(), asked: [])
    for await event in app.service.transfers.events { if case .finished = event { break } }
    await app.service.stop()
    let second = try await place.app(transport, session: "two")
    _ = try await second.delivery.start()
    try await second.download(try await second.plan())
    #expect(try await second.delivery.install(try await second.plan()).first?.installed != nil)
    #expect(transport.calls.count == 1)
  }

  @Test("a download that has ended and is not recorded yet is not started again, however long it took")
  func finishedMeanwhile() async throws {
    let core = try await stage.offer("core")
    let transport = try place.network([core])
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    try await app.service.hand(try await app.plan(), asked: [])
    for await event in app.service.transfers.events {
      guard case .finished = event else { continue }
      place.clock.advance(3600)
      let plan = try await app.plan()
      #expect(plan.downloads == [] && plan.underWay == ["core"])
      try await app.service.hand(plan, asked: [])
      await app.service.record(event)
      break
    }
    #expect(try await app.delivery.install(try await app.plan()).first?.installed != nil)
    #expect(transport.calls.count == 1)
  }

  @Test("a download of an ended process is started again at once by the next one, and continues")
  func interruptedDownload() async throws {
    let core = try await stage.offer("core", size: 20_000)
    let transport = try place.network([core]) { $0.attempt == 0 ? .stuck(at: 3000) : nil }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    try await app.service.hand(try await app.plan(), asked: [])
    for await event in app.service.transfers.events { if case .progress(_, 3000, _) = event { break } }
    await app.service.stop()
    let second = try await place.app(transport, session: "two")
    let plan = try await second.plan()
    #expect(plan.downloads.map(\.id) == ["core"])
    try await second.download(plan)
    #expect(transport.calls.map(\.offset) == [0, 3000])
  }

  @Test("a download that failed is postponed, and tried again after its delay; its growth makes the delay start anew")
  func failed() async throws {
    let core = try await stage.offer("core", size: 20_000)
    let transport = try place.network([core]) { call in
      switch call.attempt {
      case 0, 1: .failure(.status(404, retryAfter: nil))
      case 2: .cut(at: 4000, .timedOut)
      case 3: .failure(.status(503, retryAfter: .seconds(100)))
      default: nil
      }
    }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    for (reason, seconds) in [(.server, 1), (.server, 2), (.timeout, 1), (.server, 100)] as [(FailureReason, Int64)] {
      try await app.download(try await app.plan())
      let after = try #require(try app.state.status(of: "core"))
      #expect(after.state == .failed(reason) && Int64(after.delaySeconds) == seconds)
      #expect(try await app.plan().downloads == [])
      place.clock.advance(seconds)
    }
    try await app.download(try await app.plan())
    #expect(transport.calls.map(\.offset) == [0, 0, 0, 4000, 4000])
    #expect(try await app.delivery.install(try await app.plan()).first?.installed != nil)
  }

  @Test("somebody who waits is not left for longer than half a minute")
  func awaited() async throws {
    let core = try await stage.offer("core")
    let app = try await place.app(try place.network([core]) { _ in .failure(.status(503, retryAfter: .seconds(900))) })
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    try await app.download(try await app.plan())
    #expect(try await app.delivery.plan(awaited: ["core"], downloads: []).postponed.first?.reason == .failed(.server, secondsLeft: 30))
    place.clock.advance(30)
    #expect(try await app.plan().downloads == [])
    #expect(try await app.delivery.plan(awaited: ["core"], downloads: []).downloads.map(\.id) == ["core"])
  }

  @Test("a download that a new manifest replaces ends with its part, and the new bytes are fetched")
  func replaced() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let transport = try place.network([old, new]) { $0.request.url == old.entry.url ? .stuck(at: 100) : nil }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [old]).bytes)
    try await app.service.hand(try await app.plan(), asked: [])
    try await eventually("the download does not begin") { !transport.running.isEmpty }
    try await app.delivery.adopt(stage.manifest(2, [new]).bytes)
    let plan = try await app.plan()
    #expect(plan.cancellations.count == 1 && plan.downloads.map(\.bytes.version) == [2])
    try await app.download(plan)
    #expect(transport.calls.map(\.request.url) == [old.entry.url, new.entry.url])
    #expect(!stage.directory.names(in: "downloads").contains { $0.hasSuffix(".part") })
    #expect(try await app.delivery.install(try await app.plan()).first?.installed?.version == 2)
  }

  @Test("bytes with a new URL are fetched from there, and other downloads continue")
  func movedFile() async throws {
    let (old, other) = (try await stage.offer("core"), try await stage.offer("other"))
    var core = old
    core.entry.url = "https://mirror.example.com/core.pack"
    let transport = try place.network([core, other]) { call in
      call.request.url == old.entry.url
        ? .failure(.status(410, retryAfter: nil)) : call.request.url == other.entry.url ? .slow(.milliseconds(200)) : nil
    }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [old]).bytes)
    try await app.download(try await app.plan())
    try await app.delivery.adopt(stage.manifest(2, [old, other]).bytes)
    try await app.service.hand(try await app.plan(), asked: [])
    place.clock.advance(2)
    try await app.delivery.adopt(stage.manifest(3, [core, other]).bytes)
    let plan = try await app.plan()
    #expect(plan.downloads.map(\.url) == [core.entry.url] && plan.underWay == ["other"])
    try await app.download(plan)
    #expect(transport.calls.map(\.request.url).sorted() == [old.entry.url, core.entry.url, other.entry.url].sorted())
    #expect(try await app.plan().handOver.map(\.id).sorted() == ["core", "other"])
  }

  @Test("a pack that arrived in another way is not fetched any more")
  func cameOtherwise() async throws {
    let core = try await stage.offer("core", 1)
    let transport = try place.network([core]) { _ in .stuck(at: 10) }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    let plan = try await app.plan()
    try await app.service.hand(plan, asked: [])
    try await eventually("the download does not begin") { !transport.running.isEmpty }
    guard try .moved == app.state.park(try place.download(core), asDownload: plan.downloads[0].identifier.description) else {
      Issue.record("the file was not taken")
      return
    }
    let next = try await app.plan()
    #expect(next.handOver.map(\.id) == ["core"])
    try await app.service.hand(next, asked: [])
    #expect(transport.running.isEmpty)
    #expect(try await app.delivery.install(next).first?.installed != nil)
  }

  @Test("a cancelled pack is not downloaded, leaves no part, and is downloaded again if the app asks for it")
  func cancelled() async throws {
    let core = try await stage.offer("core", 1)
    let transport = try place.network([core]) { $0.attempt == 0 ? .cut(at: 100, .timedOut) : nil }
    let app = try await place.app(transport)
    try await app.delivery.adopt(stage.manifest(1, [core]).bytes)
    try await app.download(try await app.plan())
    #expect(stage.directory.names(in: "downloads").contains { $0.hasSuffix(".part") })
    try await app.service.cancel("core")
    try await app.service.cancel("nothing")
    #expect(try app.state.status(of: "core")?.state == .notLoaded(.cancelled))
    #expect(!stage.directory.names(in: "downloads").contains { $0.hasSuffix(".part") })
    place.clock.advance(100)
    try await app.download(try await app.plan())
    #expect(transport.calls.count == 1)
    let asked = try await app.plan(asked: ["core"])
    #expect(asked.downloads.map(\.id) == ["core"])
    try await app.download(asked)
    #expect(transport.calls.count == 2)
  }

  @Test("a pack whose installation cannot be recorded is still installed, and the next plan finds it")
  func unrecorded() async throws {
    let core = try await stage.offer("core")
    try place.deliver(stage.manifest(1, [core]), [core])
    let isHeld = Monitor(false)
    let files = FaultyFiles { call in isHeld.withLock { $0 } && call.operation == .lock ? .locked : nil }
    let app = AppDelivery(state: try place.state(files), store: try await stage.open())
    _ = try await app.start()
    let plan = try await app.plan()
    let installations = try await app.install(plan) { _, _ in isHeld.withLock { $0 = true } }
    isHeld.withLock { $0 = false }
    #expect(installations.map(\.installed?.id) == ["core"] && installations.allSatisfy { $0.failure == nil && $0.status == nil })
    let next = try await app.plan()
    #expect(next.ready == ["core"] && next.downloads == [])
  }

  // MARK: Tables

  @Test("each error of an installation decides whether the file is kept")
  func outcomes() {
    let putOff: [PackError.Code] = [
      .noSpace, .quotaExceeded, .noKey, .wrongKey, .storeBusy, .cancelled, .manifestExpired, .cannotWrite,
      .manifestRollback, .damagedManifest, .catalogueNotAvailable, .damagedStore, .sourceChanged, .internalError,
    ]
    for code in putOff { #expect(AppDelivery.outcome(of: PackError(code, "")) == .putOff, "\(code.rawValue)") }
    let failed: [(PackError.Code, FailureReason)] = [
      (.digestMismatch, .wrongBytes), (.wrongPack, .wrongBytes), (.authenticationFailed, .wrongBytes), (.truncated, .wrongSize),
      (.versionFailed, .rejected), (.illegalPath, .installation), (.limitExceeded, .installation),
    ]
    for (code, reason) in failed { #expect(AppDelivery.outcome(of: PackError(code, "")) == .failed(reason), "\(code.rawValue)") }
  }

  @Test("each failure of a transfer maps to the right failure of a delivery")
  func failures() {
    let table: [(TransferFailure, DownloadFailure)] = [
      (.offline, .offline), (.unreachable, .offline), (.timedOut, .timeout), (.insecure, .other),
      (.status(503, retryAfter: nil), .http(status: 503)), (.redirect, .other), (.malformedResponse, .other), (.wrongSize(1), .wrongSize),
      (.wrongDigest, .wrongBytes), (.noSpace(needed: 2, free: 1), .noSpace), (.cannotWrite, .other), (.cancelled, .other),
      (.other, .other),
    ]
    for (failure, expected) in table { #expect(failure.deliveryFailure == expected, "\(failure)") }
  }
}
