import Foundation
import TestSupport
import Testing

@testable import PackStore

/// A release with packs in pages.
struct PagedRelease: Sendable {
  /// A page, as it is published.
  struct Page: Sendable {
    let reference: PageReference
    let bytes: [UInt8]
  }

  let document: SignedManifest
  let pages: [Page]

  static let base = "https://cdn.example.com/packs/"

  /// - Parameters:
  ///   - own: The packs that the manifest lists itself.
  ///   - paged: The packs in its pages.
  init(_ version: UInt64, _ own: [StoreStage.Offer], paged: [StoreStage.Offer], others: [ManifestPack] = [], signedBy key: UInt8 = 0) throws
  {
    let assembly = try PageAssembly(
      paged.map(\.entry) + others, defaults: ManifestDefaults(baseURL: Self.base), backend: CryptoBackends.standard)
    try self.init(
      version, own, assembly.references, assembly.files.map { Page(reference: $0.reference, bytes: $0.bytes) }, signedBy: key)
  }

  /// - Parameter listed: The references of the manifest.
  init(_ version: UInt64, _ own: [StoreStage.Offer], _ listed: [PageReference], _ pages: [Page], signedBy key: UInt8 = 0) throws {
    var manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
      defaults: ManifestDefaults(baseURL: Self.base), packs: own.map(\.entry))
    manifest.pages = listed
    document = try KeysSample.sign(manifest, by: [key])
    self.pages = pages
  }

  /// Makes a page of any content, which a publisher may sign.
  static func page(_ json: [UInt8], first: String, count: UInt64, contentSize: UInt64? = nil) throws -> Page {
    let context = try CompressionContext(level: 3)
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(json.count))
    var span = frame.mutableByteSpan
    let size = try context.compress(json.byteSpan, into: &span)
    frame.removeLast(frame.count - size)
    let reference = PageReference(
      kind: .packs, first: first, count: count, size: UInt64(size), contentSize: contentSize ?? UInt64(json.count),
      sha256: try CryptoBackends.standard.digest(of: frame.byteSpan))
    return Page(reference: reference, bytes: frame)
  }

  /// The JSON of a page with these entries, in this order.
  static func json(_ offers: [StoreStage.Offer]) throws -> [UInt8] {
    let pages = try offers.map { try PageContent.packs([$0.entry]).bytes(.packs, defaults: ManifestDefaults(baseURL: base)) }
    let front = Array(#"{"packs":["#.utf8)
    return front + pages.map { $0.dropFirst(front.count).dropLast(2) }.joined(separator: [UInt8(ascii: ",")]) + Array("]}".utf8)
  }

  /// Keeps all pages.
  func deliver(to store: AssetStore) throws {
    for page in pages { try store.pages.keep(page.bytes, as: page.reference) }
  }
}

