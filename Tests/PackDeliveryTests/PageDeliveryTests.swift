import TestSupport
import Testing

@Suite("Packs in pages on their way to a device", .bounded)
struct PageDeliveryTests {
  private let disk: MemoryDisk
  private let clock: TestClock

  init() {
    self.init(MemoryDisk(), TestClock())
  }

  private init(_ disk: MemoryDisk, _ clock: TestClock) {
    self.disk = disk
    self.clock = clock
  }

  /// A manifest whose packs on demand are in pages, and the files of these.
  private typealias Release = (manifest: Manifest, files: [PageReference: [UInt8]])

  private func release(_ packs: [ManifestPack], version: UInt64 = 1, isIndexed: Bool = true) throws -> Release {
    try manifest(packs, version: version).inPages(isIndexed: isIndexed)
  }

  /// Eight packs on demand, in four pages below two index pages, and one that is not in a page.
  private static let packs = [offer("core")] + "abcdefgh".map { offer("\($0)", 1, .onDemand) }

  private func state(_ files: MemoryFiles? = nil) throws -> SharedState { try .sample(files ?? MemoryFiles(disk), clock) }

  private func folder(_ state: SharedState) -> PageFolder { PageFolder(state.pagesPath, files: state.files) }

  @discardableResult
  private func plan(
    _ release: Release, asked: Set<String> = [], device: [DevicePack]? = [], downloads: Set<String>? = nil,
    _ event: DeliveryEvent = .launch,
    allowance: Allowance? = nil, on files: MemoryFiles? = nil
  ) throws -> DeliveryPlan {
    let state = try state(files)
    let facts = DeliveryFacts(event, at: clock.secondsSince1970, device: device, downloads: downloads, asked: asked, allowance: allowance)
    return try state.plan(for: release.manifest, facts: facts, pages: folder(state)).plan
  }

  /// Delivers what a plan downloads.
  ///
  /// - Parameters:
  ///   - id: the pack that does not arrive.
  ///   - changed: what the server has in the place of a page.
  private func deliver(
    _ plan: DeliveryPlan, _ release: Release, except id: String? = nil, _ changed: ([UInt8]) -> [UInt8] = { $0 }
  ) throws {
    for download in plan.downloads where download.id != id {
      let page = release.files.first { DeliveryName.page($0.key) == download.id }
      let bytes = page.map { changed($0.value) } ?? [UInt8](repeating: 7, count: Int(download.bytes.size))
      disk.write(bytes, to: "/system/file")
      _ = try state().park("/system/file", asDownload: download.identifier.description)
      disk.remove("/system/file")
    }
  }

  private func isPage(_ download: PlannedDownload) -> Bool { DeliveryName.isPage(download.id) }

  private var pages: [String] { disk.tree(below: "/group/pages").keys.filter { $0.hasSuffix(".page") }.sorted() }

  // MARK: Refusals

  @Test("a page that is another file is never used, is discarded, and is fetched again after a growing delay")
  func wrongPage() throws {
    let release = try release(Self.packs)
    let logger = RecordingLogger()
    for (round, delay) in [60, 120, 240].enumerated() {
      let planned = try plan(release, asked: round == 0 ? ["a"] : [])
      let page = try #require(planned.downloads.first(where: isPage))
      try deliver(planned, release) { bytes in
        var bytes = bytes
        bytes[bytes.count / 2] ^= 1
        return bytes
      }
      // Without a request, as when the app was closed.
      let state = try SharedState(directory: "/group", files: MemoryFiles(disk), clock: clock, logger: logger)
      let facts = DeliveryFacts(.launch, at: clock.secondsSince1970, device: [])
      let next = try state.plan(for: release.manifest, facts: facts, pages: folder(state)).plan
      #expect(next.reason(of: page.id) == .failed(.wrongBytes, secondsLeft: UInt64(delay)) && !next.downloads.contains(where: isPage))
      #expect(next.awaitingPages == ["a"] && pages == [])
      #expect(try state.content().files.filter { $0.identifier.id == page.id } == [])
      #expect(logger.take().count { $0.contains("page refused") } == 1)
      clock.advance(Int64(delay))
    }
    let planned = try plan(release)
    try deliver(planned, release)
    #expect(try plan(release).downloads.contains(where: isPage))
    #expect(pages.count == 1)
  }

