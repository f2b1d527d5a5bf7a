import TestSupport
import Testing

@Suite("Packs are found through pages")
struct PageSearchTests {
  /// 12 000 packs, which need index pages.
  private static let large = Result { try PageSample(12_000) }

  /// A device that has no page and fetches what a search asks for.
  private final class Device {
    let sample: PageSample
    private(set) var fetched: [PageReference] = []
    private(set) var rounds = 0
    /// What the server returns instead of a page.
    var changed: [String: [UInt8]] = [:]

    init(_ sample: PageSample) {
      self.sample = sample
    }

    /// The pages that were fetched.
    var pages: [PageReference: [UInt8]] {
      var pages: [PageReference: [UInt8]] = [:]
      for reference in fetched { pages[reference] = changed[reference.fileName] ?? sample.pages[reference] }
      return pages
    }

    func answer<Value>(_ search: () throws -> PageFinding<Value>) throws -> Value {
      while true {
        switch try search() {
        case .found(let value): return value
        case .needs(let pages):
          precondition(!pages.isEmpty && rounds < 100)
          rounds += 1
          fetched += pages
        }
      }
    }
  }

  // MARK: Refusals

  @Test("a page that is damaged, cut, swapped or of another release is refused as another file", arguments: 0..<5)
  func wrongFiles(_ fault: Int) throws {
    let sample = try PageSample(1000)
    let later = try PageSample(1000) { $0[3].version += 1 }
    let pages = sample.assembly.files.filter { $0.reference.kind == .packs }
    let device = Device(sample)
    var bytes = pages[0].bytes
    switch fault {
    case 0: bytes[bytes.count / 2] ^= 1
    case 1: bytes.removeLast()
    case 2: bytes = pages[1].bytes
    case 3: bytes = later.assembly.files[0].bytes
    default: bytes = [UInt8](repeating: 0x28, count: 5 << 20)
    }
    device.changed[pages[0].reference.fileName] = bytes
    let search = PageSearch(sample.manifest)
    let error = #expect(throws: PackError.self) { try device.answer { try search.packs([PageSample.id(3)], in: device.pages.source) } }
    #expect(error?.code == .wrongPage)
    #expect(error?.advice == .fetchAgain)
    // Other pages are not affected.
    let other = try device.answer { try search.packs([PageSample.id(100)], in: device.pages.source) }
    #expect(other == [sample.packs[100]])
  }

  @Test("a tag that leads to a pack without it is refused")
  func tagsDisagree() throws {
    let sample = try PageSample(200)
    let other = try PageSample(200) { packs in for index in packs.indices { packs[index].tags = [] } }
    var manifest = sample.manifest
    manifest.pages = other.assembly.references + sample.assembly.references.filter { $0.kind == .tags }
    let search = PageSearch(manifest)
    let tags = Set(sample.assembly.references.filter { $0.kind == .tags })
    let pages = sample.pages.filter { tags.contains($0.key) }.merging(other.pages) { first, _ in first }
    let error = failure { () throws(PackError) in
      _ = try search.packs(taggedWith: "world-1") { pages[$0] }
    }
    #expect(error?.code == .damagedManifest)
  }

  @Test("a pack that the manifest and a page list is refused, and never taken from the page")
  func idInBoth() throws {
    let sample = try PageSample(100)
    var manifest = sample.manifest
    manifest.packs.append(.sample(PageSample.id(5)))
    let search = PageSearch(manifest)
    let error = failure { () throws(PackError) in _ = try search.packs([PageSample.id(6)], in: sample.pages.source) }
    #expect(error?.code == .damagedManifest)
  }

  // MARK: Answers