@Suite("A store with packs in pages", .bounded)
struct StorePageTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  private func level(_ version: UInt64 = 1, _ id: String = "level", tags: [String] = [], install: InstallMode = .packed) async throws
    -> StoreStage.Offer
  {
    var offer = try await stage.offer(id, version, delivery: .onDemand, install: install)
    offer.entry.tags = tags
    return offer
  }

  /// Returns a store in which a pack of a page runs.
  private func running(_ offer: StoreStage.Offer, own: [StoreStage.Offer] = []) async throws -> AssetStore {
    let store = try await stage.open()
    let release = try PagedRelease(1, own, paged: [offer])
    try await store.adopt(release.document)
    try release.deliver(to: store)
    try await store.install(offer.path, as: offer.entry.id, taking: .copying)
    try await store.activate(offer.entry.id, onTrial: false)
    return store
  }

  private func attempt(_ store: AssetStore, _ offer: StoreStage.Offer) async -> PackError? {
    await failure { () async throws(PackError) in try await store.install(offer.path, as: offer.entry.id, taking: .copying) }
  }

  /// Checks that a running pack still runs, is not reported as dropped, and survives a repair.
  private func expectRunning(_ offer: StoreStage.Offer, in store: AssetStore, _ comment: Comment? = nil) async throws {
    let id = offer.entry.id
    #expect(try await store.reconcile(.thorough) == [], comment)
    #expect(try await store.current(id)?.version == offer.entry.version, comment)
    _ = try await store.activate(id)
    let read = try await store.open(id).read("index.html")
    #expect(read == offer.tree.files["index.html"]?.bytes, comment)
    let plan = try? await store.plan()
    #expect(plan?.obsolete ?? [] == [], comment)
  }

  // MARK: Pages that are missing

  @Test("a pack whose page is missing is not installed, the error names the page, and packs of the manifest itself need none")
  func missing() async throws {
    let store = try await stage.open()
    let (core, level) = (try await stage.offer("core"), try await level())
    let release = try PagedRelease(1, [core], paged: [level])
    let plan = try await store.adopt(release.document)
    #expect(plan.downloads.map(\.id) == ["core"] && plan.missingPages.isEmpty)
    let before = try stage.snapshot()
    for offer in [level, try await self.level(1, "unheard")] {
      let error = await attempt(store, offer)
      #expect(error?.code == .missingPages)
      #expect(error?.advice == .fetchPages(release.pages.map(\.reference.fileName)))
    }
    #expect(try stage.snapshot() == before)
    #expect(await attempt(store, core) == nil)
    #expect(stage.directory.names(in: "store/pages").isEmpty)

    try release.deliver(to: store)
    #expect(await attempt(store, level) == nil)
    #expect(await attempt(store, try await self.level(1, "unheard"))?.code == .unknownPack)
    #expect(try await store.plan().installed == ["core", "level"])
  }

  @Test(
    "a page that was cut, changed, swapped or is of another release counts as missing, and is refused when it is kept", arguments: 0..<4)
  func wrongPage(_ fault: Int) async throws {
    let old = try await level(1)
    let store = try await running(old)
    let (new, other) = (try await level(2), try await level(1, "other"))
    let pages = [
      try PagedRelease.page(PagedRelease.json([new]), first: "level", count: 1),
      try PagedRelease.page(PagedRelease.json([other]), first: "other", count: 1),
    ]
    let release = try PagedRelease(2, [], pages.map(\.reference), pages)
    let plan = try await store.adopt(release.document)
    #expect(plan.missingPages == [pages[0].reference] && plan.downloads.isEmpty && plan.obsolete.isEmpty && !plan.isEmpty)
    var bytes = pages[0].bytes
    switch fault {
    case 0: bytes.removeLast()
    case 1: bytes[bytes.count / 2] ^= 1
    case 2: bytes = pages[1].bytes
    default: bytes = try PagedRelease(1, [], paged: [old]).pages[0].bytes
    }
    try stage.directory.write(bytes, to: "store/pages/\(pages[0].reference.fileName)")
    #expect(await attempt(store, new)?.code == .missingPages)
    let error = await failure { () throws(PackError) in try store.pages.keep(bytes, as: pages[0].reference) }
    #expect(error?.code == .wrongPage && error?.advice == .fetchAgain)
    try await expectRunning(old, in: store)
    try release.deliver(to: store)
    #expect(try await store.plan().downloads == [new.entry])
    #expect(await attempt(store, new) == nil)
  }

  /// The faults of a page that was signed.
  enum Fault: String, CaseIterable {
    case unsorted, listedTwice, alsoInManifest, keyOfNextPage, alsoInNextPage, bomb, noFrame, otherCount
  }

  @Test("a signed page that breaks a rule is refused as damaged, nothing is lost, and the next release works", arguments: Fault.allCases)
  func damaged(_ fault: Fault) async throws {
    let old = try await level(1)
    let store = try await running(old)
    let (new, other) = (try await level(2), try await level(1, "other"))
    var own: [StoreStage.Offer] = []
    var pages: [PagedRelease.Page]
    switch fault {
    case .unsorted: pages = [try PagedRelease.page(PagedRelease.json([other, new]), first: "other", count: 2)]
    case .listedTwice: pages = [try PagedRelease.page(PagedRelease.json([new, new]), first: "level", count: 2)]
    case .alsoInManifest:
      own = [other]
      pages = [try PagedRelease.page(PagedRelease.json([new, other]), first: "level", count: 2)]
    case .keyOfNextPage:
      let last = try await level(1, "zoo")
      pages = [
        try PagedRelease.page(PagedRelease.json([new, last]), first: "level", count: 2),
        try PagedRelease.page(PagedRelease.json([other]), first: "other", count: 1),
      ]
    case .alsoInNextPage:
      pages = [
        try PagedRelease.page(PagedRelease.json([new, other]), first: "level", count: 2),
        try PagedRelease.page(PagedRelease.json([other]), first: "other", count: 1),
      ]
    case .bomb:
      var large = new
      large.entry.description = String(repeating: "d", count: 1 << 20)
      pages = [try PagedRelease.page(PagedRelease.json([large]), first: "level", count: 1, contentSize: 1000)]
    case .noFrame:
      let json = try PagedRelease.json([new])
      let reference = PageReference(
        kind: .packs, first: "level", count: 1, size: UInt64(json.count), contentSize: UInt64(json.count),
        sha256: try CryptoBackends.standard.digest(of: json.byteSpan))
      pages = [PagedRelease.Page(reference: reference, bytes: json)]
    case .otherCount: pages = [try PagedRelease.page(PagedRelease.json([new]), first: "level", count: 2)]
    }
    if fault == .unsorted {
      // Otherwise the page would not be searched for this pack.
      var reference = pages[0].reference
      reference.first = "a"
      pages[0] = PagedRelease.Page(reference: reference, bytes: pages[0].bytes)
    }
    let release = try PagedRelease(2, own, pages.map(\.reference), pages)
    try await store.adopt(release.document)
    try release.deliver(to: store)
    #expect(await attempt(store, new)?.code == .damagedManifest)
    #expect(await failure { () async throws(PackError) in _ = try await store.plan() }?.code == .damagedManifest)
    try await expectRunning(old, in: store)
    try await store.setPreservation(1, of: "level")
    #expect(try await store.purge(toFree: 1 << 40).removed == [])

    let next = try PagedRelease(3, [], paged: [new, other])
    try await store.adopt(next.document)
    try next.deliver(to: store)
    #expect(await attempt(store, new) == nil)
    try await store.activate("level", onTrial: false)
    #expect(try await store.current("level")?.version == 2)
  }

  @Test("without its page a pack is not purged as one that was dropped, and not at all if its tags may have priorities")
  func purging() async throws {
    let old = try await level(tags: ["world"])
    let store = try await running(old)
    try await store.setPreservation(1, tags: ["world"])
    let next = try PagedRelease(2, [], paged: [try await level(2, tags: ["world"])])
    try await store.adopt(next.document)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])
    try await expectRunning(old, in: store)
    try next.deliver(to: store)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])

    // A release that has dropped the pack. Only its page shows that.
    let last = try PagedRelease(3, [], paged: [try await level(1, "arena")])
    #expect(try await store.adopt(last.document).missingPages.count == 1)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])
    try last.deliver(to: store)
    #expect(try await store.plan().obsolete.map(\.id) == ["level"])
    #expect(try await store.purge(toFree: 1).removed.map(\.reason) == ["the manifest no longer names the pack"])
  }

  @Test("a pack whose page is missing is purged after earlier versions of other packs, as one that is still offered")
  func purgingOrder() async throws {
    let core = try await stage.offer("core", 1)
    let store = try await running(try await level(), own: [core])
    let newCore = try await stage.offer("core", 2)
    try await store.install(core.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let next = try PagedRelease(2, [newCore], paged: [try await level(2)])
    try await store.adopt(next.document)
    try await store.install(newCore.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let removed = try await store.purge(toFree: 1).removed
    #expect(removed.map(\.pack.id) == ["core"] && removed.map(\.pack.version) == [1])
  }

  @Test("content without a record stays until its page says what it is", arguments: [InstallMode.packed, .unpacked])
  func unrecorded(_ mode: InstallMode) async throws {
    let offer = try await level(install: mode)
    _ = try await running(offer)
    let content = try stage.directory.tree("store/packs")
    let release = try PagedRelease(1, [], paged: [offer])
    for isDamaged in [false, true] {
      for page in release.pages { try FileManager.default.removeItem(atPath: stage.directory("store/pages/\(page.reference.fileName)")) }
      if isDamaged {
        try stage.directory.write([1, 2, 3], to: "store/state/level")
      } else {
        try FileManager.default.removeItem(atPath: stage.directory("store/state/level"))
      }
      let store = try await stage.open(as: "after-\(isDamaged)")
      let findings = try await store.reconcile()
      // A pack file names itself, so a damaged record is rebuilt from it.
      if isDamaged, mode == .packed {
        #expect(findings.map(\.kind) == [.damagedRecord])
      } else {
        #expect(findings.map(\.kind) == [.undecided] && findings.allSatisfy { !$0.isRepaired })
        #expect(try await store.reconcile().map(\.kind) == [.undecided])
      }
      #expect(try stage.directory.tree("store/packs") == content)
      try release.deliver(to: store)
      if !(isDamaged && mode == .packed) {
        #expect(try await store.reconcile().map(\.kind) == [isDamaged ? .damagedRecord : .adopted])
      }
      #expect(try await store.reconcile() == [])
      try await store.activate("level", onTrial: false)
      #expect(try await store.current("level")?.version == 1)
    }
  }

  // MARK: What works

  @Test("an update of a pack in a page is planned, installed and rolled back, and pages that no manifest names are freed")
  func update() async throws {
    let old = try await level(1)
    let store = try await running(old)
    let new = try await level(2)
    let release = try PagedRelease(2, [], paged: [new, try await level(1, "other")])
    let first = stage.directory.names(in: "store/pages")
    try await store.adopt(release.document)
    #expect(first.count == 1 && stage.directory.names(in: "store/pages").isEmpty)
    try release.deliver(to: store)
    // Packs that the device does not have are no downloads.
    #expect(try await store.plan().downloads.map(\.id) == ["level"])
    #expect(try await store.plan(wanting: ["other", "unheard"]).downloads.map(\.id) == ["level", "other"])
    #expect(await attempt(store, new) == nil)
    _ = try await store.activate("level")
    try await store.rollback("level", reason: "a test")
    #expect(try await store.current("level")?.version == 1)
    #expect(try await store.plan().failed.map(\.version) == [2])
    #expect(try await store.reconcile() == [])
    #expect(stage.directory.names(in: "store/pages") == release.pages.map(\.reference.fileName).sorted())
  }

  @Test("what was found in the pages of a manifest is not read again, and counts for no other manifest")
  func readOnce() async throws {
    let offer = try await level()
    let files = FaultyFiles()
    let store = try await stage.open(files: files)
    let release = try PagedRelease(1, [], paged: [offer])
    try await store.adopt(release.document)
    #expect(try await store.lookUp(["level", "more"]).unknown == ["level", "more"])
    try release.deliver(to: store)
    func reads(_ ids: Set<String>) async throws -> Int {
      let before = files.calls.count { $0.operation == .open && $0.name.hasSuffix(".page") }
      #expect(try await store.lookUp(ids).packs == (ids.contains("level") ? ["level": offer.entry] : [:]))
      return files.calls.count { $0.operation == .open && $0.name.hasSuffix(".page") } - before
    }
    #expect(try await reads(["level", "more"]) == 1)
    #expect(try await reads(["level", "more"]) == 0)
    #expect(try await reads(["more"]) == 0)
    #expect(try await reads(["nothing", "level"]) == 1)
    let next = try PagedRelease(2, [], paged: [try await level(2)])
    try await store.adopt(next.document)
    #expect(try await store.lookUp(["level"]).unknown == ["level"])
    try next.deliver(to: store)
    #expect(try await store.lookUp(["level"]).packs["level"]?.version == 2)
  }

  @Test("a pack that was purged is planned again, one that was removed is not")
  func removed() async throws {
    let offer = try await level()
    let store = try await running(offer)
    #expect(try await store.purge(toFree: 1).removed.map(\.pack.id) == ["level"])
    #expect(try await store.plan().downloads == [offer.entry])
    #expect(await attempt(store, offer) == nil)
    try await store.remove("level")
    #expect(try await store.plan().isEmpty)
  }

  @Test("a folder of pages that belongs to another part of the app is read, and never freed")
  func otherFolder() async throws {
    let folder = PageFolder(stage.directory("shared"), files: FaultyFiles())
    let offer = try await level()
    let (first, second) = (try PagedRelease(1, [], paged: [offer]), try PagedRelease(2, [], paged: [try await level(2)]))
    for page in first.pages { try folder.keep(page.bytes, as: page.reference) }
    let bytes = (0..<32).map { UInt8($0) }
    let store = try await AssetStore(
      root: stage.root, keys: KeyRing(try PackKey(bytes: bytes.byteSpan)), trusting: TrustedKeys([try StoreStage.signer(0).publicKey]),
      policy: StoreStage.patient, device: .any, pages: folder)
    try await store.adopt(first.document)
    #expect(await attempt(store, offer) == nil)
    try await store.adopt(second.document)
    #expect(try await store.reconcile() == [])
    #expect(stage.directory.names(in: "shared") == first.pages.map(\.reference.fileName))
    #expect(!stage.directory.names(in: "store").contains("pages"))
  }

  @Test("priorities of tags need the pages of those tags, and are kept while a page is missing")
  func tags() async throws {
    let offer = try await level(tags: ["world", "all"])
    let store = try await stage.open()
    let release = try PagedRelease(1, [try await stage.offer("core")], paged: [offer])
    try await store.adopt(release.document)
    func attempt(_ tag: String) async -> PackError? {
      await failure { () async throws(PackError) in try await store.setPreservation(0.9, tags: [tag]) }
    }
    let error = await attempt("world")
    #expect(error?.code == .missingPages)
    #expect(error?.advice == .fetchPages(release.pages.map(\.reference).filter { $0.kind == .tags }.map(\.fileName)))
    try release.deliver(to: store)
    #expect(await attempt("wurld")?.code == .unknownTag)
    #expect(await attempt("world") == nil)
    #expect(await attempt("all") == nil)
    let next = try PagedRelease(2, [], paged: [try await level(2, tags: ["all", "other"])])
    try await store.adopt(next.document)
    #expect(try await store.preservation(ofTag: "world") == 0.9)
    try next.deliver(to: store)
    #expect(await attempt("other") == nil)
    #expect(try await store.preservation(ofTag: "world") == nil)
    #expect(try await store.preservation(ofTag: "all") == 0.9)
  }

  @Test("pages are taken from another folder, with the index pages that lead to them")
  func takingPages() async throws {
    let offer = try await level(1, "level-004000")
    let others = (0..<9000).filter { $0 != 4000 }.map { number in
      var entry = offer.entry
      let digits = String(number)
      entry.id = "level-" + String(repeating: "0", count: 6 - digits.count) + digits
      return entry
    }
    let release = try PagedRelease(1, [], paged: [offer], others: others)
    let folder = PageFolder(stage.directory("dist"), files: FaultyFiles())
    for page in release.pages { try folder.keep(page.bytes, as: page.reference) }
    let store = try await stage.open()
    try await store.adopt(release.document)
    #expect(await attempt(store, offer)?.code == .missingPages)
    try await store.takePages(for: ["level-004000", "unheard"], from: PageFolder(stage.directory("nothing"), files: FaultyFiles()))
    #expect(try await store.lookUp(["level-004000"]).missing.count == 1)
    try await store.takePages(for: ["level-004000"], from: folder)
    #expect(stage.directory.names(in: "store/pages").count == 2)
    #expect(await attempt(store, offer) == nil)
    // Adopting the same manifest again frees none of them.
    try await store.adopt(release.document)
    #expect(stage.directory.names(in: "store/pages").count == 2)
    #expect(try await store.lookUp(["level-004000"]).packs == ["level-004000": offer.entry])
  }

  @Test("the pages of installed packs are taken from another folder, and of no others")
  func takingPagesOfInstalled() async throws {
    let old = try await level(1)
    let store = try await running(old)
    let (new, other) = (try await level(2), try await level(1, "other"))
    let pages = [
      try PagedRelease.page(PagedRelease.json([new]), first: "level", count: 1),
      try PagedRelease.page(PagedRelease.json([other]), first: "other", count: 1),
    ]
    let folder = PageFolder(stage.directory("dist"), files: FaultyFiles())
    for page in pages { try folder.keep(page.bytes, as: page.reference) }
    #expect(try await store.adopt(PagedRelease(2, [], pages.map(\.reference), pages).document).missingPages.count == 1)
    try await store.takePages(from: folder)
    #expect(stage.directory.names(in: "store/pages") == [pages[0].reference.fileName])
    #expect(try await store.plan().downloads == [new.entry])
  }

  @Test("a release folder is installed with its packs in pages, also by file name, and a missing or wrong page is named")
  func releaseFolder() async throws {
    let (core, level, other) = (try await stage.offer("core"), try await level(), try await level(1, "other"))
    func published(_ offer: StoreStage.Offer) -> StoreStage.Offer {
      var offer = offer
      offer.entry.url = PagedRelease.base + ManifestPack.publishedName(offer.entry.id, offer.entry.sha256)
      return offer
    }
    let offers = [published(core), published(level), published(other)]
    let release = try PagedRelease(1, [offers[0]], paged: Array(offers[1...]))
    try stage.directory.write(release.document.bytes, to: "dist/manifest.json")
    for offer in offers {
      try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("dist/\(offer.entry.fileName)"))
    }
    let page = try #require(release.pages.first)
    func install(_ installation: ReleaseInstallation, in store: AssetStore) async throws(PackError) -> [String] {
      try await installation.run(in: store, taking: .copying, mode: nil) { (_, install) async throws(PackError) in try await install(nil) }
        .installed.map(\.pack.id)
    }
    let store = try await stage.open()
    let whole = try ReleaseInstallation(release: stage.directory("dist"))
    let file = ReleaseInstallation(files: [stage.directory("dist/\(offers[1].entry.fileName)")], as: nil)
    let named = ReleaseInstallation(files: [other.path], as: "other")
    for installation in [whole, file, named] {
      let error = await failure { () async throws(PackError) in _ = try await install(installation, in: store) }
      #expect(error?.code == .missingPages && error?.advice == .fetchPages([page.reference.fileName]))
    }
    try stage.directory.write(page.bytes.reversed(), to: "dist/\(page.reference.fileName)")
    for installation in [whole, file] {
      let error = await failure { () async throws(PackError) in _ = try await install(installation, in: store) }
      #expect(error?.code == .wrongPage)
    }
    try stage.directory.write(page.bytes, to: "dist/\(page.reference.fileName)")
    #expect(try await install(file, in: store) == ["level"])
    #expect(try await install(named, in: store) == ["other"])
    try await store.remove("other")
    #expect(try await install(whole, in: store) == ["core", "other"])
    #expect(try await install(whole, in: store) == [])
    // A store without room for all of them does not have what was removed for the others, and that is told.
    let sizes = try await store.installed().map(\.sizeOnDevice)
    for id in ["core", "level", "other"] { try await store.remove(id) }
    let quota = try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } + sizes.reduce(0, +) - (try #require(sizes.min())) / 2
    let tight = try await stage.open(as: "tight", StorePolicy(quota: quota, freeSpaceMargin: 0))
    let outcome = try await whole.run(in: tight, taking: .copying, mode: nil) { (_, install) async throws(PackError) in
      try await install(nil)
    }
    #expect(!outcome.displaced.isEmpty && outcome.displaced == outcome.removed.map(\.id).sorted())
    #expect((outcome.displaced + outcome.installed.map(\.pack.id)).sorted() == ["core", "level", "other"])
  }

  // MARK: Versions never get lower

  @Test("a lower version in a page is not installed while the higher one is on the device, and the next release works")
  func lowerVersion() async throws {
    let (first, second) = (try await level(1), try await level(2))
    let store = try await running(second)
    let lower = try PagedRelease(2, [], paged: [first])
    try await store.adopt(lower.document)
    try lower.deliver(to: store)
    let error = await attempt(store, first)
    #expect(error?.code == .manifestRollback && error?.advice == .fetchManifestAgain)
    #expect(error?.message == "manifest has version 1 of pack 'level', but version 2 was installed before")
    #expect(try await store.plan().failed == [first.entry])
    #expect(try await store.plan().downloads.isEmpty)
    try await expectRunning(second, in: store)
    let next = try PagedRelease(3, [], paged: [try await level(3)])
    try await store.adopt(next.document)
    try next.deliver(to: store)
    #expect(try await store.plan().downloads.map(\.version) == [3])

    // Who removes the pack takes whatever is offered.
    try await store.remove("level")
    let last = try PagedRelease(4, [], paged: [first])
    try await store.adopt(last.document)
    try last.deliver(to: store)
    #expect(await attempt(store, first) == nil)
  }

  @Test("a pack that moves from the manifest to a page and back never gets lower on the device")
  func moving() async throws {
    let store = try await stage.open()
    let (first, second, third) = (try await level(1), try await level(2), try await level(3))
    try await store.adopt(PagedRelease(1, [second], paged: [try await level(1, "other")]).document)
    #expect(await attempt(store, second) == nil)
    let toPage = try PagedRelease(2, [], paged: [first])
    try await store.adopt(toPage.document)
    try toPage.deliver(to: store)
    #expect(await attempt(store, first)?.code == .manifestRollback)
    try await store.adopt(PagedRelease(3, [first], paged: [try await level(1, "other")]).document)
    #expect(await attempt(store, first)?.code == .manifestRollback)
    #expect(try await store.plan().failed == [first.entry])
    let back = try PagedRelease(4, [third], paged: [try await level(1, "other")])
    try await store.adopt(back.document)
    #expect(await attempt(store, third) == nil)
    // Now the manifest itself vouched for it.
    let lower = try PagedRelease(5, [second], paged: [])
    #expect(await failure { () async throws(PackError) in try await store.adopt(lower.document) }?.code == .manifestRollback)
  }

  @Test("a version that a thief signed does not keep the publisher's out once the key is dropped, and the thief cannot make one lower")
  func thief() async throws {
    let (older, genuine, stolen) = (try await level(1), try await level(2), try await level(9))
    func adopt(_ release: PagedRelease, by store: AssetStore) async throws {
      try await store.adopt(release.document)
      try release.deliver(to: store)
    }
    do {
      let store = try await stage.open(as: "first", trusting: [0, 1])
      try await adopt(try PagedRelease(4, [], paged: [genuine]), by: store)
      #expect(await attempt(store, genuine) == nil)
      // The thief has key 1.
      try await adopt(try PagedRelease(5, [], paged: [older], signedBy: 1), by: store)
      #expect(await attempt(store, older)?.code == .manifestRollback)
      try await adopt(try PagedRelease(6, [], paged: [stolen], signedBy: 1), by: store)
      #expect(await attempt(store, stolen) == nil)
      try await adopt(try PagedRelease(7, [], paged: [genuine]), by: store)
      #expect(try await store.plan().failed.map(\.version) == [2])
      // A page of the thief's release is another file, and nothing leads to it.
      let page = try PagedRelease(6, [], paged: [stolen], signedBy: 1).pages[0]
      try store.pages.keep(page.bytes, as: page.reference)
      #expect(try await store.plan().failed.map(\.version) == [2])
    }
    stage.end("first")
    let store = try await stage.open(as: "next", trusting: [0])
    #expect(try await store.plan().installed == ["level"])
    #expect(await attempt(store, genuine) == nil)
    // The publisher's earlier version still counts.
    let lower = try PagedRelease(8, [], paged: [older])
    try await adopt(lower, by: store)
    #expect(await attempt(store, older)?.code == .manifestRollback)
  }

  @Test("a version that a new key vouches for again stays remembered when the old key is dropped")
  func rotation() async throws {
    let (older, genuine) = (try await level(1), try await level(2))
    let releases = [try PagedRelease(1, [], paged: [genuine]), try PagedRelease(2, [], paged: [genuine], signedBy: 1)]
    do {
      let store = try await stage.open(as: "first", trusting: [0, 1])
      try await store.adopt(releases[0].document)
      try releases[0].deliver(to: store)
      #expect(await attempt(store, genuine) == nil)
      #expect(try await store.adopt(releases[1].document).installed == ["level"])
    }
    stage.end("first")
    let store = try await stage.open(as: "next", trusting: [1])
    let lower = try PagedRelease(3, [], paged: [older], signedBy: 1)
    try await store.adopt(lower.document)
    try lower.deliver(to: store)
    #expect(await attempt(store, older)?.code == .manifestRollback)
  }

  @Test("wherever an installation from a page is stopped, a version on the disk is remembered")
  func crashes() async throws {
    let sample = try await CrashSample.shared().inPages
    var stops = 0
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = MemoryDisk(kind)
      sample.fetch(to: base)
      let before = CrashSession(base, "before")
      try await sample.release(1, to: try await before.open())
      try await before.open().adopt(sample.manifest(2))
      before.files.end()
      while true {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(stops))
        _ = await failure { () async throws(PackError) in
          try await CrashSession(files, "run").open().install(
            sample.download(CrashSample.packed, 2), as: CrashSample.packed, taking: .copying)
        }
        files.end()
        for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
          let tree = disk.after(crash).tree(below: "/store")
          let record = try PackRecord(parsing: #require(tree["state/\(CrashSample.packed)"] ?? nil), id: CrashSample.packed)
          let memory = try ManifestMemory.Accepted(parsing: #require(tree["memory"] ?? nil))
          let highest = record.contents.map(\.bytes.version).max() ?? 0
          let remembered = memory.installed.compactMap { $0.versions[CrashSample.packed] }.max() ?? 0
          #expect(remembered >= highest, "stopped before change \(stops), \(crash)")
        }
        guard files.struck != nil else { break }
        stops += 1
      }
      #expect(stops > 8)
      stops = 0
    }
  }
}