  @Test("a page of another release, a cut page and one that is too long are refused, and the pack arrives later", arguments: 0..<3)
  func swappedPage(_ fault: Int) throws {
    let release = try release(Self.packs)
    let other = try self.release(Self.packs.map { offer($0.id, 2, $0.delivery) }, version: 2)
    let planned = try plan(release, asked: ["a"])
    try deliver(planned, release) { bytes in
      switch fault {
      case 0: other.files.first { $0.key.isIndex }!.value
      case 1: Array(bytes.dropLast())
      default: bytes + [0]
      }
    }
    #expect(pages == [])
    let page = try #require(planned.downloads.first(where: isPage))
    let failed = try plan(release)
    #expect([.failed(.wrongBytes, secondsLeft: 60), .failed(.wrongSize, secondsLeft: 60)].contains(failed.reason(of: page.id)))
    // A new request does not wait for the delay.
    #expect(try plan(release, asked: ["a"]).downloads.map(\.id) == [page.id])
  }

  @Test("a page that breaks a rule holds up only its own packs")
  func brokenPage() throws {
    var packs = Self.packs
    packs[1].tags = ["x"]
    let good = try release(packs, isIndexed: false)
    // A pack of the manifest itself is also in the page of 'a' and 'b'.
    var broken = good
    broken.manifest.packs.append(offer("b", 1, .prefetch))
    var planned = try plan(broken, asked: ["a", "c"])
    try deliver(planned, broken)
    planned = try plan(broken)
    #expect(planned.awaitingPages == ["a"])
    #expect(planned.downloads.map(\.id) == ["c"])
  }

  @Test("without a way to read pages, packs in pages stay as they are, and their downloads and files too")
  func withoutReader() throws {
    let release = try release(Self.packs)
    for _ in 0..<3 { try deliver(try plan(release, asked: ["a", "c"]), release) }
    let records = try state().content()
    #expect(records.files.map(\.identifier.id).sorted() == ["a", "c", "core"])
    let planned = try state().plan(for: release.manifest, facts: DeliveryFacts(.periodic, at: now, downloads: [])).plan
    #expect(planned.awaitingPages == ["a", "c"] && planned.handOver.map(\.id) == ["core"])
    #expect(planned.orphans == [] && planned.cancellations == [] && planned.obsolete == [] && planned.changes == [])
    #expect(try state().content() == records)
  }

  @Test("if no page is here, nothing installed is removed, nothing under way is cancelled, and no file is discarded")
  func lostPages() throws {
    let release = try release(Self.packs)
    for _ in 0..<3 { try deliver(try plan(release, asked: ["a", "c"]), release, except: "c") }
    let second = try self.release(Self.packs.map { offer($0.id, 2, $0.delivery) }, version: 2)
    disk.remove("/group/pages")
    let planned = try plan(second, device: [installed("h")], downloads: [identifier("c")])
    #expect(planned.awaitingPages == ["a", "c", "h"] && planned.obsolete == [])
    #expect(planned.cancellations == [] && planned.orphans == [identifier("core")])
    #expect(try state().status(of: "c")?.state.isUnderWay == true)
  }

  // MARK: Arrivals

