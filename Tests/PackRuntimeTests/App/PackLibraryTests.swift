import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of an app that knows only `PackLibrary`. Its downloads run over a network with faults.
@Suite("An app's packs through one object", .bounded)
struct PackLibraryTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let keys = SwitchedKeys()
  /// The manifest on the server; nil if the server cannot be reached.
  private let published = Monitor<[UInt8]?>(nil)
  private let shards = ShardServer()
  /// Whether the server does not answer for now.
  private let isHeld = Monitor(false)

  init() throws {
    place = try DeliveryStage(waits: true)
  }

  private func publish(_ version: UInt64, _ offers: [StoreStage.Offer]) throws {
    let document = try stage.manifest(version, offers).bytes
    published.withLock { $0 = document }
  }

  /// Starts the app.
  private func library(
    _ transport: any Transport, session: String = "one", isPatient: Bool = false, late: AsyncStream<ServiceNotice>? = nil,
    failing: Monitor<PackError?>? = nil, device: DeviceProfile = .any, policy: StorePolicy = DeliveryStage.policy,
    _ change: (inout PackLibrary.Options) -> Void = { _ in }
  ) async throws -> PackLibrary {
    let app = try await place.app(transport, session: session, policy: policy, keys: keys)
    app.store.setDevice(device)
    var options = PackLibrary.Options()
    change(&options)
    return try await PackLibrary(
      app.delivery, service: ChangedService(service: app.service, late: late, failure: failing),
      exports: FileExports(stage.directory("exports")), options,
      sleep: { [clock = place.clock] seconds in
        // Longer than a download takes here, so that the clock does not run far ahead of it.
        // One that another plan takes the place of lets no time pass.
        guard (try? await Task.sleep(for: isPatient ? .seconds(1000) : .milliseconds(50))) != nil else { return }
        clock.advance(Int64(clamping: seconds))
      },
      source: { [published, shards, isHeld] (file) async throws(PackError) in
        switch file {
        case .manifest:
          shards.noteManifest()
          while isHeld.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(2)) }
          guard let document = published.withLock({ $0 }) else { throw PackError(.offline, "there is no network", advice: .connect) }
          return document
        case .shard(let address, let size): return try await shards.content(at: address, size: size)
        case .opener: throw PackError(.sealed, "no pack opens later", advice: .tryAgain)
        case .seen: return []
        }
      })
  }

  /// Publishes a release whose packs on demand are in a catalogue.
  ///
  /// - Parameter isServed: Whether the server has its shards.
  @discardableResult
  private func publishCatalogue(_ version: UInt64, _ offers: [StoreStage.Offer], isServed: Bool = true) throws -> CatalogueRelease {
    let release = try CatalogueRelease(version, offers, count: 4)
    if isServed { shards.serve(release) }
    published.withLock { $0 = release.document.bytes }
    return release
  }

  /// Four packs on demand, in the shards 2, 3, 0 and 1, and one that the manifest itself lists.
  private func catalogue(changing id: String? = nil) async throws -> [StoreStage.Offer] {
    var offers = [try await stage.offer("core", 1)]
    for name in ["a", "b", "d", "zoo"] { offers.append(try await stage.offer(name, name == id ? 2 : 1, delivery: .onDemand)) }
    return offers
  }

  /// The names of all packs in ``catalogue(changing:)``, as they are listed.
  private static let listed = ["core", "a", "b", "d", "zoo"]

  private func hasManifest(_ packs: PackLibrary) async throws {
    try await eventually("there is no manifest") { await packs.store.manifest != nil }
  }

  private func isRetrying(_ id: String, in packs: PackLibrary) async {
    for await status in packs.status(of: id) { if case .waiting(.retry) = status { return } }
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

  @Test("the app comes to the foreground while the manifest is fetched: it is fetched once")
  func foreground() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    isHeld.withLock { $0 = true }
    let packs = try await library(try place.network([core]))
    try await eventually("the manifest is not fetched") { shards.calls.count == 1 }
    await packs.resume()
    isHeld.withLock { $0 = false }
    try await hasManifest(packs)
    await packs.resume()
    #expect(shards.calls.count == 1)
  }

  @Test("a pack that is kept unpacked has a directory, with the files of the version that is open; an encrypted one has none")
  func directory() async throws {
    let core = try await stage.offer("core", 1, delivery: .onDemand)
    let model = try await stage.offer("model", 1, size: 200_000, delivery: .onDemand, install: .unpacked)
    try publish(1, [core, model])
    let packs = try await library(try place.network([core, model]))
    #expect(await code { _ = try packs.directory("model") } == .notInstalled)
    try await packs.ensure(["core", "model"])
    do throws(PackError) {
      _ = try packs.directory("core")
      Issue.record("it has one")
    } catch {
      #expect(error.code == .usage && error.advice == .developer("make the release with 'install: unpacked' for it"))
    }
    let directory = try packs.directory("model")
    #expect(directory.hasDirectoryPath)
    for (path, file) in model.tree.files { #expect(try Data(contentsOf: directory.appendingPathComponent(path)) == Data(file.bytes)) }
    let file = try await packs.file("model", "js/data.bin")
    #expect(file.path == directory.appendingPathComponent("js/data.bin").path)
    packs.close("model")
    #expect(await code { _ = try packs.directory("model") } == .notInstalled)
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
    #expect(await packs.offers().packs.map(\.id) == ["core", "voices-de"])
    #expect(await code { try await packs.ensure("voices-en") } == .unknownPack)
    #expect(await code { try await packs.ensure("desk") } == .unknownPack)
    try await packs.setLanguages(["en-US", "en"])
    await ready("voices-en")
    #expect(await packs.offers().packs.map(\.id) == ["core", "voices-en"])
    #expect(try await packs.store.installed().map(\.id) == ["core", "voices-en"])
    #expect(packs.store.device.platform == .iOS)
  }

  @Test("languages: a user of another one has the fallback, until one is chosen that is there, and no pack at all without a language")
  func fallbackLanguage() async throws {
    var offers: [StoreStage.Offer] = []
    for language in ["de", "en-US"] {
      offers.append(try await stage.offer("voices-\(language)", 1, size: 9000))
      offers[offers.count - 1].entry.language = language
      offers[offers.count - 1].entry.languages = ["de", "en-US"]
      offers[offers.count - 1].entry.fallbackLanguage = "en-US"
    }
    try publish(1, offers)
    let packs = try await library(try place.network(offers), device: DeviceProfile(platform: .iOS, languages: ["es", "it-IT"]))
    func ready(_ id: String) async { for await status in packs.status(of: id) { if case .ready = status { return } } }
    await ready("voices-en-US")
    #expect(await code { try await packs.ensure("voices-de") } == .unknownPack)
    #expect(await packs.offers().packs.map(\.id) == ["voices-en-US"])
    try await packs.setLanguages(["es", "de-CH"])
    await ready("voices-de")
    #expect(await packs.offers().packs.map(\.id) == ["voices-de"])
    #expect(try await packs.store.installed().map(\.id) == ["voices-de"])
    try await packs.setLanguages([])
    #expect(await packs.offers().packs.isEmpty)
    #expect(try await packs.store.installed().isEmpty)
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
    #expect(await packs.offers().packs.map(\.id) == ["core"])
    guard case .ready(version: 1, update: nil)? = await packs.offers().packs.first?.status else {
      Issue.record("the pack is not ready")
      return
    }
  }

  @Test("progress: it is finished only when the pack is ready, even if all its bytes have arrived")
  func progress() async throws {
    let core = try await stage.offer("core", 1, size: 50_000, delivery: .onDemand)
    try publish(1, [core])
    let (late, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let packs = try await library(try place.network([core]) { _ in .stuck(at: 1000) }, late: late)
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
      guard case .ready(version: 1, update: _)? = status else {
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
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
    #expect(network.calls.count >= 7)
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
    try await packs.refresh()
    // Not while it is still being installed, and so in use.
    for await status in packs.status(of: "core") { if case .ready(1, .installed(2)) = status { break } }
    let path = try await packs.store.installed("core").last?.path
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
    let network = try place.network([core]) { $0.attempt == 0 ? .stuck(at: 1) : nil }
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
      if case .ready(version: 1, update: _) = status { break }
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

  @Test("of packs inside the app that do not fit together, each is installed once, and the plan ends")
  func bundledTooLarge() async throws {
    let offers = [try await stage.offer("one", 1, size: 200_000), try await stage.offer("two", 1, size: 200_000)]
    try stage.directory.write(try stage.manifest(1, offers).bytes, to: "bundle/manifest.json")
    for offer in offers { try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("bundle/\(offer.entry.fileName)")) }
    try publish(1, offers)
    var policy = DeliveryStage.policy
    policy.quota = offers[0].entry.size * 3 / 2
    let network = try place.network([]) { _ in .failure(.offline) }
    let packs = try await library(network, policy: policy) { [stage] in $0.bundled = URL(fileURLWithPath: stage.directory("bundle")) }
    try await packs.refresh()
    #expect(try await packs.store.installed().count == 1)
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
  @Test("the mirror follows packs while it exists, and does not keep a library afterwards")
  func mirrorEnds() async throws {
    let shown = await ObservedLibrary(PreviewPacks([.init(id: "core", name: "Core", downloadSize: 1, installSize: 1)]))
    while await shown.offers.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    await shown.ensure("core")
    while case .absent? = await shown.offers.first?.status { try await Task.sleep(for: .milliseconds(1)) }

    let core = try await stage.offer("core", 1, delivery: .onDemand)
    try publish(1, [core])
    var packs: PackLibrary? = try await library(try place.network([core]))
    weak let released = packs
    var mirror: ObservedLibrary? = await ObservedLibrary(try #require(packs))
    packs = nil
    while await mirror?.offers.isEmpty == true { try await Task.sleep(for: .milliseconds(1)) }
    mirror = nil
    while released != nil { try await Task.sleep(for: .milliseconds(1)) }
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

  // MARK: The catalogue

  @Test("catalogue: a shard that the server does not have stops no other pack, and its own packs wait and are not unknown")
  func missingShard() async throws {
    let offers = try await catalogue()
    let release = try publishCatalogue(1, offers)
    let lost = release.address(0)
    shards.decide { address, _ in address == lost ? .missing : nil }
    let packs = try await library(try place.network(offers))
    // Both belong in that shard, and only one of them is there.
    let requests = ["d", "level"].map { id in Task { await code { try await packs.ensure(id) } } }
    for id in ["d", "level"] { await isRetrying(id, in: packs) }
    // They do not wait for a shard in which they are not.
    for id in ["core", "zoo", "a"] { try await packs.ensure(id) }
    shards.decide { _, _ in nil }
    #expect(await requests[0].value == nil)
    #expect(await requests[1].value == .unknownPack)
    #expect(try text(packs, "d") == "d 1 0")
  }

  @Test("catalogue: a shard that is missing, wrong or unreachable at first is fetched until its packs are there")
  func shardFaults() async throws {
    let offers = try await catalogue()
    let release = try publishCatalogue(1, offers)
    shards.decide { _, attempt in [ShardServer.Fault.missing, .wrong, .offline].dropFirst(attempt).first }
    let packs = try await library(try place.network(offers))
    let request = Task { try await packs.ensure("d") }
    try await packs.ensure("core")
    try await request.value
    #expect(try text(packs, "d") == "d 1 0")
    #expect(shards.fetched == [String](repeating: release.address(0), count: 4))
  }

  @Test("catalogue: after three failures the manifest comes first, so that a release that was replaced in between is left behind")
  func replacedRelease() async throws {
    let (offers, changed) = (try await catalogue(), try await catalogue(changing: "a"))
    let old = try publishCatalogue(1, offers, isServed: false)
    let packs = try await library(try place.network(offers + changed))
    try await hasManifest(packs)
    let new = try publishCatalogue(2, changed)
    shards.forgetCalls()
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 2 0")
    #expect(shards.calls == [old.address(2), old.address(2), old.address(2), nil, new.address(2)])
  }

  @Test("catalogue: a cancelled call ends at once while its shard cannot be fetched, and the next call succeeds", arguments: [true, false])
  func cancelledShard(isHeld: Bool) async throws {
    let offers = try await catalogue()
    try publishCatalogue(1, offers)
    shards.decide { _, _ in isHeld ? .held : .offline }
    let packs = try await library(try place.network(offers))
    let request = Task { await code { try await packs.ensure("a") } }
    for await status in packs.status(of: "a") { if case .waiting = status { break } }
    request.cancel()
    #expect(await request.value == .cancelled)
    #expect(await code { _ = try packs.opened("a") } == .notInstalled)
    shards.decide { _, _ in nil }
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 1 0")
  }

  @Test("catalogue: a signed shard that breaks a rule is an error for its packs only, until the next release")
  func damagedShard() async throws {
    let offers = try await catalogue()
    let whole = try CatalogueRelease(1, offers, count: 4)
    // It lists a pack that belongs in another one.
    let stray = try SmallCatalogue.File(CatalogueRelease.json(offers.filter { $0.entry.id == "a" }), count: 1)
    let broken = try CatalogueRelease(1, [offers[0].entry], [stray] + whole.files.dropFirst())
    shards.serve(broken)
    published.withLock { $0 = broken.document.bytes }
    let packs = try await library(try place.network(offers))
    #expect(await code { try await packs.ensure("d") } == .damagedManifest)
    for id in ["core", "zoo", "a"] { try await packs.ensure(id) }
    try await packs.refresh()
    let list = await packs.offers()
    #expect(!list.isComplete && !list.packs.map(\.id).contains("d"))
    try publishCatalogue(2, offers)
    try await packs.refresh()
    try await packs.ensure("d")
    #expect(try text(packs, "d") == "d 1 0")
    #expect(await packs.offers().isComplete)
  }

  @Test("catalogue: a pack is found by its name with one shard, and works without a network later")
  func found() async throws {
    let offers = try await catalogue()
    let release = try publishCatalogue(1, offers)
    do {
      let packs = try await library(try place.network(offers))
      // It belongs in the shard of 'a'.
      #expect(await code { try await packs.ensure("c") } == .unknownPack)
      try await packs.ensure("a")
      #expect(try text(packs, "a") == "a 1 0")
      #expect(shards.fetched == [release.address(2)])
    }
    published.withLock { $0 = nil }
    shards.decide { _, _ in .offline }
    let packs = try await library(try place.network([]) { _ in .failure(.offline) }, session: "two")
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 1 0")
    #expect(await code { try await packs.ensure("c") } == .unknownPack)
  }

  @Test("catalogue: an update of an installed pack is used by the next call, and costs only the shard that changed")
  func shardUpdate() async throws {
    let (first, second) = (try await catalogue(), try await catalogue(changing: "a"))
    let old = try publishCatalogue(1, first)
    let packs = try await library(try place.network(first + second))
    try await packs.ensure("a")
    try await packs.ensure("b")
    let new = try publishCatalogue(2, second)
    let events = packs.store.events()
    try await packs.refresh()
    for await event in events { if case .installed(let pack, _) = event, pack.version == 2 { break } }
    #expect(try text(packs, "a") == "a 1 0")
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 2 0")
    #expect(shards.fetched == [old.address(2), old.address(3), new.address(2)])
    #expect(stage.directory.names(in: "store/catalogue").sorted() == [new.name(2), new.name(3)])
  }

  @Test("catalogue: a pack that was removed stays removed, and comes back without another shard")
  func removedFromCatalogue() async throws {
    let offers = try await catalogue()
    try publishCatalogue(1, offers)
    let packs = try await library(try place.network(offers))
    try await packs.ensure("b")
    try await packs.remove("b")
    try await packs.refresh()
    #expect(try await !packs.store.installed().map(\.id).contains("b"))
    try await packs.ensure("b")
    #expect(try text(packs, "b") == "b 1 0")
    #expect(shards.fetched.count == 1)
  }

  @Test("catalogue: an app that contains a release needs no network for its packs on demand, and fetches a shard that is wrong in it")
  func bundledCatalogue() async throws {
    let offers = try await catalogue()
    let release = try publishCatalogue(1, offers)
    published.withLock { $0 = nil }
    try stage.directory.write(release.document.bytes, to: "bundle/manifest.json")
    for (number, file) in release.files.enumerated() {
      try stage.directory.write(number == 0 ? Array(file.bytes.reversed()) : file.bytes, to: "bundle/\(file.shard.fileName)")
    }
    for offer in offers {
      try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("bundle/\(offer.entry.fileName)"))
    }
    let network = try place.network([]) { _ in .failure(.offline) }
    let packs = try await library(network) { [stage] in $0.bundled = URL(fileURLWithPath: stage.directory("bundle")) }
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 1 0")
    #expect(shards.fetched == [])
    try await packs.ensure("d")
    #expect(try text(packs, "d") == "d 1 0")
    #expect(shards.fetched == [release.address(0)])
    #expect(network.calls.isEmpty)
  }

  @Test("offers: a list that is not complete says so, without a manifest, too, and refresh() completes it")
  func list() async throws {
    let offers = try await catalogue()
    shards.decide { _, _ in .offline }
    let packs = try await library(try place.network(offers))
    let none = await packs.offers()
    #expect(!none.isComplete && none.packs.isEmpty)
    try publishCatalogue(1, offers)
    #expect(await code { try await packs.refresh() } == .offline)
    let first = await packs.offers()
    #expect(!first.isComplete && first.packs.map(\.id) == ["core"])
    shards.decide { _, _ in nil }
    try await packs.refresh()
    let whole = await packs.offers()
    #expect(whole.isComplete && whole.packs.map(\.id) == Self.listed)
    #expect(whole.packs.map(\.downloadSize) == offers.map(\.entry.size))
  }

  @Test("offers: until a changed shard is here, its packs are listed as they were, and only what changed is fetched")
  func changedList() async throws {
    let (first, second) = (try await catalogue(), try await catalogue(changing: "a"))
    try publishCatalogue(1, first)
    let packs = try await library(try place.network(first + second))
    _ = await packs.offers()
    try await packs.refresh()
    #expect(await packs.offers().isComplete)
    // What the start of the app began has ended by then.
    try await Task.sleep(for: .milliseconds(300))
    let next = try publishCatalogue(2, second, isServed: false)
    shards.forgetCalls()
    #expect(await code { try await packs.refresh() } == .downloadFailed)
    let between = await packs.offers()
    #expect(!between.isComplete && between.packs.map(\.id) == Self.listed)
    try await packs.ensure("b")
    shards.serve(next)
    try await packs.refresh()
    let last = await packs.offers()
    #expect(last.isComplete && last.packs.map(\.id) == Self.listed)
    #expect(Set(shards.fetched) == [next.address(2)])
    try await packs.ensure("a")
    #expect(try text(packs, "a") == "a 2 0")
  }

  @available(macOS 14, *)
  @Test("the mirror for views lists the packs of the catalogue when they are known")
  func mirroredCatalogue() async throws {
    let offers = try await catalogue()
    try publishCatalogue(1, offers)
    shards.decide { _, attempt in attempt < 2 ? .missing : nil }
    let packs = await ObservedLibrary(try library(try place.network(offers)))
    try await eventually("the list is not complete") { await packs.offers.map(\.id) == Self.listed }
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

/// The shards on a server.
private final class ShardServer: Sendable {
  /// What is wrong with an attempt to fetch one.
  enum Fault: Sendable {
    case offline, missing, wrong
    /// The server does not answer for now.
    case held
  }

  private struct State {
    var files: [String: [UInt8]] = [:]
    var calls: [String?] = []
    var decide: @Sendable (_ address: String, _ attempt: Int) -> Fault? = { _, _ in nil }
  }

  private let state = Monitor(State())

  /// The addresses of the shards that were asked for, in order, and nil for each manifest.
  var calls: [String?] { state.withLock { $0.calls } }
  /// The addresses of the shards that were asked for, in order.
  var fetched: [String] { calls.compactMap(\.self) }

  func serve(_ release: CatalogueRelease) {
    state.withLock { $0.files.merge(release.served) { _, new in new } }
  }

  /// Decides what is wrong with each attempt, by its address and the number of earlier ones.
  func decide(_ body: @escaping @Sendable (_ address: String, _ attempt: Int) -> Fault?) {
    state.withLock { $0.decide = body }
  }

  func forgetCalls() {
    state.withLock { $0.calls = [] }
  }

  func noteManifest() {
    state.withLock { $0.calls.append(nil) }
  }

  func content(at address: String, size: Int) async throws(PackError) -> [UInt8] {
    let attempt = state.withLock { state in
      defer { state.calls.append(address) }
      return state.calls.count { $0 == address }
    }
    while true {
      let (fault, content) = state.withLock { ($0.decide(address, attempt), $0.files[address]) }
      switch fault {
      case .offline: throw PackError(.offline, "there is no network", advice: .connect)
      case .missing: throw Self.notFound
      case .wrong: return [UInt8](repeating: 7, count: size)
      case .held: try? await Task.sleep(for: .milliseconds(2))
      case nil:
        guard let content else { throw Self.notFound }
        return content
      }
    }
  }

  private static var notFound: PackError { PackError(.downloadFailed, "the server answered with status 404", advice: .tryAgain) }
}

/// A download service whose events are followed by others, and that may refuse plans.
private struct ChangedService: DownloadService {
  let service: TransferService
  let late: AsyncStream<ServiceNotice>?
  let failure: Monitor<PackError?>?

  var isListExact: Bool { service.isListExact }

  func events() -> AsyncStream<ServiceNotice> {
    guard let late else { return service.events() }
    let events = service.events()
    return AsyncStream { continuation in
      let tasks = [events, late].map { stream in Task { for await notice in stream { continuation.yield(notice) } } }
      continuation.onTermination = { _ in for task in tasks { task.cancel() } }
    }
  }

  func stop() async { await service.stop() }
  func underWay() async -> Set<String>? { await service.underWay() }
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    if let failure = failure?.withLock({ $0 }) { throw failure }
    try await service.hand(plan, asked: asked)
  }
  func setPriority(_ priority: Double, of identifier: String) async { await service.setPriority(priority, of: identifier) }
  func cancel(_ id: String) async throws(PackError) { try await service.cancel(id) }
  func availableSpace() async -> UInt64? { await service.availableSpace() }
  func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool {
    try await service.freeSpace(keeping: ids, launchesOf: required)
  }
}