  @Test("a lookup returns what it found, the ids that may be in missing pages, and those pages")
  func partialLookup() throws {
    let sample = try Self.large.get()
    let search = PageSearch(sample.manifest)
    let (first, last) = (PageSample.id(0), PageSample.id(11_999))
    let ids: Set = ["a", "core", first, last, "zebra"]
    let none = try search.lookUp(ids) { _ in nil }
    #expect(none.packs.keys.sorted() == ["core"] && none.unknown == [first, last, "zebra"])
    #expect(none.missing.allSatisfy { $0.isIndex && $0.kind == .packs } && !none.missing.isEmpty)
    // Without the first page of packs.
    let page = try #require(sample.assembly.files.map(\.reference).first { $0.kind == .packs && !$0.isIndex && $0.first == first })
    let some = try search.lookUp(ids) { $0 == page ? nil : sample.pages[$0] }
    #expect(some.packs.keys.sorted() == ["core", last] && some.unknown == [first] && some.missing == [page])
    let all = try search.lookUp(ids, in: sample.pages.source)
    #expect(all.packs[first] == sample.packs[0] && all.packs.count == 3 && all.unknown.isEmpty && all.missing.isEmpty)
  }

  @Test("the pages in use are those of the manifest and of the index pages that are at hand")
  func namesInUse() throws {
    let sample = try Self.large.get()
    let search = PageSearch(sample.manifest)
    let roots = Set(sample.assembly.references.map(\.fileName))
    #expect(try search.fileNames { _ in nil } == roots)
    #expect(try search.fileNames(in: sample.pages.source) == Set(sample.assembly.files.map(\.reference.fileName)))
    let index = try #require(sample.assembly.references.first { $0.kind == .tags })
    let some = try search.fileNames { $0 == index ? sample.pages[$0] : nil }
    #expect(some.isStrictSuperset(of: roots) && some.count - roots.count == Int(index.count))
  }

  @Test("an id is found with at most two pages, and one that is missing is reported as missing")
  func byID() throws {
    let sample = try Self.large.get()
    #expect(sample.assembly.references.allSatisfy { $0.isIndex })
    for number in [0, 1, 86, 87, 5_000, 11_999] {
      let device = Device(sample)
      let search = PageSearch(sample.manifest)
      let packs = try device.answer { try search.packs([PageSample.id(number)], in: device.pages.source) }
      #expect(packs == [sample.packs[number]])
      #expect(device.fetched.count == 2 && device.rounds == 2)
    }
    for id in ["a", "level", "level-005000a", "zebra"] {
      let device = Device(sample)
      let search = PageSearch(sample.manifest)
      #expect(try device.answer { try search.packs([id], in: device.pages.source) }.isEmpty, "\(id)")
      #expect(device.fetched.count <= 2)
    }
    let device = Device(sample)
    let search = PageSearch(sample.manifest)
    #expect(try device.answer { try search.packs(["core"], in: device.pages.source) }.map(\.id) == ["core"])
    #expect(device.fetched.isEmpty)
  }

  @Test("several ids are found in two rounds, each page once, in the order of the ids")
  func byIDs() throws {
    let sample = try Self.large.get()
    var random = SeededGenerator(seed: 24)
    let numbers = (0..<50).map { _ in Int.random(in: 0..<12_000, using: &random) }
    let device = Device(sample)
    let search = PageSearch(sample.manifest)
    let packs = try device.answer { try search.packs(numbers.map(PageSample.id) + ["none"], in: device.pages.source) }
    #expect(packs == numbers.map { sample.packs[$0] }, "seed \(random.seed)")
    #expect(device.rounds == 2)
    #expect(Set(device.fetched).count == device.fetched.count)
  }