  @Test("a requested pack is found with two pages, also if the process ends in between and nobody asks again", arguments: [false, true])
  func requested(isIndexed: Bool) throws {
    let release = try release(Self.packs, isIndexed: isIndexed)
    var fetched: [String] = []
    var planned = try plan(release, asked: ["e"])
    #expect(planned.awaitingPages == ["e"] && lists(of: "e", in: planned) == [])
    while planned.downloads.contains(where: isPage) {
      fetched += planned.downloads.filter(isPage).map(\.id)
      #expect(planned.downloads.filter(isPage).allSatisfy { $0.url.hasPrefix("https://cdn.example.com/") && $0.url.hasSuffix(".page") })
      #expect(planned.downloads.filter(isPage).allSatisfy { $0.startsInForeground && !$0.isEssential })
      try deliver(planned, release)
      planned = try plan(release)
    }
    #expect(fetched.count == (isIndexed ? 2 : 1))
    #expect(planned.downloads.map(\.id) == ["e"] && planned.awaitingPages == [])
    #expect(pages.count == fetched.count)
    #expect(try state().content().records.filter { DeliveryName.isPage($0.id) } == [])
    // The same for the next pack of the page needs no page.
    #expect(try plan(release, asked: ["f"]).downloads.map(\.id) == ["f"])
  }

  @Test("a name that the manifest does not have leaves no record once the page is here")
  func unknownName() throws {
    let release = try release(Self.packs)
    var planned = try plan(release, asked: ["aa"])
    while planned.downloads.contains(where: isPage) {
      try deliver(planned, release)
      planned = try plan(release)
    }
    #expect(planned.awaitingPages == [])
    #expect(try state().content().records.map(\.id) == ["core"])
  }

  @Test("a new manifest costs an installed pack only the pages whose references changed")
  func update() throws {
    let first = try release(Self.packs)
    for _ in 0..<3 { try deliver(try plan(first, asked: ["a", "h"]), first) }
    let before = Set(pages)
    #expect(before.count == 4)
    let device = [installed("core"), installed("a"), installed("h")]
    #expect(try plan(first, device: device).ready.sorted() == ["a", "core", "h"])
    // Another pack of the page of 'a' changes.
    let second = try release(Self.packs.map { offer($0.id, $0.id == "b" ? 2 : 1, $0.delivery) }, version: 2)
    var planned = try plan(second, device: device)
    #expect(planned.downloads.count == 1 && planned.awaitingPages == ["a"] && planned.ready == ["core", "h"])
    try deliver(planned, second)
    planned = try plan(second, device: device)
    #expect(planned.downloads.count == 1 && planned.awaitingPages == ["a"])
    try deliver(planned, second)
    planned = try plan(second, device: device)
    #expect(planned.downloads == [] && planned.ready.sorted() == ["a", "core", "h"] && planned.obsolete == [])
    // What no manifest names any more is freed; what the new one still names stays.
    let state = try state()
    try folder(state).free(exceptThoseOf: [second.manifest])
    #expect(pages.count == 4 && Set(pages).intersection(before).count == 2)
    // Nothing changed: no page.
    let third: Release = (manifest(second.manifest.packs, version: 3), second.files)
    var same = third
    (same.manifest.pages, same.manifest.defaults) = (second.manifest.pages, second.manifest.defaults)
    #expect(try plan(same, device: device).downloads == [])
    // A changed pack that is installed is downloaded, because it was requested.
    let fourth = try release(Self.packs.map { offer($0.id, $0.id == "h" ? 2 : 1, $0.delivery) }, version: 4)
    for _ in 0..<2 { try deliver(try plan(fourth, device: device), fourth) }
    #expect(try plan(fourth, device: device).downloads.map(\.id) == ["h"])
  }

  @Test("a pack that was removed from the device needs no page any more, and one that is no longer offered is obsolete")
  func removed() throws {
    let first = try release(Self.packs)
    for _ in 0..<3 { try deliver(try plan(first, asked: ["a", "h"]), first) }
    try state().discard(try plan(first, device: [installed("a"), installed("h")]).orphans)
    // 'a' was purged, and 'h' is no longer offered.
    let second = try release(Self.packs.filter { $0.id != "h" }, version: 2)
    disk.remove("/group/pages")
    for _ in 0..<2 { try deliver(try plan(second, device: [installed("h")]), second) }
    let planned = try plan(second, device: [installed("h")])
    #expect(planned.obsolete.map(\.id) == ["h"] && planned.awaitingPages == [])
    #expect(try state().status(of: "a") == nil)
  }

