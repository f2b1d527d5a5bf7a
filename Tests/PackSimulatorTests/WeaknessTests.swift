import Foundation
import TestSupport
import Testing

/// Tests of common faults in sample apps with background downloads, one by one, with a real extension, app, store and packs.
@Suite("Common weaknesses of sample apps, from end to end", .bounded)
struct WeaknessTests {
  @Test("offline wipe: neither extension nor app removes a pack because the manifest is missing or invalid")
  func offlineWipe() async throws {
    let device = try await TestDevice()
    try await device.install(1)
    let before = try device.tree()
    let downloader = try device.downloader()
    #expect(try downloader.failed(.manifest, .offline) == .keepEverything)
    for document in [[UInt8](), Array("{}".utf8), Array("{\"packages\":[]}".utf8), Array(device.releases[2].document.dropLast(9))] {
      let path = try device.directory.write(document, to: "manifest")
      let answer = downloader.downloads(for: .periodic, manifestAt: path, allowance: nil)
      #expect(answer.refusal?.code == .damagedManifest && answer.downloads.isEmpty)
      #expect(answer.plan?.ready == ["core", "extra", "gone", "music"], "it plans with the last valid manifest")
      let app = try await device.app()
      await #expect(throws: PackError.self) { try await app.adopt(document) }
    }
    #expect(try device.tree().filter { $0.hasPrefix("group/packs/") } == before.filter { $0.hasPrefix("group/packs/") })
    let app = try await device.app()
    _ = try await app.start()
    #expect(try await app.plan(downloads: []).ready == ["core", "extra", "gone", "music"])
    #expect(try await device.content("core") == device.source("core", 1))
  }

  @Test("stale content: after an update, the app opens the new content, not the previously unpacked one")
  func staleContent() async throws {
    let device = try await TestDevice()
    try await device.install(1)
    #expect(try await device.content("core") == device.source("core", 1))
    try await device.install(2, for: .update)
    #expect(try await device.content("core") == device.source("core", 2))
    #expect(device.source("core", 1) != device.source("core", 2))
  }

  @Test("move onto an existing file: a file from an earlier attempt is replaced, and the new one is installed")
  func moveOntoExisting() async throws {
    let device = try await TestDevice()
    let download = try #require(try device.request(1, .install).downloads.first { $0.id == "core" })
    let name = "group/incoming/\(download.identifier)"
    try device.directory.write([1, 2, 3], to: name)
    _ = try device.finish(download)
    #expect(try device.state().content().files.contains { $0.identifier.id == "core" })
    // And once more, like a system that was not informed that the file was accepted.
    _ = try device.finish(download)
    #expect(UInt64(device.directory.bytes(of: name)?.count ?? 0) == download.bytes.size)
    try await device.launch()
    #expect(try await device.content("core") == device.source("core", 1))
  }