  @Test("a tag is found with its packs, also if it spans pages, and an unknown tag has none")
  func byTag() throws {
    let sample = try Self.large.get()
    let device = Device(sample)
    let search = PageSearch(sample.manifest)
    let packs = try device.answer { try search.packs(taggedWith: "world-17", in: device.pages.source) }
    #expect(packs == Array(sample.packs[850..<900]))
    #expect(device.rounds <= 4)
    let other = Device(sample)
    #expect(
      try other.answer { try search.ids(taggedWith: "all", in: other.pages.source) } == sample.packs.map(\.id))
    for tag in ["", "al", "all\t", "alll", "world", "zebra"] {
      #expect(try other.answer { try search.ids(taggedWith: tag, in: other.pages.source) }.isEmpty, "\(tag)")
    }
    var manifest = sample.manifest
    manifest.packs[0].tags = ["world-17"]
    #expect(
      try device.answer { try PageSearch(manifest).ids(taggedWith: "world-17", in: device.pages.source) }.first == "core")
  }

  @Test("all pages are read in order, and hold every pack once", arguments: [0, 1, 63, 64, 65, 511, 512, 513, 1500, 12_000])
  func everything(_ count: Int) throws {
    let sample = count == 12_000 ? try Self.large.get() : try PageSample(count)
    var packs: [ManifestPack] = []
    var pairs = 0
    var references: [PageReference] = []
    for kind in [PageKind.packs, .tags] {
      let (contents, found) = try Self.contents(of: kind, sample)
      references += found
      for content in contents {
        switch content {
        case .packs(let some): packs += some
        case .tags(let some): pairs += some.count
        case .updates, .index: Issue.record("a page of another kind")
        }
      }
    }
    #expect(packs == sample.packs && pairs == 2 * count)
    #expect(Set(references.map(\.sha256)) == sample.digests)
    #expect(sample.assembly.references.count <= PageReference.rootLimit)
    let signed = try sample.manifest.signedBytes()
    #expect(try Manifest(parsingSigned: signed.byteSpan) == sample.manifest)
  }

  private static func contents(of kind: PageKind, _ sample: PageSample) throws(PackError) -> ([PageContent], [PageReference]) {
    var contents: [PageContent] = []
    let finding = try PageSearch(sample.manifest).all(kind, in: sample.pages.source) { contents.append($0) }
    guard case .found(let references) = finding else { return ([], []) }
    return (contents, references)
  }

  // MARK: Changes

  @Test("the pages do not depend on the order of the packs")
  func order() throws {
    let sample = try PageSample(700)
    var random = SeededGenerator(seed: 25)
    let other = try PageSample(700) { $0.shuffle(using: &random) }
    #expect(sample.assembly.references == other.assembly.references)
  }

  @Test("a changed pack changes its page and the index page above")
  func change() throws {
    let sample = try Self.large.get()
    let later = try PageSample(12_000) { packs in
      packs[6000].sha256[0] ^= 1
      packs[6000].version += 1
    }
    #expect(later.digests.subtracting(sample.digests).count == 2)
  }

  @Test("new and removed packs change few pages", arguments: 0..<Effort.number(quick: 3, full: 8))
  func insertion(_ round: Int) throws {
    let sample = try PageSample(3000)
    var random = SeededGenerator(seed: 26 + UInt64(round))
    let place = Int.random(in: 1..<2999, using: &random)
    let later = try PageSample(3000) { packs in
      if round % 2 == 0 { packs[place].id += "-new" } else { packs.remove(at: place) }
      for index in packs.indices where !packs[index].url.contains("/\(packs[index].id)-") { packs[index].tags = [] }
    }
    // Each kind has the page itself, and hardly ever a neighbour.
    #expect(later.digests.subtracting(sample.digests).count <= 8, "seed \(random.seed)")
  }

  @Test("a pack that is not on demand, or whose tag has a control character, gets no page")
  func unfit() {
    let delivery = failure { () throws(PackError) in _ = try assemble { $0.delivery = .prefetch } }
    #expect(delivery?.code == .invalidManifest)
    let tag = failure { () throws(PackError) in _ = try assemble { $0.tags = ["a\tb"] } }
    #expect(tag?.code == .invalidManifest)
    let size = failure { () throws(PackError) in _ = try assemble { $0.description = String(repeating: "d", count: 1 << 20) } }
    #expect(size?.code == .invalidManifest)
  }

  @Test("long entries end a page before it is too large")
  func longEntries() throws {
    let packs = (0..<20).map { number in
      var pack = ManifestPack.sample("p\(100 + number)")
      pack.delivery = .onDemand
      pack.description = String(repeating: "d", count: 300_000)
      return pack
    }
    let assembly = try PageAssembly(packs, defaults: ManifestDefaults(), backend: CryptoBackends.standard)
    #expect(assembly.references.map(\.count) == [3, 3, 3, 3, 3, 3, 2])
    #expect(assembly.references.allSatisfy { $0.contentSize <= PageReference.largestContentSize })
  }

  private func assemble(_ change: (inout ManifestPack) -> Void) throws(PackError) -> PageAssembly {
    var pack = ManifestPack.sample()
    pack.delivery = .onDemand
    change(&pack)
    return try PageAssembly([pack], defaults: ManifestDefaults(), backend: CryptoBackends.standard)
  }
}
