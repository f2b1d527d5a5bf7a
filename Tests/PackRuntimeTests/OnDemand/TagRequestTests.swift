import TestSupport
import Testing

@testable import PackApp
@testable import PackBase
@testable import PackReading
@testable import PackRuntime
@testable import PackStore

@Suite("Requests by tags", .bounded)
struct TagRequestTests {
  let tags: TagStage
  private var stage: StoreStage { tags.stage }

  init() throws {
    tags = try TagStage()
  }

  // MARK: Refusals

  @Test("a tag that no pack has is refused, with a similar tag as a suggestion")
  func unknownTag() async throws {
    let (store, _, packs) = try await tags.start(tags.offlineTransport())
    func refusal(_ wanted: Set<String>) async -> PackError? {
      await failure { () async throws(PackError) in _ = try await TagRequest(wanted, of: packs).begin() }
    }
    #expect(await refusal(["level-1"])?.code == .offline)
    #expect(
      await failure { () async throws(PackError) in _ = try await TagRequest(["level-1"], of: packs).conditionallyBegin() }?.code
        == .noManifest)
    try await packs.adopt(stage.manifest(1, [tags.offer("core", tags: ["level-1", "boot"])]))
    let error = await refusal(["boot", "levle-1"])
    #expect(error?.code == .unknownTag)
    #expect(error?.message == "no pack of the manifest has the tag 'levle-1' (did you mean 'level-1'?)")
    #expect(await refusal(["music"])?.message == "no pack of the manifest has the tag 'music'")
    #expect(await refusal([])?.code == .usage)
    #expect(
      await failure { () async throws(PackError) in _ = try await TagRequest(["musik"], of: packs).conditionallyBegin() }?.code
        == .unknownTag
    )
    #expect(await failure { () async throws(PackError) in try await store.setPreservation(1, tags: ["boots"]) }?.code == .unknownTag)
  }

  @Test("a priority that is not from 0 to 1 is refused", arguments: [-0.1, 1.1, .nan, .infinity])
  func priorityRange(value: Double) async throws {
    let (store, _, packs) = try await tags.start(tags.offlineTransport())
    try await packs.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let request = TagRequest(["boot"], of: packs)
    #expect(await failure { () async throws(PackError) in try await request.setPriority(value) }?.code == .usage)
    #expect(request.priority == 0.5)
    let wrong = TagRequest(["boot"], of: packs, priority: value)
    #expect(await failure { () async throws(PackError) in _ = try await wrong.begin() }?.code == .usage)
    #expect(await failure { () async throws(PackError) in try await store.setPreservation(value, tags: ["boot"]) }?.code == .usage)
  }

  @Test("bytes that failed on this device are refused before anything is downloaded")
  func failedVersion() async throws {
    let (store, transport, packs) = try await tags.open()
    let (old, new) = try await (tags.offer("core", 1, tags: ["boot"]), tags.offer("core", 2, tags: ["boot"]))
    try await packs.adopt(stage.manifest(1, [old]))
    try await tags.deliver([old], to: store)
    try await packs.adopt(stage.manifest(2, [new]))
    try await store.install(new.path, as: "core", taking: .copying)
    try await store.activate("core")
    try await store.rollback("core", reason: "blank page")
    let request = TagRequest(["boot"], of: packs)
    #expect(try await request.conditionallyBegin() == nil)
    try #require(await store.hold([new.entry]).failure?.code == .versionFailed)
    let error = await failure { () async throws(PackError) in _ = try await request.begin() }
    #expect(error?.code == .versionFailed)
    #expect(error?.message == "version 2 of pack 'core' failed on this device: blank page")
    #expect(transport.calls.isEmpty)
    #expect(request.progress.phase == .failed)
  }

  @Test(
    "the fraction is 1 only if the packs are ready",
    arguments: [.waiting, .downloading, .installing, .ready, .failed] as [TagProgress.Phase])
  func fraction(phase: TagProgress.Phase) {
    var progress = TagProgress()
    (progress.downloaded, progress.downloadSize, progress.installed, progress.installSize) = (1000, 1000, 3000, 3000)
    progress.phase = phase
    #expect((progress.fraction == 1) == (phase == .ready))
    #expect(progress.fraction > 0.99)
    // More than was announced, as after a download that began again.
    progress.downloaded = 1500
    #expect((progress.fraction >= 1) == (phase == .ready))
  }

  @Test("if another version is activated while the packs are opened, there is no access")
  func otherVersion() async throws {
    let other = try await stage.open(as: "other")
    let isArmed = Monitor(false)
    let files = FaultyFiles { call in
      guard call.operation == .open, call.name.contains("packs/a@2"),
        isArmed.withLock({ isArmed in
          defer { isArmed = false }
          return isArmed
        })
      else { return nil }
      let isDone = Monitor(false)
      Task {
        _ = try? await other.activate("b", version: 1, onTrial: false)
        isDone.update { $0 = true }
      }
      isDone.waitUntil { $0 }
      return nil
    }
    let (store, _, packs) = try await tags.start(tags.offlineTransport(), storeFiles: files)
    var offers: [[StoreStage.Offer]] = []
    for version in [1, 2] as [UInt64] {
      offers.append([try await tags.offer("a", version, tags: ["boot"]), try await tags.offer("b", version, tags: ["boot"])])
    }
    try await packs.adopt(stage.manifest(1, offers[0]))
    try await tags.deliver(offers[0], to: store)
    try await packs.adopt(stage.manifest(2, offers[1]))
    for offer in offers[1] { try await store.install(offer.path, as: offer.entry.id, taking: .copying) }
    isArmed.withLock { $0 = true }
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).begin() }
    #expect(!isArmed.withLock { $0 })
    #expect(error?.code == .notInstalled)
    #expect(error?.message == "version 2 of pack 'b' is not running: another version was activated in the meantime")
    #expect(try await TagRequest(["boot"], of: packs).begin().packs.map(\.installed.version) == [2, 2])
  }

  @Test("if a manifest that changes the packs is accepted while a request looks for them, there is no access")
  func changedMeanwhile() async throws {
    let other = try await stage.open(as: "other")
    let (old, new) = try await (tags.offer("core", 1, tags: ["boot"]), tags.offer("core", 2, tags: ["boot"]))
    let manifest = try stage.manifest(2, [new])
    let isArmed = Monitor(false)
    let files = FaultyFiles { call in
      // The request has read the manifest by then.
      guard call.operation == .open, call.name.hasSuffix("lock"),
        isArmed.withLock({ isArmed in
          defer { isArmed = false }
          return isArmed
        })
      else { return nil }
      let isDone = Monitor(false)
      Task {
        _ = try? await other.adopt(manifest)
        isDone.update { $0 = true }
      }
      isDone.waitUntil { $0 }
      return nil
    }
    let (store, _, packs) = try await tags.start(tags.offlineTransport(), storeFiles: files)
    try await packs.adopt(stage.manifest(1, [old]))
    try await tags.deliver([old], to: store)
    #expect(try await TagRequest(["boot"], of: packs).conditionallyBegin() != nil)
    isArmed.withLock { $0 = true }
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).conditionallyBegin() }
    #expect(!isArmed.withLock { $0 })
    #expect(error?.code == .manifestChanged)
  }

  @Test("with an expired manifest nothing is downloaded, but installed packs are still accessible")
  func expired() async throws {
    let (store, transport, packs) = try await tags.open()
    let offers = try await [tags.offer("core", tags: ["boot"]), tags.offer("music", tags: ["sound"])]
    try await packs.adopt(stage.manifest(1, offers))
    try await tags.deliver([offers[0]], to: store)
    stage.clock.secondsSince1970 = 1_900_000_001
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["sound"], of: packs).begin() }
    #expect(error?.code == .manifestExpired)
    #expect(error?.advice == .renewManifest)
    #expect(try await TagRequest(["boot"], of: packs).begin().packs.map(\.installed.id) == ["core"])
    #expect(transport.calls.isEmpty)
  }

  @Test(
    "if the server has something other than the pack, the request throws and installs nothing",
    arguments: [
      (FaultyTransport.Fault.wrong(from: 0), PackError.Code.digestMismatch), (.announced(17), .wrongPack), (.tooLong(by: 1), .wrongPack),
      (.failure(.status(404, retryAfter: nil)), .downloadFailed), (.failure(.insecure), .downloadFailed),
      (.failure(.timedOut), .downloadFailed), (.failure(.offline), .offline),
    ])
  func badDownload(fault: FaultyTransport.Fault, code: PackError.Code) async throws {
    let isBad = Monitor(true)
    let (store, _, packs) = try await tags.open { _ in isBad.withLock { $0 } ? fault : nil }
    try await packs.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let request = TagRequest(["boot"], of: packs)
    // The second time must fail like the first, although a missing network is reported only once by itself.
    for _ in 0..<2 {
      let error = await failure { () async throws(PackError) in _ = try await request.begin() }
      #expect(error?.code == code)
      #expect(error?.message.hasPrefix("pack 'core' was not downloaded: ") == true)
      #expect(request.progress.phase == .failed)
    }
    #expect(try await store.installed() == [])
    isBad.withLock { $0 = false }
    let access = try await request.begin()
    #expect(access.packs.count == 1)
  }

  @Test("without the key a pack is not installed, and with the key later nothing is downloaded again")
  func missingKey() async throws {
    let keys = KeyRing()
    let (_, transport, packs) = try await tags.start(tags.transport(), keys: keys)
    try await packs.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let request = TagRequest(["boot"], of: packs)
    #expect(await failure { () async throws(PackError) in _ = try await request.begin() }?.code == .noKey)
    let other = [UInt8](repeating: 9, count: 32)
    keys.add(try PackKey(bytes: other.byteSpan))
    #expect(await failure { () async throws(PackError) in _ = try await request.begin() }?.code == .wrongKey)
    let bytes = (0..<32).map { UInt8($0) }
    keys.add(try PackKey(bytes: bytes.byteSpan))
    let access = try await request.begin()
    #expect(try access.read("index.html") == Array("core 1 0".utf8))
    #expect(transport.calls.count == 1)
  }

  @Test("a request in progress cannot begin again")
  func underWay() async throws {
    let (_, transport, packs) = try await tags.open { _ in .stuck(at: 100) }
    try await packs.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let request = TagRequest(["boot"], of: packs)
    let task = Task { await failure { () async throws(PackError) in _ = try await request.begin() } }
    try await eventually("it does not begin") { transport.running.count == 1 }
    #expect(await failure { () async throws(PackError) in _ = try await request.begin() }?.code == .usage)
    #expect(await failure { () async throws(PackError) in _ = try await request.conditionallyBegin() }?.code == .usage)
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }

  // MARK: Access

  @Test("missing packs are downloaded, installed and opened, and nothing else", arguments: InstallMode.allCases)
  func begin(install: InstallMode) async throws {
    let (_, transport, packs) = try await tags.open()
    let offers = try await [
      tags.offer("core", tags: ["boot"]), tags.offer("forest", tags: ["level-1", "outdoors"], install: install),
      tags.offer("cave", tags: ["level-2"]), tags.offer("music", tags: ["level-1", "level-2"], install: install),
    ]
    try await packs.adopt(stage.manifest(1, offers))
    let request = TagRequest(["level-1"], of: packs)
    #expect(try await request.conditionallyBegin() == nil)
    #expect(request.progress.phase == .waiting)
    #expect(transport.calls.isEmpty)
    let access = try await request.begin()
    #expect(access.packs.map(\.installed.id) == ["forest", "music"])
    #expect(access.packs.map(\.installed.state) == [.current, .current])
    #expect(access.trials.isEmpty)
    #expect(try access.read("index.html") == Array("forest 1 0".utf8))
    #expect(try access.pack("music").read("index.html", range: 0..<5) == Array("music".utf8))
    #expect(code { () throws(PackError) in _ = try access.pack("cave") } == .unknownPack)
    #expect(code { () throws(PackError) in _ = try access.read("none") } == .noSuchEntry)
    #expect(Set(transport.calls.map(\.request.identifier)) == Set([offers[1], offers[3]].map(TagStage.identifier)))
    // A second one needs nothing.
    #expect(try await request.conditionallyBegin()?.packs.count == 2)
    #expect(transport.calls.count == 2)
  }

  @Test("packs installed with the app need no network, with either way to begin")
  func initialInstall() async throws {
    let (store, transport, packs) = try await tags.start(tags.offlineTransport())
    let offers = try await [
      tags.offer("core", tags: ["boot"], delivery: .essential), tags.offer("intro", tags: ["boot", "story"], delivery: .essential),
      tags.offer("film", tags: ["story"], delivery: .prefetch), tags.offer("cave", tags: ["level-2", "story-2"]),
      tags.offer("lake", tags: ["story-2"], delivery: .essential),
    ]
    try await packs.adopt(stage.manifest(1, offers))
    let catalog = try await packs.tags()
    #expect(catalog.tags == ["boot", "level-2", "story", "story-2"])
    #expect(catalog.tags(.essential) == ["boot"])
    #expect(catalog.tags(.prefetch) == ["story"])
    #expect(catalog.tags(.onDemand) == ["level-2", "story-2"])
    #expect(catalog.delivery(of: "none") == nil)
    #expect(catalog.packs(of: ["boot", "level-2"]).map(\.id) == ["core", "intro", "cave"])
    // As the system does before the app starts.
    for offer in offers where offer.entry.delivery == .essential { try await store.install(offer.path, as: offer.entry.id) }
    for tag in catalog.tags(.essential) {
      let request = TagRequest([tag], of: packs)
      #expect(try await request.conditionallyBegin()?.packs.map(\.installed.id) == ["core", "intro"])
      #expect(request.progress.fraction == 1)
      #expect(try await request.begin().packs.map(\.installed.id) == ["core", "intro"])
    }
    #expect(try await TagRequest(["story"], of: packs).conditionallyBegin() == nil)
    #expect(transport.calls.isEmpty)
  }

  @Test("packs for other devices do not count, and a tag with only such packs begins at once")
  func otherDevices() async throws {
    let (_, transport, packs) = try await tags.start(tags.offlineTransport(), isForDevice: { $0.platforms.isEmpty })
    var offer = try await tags.offer("shaders", tags: ["graphics"])
    offer.entry.platforms = ["vision"]
    try await packs.adopt(stage.manifest(1, [offer]))
    #expect(try await packs.tags().tags == [])
    // This does not wait, whatever is missing.
    try #require(await TagRequest(["graphics"], of: packs).conditionallyBegin() != nil)
    #expect(try await TagRequest(["graphics"], of: packs).begin().packs.isEmpty)
    #expect(transport.calls.isEmpty)
  }

  @Test("an earlier version does not count as installed, but can still be opened")
  func olderVersion() async throws {
    let (store, _, packs) = try await tags.start(tags.offlineTransport())
    let (old, new) = try await (tags.offer("core", 1, tags: ["boot"]), tags.offer("core", 2, tags: ["boot"]))
    try await packs.adopt(stage.manifest(1, [old]))
    try await tags.deliver([old], to: store)
    try await packs.adopt(stage.manifest(2, [new]))
    let request = TagRequest(["boot"], of: packs)
    #expect(try await request.conditionallyBegin() == nil)
    #expect(try await store.open("core").installed.version == 1)
    // After it is installed it counts, and the previous version no longer runs.
    try await store.install(new.path, as: "core", taking: .copying)
    #expect(try await request.conditionallyBegin()?.packs.map(\.installed.version) == [2])
  }

  @Test("a new version becomes current at once, or runs on trial if the request asks for that")
  func updates() async throws {
    let (store, _, packs) = try await tags.open()
    let offers = try await [
      tags.offer("core", 1, tags: ["boot"]), tags.offer("core", 2, tags: ["boot"]), tags.offer("core", 3, tags: ["boot"]),
      tags.offer("core", 4, tags: ["boot"]),
    ]
    for (version, update) in [(1, TagUpdate.onTrial), (2, .confirmed), (3, .onTrial), (4, .onTrial)] {
      try await packs.adopt(stage.manifest(UInt64(version), [offers[version - 1]]))
      let access = try await TagRequest(["boot"], of: packs, update: update).begin()
      #expect(access.packs.map(\.installed.version) == [UInt64(version)])
      // The first version has no version to fall back to.
      #expect(access.trials.count == (version > 2 ? 1 : 0))
      #expect(try await store.current("core")?.state == (version > 2 ? .trial : .current))
      if version == 3 { try await store.confirm(try #require(access.trials.first)) }
    }
    #expect(try await store.rollback("core", reason: "blank page")?.version == 3)
  }

  @Test("a trial that a failed request began is returned by the next request")
  func trialOfFailedRequest() async throws {
    let (store, _, packs) = try await tags.start(tags.offlineTransport())
    var olds: [StoreStage.Offer] = []
    var news: [StoreStage.Offer] = []
    for id in ["core", "extra"] {
      olds.append(try await tags.offer(id, 1, tags: ["boot"]))
      news.append(try await tags.offer(id, 2, tags: ["boot"]))
    }
    try await packs.adopt(stage.manifest(1, olds))
    try await tags.deliver(olds, to: store)
    try await packs.adopt(stage.manifest(2, news))
    for offer in news { try await store.install(offer.path, as: offer.entry.id, taking: .copying) }
    // Another process has the second on trial, so the request fails when the first is on trial already.
    let other = try await stage.open(as: "two")
    let foreign = try await other.activate("extra", version: 2, onTrial: true)
    let request = TagRequest(["boot"], of: packs, update: .onTrial)
    _ = try? await request.conditionallyBegin()
    #expect(try await store.current("core")?.state == .trial)
    try await other.confirm(foreign)
    let access = try #require(try await request.conditionallyBegin())
    #expect(access.trials.map(\.id) == ["core"])
    for trial in access.trials { try await store.confirm(trial) }
    #expect(try await store.current("core")?.state == .current)
  }

  @Test("packs are not purged during an access, but may be after its end", arguments: ["ended", "forgotten", "killed"])
  func lasting(how: String) async throws {
    let (store, _, packs) = try await tags.open()
    let offers = try await [tags.offer("forest", tags: ["level-1"], install: .unpacked), tags.offer("cave", tags: ["level-1"])]
    try await packs.adopt(stage.manifest(1, offers))
    try await store.setPreservation(0, tags: ["level-1"])
    let other = try await stage.open(as: "other")
    var access: TagAccess? = try await TagRequest(["level-1"], of: packs).begin()
    for who in [store, other] {
      #expect(try await who.purge(toFree: .max).removed == [])
      #expect(await failure { () async throws(PackError) in try await who.remove("cave") }?.code == .inUse)
    }
    #expect(try access?.read("index.html") == Array("forest 1 0".utf8))
    #expect(access?.isEnded == false)
    switch how {
    case "ended":
      access?.end()
      access?.end()
      #expect(access?.packs.isEmpty == true)
      #expect(access?.isEnded == true)
      #expect(code { () throws(PackError) in _ = try access?.read("index.html") } == .usage)
    case "forgotten": access = nil
    default: stage.end("one")
    }
    #expect(Set(try await other.purge(toFree: .max).removed.map(\.pack.id)) == ["forest", "cave"])
    withExtendedLifetime(access) {}
  }

  @Test("a pack that an access returned stays in use after the access ends")
  func takenOut() async throws {
    let (store, _, packs) = try await tags.start(tags.offlineTransport())
    let offer = try await tags.offer("cave", tags: ["level-1"])
    try await packs.adopt(stage.manifest(1, [offer]))
    try await tags.deliver([offer], to: store)
    let access = try await TagRequest(["level-1"], of: packs).begin()
    var pack: OpenedPack? = try access.pack("cave")
    access.end()
    #expect(try await store.purge(toFree: .max).removed == [])
    #expect(try pack?.read("index.html") == Array("cave 1 0".utf8))
    pack = nil
    #expect(try await store.purge(toFree: .max).removed.count == 1)
  }

  // MARK: Manifests that change

  @Test("a request fails if a new manifest changes the packs of its tags, and otherwise continues")
  func changedManifest() async throws {
    let (_, transport, packs) = try await tags.open { $0.request.url.hasSuffix("core-1-0.pack") ? .stuck(at: 700) : nil }
    let (old, new) = try await (tags.offer("core", 1, tags: ["boot"]), tags.offer("core", 2, tags: ["boot"]))
    let other = try await tags.offer("other", 1, tags: ["other"])
    try await packs.adopt(stage.manifest(1, [old]))
    let request = TagRequest(["boot"], of: packs)
    let task = Task { await failure { () async throws(PackError) in _ = try await request.begin() } }
    try await eventually("it does not begin") { request.progress.downloaded >= 700 }
    try await packs.adopt(stage.manifest(2, [old, other]))
    // The new manifest names the same bytes, so the download continues.
    #expect(try await TagRequest(["boot"], of: packs).conditionallyBegin() == nil)
    #expect(transport.running.count == 1)
    try await packs.adopt(stage.manifest(3, [new, other]))
    let error = await task.value
    #expect(error?.code == .manifestChanged)
    #expect(error?.advice == .tryAgain)
    #expect(error?.message == "manifest version 3 was accepted during the request for 'boot', and changes its packs")
    // The next request gets the new version, and the partial download of the old one is removed.
    #expect(try await request.begin().packs.map(\.installed.version) == [2])
    #expect(transport.running.isEmpty && tags.parts.isEmpty)
  }

  @Test("a request fails if a new manifest no longer has its tag")
  func droppedTag() async throws {
    let (_, transport, packs) = try await tags.open { _ in .stuck(at: 700) }
    let offer = try await tags.offer("core", 1, tags: ["boot"])
    try await packs.adopt(stage.manifest(1, [offer]))
    let task = Task { await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).begin() } }
    try await eventually("it does not begin") { transport.running.count == 1 }
    var renamed = offer
    renamed.entry.tags = ["start"]
    try await packs.adopt(stage.manifest(2, [renamed]))
    #expect(await task.value?.code == .manifestChanged)
  }
}
