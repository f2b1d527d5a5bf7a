import ArgumentParser

/// `packer-bench catalogue`
struct CatalogueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue", abstract: "Measures how the cost of a release grows with the number of its packs.",
    discussion: """
      For each number, manifests with that many on-demand packs are made, each with the tag of its 50 neighbours, and 20 with a tag that is \
      spread over all packs. Measured are the bytes that a device fetches to find packs, and the cost of finding them. Then a project with that \
      many packs of one small file is built, built again without a change, and verified.
      """)

  @Option(help: ArgumentHelp("The numbers of packs, separated by commas, the smallest first.", valueName: "numbers"))
  var counts = "1000,4000,16000,100000"

  @OptionGroup var options: ArenaOptions

  func run() throws {
    let counts = try counts.split(separator: ",").map { text in
      guard let count = Int(text), count > 0 else { throw ValidationError("'\(text)' is not a number of packs") }
      return count
    }
    let arena = try options.makeArena()
    for count in counts {
      let place = "\(arena.scratch)/catalogue"
      let disk = Disk()
      try disk.removeAll(place)
      try disk.makeDirectories(place)
      let record = try CatalogueRecord(
        count, SampleCatalogue(count), SampleProject(in: "\(place)/project", packs: count, arena).measure(), in: place, arena)
      try disk.removeAll(place)
      try arena.recorder.add(record, saying: record.line)
    }
  }
}

/// `packer-bench find`
struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "Finds packs in a manifest and its pages, as a device does when it looks for them first.",
    shouldDisplay: false)

  @Argument(help: "The directory of the manifest and its pages.")
  var directory: String

  @Argument(help: "The public key of the manifest.")
  var key: String

  @Option(help: "The name of a pack.")
  var id: String?

  @Option(help: "A tag.")
  var tag: String?

  func run() throws {
    let document = try SignedManifest(try Disk().read("\(directory)/manifest.json"))
    let manifest = try document.verify(trusting: [SigningPublicKey(text: key)]).manifest
    let folder = PageFolder(directory)
    let search = PageSearch(manifest)
    let finding =
      if let tag { try search.packs(taggedWith: tag, in: folder.intact) } else { try search.packs([id ?? ""], in: folder.intact) }
    guard case .found(let packs) = finding else { throw PackError(.internalError, "there are not all pages") }
    print(packs.count)
  }
}

/// A manifest with many on-demand packs, and its pages.
struct SampleCatalogue {
  static let neighbours = "world-0"
  static let spread = "featured"

  /// A release: its manifest, the signed document, and all its pages.
  struct Release {
    let root: Manifest
    let document: [UInt8]
    let pages: [PageReference: [UInt8]]
  }

  let first: Release
  /// The release after it, in which one pack changed.
  let next: Release
  let key: SigningPublicKey
  /// The size of a manifest that lists all packs itself, whether that is allowed or not.
  let sizeInOneFile: Int
  /// The size of the manifest with 300 prefetch packs besides, which it lists itself.
  let sizeWithPrefetch: Int

  private static let base = "https://cdn.example.com/packs/"

  init(_ count: Int) throws(PackError) {
    let signer = try SigningKey.random()
    key = signer.publicKey
    var random = SystemRandomNumberGenerator()
    func pack(_ number: Int, _ delivery: DeliveryClass) -> ManifestPack {
      func bytes() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
      let (id, sha256) = ("\(delivery == .onDemand ? "game" : "part")-\(1_000_000 + number)", bytes())
      let size = UInt64.random(in: 100_000...20_000_000, using: &random)
      return ManifestPack(
        id: id, version: 1, url: Self.base + ManifestPack.publishedName(id, sha256), size: size, sha256: sha256, contentRoot: bytes(),
        contentSize: size * 2, installSize: size * 2 / 4096 * 4096, files: 200, maxFrame: 2 << 20, keyID: "e545120e613dd715",
        delivery: delivery, install: .packed,
        tags: ["world-\(number / 50)"] + (delivery == .onDemand && number % max(1, count / 20) == 0 ? [Self.spread] : []))
    }
    var packs = (0..<count).map { pack($0, .onDemand) }
    let defaults = ManifestDefaults(baseURL: Self.base, keyID: "e545120e613dd715")
    func release(_ version: UInt64) throws(PackError) -> Release {
      let assembly = try PageAssembly(packs, defaults: defaults, backend: CryptoBackends.standard)
      var root = try Manifest(sample: [], version: version, defaults: defaults)
      root.pages = assembly.references
      let pages = Dictionary(uniqueKeysWithValues: assembly.files.map { ($0.reference, $0.bytes) })
      return Release(root: root, document: try root.signed(by: signer).bytes, pages: pages)
    }
    // Entries are of about the same size, so the size of a manifest that would not be allowed follows from two that are.
    func sizeOfOne(_ count: Int) throws(PackError) -> Int {
      try Manifest(sample: Array(packs.prefix(count)), defaults: defaults).signed(by: signer).bytes.count
    }
    let (few, more) = (try sizeOfOne(100), try sizeOfOne(min(1100, count)))
    sizeInOneFile = count <= 1100 ? more : more + (more - few) * (count - 1100) / 1000
    first = try release(1)
    var fuller = first.root
    fuller.packs = (0..<300).map { pack($0, .prefetch) }
    sizeWithPrefetch = try fuller.signed(by: signer).bytes.count
    if count > 0 {
      packs[count / 2].version = 2
      packs[count / 2].sha256[0] ^= 1
      packs[count / 2].url = Self.base + ManifestPack.publishedName(packs[count / 2].id, packs[count / 2].sha256)
    }
    next = try release(2)
  }

