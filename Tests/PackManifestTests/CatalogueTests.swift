import Foundation
import TestSupport
import Testing

@Suite("The catalogue on a device", .bounded)
struct CatalogueTests {
  /// 300 packs in four shards.
  private static let sample = Result { try CatalogueSample(300, atLeast: 4) }

  private let directory: TemporaryDirectory
  private let sample: CatalogueSample
  private let manifest: Manifest
  /// The shard that the tests change, and an id that belongs in it.
  private let number = 1
  private let bytes: [UInt8]
  private let pack: ManifestPack
  /// A pack of another shard.
  private let other: ManifestPack

  init() throws {
    let sample = try Self.sample.get()
    let (own, others) = (try sample.packs(in: number), try sample.packs(in: 3))
    directory = try TemporaryDirectory()
    self.sample = sample
    manifest = sample.manifest
    bytes = sample.bytes(number)
    pack = try #require(own.first)
    other = try #require(others.first)
  }

  private func catalogue(_ files: any FileSystem = SystemFiles(), at path: String? = nil) -> Catalogue {
    Catalogue(path ?? directory("catalogue"), files: files, backend: CryptoBackends.standard)
  }

  /// The name of the file of a shard on the device.
  private static func name(_ number: Int, of manifest: Manifest) -> String {
    "\(number)-\(manifest.catalogue.count)-\(manifest.catalogue[number].sha256.prefix(8).hex).shard"
  }

  private var name: String { "catalogue/\(Self.name(number, of: manifest))" }

  /// Keeps all shards of a release.
  private func keepAll(_ sample: CatalogueSample) throws(PackError) {
    for index in sample.manifest.catalogue.indices {
      try catalogue().keep(sample.bytes(index), index, of: sample.manifest)
    }
  }

  // MARK: Refusals

  @Test("bytes that are not the shard are refused and leave no file", arguments: 0..<5)
  func wrongBytes(_ fault: Int) {
    var wrong = bytes
    switch fault {
    case 0: wrong = []
    case 1: wrong.removeLast()
    case 2: wrong.append(0)
    case 3: wrong[wrong.count / 2] ^= 1
    default: wrong = sample.bytes(0)
    }
    let error = failure { () throws(PackError) in try catalogue().keep(wrong, number, of: manifest) }
    #expect(error?.code == .wrongShard && error?.advice == .fetchAgain)
    #expect(directory.names().isEmpty)
  }

  @Test(
    "a file that was cut, extended or changed counts as missing, holds up no other shard, and is replaced", arguments: [-1, 0, 1, 1 << 30])
  func wrongFile(_ difference: Int) throws {
    try keepAll(sample)
    let file = try #require(FileHandle(forWritingAtPath: directory(name)))
    if difference == 0 {
      try file.write(contentsOf: Data([0xFF]))
    } else {
      try file.truncate(atOffset: UInt64(bytes.count + difference))
    }
    let files = FaultyFiles()
    let lookup = try catalogue(files).lookUp([pack.id, other.id], in: manifest)
    #expect(lookup.packs == [other.id: other] && lookup.unknown == [pack.id] && lookup.missing == [number] && lookup.refusal == nil)
    #expect(files.bytesRead < 4 << 20)
    #expect(try catalogue().missing(of: manifest) == [number])
    try catalogue().keep(bytes, number, of: manifest)
    #expect(try catalogue().lookUp([pack.id], in: manifest).packs == [pack.id: pack])
  }

  @Test("a directory under the name of a shard is refused and stays")
  func directoryInPlace() throws {
    try directory.write([1], to: "\(name)/file")
    #expect(try catalogue().lookUp([pack.id], in: manifest).missing == [number])
    #expect(failure { () throws(PackError) in try catalogue().keep(bytes, number, of: manifest) }?.code == .outputExists)
    var without = manifest
    without.catalogue = []
    try catalogue().free(for: without)
    let shard = Self.name(number, of: manifest)
    #expect(try directory.tree("catalogue") == [shard, "\(shard)/file"])
  }

