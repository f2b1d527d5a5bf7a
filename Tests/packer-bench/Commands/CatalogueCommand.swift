import ArgumentParser

/// `packer-bench catalogue`
struct CatalogueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue", abstract: "Measures how the cost of a release grows with the number of its packs.",
    discussion: """
      For each number, manifests with that many on-demand packs are made, without and with 4 deltas to each. Measured are the bytes that a device fetches to \
      find one pack and to list all, and the cost of that. Then a project with that many packs of one small file is built, built again without a change, \
      and verified.
      """)

  @Option(help: ArgumentHelp("The numbers of packs, separated by commas, the smallest first.", valueName: "numbers"))
  var counts = "1000,3000,10000,30000"

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
      let release = try SampleProject(in: "\(place)/project", packs: count, arena).measure()
      for deltas in [0, 4] {
        let record = try CatalogueRecord(SampleCatalogue(count, deltas: deltas), deltas == 0 ? release : nil, in: place, arena)
        try arena.recorder.add(record, saying: record.line)
      }
      try disk.removeAll(place)
    }
  }
}

/// `packer-bench find`
struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "Finds a pack in a manifest and its catalogue, or lists all, as a device does.", shouldDisplay: false)

  @Argument(help: "The directory of the manifest and of a device's catalogue.")
  var directory: String

  @Argument(help: "The public key of the manifest.")
  var key: String

  @Option(help: "The name of a pack. Without one, all are listed.")
  var id: String?

  func run() throws {
    let document = try SignedManifest(try Disk().read("\(directory)/manifest.json"))
    let manifest = try document.verify(trusting: [SigningPublicKey(text: key)]).manifest
    let catalogue = Catalogue("\(directory)/catalogue", files: SystemFiles(), backend: CryptoBackends.standard)
    if let id {
      print(try catalogue.lookUp([id], in: manifest).packs.count)
    } else {
      print(try catalogue.listing(of: manifest).packs.count)
    }
  }
}

/// A manifest with many on-demand packs, and its catalogue.
struct SampleCatalogue {
  /// A release: its manifest, the signed document, and its shards.
  struct Release {
    let root: Manifest
    let document: [UInt8]
    let catalogue: CatalogueAssembly
  }

  let count: Int
  let deltas: Int
  let first: Release
  /// The release after it, in which one pack changed.
  let next: Release
  let key: SigningPublicKey

  private static let base = "https://cdn.example.com/packs/"

  /// - Parameter deltas: The number of deltas to each pack.
  init(_ count: Int, deltas: Int) throws(PackError) {
    (self.count, self.deltas) = (count, deltas)
    let signer = try SigningKey.random()
    key = signer.publicKey
    var random = SystemRandomNumberGenerator()
    func bytes() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
    var packs: [ManifestPack] = []
    for number in 0..<count {
      let (id, sha256) = (Self.id(number), bytes())
      let size = UInt64.random(in: 100_000...20_000_000, using: &random)
      var pack = ManifestPack(
        id: id, version: 1, url: Self.base + ManifestPack.publishedName(id, sha256), size: size, sha256: sha256, contentRoot: bytes(),
        contentSize: size * 2, installSize: size * 2 / 4096 * 4096, files: 200, maxFrame: 2 << 20, keyID: "e545120e613dd715",
        delivery: .onDemand, install: .packed, tags: ["world-\(number / 50)"])
      pack.deltas = (0..<deltas).map { _ in ManifestDelta(bases: [bytes()], size: size / 10, sha256: bytes()) }
        .sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
      packs.append(pack)
    }
    let defaults = ManifestDefaults(baseURL: Self.base, keyID: "e545120e613dd715")
    func release(_ version: UInt64, atLeast least: Int) throws(PackError) -> Release {
      let catalogue = try CatalogueAssembly(packs, atLeast: least, defaults: defaults, backend: CryptoBackends.standard)
      var root = try Manifest(sample: [], version: version, defaults: defaults)
      root.catalogue = catalogue.shards
      return Release(root: root, document: try root.signed(by: signer).bytes, catalogue: catalogue)
    }
    first = try release(1, atLeast: 1)
    if count > 0 {
      packs[count / 2].version = 2
      packs[count / 2].sha256[0] ^= 1
      packs[count / 2].url = Self.base + ManifestPack.publishedName(packs[count / 2].id, packs[count / 2].sha256)
    }
    next = try release(2, atLeast: first.catalogue.shards.count)
  }

