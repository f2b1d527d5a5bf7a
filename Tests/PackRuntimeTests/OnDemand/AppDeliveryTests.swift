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
    #expect(start.interrupted == [] && start.refusal == nil)
    #expect(await failure { () async throws(PackError) in _ = try await app.plan() }?.code == .noManifest)
    let core = try await stage.offer()
    try await app.adopt(stage.manifest(1, [core]).bytes)
    let plan = try await app.plan(downloads: [])
    #expect(await failure { () async throws(PackError) in try await app.fetch(plan) }?.code == .usage)
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
    let state = try SharedState(directory: stage.directory("shared"), policy: policy)
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
    #expect(installations.first { $0.id == "other" }?.status?.state == .ready)
    #expect(place.waiting == [])
    #expect(try await app.plan().postponed.first?.reason == .failed(.wrongBytes, secondsLeft: 60))
    place.clock.advance(61)
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
    #expect(refused.first?.status?.state == .toBeTransferred)
    #expect(place.waiting.count == 1)
    let app = try await place.app()
    #expect(try await app.install(try await app.plan()).first?.status?.state == .ready)
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

  @Test("the catalogue is not fetched without a queue, a manifest or a network")
  func noCatalogue() async throws {
    let (offers, release) = try await catalogue()
    let quiet = try await place.app()
    #expect(await failure { () async throws(PackError) in try await quiet.fetchCatalogue() }?.code == .usage)
    let app = try await place.app(try place.network(offers, release) { _ in .failure(.offline) }, session: "two")
    #expect(await failure { () async throws(PackError) in try await app.fetchCatalogue() }?.code == .noManifest)
    #expect(try await app.lookup(["level"]).unknown.isEmpty)
    try await app.adopt(release.document.bytes)
    #expect(try await app.lookup(["level"]).unknown == ["level"])
    let queue = try #require(app.queue)
    try await queue.running {
      #expect(await failure { () async throws(PackError) in try await app.fetchCatalogue() }?.code == .offline)
    }
  }

  @Test("while a shard is missing, nothing of its packs is decided or lost, other packs come, and with the shard its packs come, too")
  func undecided() async throws {
    let (offers, release) = try await catalogue()
    let app = try await place.app(try place.network(offers, release))
    let queue = try #require(app.queue)
    try await app.adopt(release.document.bytes)
    let plan = try await app.plan(asked: ["level"], downloads: [])
    #expect(plan.downloads.map(\.id) == ["core"] && plan.undecided == ["level"] && plan.obsolete == [])
    try await queue.running { try await app.fetchCatalogue(for: ["level"]) }
    #expect(stage.directory.names(in: "store/catalogue") == [release.name(0)])
    #expect(try await app.lookup(["arena", "level"]).unknown == ["arena"])
    // What was asked before the shard was here is still wanted.
    let next = try await app.plan(downloads: [])
    #expect(next.downloads.map(\.id).contains("level") && next.undecided == [])
    try await app.fetch(next)
    try await queue.run(until: .idle)
    _ = try await app.start()
    let installed = try await app.install(try await app.plan(downloads: []))
    #expect(installed.contains { $0.id == "level" && $0.status?.state == .ready })

    // The next release has other shards. Until they are here, the pack stays.
    let (_, later) = try await catalogue(2)
    try await app.adopt(later.document.bytes)
    let between = try await app.plan(downloads: [])
    #expect(between.undecided == ["level"] && between.obsolete == [] && !between.downloads.map(\.id).contains("level"))
    _ = try await app.tidy(between)
    #expect(try await app.store.installed().contains { $0.id == "level" })
    try later.deliver(to: app.store)
    #expect(try await app.plan(downloads: []).downloads.contains { $0.id == "level" && $0.bytes.version == 2 })
  }

  @Test("all shards are fetched once, and what is here is not fetched again")
  func wholeCatalogue() async throws {
    let (offers, release) = try await catalogue()
    let transport = try place.network(offers, release)
    let app = try await place.app(transport)
    let queue = try #require(app.queue)
    try await app.adopt(release.document.bytes)
    try await queue.running {
      try await app.fetchCatalogue(for: ["arena", "core"])
      #expect(transport.calls.count == 1)
      try await app.fetchCatalogue()
      try await app.fetchCatalogue()
    }
    #expect(transport.calls.map(\.request.url) == [release.address(1), release.address(0)])
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
    #expect(installations.allSatisfy { $0.status?.state == .ready && $0.failure == nil })
    #expect(try await app.store.installed().first { $0.id == "core" }?.mode == mode)
    #expect(place.waiting == [])
    let after = try await app.plan(downloads: [])
    #expect(Set(after.ready) == ["core", "other"])
    #expect(after.handOver == [] && after.downloads == [])
  }

  @Test("an installation that was interrupted with its process is done again")
  func interrupted() async throws {
    let core = try await stage.offer("core")
    try place.deliver(stage.manifest(1, [core]), [core])
    let first = try await place.app()
    _ = try await first.start()
    let file = try #require(try await first.plan().handOver.first)
    #expect(try first.state.beginInstall(file) != nil)
    let second = try await place.app(session: "two")
    #expect(try await second.start().interrupted == ["core"])
    #expect(try await second.install(try await second.plan()).first?.status?.state == .ready)
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

  @Test("the queue fetches the downloads of a plan, and only the installed packs remain")
  func fetch() async throws {
    let offers = [try await stage.offer("core", size: 20_000), try await stage.offer("extra", delivery: .onDemand)]
    let transport = try place.network(offers)
    let app = try await place.app(transport)
    _ = try await app.start()
    try await app.adopt(stage.manifest(1, offers).bytes)
    let queue = try #require(app.queue)
    for asked in [[], ["extra"]] as [Set<String>] {
      let plan = try await app.plan(asked: asked, downloads: [])
      #expect(plan.downloads.map(\.id) == (asked.isEmpty ? ["core"] : ["extra"]))
      let events = queue.events()
      try await app.fetch(plan)
      // Planning again finds the downloads in progress.
      #expect(try await app.plan(downloads: []).downloads == [])
      try await queue.run(until: .idle)
      var states: [DeliveryState] = []
      for await event in events {
        if let status = try await app.take(event) { states.append(status.state) }
        if case .finished = event { break }
      }
      #expect(states.first == .loading && states.last == .toBeTransferred)
      #expect(try await app.install(try await app.plan(downloads: [])).map(\.status?.state) == [.ready])
    }
    #expect(transport.calls.count == 2)
    #expect(Set(try await app.plan(downloads: []).ready) == ["core", "extra"])
    #expect(place.waiting == [])
    #expect(try stage.directory.tree("downloads").filter { $0.hasSuffix(".file") || $0.hasSuffix(".part") } == [])
  }

  @Test("a file that was complete when the app ended is not fetched again")
  func finishedUnheard() async throws {
    let core = try await stage.offer("core")
    let transport = try place.network([core])
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [core]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    try await app.queue?.run(until: .idle)
    await app.queue?.close()
    let second = try await place.app(transport, session: "two")
    _ = try await second.start()
    let plan = try await second.plan(downloads: [])
    #expect(plan.handOver.map(\.id) == ["core"] && plan.downloads == [])
    #expect(try await second.install(plan).first?.status?.state == .ready)
    #expect(transport.calls.count == 1)
  }

  @Test("a download that ends while a plan is made is not started again")
  func finishedMeanwhile() async throws {
    let core = try await stage.offer("core")
    let transport = try place.network([core])
    let queue = try #require(try await place.app(transport).queue)
    let (isArmed, isFinished) = (Monitor(false), Monitor(false))
    // The first file operation of the store starts the download and waits for its end.
    let files = FaultyFiles { _ in
      guard
        isArmed.withLock({ isArmed in
          defer { isArmed = false }
          return isArmed
        })
      else { return nil }
      Task {
        try await queue.run(until: .idle)
        isFinished.withLock { $0 = true }
      }
      for _ in 0..<120_000 where !isFinished.withLock({ $0 }) { usleep(1000) }
      return nil
    }
    let app = AppDelivery(state: try place.state(), store: try await stage.open(files: files), queue: queue)
    try await app.adopt(stage.manifest(1, [core]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    // Long enough for a download that is in no list to count as lost.
    place.clock.advance(3600)
    isArmed.withLock { $0 = true }
    let plan = try await app.plan(downloads: [])
    #expect(isFinished.withLock { $0 })
    #expect(plan.downloads == [] && plan.underWay == ["core"])
    try await app.fetch(plan)
    try await queue.run(until: .idle)
    #expect(try await app.install(try await app.plan(downloads: [])).first?.status?.state == .ready)
    #expect(transport.calls.count == 1)
  }

  @Test("a download that the queue gave up is postponed, and tried again later")
  func givenUp() async throws {
    let core = try await stage.offer("core")
    let transport = try place.network([core]) { $0.attempt == 0 ? .failure(.status(404, retryAfter: nil)) : nil }
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [core]).bytes)
    let queue = try #require(app.queue)
    let events = queue.events()
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    var status: PackStatus?
    for await event in events {
      if let now = try await app.take(event) { status = now }
      if case .failed = event { break }
    }
    #expect(status?.state == .failed(.server))
    #expect(try await app.plan(downloads: []).downloads == [])
    place.clock.advance(61)
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 2)
    _ = try await app.start()
    #expect(try await app.install(try await app.plan(downloads: [])).first?.status?.state == .ready)
  }

  @Test("a download that a new manifest replaces leaves the queue, and the new bytes are fetched")
  func replaced() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let transport = try place.network([old, new])
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [old]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    try await app.adopt(stage.manifest(2, [new]).bytes)
    let plan = try await app.plan(downloads: [])
    #expect(plan.cancellations.count == 1 && plan.downloads.map(\.bytes.version) == [2])
    try await app.fetch(plan)
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.map(\.request.url) == [new.entry.url])
    _ = try await app.start()
    #expect(try await app.install(try await app.plan(downloads: [])).first?.installed?.version == 2)
  }

  @Test("bytes with a new URL are fetched from there, and other downloads continue")
  func movedFile() async throws {
    let (old, other) = (try await stage.offer("core"), try await stage.offer("other"))
    var core = old
    core.entry.url = "https://mirror.example.com/core.pack"
    let transport = try place.network([core, other]) { $0.request.url == old.entry.url ? .failure(.status(410, retryAfter: nil)) : nil }
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [old]).bytes)
    let queue = try #require(app.queue)
    let events = queue.events()
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    for await event in events {
      try await app.take(event)
      if case .failed = event { break }
    }
    try await app.adopt(stage.manifest(2, [old, other]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    place.clock.advance(61)
    try await app.adopt(stage.manifest(3, [core, other]).bytes)
    let plan = try await app.plan(downloads: [])
    #expect(plan.downloads.map(\.url) == [core.entry.url] && plan.underWay == ["other"])
    try await app.fetch(plan)
    let id = DownloadID(group: AppDelivery.group, id: plan.downloads[0].identifier.description)
    #expect(try await queue.status(of: id).state == .waiting)
    try await queue.run(until: .idle)
    #expect(Set(transport.calls.map(\.request.url)) == [old.entry.url, core.entry.url, other.entry.url])
    _ = try await app.start()
    #expect(try await app.plan(downloads: []).handOver.map(\.id).sorted() == ["core", "other"])
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
    let installations = try await app.install(plan) { _ in isHeld.withLock { $0 = true } }
    isHeld.withLock { $0 = false }
    #expect(installations.map(\.installed?.id) == ["core"] && installations.allSatisfy { $0.failure == nil && $0.status == nil })
    let next = try await app.plan()
    #expect(next.ready == ["core"] && next.downloads == [])
  }

  @Test("the queue drops settled requests, and a cancelled group is created again")
  func settled() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let transport = try place.network([old, new])
    let app = try await place.app(transport)
    let queue = try #require(app.queue)
    try await app.adopt(stage.manifest(1, [old]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.cancel(group: AppDelivery.group)
    place.clock.advance(1_000_000)
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    _ = try await app.start()
    #expect(try await app.install(try await app.plan(downloads: [])).first?.installed?.version == 1)
    try await app.fetch(try await app.plan(downloads: []))
    #expect(await queue.groups == [])
    try await app.adopt(stage.manifest(2, [new]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    _ = try await app.start()
    #expect(try await app.install(try await app.plan(downloads: [])).first?.installed?.version == 2)
  }

  @Test("an event of a finished file that was already found returns the record of the waiting file")
  func finishedFoundBefore() async throws {
    let core = try await stage.offer("core")
    let app = try await place.app(try place.network([core]))
    let queue = try #require(app.queue)
    let events = queue.events()
    try await app.adopt(stage.manifest(1, [core]).bytes)
    try await app.fetch(try await app.plan(downloads: []))
    try await queue.run(until: .idle)
    try await app.fetch(try await app.plan(downloads: []))
    for await event in events {
      guard case .finished = event else { continue }
      #expect(try await app.take(event)?.state == .toBeTransferred)
      #expect(try await app.install(try await app.plan(downloads: [])).first?.status?.state == .ready)
      #expect(try await app.take(event) == nil)
      break
    }
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
    let table: [(TransferFailure, DownloadFailure?)] = [
      (.offline, .offline), (.unreachable, .offline), (.timedOut, .timeout), (.insecure, .other),
      (.status(503, retryAfter: nil), .http(status: 503)), (.redirect, .other), (.malformedResponse, .other), (.wrongSize(1), .wrongSize),
      (.wrongDigest, .wrongBytes), (.noSpace(needed: 2, free: 1), .noSpace), (.cannotWrite, .other), (.forgotten, nil),
      (.refused(code: 203), .backgroundAssets(code: 203)), (.cancelled, nil), (.other, .other),
    ]
    for (failure, expected) in table { #expect(failure.deliveryFailure == expected, "\(failure)") }
  }
}