  @Test("a symbolic link under the name of a shard is not followed, and is replaced", arguments: [true, false])
  func linkInPlace(leadsToShard: Bool) throws {
    try directory.write(leadsToShard ? bytes : [1], to: "elsewhere")
    try directory.makeDirectory("catalogue")
    try FileManager.default.createSymbolicLink(atPath: directory(name), withDestinationPath: directory("elsewhere"))
    #expect(try catalogue().lookUp([pack.id], in: manifest).missing == [number])
    try catalogue().keep(bytes, number, of: manifest)
    #expect(try catalogue().lookUp([pack.id], in: manifest).packs == [pack.id: pack])
    #expect(directory.bytes(of: "elsewhere") == (leadsToShard ? bytes : [1]))
    #expect(try FileManager.default.attributesOfItem(atPath: directory(name))[.type] as? FileAttributeType == .typeRegular)
  }

  @Test(
    "a shard that was signed and breaks a rule is not missing: its packs are unknown, with the fault, and others are found",
    arguments: 0..<8)
  func brokenShard(_ fault: Int) throws {
    var packs = try sample.packs(in: number)
    var root = manifest
    func make(_ packs: [ManifestPack]) throws -> SmallCatalogue.File {
      try SmallCatalogue.File(ShardContent.bytes(packs, manifest.defaults), count: packs.count)
    }
    var file = try make(packs)
    var shard = file.shard
    switch fault {
    case 0:
      packs.append(other)
      packs.sort { $0.id.precedes($1.id) }
      file = try make(packs)
      shard = file.shard
    case 1: root.packs.append(packs[1])
    case 2: shard.maxCount -= 1
    case 3: shard.contentSize += 1
    case 4: shard.contentSize -= 1
    case 5: shard.contentSize = Shard.largestContentSize + 1
    default:
      // Bytes that are no frame, and a second frame after the first.
      let wrong = fault == 6 ? [UInt8](repeating: 7, count: 100) : file.bytes + file.bytes
      shard.size = UInt64(wrong.count)
      shard.sha256 = try CryptoBackends.standard.digest(of: wrong.byteSpan)
      file = SmallCatalogue.File(shard, wrong)
    }
    root.catalogue[number] = shard
    for (index, bytes) in sample.assembly.files.map(\.bytes).enumerated() {
      try catalogue().keep(index == number ? file.bytes : bytes, index, of: root)
    }

    let lookup = try catalogue().lookUp([pack.id, other.id], in: root)
    #expect(lookup.packs == [other.id: other] && lookup.unknown == [pack.id])
    #expect(lookup.missing == [] && lookup.refusal?.code == .damagedManifest)
    #expect(try catalogue().missing(of: root) == [], "it is not fetched again")
    let listing = try catalogue().listing(of: root)
    #expect(!listing.isComplete && listing.refusal?.code == .damagedManifest && listing.missing == [])
    let others = try sample.packs.filter { try Shard.number(of: $0.id, among: 4) != number }
    #expect(listing.packs == root.packs + others)
  }

