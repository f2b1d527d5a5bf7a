import TestSupport
import Testing

@Suite("Shards, and deltas in entries")
struct ShardTests {
  private static let defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")

  private static func shard(size: UInt64 = 300, contentSize: UInt64 = 500, maxCount: UInt64 = 3) -> Shard {
    Shard(size: size, contentSize: contentSize, maxCount: maxCount, sha256: [UInt8](repeating: 7, count: 32))
  }

  private static func manifest(_ shards: [Shard], packs: [ManifestPack] = [.sample()]) -> Manifest {
    var manifest = Manifest.sample(packs: packs)
    manifest.defaults = defaults
    manifest.catalogue = shards
    return manifest
  }

  // MARK: The list of a manifest

  private static let first = #"{"contentSize":500,"maxCount":3,"sha256":"\#([UInt8](repeating: 7, count: 32).hex)","size":300}"#

  /// The error of reading a manifest with this JSON as its catalogue.
  private func error(ofCatalogue json: String, hasBase: Bool = true) -> PackError? {
    let front = hasBase ? #"{"base":"https://cdn.example.com/packs/","# : "{"
    let text = front + #""catalogue":\#(json),"expires":"2027-01-01T00:00:00Z","packs":[],"schema":"pack-manifest/1","version":1}"#
    let bytes = Array(text.utf8)
    return failure { () throws(PackError) in _ = try Manifest(parsingSigned: bytes.byteSpan) }
  }

  private func error(ofWriting manifest: Manifest) -> PackError? {
    failure { () throws(PackError) in _ = try manifest.signedBytes() }
  }

  @Test("a number of shards that is not a power of two up to 1024 is neither read nor written")
  func counts() {
    for count in [3, 5, 6, 7, 12, 1000, 1023, 1025, 2048] {
      let list = "[" + Array(repeating: Self.first, count: count).joined(separator: ",") + "]"
      #expect(error(ofCatalogue: list)?.code == .damagedManifest, "\(count)")
      #expect(error(ofWriting: Self.manifest(Array(repeating: Self.shard(), count: count)))?.code == .invalidManifest, "\(count)")
    }
    for count in [1, 2, 4, 64, 1024] {
      let list = "[" + Array(repeating: Self.first, count: count).joined(separator: ",") + "]"
      #expect(error(ofCatalogue: list) == nil, "\(count)")
      #expect(error(ofWriting: Self.manifest(Array(repeating: Self.shard(), count: count))) == nil, "\(count)")
    }
    #expect(error(ofCatalogue: "[]")?.code == .damagedManifest)
  }

  @Test("a catalogue without a base is neither read nor written")
  func withoutBase() {
    #expect(error(ofCatalogue: "[\(Self.first)]", hasBase: false)?.code == .damagedManifest)
    var manifest = Self.manifest([Self.shard()])
    manifest.defaults.baseURL = nil
    #expect(error(ofWriting: manifest)?.code == .invalidManifest)
  }

  @Test("the largest shard has 1 MiB of JSON, and its file is not larger than zstd makes it")
  func bounds() {
    let bound = UInt64(Limits.compressBound(500))
    let wrong = [
      Self.shard(size: 0), Self.shard(size: bound + 1), Self.shard(contentSize: 0, maxCount: 0), Self.shard(contentSize: (1 << 20) + 1),
      Self.shard(maxCount: 501), Self.shard(size: .max, contentSize: .max, maxCount: .max),
    ]
    for shard in wrong {
      #expect(error(ofWriting: Self.manifest([shard]))?.code == .invalidManifest, "\(shard)")
      let (size, contentSize, maxCount) = (shard.size, shard.contentSize, shard.maxCount)
      let json = #"[{"contentSize":\#(contentSize),"maxCount":\#(maxCount),"sha256":"\#(shard.sha256.hex)","size":\#(size)}]"#
      #expect(error(ofCatalogue: json)?.code == .damagedManifest, "\(json)")
    }
    for shard in [Self.shard(size: 1, contentSize: 1, maxCount: 0), Self.shard(size: bound), Self.shard(contentSize: 1 << 20)] {
      #expect(error(ofWriting: Self.manifest([shard])) == nil, "\(shard)")
    }
    var short = Self.shard()
    short.sha256.removeLast()
    #expect(error(ofWriting: Self.manifest([short]))?.code == .invalidManifest)
  }

