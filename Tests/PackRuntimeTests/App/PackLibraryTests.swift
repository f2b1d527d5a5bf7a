import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of an app that knows only `PackLibrary`. Its downloads run in a queue, over a network with faults.
@Suite("An app's packs through one object", .bounded)
struct PackLibraryTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let keys = SwitchedKeys()
  /// The manifest on the server; nil if the server cannot be reached.
  private let published = Monitor<[UInt8]?>(nil)

  init() throws {
    place = try DeliveryStage(waits: true)
  }

  private func publish(_ version: UInt64, _ offers: [StoreStage.Offer]) throws {
    let document = try stage.manifest(version, offers).bytes
    published.withLock { $0 = document }
  }

  /// Starts the app.
  ///
  /// - Parameter idling: Counts how often packs are rewritten, which then does not wait.
  private func library(
    _ transport: any Transport, session: String = "one", isPatient: Bool = false, late: AsyncStream<ServiceNotice>? = nil,
    failing: Monitor<PackError?>? = nil, device: DeviceProfile = .any,
    idling: Monitor<Int>? = nil,
    _ change: (inout PackLibrary.Options) -> Void = { _ in }
  ) async throws -> PackLibrary {
    let delivery = try await place.app(transport, session: session, keys: keys)
    let queue = try #require(delivery.queue)
    delivery.store.setDevice(device)
    var options = PackLibrary.Options()
    change(&options)
    return try await PackLibrary(
      delivery, service: ChangedService(service: QueueService(delivery: delivery, queue: queue), late: late, failure: failing),
      exports: FileExports(stage.directory("exports")), options,
      sleep: { [clock = place.clock] seconds in
        // Longer than a download takes here, so that the clock does not run far ahead of it.
        try? await Task.sleep(for: isPatient ? .seconds(1000) : .milliseconds(50))
        clock.advance(Int64(clamping: seconds))
      },
      idle: {
        if let idling { idling.withLock { $0 += 1 } } else { try? await Task.sleep(for: .seconds(10_000)) }
      },
      source: { [published] () throws(PackError) in
        guard let document = published.withLock({ $0 }) else { throw PackError(.offline, "there is no network", advice: .connect) }
        return document
      })
  }

  /// Publishes a release whose packs on demand are in pages, and returns the pages.
  @discardableResult
  private func publishInPages(_ version: UInt64, _ offers: [StoreStage.Offer]) throws -> [PageReference: [UInt8]] {
    let (document, pages) = try stage.manifestInPages(version, offers)
    published.withLock { $0 = document.bytes }
    return pages
  }

  private static func isPage(_ call: FaultyTransport.Call) -> Bool { call.request.url.hasSuffix(".page") }

  /// Six packs on demand, in three pages, and one that the manifest itself lists.
  private func catalogue(changing id: String? = nil) async throws -> [StoreStage.Offer] {
    var offers = [try await stage.offer("core", 1)]
    for name in "abcdef" { offers.append(try await stage.offer("\(name)", "\(name)" == id ? 2 : 1, delivery: .onDemand)) }
    return offers
  }

  private func text(_ packs: PackLibrary, _ id: String = "core") throws -> String {
    String(decoding: try packs.data(id, "index.html"), as: UTF8.self)
  }

  private func code(_ body: () async throws -> Void) async -> PackError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? PackError)?.code
    }
  }

  @Test("install: a pack is downloaded, verified, installed, confirmed and readable, also as URL and stream")
  func install() async throws {
    let core = try await stage.offer("core", 1, size: 200_000, delivery: .onDemand)
    try publish(1, [core])
    let packs = try await library(try place.network([core]))
    #expect(await code { _ = try packs.data("core", "index.html") } == .notInstalled)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    let content = try #require(core.tree.files["js/data.bin"]?.bytes)
    #expect(try packs.data("core", "js/data.bin", range: 10..<20) == Data(content[10..<20]))
    var streamed = Data()
    for try await piece in try packs.stream("core", "js/data.bin", pieceSize: 70_000) { streamed += piece }
    #expect(streamed == Data(content))
    let file = try await packs.file("core", "js/data.bin")
    #expect(try Data(contentsOf: file) == Data(content))
    #expect(try await packs.store.current("core")?.state == .current)
    #expect(await code { _ = try packs.data("core", "nothing") } == .noSuchEntry)
  }

  @Test("deltas are rewritten when nothing is downloaded, unless the app turns that off", arguments: [true, false])
  func compaction(isOn: Bool) async throws {
    let deltas = try await DeltaStage(.packed, in: stage)
    do {
      let store = try await deltas.start()
      for version in 2...4 as ClosedRange<UInt64> { try await deltas.update(version - 1, version, in: store) }
      #expect(try await store.current(DeltaStage.id)?.deltaCount == 3)
    }
    let document = try deltas.release(4, [try await deltas.delta(3, 4).offer]).document.bytes
    published.withLock { $0 = document }
    let waits = Monitor(0)
    let packs = try await library(try place.network([]), idling: waits) { $0.compactsPacks = isOn }
    let events = packs.store.events()
    try await packs.refresh()
    guard isOn else {
      #expect(try await packs.store.current(DeltaStage.id)?.deltaCount == 3)
      return #expect(waits.withLock { $0 } == 0)
    }
    if try await packs.store.current(DeltaStage.id)?.deltaCount != 0 {
      for await event in events { if case .rewritten = event { break } }
    }
    #expect(try await packs.store.current(DeltaStage.id)?.deltaCount == 0)
    try await packs.ensure(DeltaStage.id)
    #expect(try text(packs, DeltaStage.id) == "version 4")
  }

  @Test("languages: only packs of the user's languages are offered and fetched, and another choice replaces them")
  func languages() async throws {
    var offers: [StoreStage.Offer] = []
    for (id, language, platforms) in [("core", nil, []), ("desk", nil, ["macOS"]), ("voices-de", "de", []), ("voices-en", "en", [])]
      as [(String, String?, [String])]
    {
      offers.append(try await stage.offer(id, 1, size: 9000))
      offers[offers.count - 1].entry.language = language
      offers[offers.count - 1].entry.platforms = platforms
    }
    try publish(1, offers)
    let packs = try await library(try place.network(offers), device: DeviceProfile(platform: .iOS, languages: ["de-AT"]))
    func ready(_ id: String) async { for await status in packs.status(of: id) { if case .ready = status { return } } }
    await ready("core")
    await ready("voices-de")
    #expect(await packs.offers().map(\.id) == ["core", "voices-de"])
    #expect(await code { try await packs.ensure("voices-en") } == .unknownPack)
    #expect(await code { try await packs.ensure("desk") } == .unknownPack)
    try await packs.setLanguages(["en-US", "en"])
    await ready("voices-en")
    #expect(await packs.offers().map(\.id) == ["core", "voices-en"])
    #expect(try await packs.store.installed().map(\.id) == ["core", "voices-en"])
    #expect(packs.store.device.platform == .iOS)
  }

  @Test("status: it goes from absent over downloading and installing to ready")
  func status() async throws {
    let core = try await stage.offer("core", 1, size: 50_000, delivery: .onDemand)
    try publish(1, [core])
    let packs = try await library(try place.network([core]))
    let listening = Task {
      var seen: [String] = []
      for await status in packs.status(of: "core") {
        let name = String("\(status)".prefix { $0 != "(" })
        if seen.last != name { seen.append(name) }
        if case .ready = status { break }
      }
      return seen
    }
    try await packs.ensure("core")
    let seen = await listening.value
    #expect(seen.last == "ready")
    #expect(await packs.offers().map(\.id) == ["core"])
    guard case .ready(version: 1)? = await packs.offers().first?.status else {
      Issue.record("the pack is not ready")
      return
    }
  }

  @Test("progress: it is finished only when the pack is ready, even if all its bytes have arrived")
  func progress() async throws {
    let core = try await stage.offer("core", 1, size: 50_000, delivery: .onDemand)
    try publish(1, [core])
    let (late, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let packs = try await library(try place.network([core]) { _ in .stuck(at: 1000, isKnown: true) }, late: late)
    let progress = packs.progress(of: "core")
    let request = Task { try await packs.ensure("core") }
    try await eventually("it does not begin") { progress.completedUnitCount > 0 }
    continuation.yield(ServiceNotice(events: [.progress(id: "core", received: core.entry.size, size: core.entry.size)]))
    try await eventually("the bytes do not arrive") { progress.completedUnitCount >= 990 }
    #expect(progress.completedUnitCount == 990)
    #expect(!progress.isFinished)
    request.cancel()
    _ = await code { try await request.value }
  }

  @Test("status: progress that arrives after the installation is not reported")
  func lateProgress() async throws {
    let core = try await stage.offer("core", 1, size: 50_000, delivery: .onDemand)
    try publish(1, [core])
    let (late, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let packs = try await library(try place.network([core]), late: late)
    try await packs.ensure("core")
    var statuses = packs.status(of: "core").makeAsyncIterator()
    guard case .ready? = await statuses.next() else {
      Issue.record("the pack is not ready")
      return
    }
    continuation.yield(ServiceNotice(events: [.progress(id: "core", received: 20_000, size: 50_000)]))
    continuation.yield(ServiceNotice(events: [.progress(id: "core", received: 50_000, size: 50_000)]))
    for _ in 0..<2 {
      let status = await statuses.next()
      guard case .ready(version: 1)? = status else {
        Issue.record("the status is \(String(describing: status)) after the installation")
        return
      }
    }
  }

  @Test("update: a newer version is used by the next call, and the old one until then")
  func update() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try publish(1, [old])
    let packs = try await library(try place.network([old, new]))
    try await packs.ensure("core")
    try publish(2, [new])
    let statuses = packs.store.events()
    #expect(try await packs.refresh())
    for await event in statuses { if case .installed(let pack, _) = event, pack.version == 2 { break } }
    #expect(try text(packs) == "core 1 0")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 2 0")
    #expect(try await packs.refresh() == false)
  }

  @Test("retry: failures of server and network are retried until the pack is there")
  func retry() async throws {
    let core = try await stage.offer("core", 1, size: 9000, delivery: .onDemand)
    try publish(1, [core])
    let network = try place.network([core]) { call in
      switch call.attempt {
      case 0: .failure(.status(503, retryAfter: nil))
      case 1: .cut(at: 3000, .unreachable)
      case 2: .wrong(from: 4000)
      default: nil
      }
    }
    let packs = try await library(network)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(network.calls.count >= 4)
  }

  @Test("a server without the file is not asked again at once, however long somebody waits, and is asked again later")
  func missingFile() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let missing = try place.network([core]) { _ in .failure(.status(404, retryAfter: nil)) }
    do {
      let packs = try await library(missing, isPatient: true)
      let request = Task { try await packs.ensure("core") }
      for await status in packs.status(of: "core") { if case .waiting(.retry) = status { break } }
      try await packs.refresh()
      try await Task.sleep(for: .milliseconds(300))
      // A failure that comes before the plan is handed over completely is tried again by it.
      #expect((1...2).contains(missing.calls.count))
      request.cancel()
      #expect(await code { try await request.value } == .cancelled)
    }
    let network = try place.network([core]) { $0.attempt < 6 ? .failure(.status(404, retryAfter: nil)) : nil }
    let packs = try await library(network, session: "two")
    let began = place.clock.secondsSince1970
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(network.calls.count >= 7)
    // The waits of plans grow: they would come to an hour.
    #expect(place.clock.secondsSince1970 - began < 1500)
  }

  @Test("purge: a pack that the system removed is downloaded again when it is needed")
  func purge() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    // Slow, so that downloads end while plans are made, and long after the plan that started them.
    let network = try place.network([core]) { _ in .slow(.milliseconds(200)) }
    do {
      let packs = try await library(network)
      try await packs.ensure("core")
    }
    let packs = try await library(network, session: "two")
    let before = network.calls.count
    _ = try await packs.store.purge(toFree: 1 << 40)
    #expect(try await packs.store.current("core") == nil)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(before == 1 && network.calls.count == 2)
  }

  @Test("offline: installed packs work; the first start says that there is no network, and works later")
  func offline() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    do {
      let packs = try await library(try place.network([core]))
      let error = await #expect(throws: PackError.self) { try await packs.ensure("core") }
      #expect(error?.code == .offline && error?.errorDescription == "There is no internet connection.")
      #expect(error?.recoverySuggestion == "Connect to the internet and try again.")
      try publish(1, [core])
      try await packs.ensure("core")
    }
    published.withLock { $0 = nil }
    let packs = try await library(try place.network([]) { _ in .failure(.offline) }, session: "two")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(await code { try await packs.refresh() } == .offline)
  }

  @Test("essential failure: an essential pack that the extension could not get is downloaded by the app")
  func essential() async throws {
    let core = try await stage.offer("core", 1, delivery: .essential)
    let document = try stage.manifest(1, [core])
    let ours = try place.extension()
    let planned = try #require(ours.downloads(for: .install, manifestAt: try place.download(document), allowance: nil).downloads.first)
    _ = try ours.failed(.download(identifier: planned.identifier.description), .timeout)
    try publish(1, [core])
    let packs = try await library(try place.network([core]))
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
  }

  @Test("delivered: files that the extension downloaded are installed without a network")
  func delivered() async throws {
    let core = try await stage.offer("core", 1)
    try place.deliver(try stage.manifest(1, [core]), [core])
    let network = try place.network([]) { _ in .failure(.offline) }
    let packs = try await library(network)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(network.calls.isEmpty)
  }

  @Test("rollback: a version that the app rejects is replaced by the one before, and not installed again")
  func rollback() async throws {
    let (old, new) = (try await stage.offer("core", 1, delivery: .onDemand), try await stage.offer("core", 2, delivery: .onDemand))
    try publish(1, [old])
    let packs = try await library(try place.network([old, new])) { $0.confirmsVersions = false }
    try await packs.ensure("core")
    try await packs.confirm("core")
    try publish(2, [new])
    let events = packs.store.events()
    try await packs.refresh()
    for await event in events { if case .installed(let pack, _) = event, pack.version == 2 { break } }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 2 0")
    #expect(try await packs.reject("core", reason: "black screen") == 1)
    #expect(try text(packs) == "core 1 0")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    try await packs.confirm("core")
  }

  @Test(
    "a version whose key cannot be had now is not rejected, and the one before is used until then",
    arguments: [PackError.Code.noKey, .offline, .cannotRead])
  func missingKey(code: PackError.Code) async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try publish(1, [old])
    do {
      let packs = try await library(try place.network([old, new]))
      for await event in packs.store.events() { if case .installed = event { break } }
      keys.failure.withLock { $0 = PackError(code, "the key server did not answer") }
      #expect(await self.code { try await packs.ensure("core") } == code)
    }
    stage.end("one")
    keys.failure.withLock { $0 = nil }
    let packs = try await library(try place.network([old, new]), session: "two")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    try publish(2, [new])
    let events = packs.store.events()
    try await packs.refresh()
    for await event in events { if case .installed(let pack, _) = event, pack.version == 2 { break } }
    keys.failure.withLock { $0 = PackError(code, "the key server did not answer") }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    keys.failure.withLock { $0 = nil }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 2 0")
    #expect(try await packs.store.current("core")?.state == .current)
  }

  @Test("a trial that another process left is confirmed")
  func leftTrial() async throws {
    let core = try await stage.offer("core", 1)
    try publish(1, [core])
    let packs = try await library(try place.network([core]))
    for await event in packs.store.events() { if case .installed = event { break } }
    try await packs.store.activate("core")
    #expect(try await packs.store.current("core")?.state == .trial)
    try await packs.ensure("core")
    #expect(try await packs.store.current("core")?.state == .current)
  }

  @Test("a damaged version on the device is replaced by the one before")
  func damagedVersion() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try publish(1, [old])
    let packs = try await library(try place.network([old, new]))
    try await packs.ensure("core")
    try publish(2, [new])
    let events = packs.store.events()
    try await packs.refresh()
    var path: String?
    for await event in events {
      if case .installed(let pack, _) = event, pack.version == 2 {
        path = pack.path
        break
      }
    }
    let place = try #require(path)
    let handle = try #require(FileHandle(forWritingAtPath: place))
    try handle.seek(toOffset: 40)
    try handle.write(contentsOf: Data(repeating: 0x55, count: 32))
    try handle.close()
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(try await packs.store.installed().map(\.version) == [1])
  }

  @Test("a version that is damaged after it ran is replaced by the one before, at the next start")
  func damagedLater() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try publish(1, [old])
    let network = try place.network([old, new])
    var path: String?
    do {
      let packs = try await library(network)
      try await packs.ensure("core")
      try publish(2, [new])
      let events = packs.store.events()
      try await packs.refresh()
      for await event in events {
        if case .installed(let pack, _) = event, pack.version == 2 {
          path = pack.path
          break
        }
      }
      try await packs.ensure("core")
      #expect(try text(packs) == "core 2 0")
    }
    stage.end("one")
    let place = try #require(path)
    let handle = try #require(FileHandle(forWritingAtPath: place))
    try handle.seek(toOffset: 40)
    try handle.write(contentsOf: Data(repeating: 0x55, count: 32))
    try handle.close()
    let packs = try await library(network, session: "two")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
  }

  @Test("a running download that is cancelled ends, and begins again if its pack is needed")
  func cancelledLate() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let network = try place.network([core]) { $0.attempt == 0 ? .stuck(at: 1, isKnown: true) : nil }
    let packs = try await library(network)
    let waiting = Task { await code { try await packs.ensure("core") } }
    try await eventually("the download does not start") { !network.running.isEmpty }
    try await packs.cancel("core")
    #expect(await waiting.value == .cancelled)
    try await eventually("the download does not end") { network.running.isEmpty }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
  }

  @Test("a download that is cancelled while another pack is installed does not start")
  func cancelledEarly() async throws {
    let (first, second) = (try await stage.offer("first", 1, delivery: .onDemand), try await stage.offer("second", 1, delivery: .onDemand))
    try publish(1, [first, second])
    let network = try place.network([first, second])
    let packs = try await library(network)
    keys.isHeld.withLock { $0 = true }
    let installing = Task { try await packs.ensure("first") }
    for await status in packs.status(of: "first") { if case .installing = status { break } }
    let waiting = Task { await code { try await packs.ensure("second") } }
    for await status in packs.status(of: "second") { if case .waiting = status { break } }
    let cancelling = Task { try await packs.cancel("second") }
    #expect(await waiting.value == .cancelled)
    keys.isHeld.withLock { $0 = false }
    try await installing.value
    try await cancelling.value
    try await packs.refresh()
    #expect(try await packs.store.installed().map(\.id) == ["first"])
    #expect(network.calls.filter { $0.request.url == second.entry.url }.isEmpty)
    try await packs.ensure("second")
    #expect(try text(packs, "second") == "second 1 0")
  }

  @Test("an app whose bundled manifest has expired starts, and gets a newer one; after an app update the newer bundle counts")
  func bundledExpired() async throws {
    let core = try await stage.offer("core", 1)
    try stage.directory.write(try stage.manifest(1, [core], expires: 1000).bytes, to: "bundle/manifest.json")
    try FileManager.default.copyItem(atPath: core.path, toPath: stage.directory("bundle/\(core.entry.fileName)"))
    let bundle = URL(fileURLWithPath: stage.directory("bundle"))
    do {
      let packs = try await library(try place.network([])) { $0.bundled = bundle }
      #expect(await code { try await packs.ensure("core") } == .offline)
      try publish(2, [core])
      try await packs.ensure("core")
      #expect(try text(packs) == "core 1 0")
    }
    stage.end("one")
    published.withLock { $0 = nil }
    let next = try await stage.offer("core", 2)
    try stage.directory.write(try stage.manifest(3, [next]).bytes, to: "bundle/manifest.json")
    try FileManager.default.copyItem(atPath: next.path, toPath: stage.directory("bundle/\(next.entry.fileName)"))
    let packs = try await library(try place.network([]) { _ in .failure(.offline) }, session: "two") { $0.bundled = bundle }
    for await status in packs.status(of: "core") {
      if try await packs.store.installed().contains(where: { $0.version == 2 }) { break }
      if case .failed(let error) = status { throw error }
    }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 2 0")
  }

  @Test("a plan that fails is tried again while somebody waits, and an error that stays ends the wait")
  func failedPlan() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let failure = Monitor<PackError?>(PackError(.stateBusy, "the extension has the state"))
    let packs = try await library(try place.network([core]), failing: failure)
    let request = Task { try await packs.ensure("core") }
    for await status in packs.status(of: "core") { if case .waiting = status { break } }
    try await Task.sleep(for: .milliseconds(200))
    failure.withLock { $0 = nil }
    try await request.value
    #expect(try text(packs) == "core 1 0")

    try await packs.remove("core")
    failure.withLock { $0 = PackError(.cannotWrite, "the disk is full") }
    #expect(await code { try await packs.ensure("core") } == .cannotWrite)
  }

  @Test("a rejected only version is an error, and so is a pack that is not offered")
  func noVersion() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let packs = try await library(try place.network([core])) { $0.confirmsVersions = false }
    try await packs.ensure("core")
    #expect(try await packs.reject("core", reason: "black screen") == nil)
    #expect(await code { _ = try packs.data("core", "index.html") } == .notInstalled)
    #expect(await code { try await packs.ensure("core") } == .versionFailed)
    #expect(await code { try await packs.ensure("nothing") } == .unknownPack)
    #expect(await code { _ = try packs.data("core", "index.html") } == .notInstalled)
  }

  @Test("a removed pack stays removed, also after a restart, until it is requested again")
  func remove() async throws {
    let core = try await stage.offer("core", 1, delivery: .prefetch)
    try publish(1, [core])
    let network = try place.network([core])
    do {
      let packs = try await library(network)
      try await packs.ensure("core")
      try await packs.remove("core")
      try await packs.refresh()
      #expect(try await packs.store.installed().isEmpty)
    }
    let before = network.calls.count
    let packs = try await library(network, session: "two")
    try await packs.refresh()
    #expect(try await packs.store.installed().isEmpty)
    #expect(network.calls.count == before)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
  }

  @Test("a release inside the app is used first, and never downloaded")
  func bundled() async throws {
    let core = try await stage.offer("core", 1)
    let release = stage.directory("bundle")
    try FileManager.default.createDirectory(atPath: release, withIntermediateDirectories: true)
    try stage.directory.write(try stage.manifest(1, [core]).bytes, to: "bundle/manifest.json")
    try FileManager.default.copyItem(atPath: core.path, toPath: "\(release)/\(core.entry.fileName)")
    let network = try place.network([]) { _ in .failure(.offline) }
    let packs = try await library(network) { $0.bundled = URL(fileURLWithPath: release) }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(FileManager.default.fileExists(atPath: "\(release)/\(core.entry.fileName)"))
  }

  @Test(
    "packs that the manifest requires are copied from the app instead of downloaded; a newer version is downloaded",
    arguments: [DeliveryClass.essential, .prefetch])
  func bundledRequired(delivery: DeliveryClass) async throws {
    let (core, next) = (try await stage.offer("core", 1, delivery: delivery), try await stage.offer("core", 2, delivery: delivery))
    let release = stage.directory("bundle")
    try FileManager.default.createDirectory(atPath: release, withIntermediateDirectories: true)
    try stage.directory.write(try stage.manifest(1, [core]).bytes, to: "bundle/manifest.json")
    try FileManager.default.copyItem(atPath: core.path, toPath: "\(release)/\(core.entry.fileName)")
    try publish(1, [core])
    let network = try place.network([core, next])
    let packs = try await library(network) { $0.bundled = URL(fileURLWithPath: release) }
    for await status in packs.status(of: "core") {
      if case .ready(version: 1) = status { break }
    }
    #expect(network.calls.isEmpty)

    try publish(2, [next])
    try await packs.refresh()
    for await status in packs.status(of: "core") {
      if try await packs.store.installed().contains(where: { $0.version == 2 }) { break }
      if case .failed(let error) = status { throw error }
    }
    #expect(!network.calls.isEmpty)
  }

  @Test("a damaged pack inside the app is downloaded")
  func bundledDamaged() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try stage.directory.write(try stage.manifest(1, [core]).bytes, to: "bundle/manifest.json")
    try stage.directory.write([1, 2, 3], to: "bundle/\(core.entry.fileName)")
    let network = try place.network([core])
    let packs = try await library(network) { $0.bundled = URL(fileURLWithPath: stage.directory("bundle")) }
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(!network.calls.isEmpty)
  }

  @available(macOS 14, *)
  @Test("the mirror for views keeps the last error until it was shown; cancelling is not an error")
  func mirror() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let packs = await ObservedLibrary(try library(try place.network([core]) { _ in .slow(.seconds(1000)) }))
    await packs.ensure("nothing")
    #expect(await packs.problem?.code == .unknownPack)
    #expect(await packs.hasProblem)
    await MainActor.run { packs.hasProblem = false }
    #expect(await packs.problem == nil)

    let request = Task { await packs.ensure("core") }
    for await status in packs.library.status(of: "core") {
      if case .waiting = status { break }
      if case .downloading = status { break }
    }
    await packs.cancel("core")
    await request.value
    #expect(await !packs.hasProblem)
    #expect(await packs.offers.map(\.id) == ["core"])
  }

  @Test("pages: a pack is found by its name with two pages, is listed once it was requested, and works without a network later")
  func pages() async throws {
    let offers = try await catalogue()
    let pages = try publishInPages(1, offers)
    let network = try place.network(offers, pages: pages)
    do {
      let packs = try await library(network)
      #expect(await code { try await packs.ensure("cc") } == .unknownPack)
      try await packs.ensure("core")
      #expect(await packs.offers().map(\.id) == ["core"])
      try await packs.ensure("c")
      #expect(try text(packs, "c") == "c 1 0")
      #expect(await packs.offers().map(\.id) == ["core", "c"])
      // 'cc' and 'c' are in the same page.
      #expect(network.calls.count(where: Self.isPage) == 2)
      try await packs.ensure("d")
      #expect(network.calls.count(where: Self.isPage) == 2)
    }
    let offline = try place.network([]) { _ in .failure(.offline) }
    published.withLock { $0 = nil }
    let packs = try await library(offline, session: "two")
    try await packs.ensure("c")
    #expect(try text(packs, "c") == "c 1 0")
    try await eventually("the list is not complete") { await packs.offers().map(\.id) == ["core", "c", "d"] }
  }

  @Test("pages: one that is cut, wrong or missing at first is fetched again, and other packs do not wait for it")
  func pageFaults() async throws {
    let offers = try await catalogue()
    let pages = try publishInPages(1, offers)
    let network = try place.network(offers, pages: pages) { call in
      guard Self.isPage(call) else { return nil }
      switch call.attempt {
      case 0: return .failure(.status(404, retryAfter: nil))
      case 1: return .wrong(from: 5)
      case 2: return .cut(at: 20, .unreachable)
      default: return nil
      }
    }
    let packs = try await library(network)
    let request = Task { try await packs.ensure("e") }
    try await packs.ensure("core")
    try await request.value
    #expect(try text(packs, "e") == "e 1 0")
  }

  @Test("pages: without a network, a pack whose page is missing waits for the network, and arrives when it is back")
  func pageOffline() async throws {
    let offers = try await catalogue()
    let pages = try publishInPages(1, offers)
    let isOffline = Monitor(true)
    let packs = try await library(try place.network(offers, pages: pages) { _ in isOffline.withLock { $0 } ? .failure(.offline) : nil })
    let request = Task { try await packs.ensure("a") }
    for await status in packs.status(of: "a") { if case .waiting(.network) = status { break } }
    isOffline.update { $0 = false }
    try await request.value
    #expect(try text(packs, "a") == "a 1 0")
  }

  @Test("pages: an update of an installed pack is used by the next call, and costs only the pages that changed")
  func pageUpdate() async throws {
    let (first, second) = (try await catalogue(), try await catalogue(changing: "a"))
    let old = try publishInPages(1, first)
    let new = try publishInPages(2, second)
    try publishInPages(1, first)
    let network = try place.network(first + second, pages: old.merging(new) { bytes, _ in bytes })
    let packs = try await library(network)
    try await packs.ensure("a")
    try await packs.ensure("f")
    // Of three pages below two index pages, two.
    #expect(network.calls.count(where: Self.isPage) == 4)
    try publishInPages(2, second)
    let events = packs.store.events()
    try await packs.refresh()
    for await event in events { if case .installed(let pack, _) = event, pack.version == 2 { break } }
    #expect(try text(packs, "a") == "a 1 0")
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 2 0")
    #expect(network.calls.count(where: Self.isPage) == 6)
    // Pages that no manifest names any more are freed: two index pages and two pages are left.
    try await eventually("old pages stay") { stage.directory.names(in: "shared/pages").count == 4 }
  }

  @Test("pages: a pack that was removed stays removed, and comes back without a page")
  func pageRemoved() async throws {
    let offers = try await catalogue()
    let network = try place.network(offers, pages: try publishInPages(1, offers))
    let packs = try await library(network)
    try await packs.ensure("b")
    try await packs.remove("b")
    try await packs.refresh()
    #expect(await packs.offers().map(\.id) == ["core"])
    try await packs.ensure("b")
    #expect(try text(packs, "b") == "b 1 0")
    #expect(network.calls.count(where: Self.isPage) == 2)
  }

  @Test("pages: an app that contains a release needs no network for packs in pages")
  func pageBundled() async throws {
    let offers = try await catalogue()
    let (document, pages) = try stage.manifestInPages(1, offers)
    try stage.directory.write(document.bytes, to: "bundle/manifest.json")
    for (reference, bytes) in pages { try stage.directory.write(bytes, to: "bundle/\(reference.fileName)") }
    for offer in offers {
      try stage.directory.write(try #require(stage.directory.bytes(of: "\(offer.entry.id)-1-0.pack")), to: "bundle/\(offer.entry.fileName)")
    }
    let network = try place.network([]) { _ in .failure(.offline) }
    let packs = try await library(network) { [stage] in $0.bundled = URL(fileURLWithPath: stage.directory("bundle")) }
    try await packs.ensure("d")
    #expect(try text(packs, "d") == "d 1 0")
    #expect(network.calls.isEmpty)
  }

  @Test("a cancelled request ends at once, and its download goes on")
  func cancelled() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    let packs = try await library(try place.network([core]) { _ in .slow(.seconds(1000)) })
    let request = Task { try await packs.ensure("core") }
    for await status in packs.status(of: "core") {
      if case .waiting = status { break }
      if case .downloading = status { break }
    }
    request.cancel()
    #expect(await code { try await request.value } == .cancelled)
  }
}

/// Keys that can be missing for a while, or come late.
private final class SwitchedKeys: KeyProvider {
  let failure = Monitor<PackError?>(nil)
  let isHeld = Monitor(false)

  func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    while isHeld.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(2)) }
    if let failure = failure.withLock({ $0 }) { throw failure }
    return try knownKey()
  }
}

/// A download service whose events are followed by others, and that may refuse plans.
private struct ChangedService: DownloadService {
  let service: QueueService
  let late: AsyncStream<ServiceNotice>?
  let failure: Monitor<PackError?>?

  func events() -> AsyncStream<ServiceNotice> {
    guard let late else { return service.events() }
    let events = service.events()
    return AsyncStream { continuation in
      let tasks = [events, late].map { stream in Task { for await notice in stream { continuation.yield(notice) } } }
      continuation.onTermination = { _ in for task in tasks { task.cancel() } }
    }
  }

  func run() async { await service.run() }
  func underWay() async -> Set<String>? { await service.underWay() }
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    if let failure = failure?.withLock({ $0 }) { throw failure }
    try await service.hand(plan, asked: asked)
  }
  func cancel(_ id: String) async throws(PackError) { try await service.cancel(id) }
}