  /// The names of 500 packs that are spread over all, with the one that changes.
  func installed(of count: Int) -> [String] {
    let step = max(1, count / 500)
    return stride(from: count / 2 % step, to: count, by: step).map { "game-\(1_000_000 + $0)" }
  }
}

extension SampleCatalogue.Release {
  /// Fetches the pages that a search needs.
  ///
  /// - Parameters:
  ///   - device: The pages on the device, to which the fetched ones are added.
  ///   - search: Returns the pages that it lacks.
  /// - Returns: The bytes fetched, the manifest included.
  func fetch(
    to device: inout [PageReference: [UInt8]], for search: (PageSearch.Source) throws(PackError) -> [PageReference]
  ) throws(PackError) -> Int {
    var fetched = document.count
    while true {
      let missing = try search { [device] (reference) throws(PackError) in device[reference] }
      if missing.isEmpty { return fetched }
      for reference in missing {
        guard let bytes = pages[reference] else { throw PackError(.internalError, "there is no \(reference.fileName)") }
        device[reference] = bytes
        fetched += bytes.count
      }
    }
  }
}

extension PageFinding {
  fileprivate var missing: [PageReference] {
    if case .needs(let pages) = self { pages } else { [] }
  }
}

/// The measurements of a release with a number of packs.
private struct CatalogueRecord: Encodable {
  /// Bytes, and the processor time in seconds and the memory in MiB beyond what a manifest without packs needs.
  struct Find: Encodable {
    let bytes: Int
    let cpu: Double
    let memory: Double
  }

  let type = "catalogue"
  let packs: Int
  /// The size of a manifest that lists all packs itself.
  let inOneFile: Int
  let fitsInOneFile: Bool
  let root: Int
  /// The same with 300 prefetch packs besides.
  let rootWithPrefetch: Int
  let pages: Int
  let pagesSize: Int
  let byID: Find
  /// 50 packs with names that follow each other.
  let byTag: Find
  /// 20 packs that are spread over all.
  let bySpreadTag: Find
  /// What a device with 500 installed packs fetches to know that one of them changed, the manifest included.
  let update: Int
  let release: SampleProject.Costs

