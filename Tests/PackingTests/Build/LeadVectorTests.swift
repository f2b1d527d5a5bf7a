import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate

@Suite("A writer and a verifier give the expected result for every vector of a lead", .bounded)
struct LeadVectorTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(LeadVector.all.count > 25)
    for name in LeadVector.all { #expect(["ok", "damaged"].contains(try LeadVector(named: name).expect), "\(name)") }
  }

  @Test("a verifier takes a lead if it follows from its pack, and says of another file that it is one", arguments: LeadVector.all)
  func verifier(_ name: String) throws {
    let vector = try LeadVector(named: name)
    let (stream, size) = (vector.stream, UInt64(vector.pack.count))
    guard stream.leavesSize(packSize: size) != nil else { return #expect(vector.expect == "damaged") }
    let digest = try CryptoBackends.standard.digest(of: vector.pack.byteSpan)
    let entry = ManifestPack(
      id: "movie", version: 7, url: "https://cdn.example.com/movie.pack", size: size, sha256: digest, contentRoot: digest, contentSize: 1,
      installSize: 1, files: 3, maxFrame: 1, keyID: "e545120e613dd715", delivery: .essential, install: .packed)
    _ = try directory.write(vector.pack, to: entry.fileName)
    _ = try directory.write(vector.bytes, to: ManifestPack.leadName(entry.id, stream.sha256))
    let place = ReleaseInspection.Place(directory: directory(""), manifest: "")
    let sighting = try LeadSighting(stream, of: entry, in: place, isQuick: false, files: FaultyFiles())
    #expect(sighting.isPublished == !name.hasPrefix("file-"), "\(name)")
    #expect(sighting.isOfPack == (name.hasPrefix("file-") ? nil : vector.expect == "ok"), "\(name)")
  }

  @Test(
    "a writer makes the same lead of a pack and the files of its launch",
    arguments: try LeadVector.all.filter { try !LeadVector(named: $0).launch.isEmpty })
  func writer(_ name: String) throws {
    let vector = try LeadVector(named: name)
    let file = try directory.write(vector.pack, to: "movie.pack")
    for backend in CryptoBackends.all {
      let pack = try Pack(file, key: key(filledFrom: 0), files: FaultyFiles(), backend: backend)
      let order = LoadOrder(launch: vector.launch, later: [])
      let lead = try #require(try PackLead.of(pack, by: order, files: FaultyFiles(), backend: backend), "\(name)")
      #expect(try lead.write(to: directory("movie.lead")) == vector.stream, "\(name) with \(backend.name)")
      #expect(directory.bytes(of: "movie.lead") == vector.bytes, "\(name) with \(backend.name)")
      #expect(try lead.stream() == vector.stream)
    }
  }
}