  @Test("a shard that lacks a value, or has one of another kind, is refused, and other keys are passed over")
  func values() {
    let changes = [
      (#""contentSize":500,"#, ""), (#""maxCount":3,"#, ""), (#","size":300"#, ""), (":500", #":"500""#), (":3,", ":3.5,"), ("0707", "07"),
      ("0707", "0G07"), (#""maxCount""#, #""maxcount""#), (#""sha256""#, #""sha512""#), (Self.first, "null"), (Self.first, "[]"),
      (Self.first, ""),
    ]
    for (old, new) in changes {
      let shard = Self.first.replacing(old, with: new, maxReplacements: 1)
      #expect(shard != Self.first && error(ofCatalogue: "[\(shard)]")?.code == .damagedManifest, "\(shard)")
    }
    #expect(error(ofCatalogue: Self.first)?.code == .damagedManifest)
    #expect(error(ofCatalogue: "[\(Self.first.replacing(#""maxCount":3"#, with: #""maxCount":3,"other":[{"a":true}]"#))]") == nil)
  }

  @Test("a manifest is read with the shards that were written, and their change is one of its content")
  func roundTrip() throws {
    let manifest = Self.manifest([Self.shard(), Self.shard(size: 301)])
    let signed = try manifest.signedBytes()
    #expect(try Manifest(parsingSigned: signed.byteSpan) == manifest)
    #expect(try manifest.contentBytes() != Self.manifest([Self.shard(), Self.shard(size: 302)]).contentBytes())
  }

  // MARK: The place of an id

  @Test("an id belongs in the shard that the first bits of its digest say, most significant first")
  func numbers() throws {
    // Made by another implementation of SHA-256.
    let known = [("core", 53), ("level-1", 428), ("level-2", 223), ("a", 687), ("Ä", 712)]
    for backend in CryptoBackends.all {
      for (id, number) in known {
        for bits in 0...Shard.mostBits {
          #expect(try Shard.number(of: id, among: 1 << bits, backend: backend) == number >> (Shard.mostBits - bits), "\(id), \(bits)")
        }
      }
    }
  }

  @Test("only names of shards are names of shards")
  func names() {
    #expect(Self.shard().fileName == "catalogue-0707070707070707.shard" && Shard.isFileName(Self.shard().fileName))
    for name in [
      "", ".shard", "catalogue-.shard", "catalogue-0123456789abcdef", "catalogue-0123456789abcdef.pack", "catalogue-0123456789ABCDEF.shard",
      "catalogue-0123456789abcde.shard", "catalogue-0123456789abcdef0.shard", "Catalogue-0123456789abcdef.shard",
      "0123456789abcdef.shard", "a/catalogue-0123456789abcdef.shard", "catalogue-0-0123456789abcdef.shard",
    ] {
      #expect(!Shard.isFileName(name), "\(name)")
    }
  }

  // MARK: The content of a shard

  private static func pack(_ id: String) -> ManifestPack {
    var pack = ManifestPack.sample(id)
    pack.delivery = .onDemand
    return pack
  }

  /// The ids of four packs that belong in a shard of two, in ascending order.
  private static func ids(in number: Int) throws -> [String] {
    try ["a", "b", "c", "d"].map { try SmallCatalogue.id($0, in: number, of: 2) }
  }

  private func entry(_ id: String) throws -> String {
    let text = String(decoding: try ShardContent.bytes([Self.pack(id)], Self.defaults), as: UTF8.self)
    return String(text.dropFirst(#"{"packs":["#.count).dropLast("]}".count))
  }

  /// The error of reading JSON as one of two shards that may have three entries.
  private func error(ofShard json: String, _ number: Int = 0, packs: [ManifestPack] = [.sample()]) -> PackError? {
    let manifest = Self.manifest([Self.shard(), Self.shard()], packs: packs)
    let bytes = Array(json.utf8)
    return failure { () throws(PackError) in _ = try ShardContent.packs(parsing: bytes.byteSpan, number, of: manifest) }
  }

  private func shard(_ entries: [String]) -> String { #"{"packs":["# + entries.joined(separator: ",") + "]}" }

  @Test("a pack that belongs in another shard is refused")
  func wrongShard() throws {
    for number in [0, 1] {
      let entries = try Self.ids(in: number).prefix(3).map { try entry($0) }
      #expect(error(ofShard: shard(entries), number) == nil)
      let error = error(ofShard: shard(entries), 1 - number)
      #expect(error?.code == .damagedManifest && error?.message.contains("belongs in another shard") == true)
    }
  }

  @Test("a pack that the manifest lists itself is refused")
  func listedTwice() throws {
    let ids = try Self.ids(in: 0)
    let error = error(ofShard: shard([try entry(ids[0])]), packs: [.sample(), .sample(ids[0])])
    #expect(error?.code == .damagedManifest && error?.message.contains("which the manifest lists itself") == true)
    #expect(self.error(ofShard: shard([try entry(ids[1])]), packs: [.sample(), .sample(ids[0])]) == nil)
  }

  @Test("packs that are not in ascending order, or listed twice, are neither read nor written")
  func order() throws {
    let ids = try Self.ids(in: 0)
    for wrong in [[ids[1], ids[0]], [ids[0], ids[0]], [ids[0], ids[2], ids[1]]] {
      #expect(error(ofShard: shard(try wrong.map { try entry($0) }))?.code == .damagedManifest, "\(wrong)")
      let written = failure { () throws(PackError) in _ = try ShardContent.bytes(wrong.map(Self.pack), Self.defaults) }
      #expect(written?.code == .invalidManifest, "\(wrong)")
    }
  }

  @Test("more packs than the manifest says are refused, and fewer are not")
  func tooMany() throws {
    let entries = try Self.ids(in: 1).map { try entry($0) }
    #expect(error(ofShard: shard(entries), 1)?.code == .damagedManifest)
    for count in 0...3 { #expect(error(ofShard: shard(Array(entries.prefix(count))), 1) == nil) }
  }

  @Test("an entry says neither that it is on demand nor that it has no deltas, and no other pack is in a shard")
  func saysNothingNew() throws {
    let id = try Self.ids(in: 0)[0]
    for key in [#""delivery":"onDemand""#, #""delivery":"prefetch""#, #""deltas":[]"#, #""description":"""#] {
      let error = error(ofShard: shard([try entry(id).replacing(#""files""#, with: key + #","files""#)]))
      #expect(error?.code == .damagedManifest && error?.message.hasSuffix("that says nothing new") == true, "\(key)")
    }
    for delivery in [DeliveryClass.essential, .prefetch] {
      var pack = Self.pack(id)
      pack.delivery = delivery
      #expect(failure { () throws(PackError) in _ = try ShardContent.bytes([pack], Self.defaults) }?.code == .invalidManifest)
    }
  }

  @Test("a shard that is no object with packs, or not canonical, is refused, and other keys are passed over")
  func form() throws {
    let entries = shard([try entry(Self.ids(in: 0)[0])])
    #expect(error(ofShard: entries) == nil)
    for wrong in [
      "", "{", "{}", "[]", "null", #"{"Packs":[]}"#, #"{"packs":{}}"#, #"{"packs":[1]}"#, #"{"packs":[{}]}"#, #"{"packs":[],"packs":[]}"#,
      entries + " ", " " + entries, String(entries.dropLast()), entries + entries, entries.replacing(":", with: ": "),
      #"{"z":1,"packs":[]}"#,
    ] {
      #expect(error(ofShard: wrong)?.code == .damagedManifest, "\(wrong)")
    }
    #expect(error(ofShard: #"{"a":[{"packs":true}],"packs":[],"z":"new"}"#) == nil)
  }

  @Test("what is written is read back equal, and has the size that was counted", arguments: 0..<20)
  func random(_ round: Int) throws {
    var random = SeededGenerator(seed: 5_000 + UInt64(round))
    var manifest = Manifest.random(&random)
    for index in manifest.packs.indices {
      manifest.packs[index].delivery = .onDemand
      manifest.packs[index].deltas = Self.deltas(Int.random(in: 0...3, using: &random), &random)
    }
    manifest.defaults.baseURL = manifest.defaults.baseURL ?? "https://other.example.com/"
    let json = try ShardContent.bytes(manifest.packs, manifest.defaults)
    var root = manifest
    root.packs = []
    root.catalogue = [Shard(size: 1, contentSize: UInt64(json.count), maxCount: UInt64(manifest.packs.count), sha256: [])]
    #expect(try ShardContent.packs(parsing: json.byteSpan, 0, of: root) == manifest.packs)
    let commas = max(0, manifest.packs.count - 1)
    #expect(json.count == manifest.packs.reduce(#"{"packs":[]}"#.utf8.count + commas) { $0 + $1.sizeInShard(manifest.defaults) })
    // The same deltas in the manifest itself.
    let signed = try manifest.signedBytes()
    #expect(try Manifest(parsingSigned: signed.byteSpan) == manifest)
  }

  // MARK: Deltas

  private static func deltas(_ count: Int, _ random: inout SeededGenerator) -> [ManifestDelta] {
    (0..<count).map { number in
      let bases = (0...number % Limits.deltaBases).map { _ in random.bytes(32) }
      return ManifestDelta(bases: bases, size: 1 + UInt64(number), sha256: random.bytes(32))
    }
    .sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
  }

  /// The JSON of deltas, whatever they are.
  private static func text(_ deltas: [ManifestDelta]) -> String {
    let texts = deltas.map { delta in
      let bases = delta.bases.map { "\"\($0.hex)\"" }.joined(separator: ",")
      return #"{"bases":[\#(bases)],"sha256":"\#(delta.sha256.hex)","size":\#(delta.size)}"#
    }
    return "[\(texts.joined(separator: ","))]"
  }

  private struct BrokenDeltas: Sendable {
    let what: String
    let change: @Sendable (inout [ManifestDelta]) -> Void

    static let all = [
      BrokenDeltas("no base") { $0[0].bases = [] },
      BrokenDeltas("five bases") { $0[0].bases = (0..<5).map { [UInt8](repeating: $0, count: 32) } },
      BrokenDeltas("a base twice") { $0[0].bases += $0[0].bases },
      BrokenDeltas("a short base") { $0[0].bases[0].removeLast() },
      BrokenDeltas("a short digest") { $0[0].sha256.removeLast() },
      BrokenDeltas("no bytes") { $0[0].size = 0 },
      BrokenDeltas("too many bytes") { $0[0].size = 1 << 53 },
      BrokenDeltas("descending digests") { $0.swapAt(0, 1) },
      BrokenDeltas("a delta twice") { $0.append($0[1]) },
      BrokenDeltas("65 deltas") { deltas in
        for number in UInt8(2)..<65 { deltas.append(ShardTests.delta(number)) }
      },
    ]

    init(_ what: String, _ change: @escaping @Sendable (inout [ManifestDelta]) -> Void) {
      self.what = what
      self.change = change
    }
  }

  private static func delta(_ number: UInt8) -> ManifestDelta {
    ManifestDelta(bases: [[UInt8](repeating: 0xFF, count: 32)], size: 100, sha256: [UInt8](repeating: number, count: 32))
  }

  /// A manifest of one pack, with a base, which deltas need.
  private static func manifest(_ pack: ManifestPack) -> Manifest {
    var manifest = Manifest.sample(packs: [pack])
    manifest.defaults.baseURL = "https://other.example.com/"
    return manifest
  }

  @Test("deltas without a base are neither read nor written")
  func deltasWithoutBase() throws {
    var pack = ManifestPack.sample()
    pack.deltas = [Self.delta(0)]
    var manifest = Self.manifest(pack)
    let signed = String(decoding: try manifest.signedBytes(), as: UTF8.self)
    let bytes = Array(signed.replacing(#""base":"https://other.example.com/","#, with: "").utf8)
    #expect(failure { () throws(PackError) in _ = try Manifest(parsingSigned: bytes.byteSpan) }?.code == .damagedManifest)
    manifest.defaults.baseURL = nil
    #expect(error(ofWriting: manifest)?.code == .invalidManifest)
  }

  /// The codes of the errors of reading deltas in an entry of the manifest, and in one of a shard.
  private func codes(ofDeltas json: String) throws -> [PackError.Code?] {
    let signed = String(decoding: try Self.manifest(.sample()).signedBytes(), as: UTF8.self)
    let bytes = Array(signed.replacing(#""files""#, with: #""deltas":\#(json),"files""#).utf8)
    let own = failure { () throws(PackError) in _ = try Manifest(parsingSigned: bytes.byteSpan) }
    let id = try Self.ids(in: 0)[0]
    let other = error(ofShard: shard([try entry(id).replacing(#""files""#, with: #""deltas":\#(json),"files""#)]))
    return [own?.code, other?.code]
  }

  @Test("deltas that break a rule are neither read nor written, in the manifest and in a shard", arguments: BrokenDeltas.all.indices)
  func brokenDeltas(_ index: Int) throws {
    let broken = BrokenDeltas.all[index]
    var deltas = [Self.delta(0), Self.delta(1)]
    #expect(try codes(ofDeltas: Self.text(deltas)) == [nil, nil])
    broken.change(&deltas)
    #expect(try codes(ofDeltas: Self.text(deltas)) == [.damagedManifest, .damagedManifest], "\(broken.what)")
    var pack = Self.pack("a")
    pack.deltas = deltas
    let written = failure { () throws(PackError) in _ = try ShardContent.bytes([pack], Self.defaults) }
    #expect(written?.code == .invalidManifest, "\(broken.what)")
    #expect(error(ofWriting: Self.manifest(pack))?.code == .invalidManifest, "\(broken.what)")
  }

  @Test("a delta that lacks a value, or has one of another kind, is refused, and other keys are passed over")
  func deltaValues() throws {
    let text = Self.text([Self.delta(0)])
    let changes = [
      (#""bases""#, #""base""#), (#","size":100"#, ""), (":100", ":-1"), (#""sha256""#, #""sha255""#), ("[{", "{"), ("}]", ",}]"),
      (#"["ff"#, #"[["ff"#),
    ]
    for (old, new) in changes {
      let wrong = text.replacing(old, with: new, maxReplacements: 1)
      #expect(wrong != text)
      #expect(try codes(ofDeltas: wrong) == [.damagedManifest, .damagedManifest], "\(wrong)")
    }
    #expect(try codes(ofDeltas: text.replacing(#","size""#, with: #","shape":{},"size""#)) == [nil, nil])
  }

  @Test("a delta is not chosen without all of its bases, or if it is not smaller than the pack")
  func noCheapestDelta() {
    var pack = ManifestPack.sample()
    let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    #expect(pack.cheapestDelta(over: [first, second]) == nil)
    pack.deltas = [ManifestDelta(bases: [first, second], size: pack.size - 1, sha256: first)]
    for roots in [[], [first], [second], [pack.contentRoot]] as [Set<[UInt8]>] { #expect(pack.cheapestDelta(over: roots) == nil) }
    #expect(pack.cheapestDelta(over: [first, second]) == pack.deltas[0])
    pack.deltas[0].size = pack.size
    #expect(pack.cheapestDelta(over: [first, second]) == nil)
  }

  @Test("the smallest delta is chosen, and of two with one size the one with the lower digest, in any order")
  func cheapestDelta() {
    var pack = ManifestPack.sample()
    let (here, gone) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    func delta(_ number: UInt8, _ size: UInt64, over base: [UInt8]) -> ManifestDelta {
      ManifestDelta(bases: [base], size: size, sha256: [UInt8](repeating: number, count: 32))
    }
    pack.deltas = [delta(1, 101, over: here), delta(2, 99, over: gone), delta(3, 100, over: here), delta(4, 100, over: here)]
    for _ in 0..<2 {
      #expect(pack.cheapestDelta(over: [here]) == delta(3, 100, over: here))
      pack.deltas.reverse()
    }
  }

  @Test("64 deltas over four bases are read as they were written")
  func mostDeltas() throws {
    var random = SeededGenerator(seed: 6_000)
    var pack = ManifestPack.sample()
    pack.deltas = Self.deltas(ManifestDelta.largestCount, &random)
    let manifest = Self.manifest(pack)
    let signed = try manifest.signedBytes()
    #expect(try Manifest(parsingSigned: signed.byteSpan) == manifest)
  }
}