  @Test("an id in two lists: with a new version while the old file waits, a pack is in only one list of each plan of extension and app")
  func twoLists() async throws {
    let device = try await TestDevice()
    for download in try device.request(1, .install).downloads { _ = try device.finish(download) }
    let plan = try #require(try device.request(2, .update).plan)
    for id in ["core", "music"] { #expect(Self.lists(of: id, plan) == ["downloads"]) }
    let app = try await device.app()
    _ = try await app.start()
    let second = try await app.plan(downloads: Set(plan.downloads.map(\.identifier.description)))
    for pack in device.releases[2].manifest.packs { #expect(Self.lists(of: pack.id, second).count == 1, "\(pack.id)") }
    #expect(Self.lists(of: "core", second) == ["underWay"])
    #expect(second.orphans.count == 2, "the old files are listed")
    #expect(try await app.tidy(second).freed > 0)
  }

  private static func lists(of id: String, _ plan: DeliveryPlan) -> [String] {
    [
      ("downloads", plan.downloads.map(\.id)), ("underWay", plan.underWay), ("handOver", plan.handOver.map(\.id)),
      ("ready", plan.ready), ("postponed", plan.postponed.map(\.id)),
    ].flatMap { name, ids in ids.filter { $0 == id }.map { _ in name } }
  }

  @Test("orphans: a pack that is no longer in the manifest is removed, whether it is installed or waits as a file")
  func orphans() async throws {
    let device = try await TestDevice()
    try await device.install(1)
    #expect(try await device.app().store.current("gone") != nil)
    try await device.install(3, for: .update)
    let app = try await device.app()
    #expect(try await app.store.current("gone") == nil)
    #expect(try device.state().status(of: "gone") == nil)
    // A pack that was downloaded but never installed.
    let other = try await TestDevice()
    for download in try other.request(1, .install).downloads { _ = try other.finish(download) }
    _ = try other.request(3, .periodic)
    try await other.launch()
    #expect(try other.state().status(of: "gone") == nil)
    #expect(try other.state().content().files.isEmpty)
  }

  @Test("a purged cache: a pack that the system removed is not ready for the app, even if its record says so, and is downloaded again")
  func purgedCache() async throws {
    let device = try await TestDevice()
    try await device.install(1)
    let path = try #require(try await device.app().store.current("core")?.path)
    try FileManager.default.removeItem(atPath: path)
    #expect(try device.request(1, .periodic).plan?.ready.contains("core") == true, "the store's record is not updated")
    let app = try await device.app()
    _ = try await app.start()
    let plan = try await app.plan(downloads: [])
    #expect(plan.downloads.map(\.id) == ["core"] && !plan.ready.contains("core"))
    for download in plan.downloads { _ = try device.finish(download) }
    try await device.launch()
    #expect(try await device.content("core") == device.source("core", 1))
  }

  @Test("missing integrity checks: a file of the right size with one wrong bit is never installed, and is downloaded again")
  func integrity() async throws {
    let device = try await TestDevice()
    let downloads = try device.request(1, .install).downloads
    for download in downloads { _ = try device.finish(download, isDamaged: download.id == "core") }
    let app = try await device.app()
    _ = try await app.start()
    let plan = try await app.plan(downloads: [])
    let failed = try #require(try await app.install(plan).first { $0.id == "core" })
    #expect(failed.installed == nil && failed.failure != nil && failed.status?.state == .failed(.wrongBytes))
    #expect(try await app.store.current("core") == nil)
    device.clock.advance(milliseconds: 60_000)
    #expect(try await app.plan(downloads: []).downloads.map(\.id) == ["core"])
    _ = try device.finish(try #require(downloads.first { $0.id == "core" }))
    try await device.launch()
    #expect(try await device.content("core") == device.source("core", 1))
  }

  @Test("whole-blob rewrites: a callback about one pack writes the record of that pack, and progress writes nothing")
  func wholeBlob() async throws {
    let device = try await TestDevice()
    let downloads = try device.request(1, .install).downloads
    let before = try device.records()
    try device.downloader().note(.began, ofDownload: downloads[1].identifier.description)
    let after = try device.records()
    #expect(after.keys.filter { after[$0] != before[$0] } == [downloads[1].id])
    let files = CrashInjectingFiles()
    let state = try SharedState(directory: device.directory("group"), files: files, clock: device.clock)
    let start = files.count
    for _ in 0..<100 { try state.note(.began, ofDownload: downloads[1].identifier.description) }
    #expect(files.count - start <= 800, "the reads of a callback do not depend on the number of packs")
    #expect(try device.records() == after)
  }

  @Test("failed downloads skipped: the next plan hands over failed downloads again, and a failed essential one is handed over at once")
  func failedDownload() async throws {
    let device = try await TestDevice()
    let downloads = try device.request(1, .install).downloads
    let downloader = try device.downloader()
    let core = try #require(downloads.first { $0.id == "core" }).identifier.description
    let extra = try #require(downloads.first { $0.id == "extra" }).identifier.description
    #expect(try downloader.failed(.download(identifier: core), .other) == .handOverAsNonEssential)
    guard case .planAgain = try downloader.failed(.download(identifier: extra), .offline) else { return #expect(Bool(false)) }
    for download in downloads where download.id != "extra" { _ = try device.finish(download) }
    device.clock.advance(milliseconds: 60_000)
    let app = try await device.app()
    _ = try await app.start()
    let plan = try await app.plan(downloads: [])
    #expect(plan.downloads.map(\.id) == ["extra"])
    for download in plan.downloads { _ = try device.finish(download) }
    try await device.launch()
    #expect(try await device.content("extra") == device.source("extra", 1))
  }
}

/// A device with an app and its extension, on which the test acts as the system.
private struct TestDevice {
  let releases: Releases
  let directory: TemporaryDirectory
  let clock: VirtualClock

  init() async throws {
    releases = try await Releases.made()
    directory = try TemporaryDirectory()
    clock = VirtualClock(start: 1_795_000_000)
    try directory.makeDirectory("app")
  }

  func state() throws(PackError) -> SharedState {
    try SharedState(directory: directory("group"), store: directory("app/store"), files: CrashInjectingFiles(), clock: clock)
  }

  func downloader() throws -> ExtensionDelivery {
    let keys = [try Releases.signer().publicKey]
    return ExtensionDelivery(state: try state()) { (signed) throws(PackError) in try signed.checkSignatures(trusting: TrustedKeys(keys)) }
  }

  func app() async throws -> AppDelivery {
    let store = try await AssetStore(
      root: directory("app/store"), keys: KeyRing(try Releases.key()), trusting: TrustedKeys([try Releases.signer().publicKey]),
      lowestVersion: 0,
      policy: StorePolicy(freeSpaceMargin: 0), files: CrashInjectingFiles(), clock: clock,
      process: StoreProcess(session: "test") { $0 == "test" },
      backend: CryptoBackends.standard)
    return AppDelivery(state: try state(), store: store)
  }

  /// Sends the extension a content request.
  func request(_ number: Int, _ event: DeliveryEvent) throws -> ExtensionDelivery.Answer {
    let path = try directory.write(releases[number].document, to: "manifest")
    return try downloader().downloads(for: event, manifestAt: path, allowance: nil)
  }

  /// Passes a downloaded file to the extension.
  func finish(_ download: PlannedDownload, isDamaged: Bool = false) throws -> SharedState.Parking {
    let name = try #require(download.url.split(separator: "/").last)
    let source = try #require(
      (1...3).map { releases.directory("release-\($0)/\(name)") }.first { FileManager.default.fileExists(atPath: $0) })
    var bytes = try #require(FileManager.default.contents(atPath: source))
    if isDamaged { bytes[bytes.count / 2] ^= 1 }
    return try downloader().finished(directory.write(bytes, to: "download"), download: download.identifier.description)
  }

  /// Starts the app, which installs and activates the downloaded packs.
  func launch() async throws {
    let app = try await app()
    _ = try await app.start()
    // As after their download: those of the accepted manifest.
    for number in 1...3 { try await app.store.takeShards(from: releases.directory("release-\(number)")) }
    let plan = try await app.plan(downloads: [])
    for installation in try await app.install(plan) {
      guard let installed = installation.installed else { continue }
      try await app.store.activate(installed.id, version: installed.version, onTrial: false)
    }
    _ = try await app.tidy(plan)
  }

  /// Downloads and installs all packs of a release.
  func install(_ number: Int, for event: DeliveryEvent = .install) async throws {
    for download in try request(number, event).downloads { _ = try finish(download) }
    try await launch()
  }

  /// Returns the content of the only file of an installed pack, as the app reads it.
  func content(_ id: String) async throws -> [UInt8]? {
    let opened = try await app().store.open(id)
    let path = opened.installed.path
    guard let name = try FileManager.default.contentsOfDirectory(atPath: path).first else { return nil }
    return FileManager.default.contents(atPath: "\(path)/\(name)").map { [UInt8]($0) }
  }

  /// Returns the content of the file of a pack in a release.
  func source(_ id: String, _ number: Int) -> [UInt8] { releases.sources["\(id)-\(number)"] ?? [] }

  func tree() throws -> [String] { try directory.tree() }

  /// Returns the records, by the names of their packs.
  func records() throws -> [String: [UInt8]] {
    var records: [String: [UInt8]] = [:]
    for name in directory.names(in: "group/packs") { records[name] = directory.bytes(of: "group/packs/\(name)") }
    return records
  }
}