  @Test("pages count in the allowance before the first start, and what they make possible in what is left of it")
  func allowance() throws {
    let packs = [offer("a", 1, size: 500, .onDemand)]
    let release = try release(packs, isIndexed: false)
    let size = release.manifest.pages[0].size
    let small = try plan(release, asked: ["a"], .update, allowance: Allowance(essential: 0, other: size))
    #expect(small.downloads == [] && small.postponed.map(\.reason) == [.allowance(size: size, left: size)])
    let planned = try plan(release, .update, allowance: Allowance(essential: 0, other: size + 500))
    // The remembered rest is smaller than what the system says now.
    #expect(planned.downloads == [])
    disk.remove("/group/allowance")
    let enough = try plan(release, .update, allowance: Allowance(essential: 0, other: size + 500))
    #expect(enough.downloads.count == 1 && enough.allowance?.other == 500)
    try deliver(enough, release)
    let state = try state()
    let facts = DeliveryFacts(.periodic, at: clock.secondsSince1970)
    let followed = try state.plan(for: release.manifest, facts: facts, pages: folder(state), isFollowUp: true).plan
    #expect(followed.downloads == [] && followed.reason(of: "a") == .allowance(size: 500, left: 500))
    let later = try state.plan(for: release.manifest, facts: facts, pages: folder(state)).plan
    #expect(later.downloads.map(\.id) == ["a"])
  }

  @Test("in an extension, the arrival of a page plans the next page and then the pack")
  func inExtension() throws {
    let release = try release(Self.packs)
    let document = try SignedManifest(signed: release.manifest.signedBytes(), signatures: [])
    disk.write(document.bytes, to: "/system/manifest")
    let state = try state()
    // The app asked for a pack and ended.
    _ = try state.accept(document.bytes) { (signed) throws(PackError) in
      try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
    }
    var asked = try plan(release, asked: ["g"])
    var ours = ExtensionDelivery(state: state) { (signed) throws(PackError) in
      try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
    }
    ours.pages = folder(state)
    var followed: [String] = []
    for _ in 0..<3 {
      guard let page = asked.downloads.first(where: isPage) else { break }
      let bytes = try #require(release.files.first { DeliveryName.page($0.key) == page.id }?.value)
      disk.write(bytes, to: "/system/file")
      _ = try ours.finished("/system/file", download: page.identifier.description)
      let answer = try #require(ours.downloads(after: page.identifier.description))
      #expect(answer.refusal == nil && answer.manifestVersion == 1 && answer.downloads.allSatisfy { !$0.isEssential })
      asked = try #require(answer.plan)
      followed += answer.downloads.map { isPage($0) ? "page" : $0.id }
    }
    #expect(followed == ["page", "g"])
    #expect(ours.downloads(after: identifier("core")) == nil)
  }

  @Test("a page that a process was taking when it ended is taken by the next one, whichever operation was the last")
  func crash() throws {
    let release = try release(Self.packs, isIndexed: false)
    var operation = 0
    while true {
      let disk = MemoryDisk()
      let world = PageDeliveryTests(disk, clock)
      let planned = try world.plan(release, asked: ["a"])
      try world.deliver(planned, release)
      let files = MemoryFiles(disk, .stop(before: operation))
      let outcome = Result { try world.plan(release, on: files) }
      let isOver = files.struck == nil
      files.end()
      if isOver { _ = try outcome.get() }
      // The next process.
      let first = try world.plan(release)
      clock.advance(100_000)
      let ids = Set(first.downloads.map(\.id) + (try world.plan(release, downloads: [])).downloads.map(\.id))
      #expect(ids.contains("a"), "operation \(operation)")
      #expect(first.awaitingPages == [] && world.pages.count == 1, "operation \(operation)")
      guard !isOver else { break }
      operation += 1
    }
    #expect(operation > 20)
  }
}