  init(
    _ count: Int, _ catalogue: SampleCatalogue, _ release: SampleProject.Costs, in place: String, _ arena: Arena
  ) throws(PackError) {
    let (first, next) = (catalogue.first, catalogue.next)
    packs = count
    inOneFile = catalogue.sizeInOneFile
    fitsInOneFile = inOneFile <= Manifest.largestSize
    root = first.document.count
    rootWithPrefetch = catalogue.sizeWithPrefetch
    pages = first.pages.count
    pagesSize = first.pages.values.reduce(0) { $0 + $1.count }
    self.release = release
    let directory = "\(place)/pages"
    let disk = Disk()
    try disk.makeDirectories(directory)
    try disk.makeDirectories("\(place)/none")
    try disk.write(first.document.byteSpan, to: "\(directory)/manifest.json")
    for (reference, bytes) in first.pages { try disk.write(bytes.byteSpan, to: "\(directory)/\(reference.fileName)") }
    let bare = try SampleCatalogue(0)
    try disk.write(bare.first.document.byteSpan, to: "\(place)/none/manifest.json")

    let tool = CommandLine.arguments[0]
    let id = "game-\(1_000_000 + count / 2)"
    let finds = [("id", "--id \(id)"), ("tag", "--tag \(SampleCatalogue.neighbours)"), ("spread", "--tag \(SampleCatalogue.spread)")]
    var entrants = [
      Contest.Entrant(name: "none", script: "exec \(tool) find \(place)/none \(bare.key.text) --id \(id) >/dev/null")
    ]
    for (name, option) in finds {
      entrants.append(Contest.Entrant(name: name, script: "exec \(tool) find \(directory) \(catalogue.key.text) \(option) >/dev/null"))
    }
    let results = try arena.contest(rounds: max(5, arena.rounds)).run(entrants)
    let none = Cost(results, "none")
    func find(_ name: String, _ search: (PageSearch.Source) throws(PackError) -> [PageReference]) throws(PackError) -> Find {
      var device: [PageReference: [UInt8]] = [:]
      let cost = Cost(results, name)
      return Find(
        bytes: try first.fetch(to: &device, for: search), cpu: max(0, cost.cpu - none.cpu), memory: max(0, cost.memory - none.memory))
    }
    let search = PageSearch(first.root)
    byID = try find("id") { (source) throws(PackError) in try search.packs([id], in: source).missing }
    byTag = try find("tag") { (source) throws(PackError) in try search.packs(taggedWith: SampleCatalogue.neighbours, in: source).missing }
    bySpreadTag = try find("spread") { (source) throws(PackError) in
      try search.packs(taggedWith: SampleCatalogue.spread, in: source).missing
    }

    let installed = Set(catalogue.installed(of: count))
    var device: [PageReference: [UInt8]] = [:]
    _ = try first.fetch(to: &device) { (source) throws(PackError) in try search.lookUp(installed, in: source).missing }
    update = try next.fetch(to: &device) { (source) throws(PackError) in try PageSearch(next.root).lookUp(installed, in: source).missing }
  }

  var line: String {
    func size(_ bytes: Int) -> String { "\(ByteCount(UInt64(bytes)))" }
    func show(_ find: Find) -> String {
      "\(size(find.bytes)), \(Recorder.amount(find.cpu, "s")), \(Recorder.amount(find.memory, "MiB"))"
    }
    return """
      catalogue \(packs) packs: \(size(inOneFile)) in one file; root \(size(root)), with 300 prefetch packs \(size(rootWithPrefetch)); \
      \(pages) pages of \(size(pagesSize)); first by id \(show(byID)); by tag \(show(byTag)); by a spread tag \(show(bySpreadTag)); \
      one changed pack \(size(update)); \(release.line)
      """
  }
}

/// A project with many packs of one small file.
struct SampleProject {
  struct Costs: Encodable {
    let first: Cost
    let unchanged: Cost
    let verify: Cost

    var line: String {
      func show(_ cost: Cost) -> String {
        "\(Recorder.amount(cost.wall, "s")), CPU \(Recorder.amount(cost.cpu, "s")), \(Recorder.amount(cost.memory, "MiB"))"
      }
      return "build \(show(first)); unchanged \(show(unchanged)); verify --quick \(show(verify))"
    }
  }

  private let directory: String
  private let arena: Arena

  init(in directory: String, packs: Int, _ arena: Arena) throws(PackError) {
    self.directory = directory
    self.arena = arena
    let disk = Disk()
    try disk.makeDirectories(directory)
    for number in 0..<packs {
      let game = "\(directory)/games/\(1_000_000 + number)"
      try disk.makeDirectories(game)
      try disk.write("<!doctype html><title>\(number)</title>\n", to: "\(game)/index.html")
    }
    let configuration = """
      serve: {baseURL: "https://cdn.example.com/packs/"}
      key: "file:game.key"
      signKey: "file:game.sign.key"
      packs:
        - id: "game-${name}"
          each: games/*
          delivery: onDemand
          install: packed

      """
    try disk.write(configuration, to: "\(directory)/packer.yml")
    let keys = "\(arena.packer) key new -o game.key && \(arena.packer) key new --signing -o game.sign.key"
    _ = try arena.stopwatch.run("cd \(directory) && \(keys) >/dev/null")
  }

  func measure() throws(PackError) -> Costs {
    let build = "cd \(directory) && exec \(arena.packer) build --quiet >/dev/null"
    let first = try arena.stopwatch.run(build)
    let results = try arena.contest(rounds: min(3, arena.rounds)).run([
      Contest.Entrant(name: "build", script: build),
      Contest.Entrant(name: "verify", script: "cd \(directory) && exec \(arena.packer) verify dist --quick --quiet >/dev/null"),
    ])
    return Costs(first: Cost(first), unchanged: Cost(results, "build"), verify: Cost(results, "verify"))
  }
}
