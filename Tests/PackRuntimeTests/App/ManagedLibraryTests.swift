@_spi(Fake) import AppleValues
import Foundation
import TestSupport
import Testing

@testable import PackApp

/// An app whose packs are in asset packs that the system manages. It makes the same calls as with packs of its own.
@Suite("Managed asset packs through the same object", .bounded)
struct ManagedLibraryTests {
  private let stage: StoreStage
  private let system: FakeAssetPacks
  private var model: AssetPackModel { system.model }

  init() throws {
    stage = try StoreStage()
    system = try FakeAssetPacks(stage)
  }

  private func library(_ change: (inout PackLibrary.Options) -> Void = { _ in }) async throws -> PackLibrary {
    var options = PackLibrary.Options()
    change(&options)
    return try await PackLibrary(
      system, keys: KeyRing(try knownKey()), exports: FileExports(stage.directory("exports")), options,
      sleep: { _ in try? await Task.sleep(for: .milliseconds(5)) })
  }

  private func offer(_ id: String, _ version: UInt64 = 1, size: Int = 5000) async throws -> StoreStage.Offer {
    let offer = try await stage.offer(id, version, size: size)
    system.publish(offer)
    return offer
  }

  private func code(_ body: () async throws -> Void) async -> PackError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? PackError)?.code
    }
  }

  private func text(_ packs: PackLibrary, _ id: String = "core") throws -> String {
    String(decoding: try packs.data(id, "index.html"), as: UTF8.self)
  }

  private func status(_ packs: PackLibrary, _ id: String = "core") async -> String { "\(await packs.back.status(of: id))" }

  /// Makes a pack usable while the system downloads it.
  private func ensure(_ id: String = "core", in packs: PackLibrary) async throws {
    let request = Task { try await packs.ensure(id) }
    // An earlier download may still be there, and is unwanted until the request began.
    try await eventually("the request does not begin") { await !status(packs, id).hasPrefix("failed") }
    try await system.deliver(id)
    try await request.value
  }

  @Test("a pack is downloaded with numbers, opened in place and readable as data, stream and file; its task may end earlier")
  func install() async throws {
    let core = try await offer("core", size: 200_000)
    let packs = try await library()
    #expect(await code { try await packs.ensure("nothing") } == .unknownPack)
    #expect(await code { _ = try packs.data("core", "index.html") } == .notInstalled)
    #expect(model.requests == [])
    let first = Task { try await packs.ensure("core") }
    try await eventually("nothing is downloaded") { model.isDownloading("core") }
    #expect(await status(packs) == "waiting(PackApp.PackLibrary.WaitReason.turn)")
    first.cancel()
    #expect(await code { try await first.value } == .cancelled)
    let second = Task { try await packs.ensure("core") }
    let progress = packs.progress(of: "core")
    model.begin("core")
    model.advance("core", to: 0.5)
    let size = core.entry.size
    try await eventually("there is no progress") { await status(packs) == "downloading(received: \(size / 2), of: \(size))" }
    try await eventually("Foundation's progress is not half") { (490..<500).contains(progress.completedUnitCount) }
    model.pause("core")
    try await eventually("it is not paused") { await status(packs).hasPrefix("waiting") }
    model.finish("core")
    try await second.value
    try await eventually("the progress does not end") { progress.isFinished }
    #expect(model.requests == ["core"])
    #expect(await status(packs) == "ready(version: 1, update: nil)")
    #expect(try text(packs) == "core 1 0")
    let content = try #require(core.tree.files["js/data.bin"]?.bytes)
    #expect(try packs.data("core", "js/data.bin", range: 10..<20) == Data(content[10..<20]))
    var streamed = Data()
    for try await piece in try packs.stream("core", "js/data.bin", pieceSize: 70_000) { streamed += piece }
    #expect(streamed == Data(content))
    #expect(try Data(contentsOf: try await packs.file("core", "js/data.bin")) == Data(content))
    // In place: the only copy of the pack is the system's.
    #expect(try packs.opened("core").installed.path == "\(system.directory)/core.pack")
    try await packs.ensure("core")
    #expect(model.requests == ["core"])
  }

  @Test("an asset pack with another pack, with none, or without a key is refused")
  func refused() async throws {
    let core = try await stage.offer("core")
    system.publish(core, as: "extra")
    model.publish(.init(id: "empty", version: 1, downloadSize: 1))
    system.publish(core)
    let packs = try await library()
    for (id, expected) in [("extra", PackError.Code.wrongPack), ("empty", .missingInput)] {
      let request = Task { try await packs.ensure(id) }
      try await system.deliver(id)
      #expect(await code { try await request.value } == expected)
      #expect(await code { _ = try packs.opened(id) } == .notInstalled)
    }
    let other = try await PackLibrary(
      system, keys: NoKeys(), exports: FileExports(stage.directory("exports")), PackLibrary.Options())
    let request = Task { try await other.ensure("core") }
    try await system.deliver("core")
    #expect(await code { try await request.value } == .noKey)
  }

  @Test("a cancelled download ends, and can be wanted again")
  func cancelling() async throws {
    _ = try await offer("core")
    let packs = try await library()
    let request = Task { try await packs.ensure("core") }
    try await eventually("nothing is downloaded") { model.isDownloading("core") }
    model.advance("core", to: 0.25)
    try await eventually("there is no progress") { await status(packs).hasPrefix("downloading") }
    try await packs.cancel("core")
    #expect(await code { try await request.value } == .cancelled)
    try await eventually("the system goes on") { !model.isDownloading("core") }
    #expect(await status(packs).contains("cancelled"))
    // One that the system begins by itself is not wanted, either. It can be cancelled as soon as it has a progress.
    model.prefetch("core")
    model.advance("core", to: 0.1)
    try await eventually("the system goes on") { !model.isDownloading("core") }
    try await ensure(in: packs)
    #expect(try text(packs) == "core 1 0")
  }

  @Test("before iOS 26.4 a second cancellation has no effect in the system: what arrives is removed, unless it is wanted again")
  func secondCancellation() async throws {
    _ = try await offer("core")
    model.setForgetful(true)
    let packs = try await library()
    for round in 1...3 {
      let request = Task { try await packs.ensure("core") }
      try await eventually("nothing is downloaded") { model.isDownloading("core") }
      model.advance("core", to: 0.5)
      try await eventually("there is no progress") { await status(packs).hasPrefix("downloading") }
      try await packs.cancel("core")
      #expect(await code { try await request.value } == .cancelled)
      guard round > 1 else {
        try await eventually("the system goes on") { !model.isDownloading("core") }
        continue
      }
      #expect(model.isDownloading("core"))
      if round == 2 {
        model.finish("core")
        try await eventually("it stays on the device") { model.localVersion("core") == nil }
        #expect(await status(packs).contains("cancelled"))
      }
    }
    // The third one is still on its way, and is not requested once more.
    let count = model.requests.count
    try await ensure(in: packs)
    #expect(model.requests.count == count)
    #expect(try text(packs) == "core 1 0")
  }

  @Test("an update is shown with its bytes, and is used by the next call; what was opened before stays readable")
  func update() async throws {
    _ = try await offer("core")
    let packs = try await library()
    try await ensure(in: packs)
    let old = try packs.opened("core")
    #expect(try await !packs.refresh())
    let new = try await offer("core", 2)
    #expect(try await packs.refresh())
    #expect(
      await status(packs) == "ready(version: 0, update: Optional(PackApp.PackLibrary.Update.waiting(PackApp.PackLibrary.WaitReason.turn)))")
    model.advance("core", to: 0.5)
    let half = "downloading(received: \(new.entry.size / 2), of: \(new.entry.size))"
    try await eventually("the update has no progress") { await status(packs).contains(half) }
    // Cancelling it leaves what is here.
    try await packs.cancel("core")
    try await eventually("the update goes on") { !model.isDownloading("core") }
    #expect(model.localVersion("core") == 1)
    #expect(try await packs.refresh())
    model.finish("core")
    try await eventually("the update does not arrive") { await status(packs).contains("installed(version: 2)") }
    #expect(try text(packs) == "core 1 0")
    try await packs.ensure("core")
    #expect(try text(packs) == "core 2 0")
    #expect(await status(packs) == "ready(version: 2, update: nil)")
    #expect(try old.read("index.html") == Array("core 1 0".utf8))
  }

  @Test("what the system removed is absent and comes again when it is wanted; what the server lost goes with the next refresh")
  func removed() async throws {
    for id in ["core", "gone"] { _ = try await offer(id) }
    let packs = try await library()
    for id in ["core", "gone"] { try await ensure(id, in: packs) }
    model.lose("core")
    #expect(await status(packs) == "absent")
    #expect(try text(packs) == "core 1 0")
    try await ensure(in: packs)
    #expect(model.requests == ["core", "gone", "core"])
    try await packs.remove("core")
    #expect(model.localVersion("core") == nil)
    #expect(await status(packs) == "absent")
    #expect(await code { _ = try packs.opened("core") } == .notInstalled)
    model.withdraw("gone")
    #expect(try await packs.refresh())
    #expect(await packs.offers().packs.map(\.id) == ["core"])
    #expect(await code { _ = try packs.opened("gone") } == .notInstalled)
    #expect(await code { try await packs.ensure("gone") } == .unknownPack)
    // The system asks the server by itself, too.
    _ = try await offer("new")
    _ = try model.checkForUpdates()
    try await ensure("new", in: packs)
  }

  @Test("without a network a request waits and says so; without a list there are no offers until the network comes")
  func offline() async throws {
    _ = try await offer("core")
    model.setOnline(false)
    let packs = try await library()
    #expect(await !packs.offers().isComplete)
    #expect(await code { try await packs.ensure("core") } == .offline)
    #expect(await code { try await packs.refresh() } == .offline)
    let lists = packs.lists()
    var list = lists.makeAsyncIterator()
    #expect(await list.next()?.isEmpty == true)
    model.setOnline(true)
    while let list = await list.next(), list.map(\.id) != ["core"] {}
    model.setOnline(false)
    let request = Task { try await packs.ensure("core") }
    try await eventually("it does not wait for the network") { await status(packs) == "waiting(PackApp.PackLibrary.WaitReason.network)" }
    model.setOnline(true)
    try await eventually("it is not tried again") { model.isDownloading("core") }
    model.fail("core", .offline)
    try await system.deliver("core")
    try await request.value
    // What is here needs no network.
    model.setOnline(false)
    try await packs.ensure("core")
    #expect(try text(packs) == "core 1 0")
  }

  @Test("several packs come together: an unknown one is refused first, and one without room ends the request but not the others")
  func several() async throws {
    for id in ["a", "b", "c"] { _ = try await offer(id) }
    let packs = try await library()
    #expect(await code { try await packs.ensure(["a", "nothing"]) } == .unknownPack)
    #expect(model.requests == [])
    let notices = packs.lowSpace()
    let request = Task { try await packs.ensure(["a", "b", "c"]) }
    try await eventually("not all are downloaded") { ["a", "b", "c"].allSatisfy(model.isDownloading) }
    model.fail("b", .noSpace)
    model.finish("a")
    model.finish("c")
    #expect(await code { try await request.value } == .noSpace)
    for await notice in notices {
      #expect(notice.packs == ["b"] && notice.missing > 0)
      break
    }
    #expect(await status(packs, "a") == "ready(version: 1, update: nil)")
    #expect(await status(packs, "b").hasPrefix("failed"))
    try await ensure("b", in: packs)
    try await packs.ensure(["a", "b", "c"])
    #expect(try text(packs, "c") == "c 1 0")
  }

  @Test("of several packs, one that fails ends the request while another is still on its way, and one that failed for now is tried again")
  func severalWithSlow() async throws {
    for id in ["slow", "bad", "later"] { _ = try await offer(id) }
    let packs = try await library()
    let request = Task { try await packs.ensure(["slow", "later"]) }
    try await eventually("not all are downloaded") { ["slow", "later"].allSatisfy(model.isDownloading) }
    model.fail("later", .offline)
    try await system.deliver("later")
    try await eventually("it does not come") { await status(packs, "later") == "ready(version: 1, update: nil)" }
    let other = Task { try await packs.ensure(["slow", "bad"]) }
    try await eventually("it is not downloaded") { model.isDownloading("bad") }
    model.fail("bad", .noSpace)
    #expect(await code { try await other.value } == .noSpace)
    #expect(model.isDownloading("slow"))
    model.finish("slow")
    try await request.value
  }

  @Test("a pack that nobody waits for any more is absent, and those who listen to it hear so")
  func left() async throws {
    _ = try await offer("core")
    let packs = try await library()
    _ = await packs.offers()
    model.setOnline(false)
    let request = Task { try await packs.ensure("core") }
    var last = ""
    let statuses = packs.status(of: "core")
    for await status in statuses {
      last = "\(status)"
      if last.hasPrefix("waiting(PackApp.PackLibrary.WaitReason.network)") { break }
    }
    request.cancel()
    #expect(await code { try await request.value } == .cancelled)
    for await status in statuses {
      last = "\(status)"
      if last == "absent" { break }
    }
    #expect(last == "absent")
  }

  @Test("asset packs have no directories")
  func noDirectory() async throws {
    _ = try await offer("core")
    let packs = try await library()
    #expect(await code { _ = try packs.directory("core") } == .notInstalled)
    try await ensure(in: packs)
    do throws(PackError) {
      _ = try packs.directory("core")
      Issue.record("it has one")
    } catch {
      #expect(error.code == .usage && error.advice == .developer("read its files with 'data', 'stream' or 'file' of the library"))
    }
  }

  @Test("the list has every asset pack of the user's language, with names of the app's own manifest, and what the system does by itself")
  func offers() async throws {
    let core = try await offer("core")
    for (id, language) in [("voices-de", "de"), ("voices-en", "en")] { system.publish(try await stage.offer(id), language: language) }
    var named = core
    (named.entry.name, named.entry.description) = ("The core", "Everything")
    try FileManager.default.createDirectory(atPath: stage.directory("release"), withIntermediateDirectories: true)
    try stage.directory.write(stage.manifest(1, [named]).bytes, to: "release/manifest.json")
    let release = URL(fileURLWithPath: stage.directory("release"))
    let packs = try await library { $0.bundled = release }
    let offers = await packs.offers()
    #expect(offers.isComplete)
    #expect(offers.packs.map(\.id) == ["core", "voices-en"])
    #expect(offers.packs[0].name == "The core" && offers.packs[0].description == "Everything")
    #expect(offers.packs[0].downloadSize == core.entry.size && offers.packs[0].installSize == core.entry.size)
    #expect(offers.packs[1].name == "voices-en")
    try await packs.setLanguages(["de"])
    #expect(await packs.offers().packs.map(\.id) == ["core", "voices-de"])
    // Another language is not offered, but can be had.
    try await ensure("voices-en", in: packs)
    let lists = packs.lists()
    model.prefetch("core")
    model.advance("core", to: 0.5)
    for await list in lists { if case .downloading = list.first?.status { break } }
    model.finish("core")
    for await list in lists { if case .ready(1, update: nil) = list.first?.status { break } }
    try await packs.ensure("core")
  }

  @Test("there are no tags, trials and earlier versions")
  func noStore() async throws {
    _ = try await offer("core")
    let packs = try await library()
    try await ensure(in: packs)
    #expect(await code { _ = try await packs.tags() } == .unsupported)
    #expect(await code { try await packs.reject("core", reason: "black screen") } == .unsupported)
    try await packs.confirm("core")
  }

  @Test("however many packs are open, few files are", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
  func descriptors() async throws {
    let packs = try await library { $0.store.openFiles = 3 }
    for number in 1...8 {
      _ = try await offer("pack-\(number)")
      _ = try await packs.refresh()
      try await ensure("pack-\(number)", in: packs)
    }
    for number in 1...8 { #expect(try text(packs, "pack-\(number)") == "pack-\(number) 1 0") }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix(system.directory) ?? false
    }
    #expect(open.count <= 3)
  }

  /// Calls of an app, and events of the system, in any order. Every request ends, and in the end every pack can be had in its newest version.
  @Test("any order of calls and events leaves each pack as the system says")
  func walk() async throws {
    var random = SeededGenerator(seed: SeededGenerator.run &+ 49)
    let names = ["a", "b", "c"]
    var versions = ["a": 1, "b": 1, "c": 1] as [String: UInt64]
    for id in names { _ = try await offer(id) }
    let packs = try await library()
    _ = await packs.offers()
    var requests: [Task<PackError.Code?, Never>] = []
    for _ in 0..<Effort.number(quick: 2000, full: 100_000) {
      guard let id = names.randomElement(using: &random) else { return }
      switch Int.random(in: 0..<16, using: &random) {
      case 0, 1, 2: requests.append(Task { await code { try await packs.ensure(id) } })
      case 3: try await packs.cancel(id)
      case 4: try await packs.remove(id)
      case 5: _ = try? await packs.refresh()
      case 6 where versions[id, default: 0] < 4:
        versions[id, default: 0] += 1
        _ = try await offer(id, versions[id, default: 0])
      case 7: model.lose(id)
      case 8: model.setOnline(Bool.random(using: &random))
      case 9: model.setForgetful(Bool.random(using: &random))
      case 10: model.begin(id)
      case 11: model.advance(id, to: Double.random(in: 0...1, using: &random))
      case 12: model.fail(id, Bool.random(using: &random) ? .offline : .refused(204))
      case 13: model.prefetch(id)
      default: model.finish(id)
      }
      await Task.yield()
    }
    model.setOnline(true)
    // What was requested ends, one way or the other.
    let downloading = Task {
      while !Task.isCancelled {
        for id in names { model.finish(id) }
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    for request in requests {
      let code = await request.value
      // The last: the file went and came back while it was opened.
      let expected: [PackError.Code?] = [nil, .cancelled, .offline, FakeAssetPacks.systemRefused, .missingInput]
      #expect(expected.contains(code), "\(String(describing: code))")
    }
    _ = try await packs.refresh()
    for id in names {
      try await eventually("\(id) has no newest version") { [versions] in
        guard await code({ try await packs.ensure(id) }) == nil else { return false }
        return try text(packs, id) == "\(id) \(versions[id, default: 0]) 0"
      }
      try await eventually("\(id) is not up to date") { [versions] in
        await status(packs, id) == "ready(version: \(versions[id, default: 0]), update: nil)"
      }
    }
    downloading.cancel()
  }
}

private struct NoKeys: KeyProvider {
  func key(for request: KeyRequest) async throws(PackError) -> PackKey { throw PackError(.noKey, "there is no key") }
}