  @Test("a failure of the file system is reported, and no shard is lost", arguments: FileFailure.samples)
  func failures(_ fault: FileFailure) throws {
    for attempt in 0... {
      let files = FaultyFiles.failing(at: attempt, with: fault)
      let place = directory("catalogue-\(attempt)")
      let faulty = catalogue(files, at: place)
      try catalogue(at: place).keep(sample.bytes(3), 3, of: manifest)
      let error = failure { () throws(PackError) in
        try faulty.keep(bytes, number, of: manifest)
        _ = try faulty.lookUp([pack.id, other.id], in: manifest)
        _ = try faulty.listing(of: manifest)
      }
      guard files.calls.count > attempt else { break }
      if let error { #expect([.cannotRead, .cannotWrite, .noSpace].contains(error.code), "\(attempt): \(error)") }
      let whole = catalogue(at: place)
      #expect(try whole.lookUp([other.id], in: manifest).packs == [other.id: other], "\(attempt)")
      try whole.keep(bytes, number, of: manifest)
      #expect(try whole.lookUp([pack.id], in: manifest).packs == [pack.id: pack], "\(attempt)")
    }
  }

  // MARK: Looking up

  @Test("a lookup returns what it found, the ids whose shards are missing, and the numbers of these")
  func lookup() throws {
    let ids: Set = ["core", pack.id, other.id]
    let none = try catalogue().lookUp(ids, in: manifest)
    #expect(none.packs.keys.sorted() == ["core"] && none.unknown == [pack.id, other.id] && none.missing == [number, 3])
    try catalogue().keep(sample.bytes(3), 3, of: manifest)
    let some = try catalogue().lookUp(ids, in: manifest)
    #expect(some.packs.keys.sorted() == ["core", other.id] && some.unknown == [pack.id] && some.missing == [number])
    try keepAll(sample)
    let all = try catalogue().lookUp(ids, in: manifest)
    #expect(all.packs[pack.id] == pack && all.packs.count == 3 && all.unknown.isEmpty && all.missing.isEmpty && all.refusal == nil)
    // That the manifest does not offer them is known.
    let neither = try catalogue().lookUp(["a", "zebra", "level-000000a"], in: manifest)
    #expect(neither.packs.isEmpty && neither.unknown.isEmpty && neither.missing.isEmpty)
    // Without a catalogue, nothing is unknown.
    var without = manifest
    without.catalogue = []
    #expect(try catalogue().lookUp(ids, in: without).unknown.isEmpty)
  }

  @Test("only the shards that the ids belong in are read, each of them once while the manifest stays the same")
  func readsOnce() throws {
    try keepAll(sample)
    let files = FaultyFiles()
    let known = catalogue(files)
    #expect(try known.lookUp(["core"], in: manifest).packs.count == 1)
    #expect(files.bytesRead == 0)
    for _ in 0..<3 { #expect(try known.lookUp([pack.id], in: manifest).packs == [pack.id: pack]) }
    #expect(files.bytesRead == UInt64(bytes.count))
    for _ in 0..<3 { #expect(try known.listing(of: manifest).isComplete) }
    let all = sample.assembly.shards.reduce(0) { $0 + $1.size }
    #expect(files.bytesRead == all)
    // Whether an id is also in the manifest is checked against each manifest.
    var later = manifest
    later.packs.append(pack)
    #expect(try known.lookUp([other.id], in: later).packs == [other.id: other])
    #expect(try known.listing(of: later).refusal?.code == .damagedManifest)
  }

  // MARK: Listing

  @Test("all packs are listed once, those of the manifest first", arguments: [1, 2, 3, 64, 300, 1500])
  func listing(_ count: Int) throws {
    let sample = try CatalogueSample(count)
    try keepAll(sample)
    let listing = try catalogue().listing(of: sample.manifest)
    #expect(listing.packs == sample.manifest.packs + sample.packs && listing.current == listing.packs)
    #expect(listing.isComplete && listing.missing == [] && listing.outdated == [])
    let signed = try sample.manifest.signedBytes()
    #expect(try Manifest(parsingSigned: signed.byteSpan) == sample.manifest)
  }

  @Test("while a shard is missing, the packs of its predecessor are listed as outdated, and are not found")
  func outdated() throws {
    try keepAll(sample)
    var later = try CatalogueSample(300, atLeast: 4) { packs in
      for index in packs.indices where packs[index].id == pack.id { packs[index].version += 1 }
    }.manifest
    let before = try sample.packs(in: number)
    let listing = try catalogue().listing(of: later)
    #expect(!listing.isComplete && listing.missing == [number] && listing.refusal == nil)
    #expect(listing.packs == manifest.packs + sample.packs && listing.outdated == Set(before.map(\.id)))
    #expect(listing.current == listing.packs.filter { !listing.outdated.contains($0.id) })
    let lookup = try catalogue().lookUp([pack.id], in: later)
    #expect(lookup.packs.isEmpty && lookup.unknown == [pack.id] && lookup.missing == [number])
    // A pack that the manifest lists itself by now is not listed twice.
    later.packs.append(pack)
    let moved = try catalogue().listing(of: later)
    #expect(moved.packs.filter { $0.id == pack.id } == [pack] && !moved.outdated.contains(pack.id))
  }

  @Test("a predecessor that was changed, or is of a catalogue with another number of shards, is not listed", arguments: [false, true])
  func unusablePredecessor(hasOtherCount: Bool) throws {
    try keepAll(sample)
    if !hasOtherCount {
      var changed = bytes
      changed[changed.count / 2] ^= 1
      try directory.write(changed, to: name)
    }
    let later = try CatalogueSample(300, atLeast: hasOtherCount ? 8 : 4) { packs in
      for index in packs.indices { packs[index].version += 1 }
    }
    let listing = try catalogue().listing(of: later.manifest)
    let inPlace = try hasOtherCount ? [] : sample.packs.filter { try Shard.number(of: $0.id, among: 4) != number }
    #expect(listing.packs == manifest.packs + inPlace && listing.missing == Array(later.manifest.catalogue.indices))
  }

  // MARK: Keeping and freeing

  @Test("a shard replaces its predecessor, and nothing else is freed")
  func keeps() throws {
    try keepAll(sample)
    let names = (0..<4).map { Self.name($0, of: manifest) }
    #expect(directory.names(in: "catalogue") == names.sorted())
    let later = try CatalogueSample(300, atLeast: 4) { packs in for index in packs.indices { packs[index].version += 1 } }
    // Not before its successor is there.
    try catalogue().free(for: later.manifest)
    #expect(directory.names(in: "catalogue") == names.sorted())
    try catalogue().keep(later.bytes(2), 2, of: later.manifest)
    #expect(directory.names(in: "catalogue") == [names[0], names[1], names[3], Self.name(2, of: later.manifest)].sorted())
  }

  @Test("where the number of shards has changed, the earlier ones are freed when all of the new ones are there")
  func keepsWhole() throws {
    try keepAll(sample)
    let names = Set((0..<4).map { Self.name($0, of: manifest) })
    let later = try CatalogueSample(300, atLeast: 8)
    for index in 0..<8 {
      try catalogue().keep(later.bytes(index), index, of: later.manifest)
      #expect(names.isDisjoint(with: directory.names(in: "catalogue")) == (index == 7), "\(index)")
    }
    #expect(directory.names(in: "catalogue").count == 8)
    var without = manifest
    without.catalogue = []
    try catalogue().free(for: without)
    #expect(directory.names(in: "catalogue").isEmpty)
  }

  @Test("what killed processes left is removed, and other files stay")
  func leftOver() throws {
    try keepAll(sample)
    let others = [
      "manifest.json", ".other.packer-0123456789abcdef", "01-4-0123456789abcdef.shard", "4-4-0123456789abcdef.shard", "0-4-0123.shard",
      "-1-4-0123456789abcdef.shard", "catalogue-0123456789abcdef.shard",
    ]
    for name in others { try directory.write([1], to: "catalogue/\(name)") }
    try directory.write([1], to: "catalogue/.\(Self.name(number, of: manifest)).packer-0123456789abcdef")
    try directory.write([1], to: "catalogue/1-4-0123456789abcdef.shard")
    try catalogue().free(for: manifest)
    let kept = (0..<4).map { Self.name($0, of: manifest) } + others
    #expect(Set(directory.names(in: "catalogue")) == Set(kept))
  }

  // MARK: Crashes, and two processes

  @Test(
    "a shard is whole or missing after a crash at any operation, and its name is free again", arguments: [MemoryDisk.Kind.linux, .apple])
  func crashes(_ kind: MemoryDisk.Kind) throws {
    let single = try CatalogueSample(100)
    let (manifest, bytes, id) = (single.manifest, single.bytes(0), single.packs[0].id)
    var points = 0
    while true {
      let disk = MemoryDisk(kind)
      disk.write([0], to: "/place/other")
      let files = MemoryFiles(disk, .stop(before: points))
      let error = failure { () throws(PackError) in try catalogue(files, at: "/place/catalogue").keep(bytes, 0, of: manifest) }
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        let left = disk.after(crash)
        let found = catalogue(MemoryFiles(left), at: "/place/catalogue")
        let isHere = try found.missing(of: manifest).isEmpty
        if error == nil, files.struck == nil { #expect(isHere, "\(crash)") }
        if !isHere { try found.keep(bytes, 0, of: manifest) }
        #expect(try found.lookUp([id], in: manifest).packs.count == 1, "stopped at \(points), \(crash)")
        try found.free(for: manifest)
        #expect(Set(left.tree(below: "/place/catalogue").keys) == [Self.name(0, of: manifest)], "stopped at \(points), \(crash)")
      }
      if files.struck == nil { break }
      points += 1
    }
    #expect(points > 8)
  }

  @Test(
    "two processes that keep and free shards never see half a shard, and the one that is kept stays",
    arguments: [MemoryDisk.Kind.linux, .apple])
  func race(_ kind: MemoryDisk.Kind) async throws {
    let later = try CatalogueSample(100)
    let earlier = try CatalogueSample(100) { $0[0].version += 1 }
    let id = later.packs[0].id
    var point = 0
    while true {
      var isReached = false
      for back in [nil, 4, 9] as [Int?] {
        let disk = MemoryDisk(kind)
        try catalogue(MemoryFiles(disk), at: "/catalogue").keep(earlier.bytes(0), 0, of: earlier.manifest)
        let switches = Interleaving(first: point, second: back)
        let failures = await withTaskGroup(of: String?.self) { group in
          for process in [0, 1] {
            group.addTask {
              let files = MemoryFiles(disk, before: { switches.step(process) })
              let catalogue = Catalogue("/catalogue", files: files, backend: CryptoBackends.standard)
              let error = await WorkerPool.settled { () -> PackError? in
                failure { () throws(PackError) in
                  try catalogue.keep(later.bytes(0), 0, of: later.manifest)
                  if process == 1 { try catalogue.free(for: later.manifest) }
                  guard try catalogue.lookUp([id], in: later.manifest).packs[id] != nil else {
                    throw PackError(.internalError, "the shard is not there")
                  }
                }
              }
              switches.end(process)
              return error?.description
            }
          }
          return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        isReached = isReached || switches.counts[0] > point
        #expect(failures == [nil, nil], "the first until operation \(point), the second until \(back.map(String.init) ?? "its end")")
        let name = Self.name(0, of: later.manifest)
        #expect(disk.after(.powerCut).bytes(of: "/catalogue/\(name)") == later.bytes(0))
        #expect(Set(disk.tree(below: "/catalogue").keys) == [name])
      }
      guard isReached else { break }
      point += 1
    }
    #expect(point > 10)
  }

  // MARK: Making

  @Test("a pack that is not on demand, or too large for a shard, gets no catalogue")
  func unfit() {
    let delivery = failure { () throws(PackError) in _ = try assemble { $0.delivery = .prefetch } }
    #expect(delivery?.code == .invalidManifest)
    let size = failure { () throws(PackError) in _ = try assemble { $0.description = String(repeating: "d", count: 1 << 20) } }
    #expect(size?.code == .invalidManifest)
    let twice = failure { () throws(PackError) in
      _ = try CatalogueAssembly([pack, pack], atLeast: 1, defaults: manifest.defaults, backend: CryptoBackends.standard)
    }
    #expect(twice?.code == .invalidManifest)
  }

  private func assemble(_ change: (inout ManifestPack) -> Void) throws(PackError) -> CatalogueAssembly {
    var pack = pack
    change(&pack)
    return try CatalogueAssembly([pack], atLeast: 1, defaults: manifest.defaults, backend: CryptoBackends.standard)
  }

  @Test("there are as few shards as have less than 512 KiB of JSON each, and never fewer than before")
  func fewest() throws {
    #expect(try CatalogueSample(0).assembly.shards == [])
    #expect(try CatalogueSample(1).assembly.shards.map(\.maxCount) == [1])
    let least = try CatalogueSample(3, atLeast: 16).assembly.shards
    #expect(least.count == 16 && least.reduce(0) { $0 + $1.maxCount } == 3)
    let long = try CatalogueSample(12) { packs in
      for index in packs.indices { packs[index].description = String(repeating: "d", count: 200_000) }
    }
    let count = long.assembly.shards.count
    #expect(count >= 8 && long.assembly.shards.allSatisfy { $0.contentSize < 512 << 10 })
    // With half as many, one of them would be larger.
    let fewer = try SmallCatalogue(long.packs, count: count / 2, defaults: long.manifest.defaults)
    #expect(fewer.shards.contains { $0.contentSize >= 512 << 10 })
  }

  @Test("the shards do not depend on the order of the packs")
  func order() throws {
    var random = SeededGenerator(seed: 25)
    let other = try CatalogueSample(300, atLeast: 4) { $0.shuffle(using: &random) }
    #expect(sample.assembly.shards == other.assembly.shards)
  }

  @Test("a changed, a new and a removed pack change one shard each")
  func changes() throws {
    for change in 0..<3 {
      let later = try CatalogueSample(300, atLeast: 4) { packs in
        switch change {
        case 0: packs[200].version += 1
        case 1:
          var new = packs[200]
          new.id += "-copy"
          packs.append(new)
        default: packs.remove(at: 200)
        }
      }.assembly.shards
      let changed = zip(sample.assembly.shards, later).count { $0 != $1 }
      #expect(changed == 1, "\(change)")
    }
  }

  @Test("a shard with the JSON of an earlier one has its bytes")
  func reuse() throws {
    let json = try ShardContent.bytes(sample.packs(in: number), manifest.defaults)
    let earlier = try CompressionContext(level: 1).compressed(json)
    let digest = try CryptoBackends.standard.digest(of: json.byteSpan)
    let again = try CatalogueAssembly(
      sample.packs, atLeast: 4, defaults: manifest.defaults, backend: CryptoBackends.standard, earlier: [digest: earlier])
    #expect(again.files.map(\.isReused) == [false, true, false, false])
    #expect(again.files[number].bytes == earlier && again.files[0].bytes == sample.bytes(0))
  }
}

/// Packs on demand like those of a large release, and their catalogue.
struct CatalogueSample: Sendable {
  /// In ascending order of their ids, unless they were changed.
  let packs: [ManifestPack]
  let assembly: CatalogueAssembly
  let manifest: Manifest

  /// Makes `count` packs with so many deltas each, and changes some of them.
  init(_ count: Int, atLeast least: Int = 1, deltas: Int = 0, _ change: (inout [ManifestPack]) -> Void = { _ in }) throws {
    let backend = CryptoBackends.standard
    func digest(_ text: String) throws(PackError) -> [UInt8] { try backend.digest(of: Array(text.utf8).byteSpan) }
    let defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")
    var packs: [ManifestPack] = []
    for number in 0..<count {
      let (id, sha256) = (Self.id(number), try digest("pack \(number)"))
      var pack = ManifestPack(
        id: id, version: UInt64(1 + number % 7), url: defaults.url(id, sha256) ?? "", size: UInt64(1000 + number), sha256: sha256,
        contentRoot: try digest("root \(number)"), contentSize: UInt64(2000 + number), installSize: 8192, files: 3, maxFrame: 1000,
        keyID: "e545120e613dd715", delivery: .onDemand, install: .unpacked, tags: ["all", "world-\(number / 50)"])
      for delta in 0..<deltas {
        pack.deltas.append(
          ManifestDelta(bases: [try digest("base \(number) \(delta)")], size: 100, sha256: try digest("delta \(number) \(delta)")))
      }
      pack.deltas.sort { $0.sha256.lexicographicallyPrecedes($1.sha256) }
      packs.append(pack)
    }
    change(&packs)
    self.packs = packs
    assembly = try CatalogueAssembly(packs, atLeast: least, defaults: defaults, backend: backend)
    var manifest = Manifest.sample(packs: [.sample()])
    manifest.defaults = defaults
    manifest.catalogue = assembly.shards
    self.manifest = manifest
  }

  static func id(_ number: Int) -> String {
    let digits = String(number)
    return "level-" + String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The file of a shard.
  func bytes(_ number: Int) -> [UInt8] { assembly.files[number].bytes }

  /// The packs in a shard, in ascending order of their ids.
  func packs(in number: Int) throws -> [ManifestPack] {
    try packs.filter { try Shard.number(of: $0.id, among: assembly.files.count) == number }.sorted { $0.id.precedes($1.id) }
  }
}