  static func id(_ number: Int) -> String { "game-\(1_000_000 + number)" }
}

/// The measurements of a release with a number of packs.
private struct CatalogueRecord: Encodable {
  /// Bytes with the manifest, and the processor time in seconds and the memory in MiB beyond what a manifest without packs needs.
  struct Find: Encodable {
    let bytes: Int
    let cpu: Double
    let memory: Double
  }

  let type = "catalogue"
  let packs: Int
  let deltas: Int
  let root: Int
  let shards: Int
  let shardsSize: Int
  /// One pack by its name.
  let byID: Find
  /// All packs.
  let list: Find
  /// What a device that has all shards fetches if one pack changed, the manifest included.
  let update: Int
  let release: SampleProject.Costs?

  init(_ sample: SampleCatalogue, _ release: SampleProject.Costs?, in place: String, _ arena: Arena) throws(PackError) {
    let (first, next) = (sample.first, sample.next)
    (packs, deltas, self.release) = (sample.count, sample.deltas, release)
    root = first.document.count
    shards = first.catalogue.files.count
    shardsSize = first.catalogue.files.reduce(0) { $0 + $1.bytes.count }
    let directory = "\(place)/device"
    let disk = Disk()
    try disk.removeAll(directory)
    try disk.makeDirectories(directory)
    try disk.makeDirectories("\(place)/none")
    try disk.write(first.document.byteSpan, to: "\(directory)/manifest.json")
    let device = Catalogue("\(directory)/catalogue", files: SystemFiles(), backend: CryptoBackends.standard)
    for (number, file) in first.catalogue.files.enumerated() { try device.keep(file.bytes, number, of: first.root) }
    let bare = try SampleCatalogue(0, deltas: 0)
    try disk.write(bare.first.document.byteSpan, to: "\(place)/none/manifest.json")

    let tool = CommandLine.arguments[0]
    let id = SampleCatalogue.id(sample.count / 2)
    let results = try arena.contest(rounds: max(5, arena.rounds)).run([
      Contest.Entrant(name: "none", script: "exec \(tool) find \(place)/none \(bare.key.text) --id \(id) >/dev/null"),
      Contest.Entrant(name: "id", script: "exec \(tool) find \(directory) \(sample.key.text) --id \(id) >/dev/null"),
      Contest.Entrant(name: "list", script: "exec \(tool) find \(directory) \(sample.key.text) >/dev/null"),
    ])
    let none = Cost(results, "none")
    func find(_ name: String, _ bytes: Int) throws(PackError) -> Find {
      let cost = Cost(results, name)
      return Find(bytes: bytes, cpu: max(0, cost.cpu - none.cpu), memory: max(0, cost.memory - none.memory))
    }
    let number = try Shard.number(of: id, among: first.root.catalogue.count)
    byID = try find("id", root + Int(first.root.catalogue[number].size))
    list = try find("list", root + shardsSize)
    let known = Set(first.root.catalogue)
    update = next.document.count + next.root.catalogue.filter { !known.contains($0) }.reduce(0) { $0 + Int($1.size) }
  }

  var line: String {
    func size(_ bytes: Int) -> String { "\(ByteCount(UInt64(bytes)))" }
    func show(_ find: Find) -> String {
      "\(size(find.bytes)), \(Recorder.amount(find.cpu, "s")), \(Recorder.amount(find.memory, "MiB"))"
    }
    return """
      catalogue \(packs) packs with \(deltas) deltas: root \(size(root)); \(shards) shards of \(size(shardsSize)); first by id \(show(byID)); \
      list of all \(show(list)); one changed pack \(size(update))\(release.map { "; \($0.line)" } ?? "")
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
      return "build \(show(first)); unchanged \(show(unchanged)); verify \(show(verify))"
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
      Contest.Entrant(name: "verify", script: "cd \(directory) && exec \(arena.packer) verify dist --quiet >/dev/null"),
    ])
    return Costs(first: Cost(first), unchanged: Cost(results, "build"), verify: Cost(results, "verify"))
  }
}
