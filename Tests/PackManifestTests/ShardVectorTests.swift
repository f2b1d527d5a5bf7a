import TestSupport
import Testing

@Suite("A client gives the expected result for every vector of a shard")
struct ShardVectorTests {
  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(ShardVector.all.count > 130)
    for name in ShardVector.all { #expect(["ok", "damaged"].contains(try ShardVector(named: name).expect), "\(name)") }
  }

  @Test("a client gives the class that the vector expects, and for a wrong file that it is another one", arguments: ShardVector.all)
  func client(_ name: String) throws {
    let vector = try ShardVector(named: name)
    let manifest = try Manifest(parsingSigned: vector.signed.byteSpan)
    for backend in CryptoBackends.all {
      var packs: [ManifestPack] = []
      let error = failure { () throws(PackError) in
        packs = try ShardFile.packs(vector.bytes.byteSpan, vector.shard, of: manifest, backend: backend)
      }
      let expected: PackError.Code? = vector.expect == "ok" ? nil : name.hasPrefix("file-") ? .wrongShard : .damagedManifest
      #expect(error?.code == expected, "\(name) with \(backend.name): \(error?.description ?? "no error")")
      #expect(packs.map { Self.json($0.id) } == vector.ids)
    }
  }

  private static func json(_ text: String) -> String {
    var writer = CanonicalWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test("the catalogues of the known answers of FORMAT.md §9.7 have that many shards, with that content")
  func knownAnswers() throws {
    let backend = CryptoBackends.standard
    func digest(_ text: String) throws -> [UInt8] { try backend.digest(of: Array(text.utf8).byteSpan) }
    func delta(_ i: Int, _ j: Int) throws -> ManifestDelta {
      let bases = try (0...j % 4).map { (k: Int) throws -> [UInt8] in try digest("base \(i) \(j) \(k)") }
      return ManifestDelta(bases: bases, size: UInt64(1 + j), sha256: try digest("delta \(i) \(j)"))
    }
    let whole = try CatalogueSample(1000)
    let answers = [
      (whole.packs, [1000], 313_511, "728afb7e76e96f7defdffcd963eadbed04362ee2ded83fcfc95ab06043c2a327"),
      (
        try whole.packs.prefix(200).enumerated().map { (i: Int, pack: ManifestPack) throws -> ManifestPack in
          var pack = pack
          pack.deltas = try (0...i % 64).map { (j: Int) throws -> ManifestDelta in try delta(i, j) }
            .sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
          return pack
        }, [54, 55, 46, 45], 1_712_716, "049de4a5d0b9d4a59d940b5baae1d1ae61fc8f5fe08c802bf95338bb24c2de39"
      ),
    ]
    var random = SeededGenerator()
    for (packs, counts, size, sha256) in answers {
      var manifest = whole.manifest
      let assembly = try CatalogueAssembly(packs.shuffled(using: &random), atLeast: 1, defaults: manifest.defaults, backend: backend)
      manifest.catalogue = assembly.shards
      #expect(assembly.shards.map(\.maxCount) == counts.map(UInt64.init))
      var content: [UInt8] = []
      for (number, file) in assembly.files.enumerated() {
        content += try ShardContent.bytes(ShardFile.packs(file.bytes.byteSpan, number, of: manifest), manifest.defaults)
      }
      #expect(content.count == size)
      #expect(try backend.digest(of: content.byteSpan).hex == sha256)
    }
  }
}
