import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject
@testable import PackPublish

/// A project with a pack that is kept packed and has an order.
private struct LedProject {
  let project: ReleaseProject
  var directory: TemporaryDirectory { project.directory }

  /// - Parameter launch: The files of the launch, by the names of what they have.
  init(_ launch: [String] = ["index.html", "first.bin"], install: String = "packed") throws {
    project = try ReleaseProject(
      """
      serve: {baseURL: "https://cdn.example.com/packs/"}
      packs:
        - {id: movie, root: build/movie, install: \(install), layout: movie.order}

      """)
    var random = SeededGenerator(seed: 5)
    try project.add("movie/index.html", Array("<title>film</title>".utf8))
    try project.add("movie/first.bin", random.bytes(100_000))
    try project.add("movie/rest.bin", random.bytes(900_000))
    try order(launch)
  }

  func order(_ launch: [String]) throws { try directory.write(LoadOrder(launch: launch, later: []).document, to: "movie.order") }

  func entry() throws -> ManifestPack { try #require(try project.pack("movie")) }
  func path(of stream: ManifestStream) -> String { "dist/\(ManifestPack.leadName("movie", stream.sha256))" }

  func rules(isQuick: Bool = false) async throws -> [String] {
    var verification = ReleaseVerification(directory("dist"), now: ReleaseProject.time(2).now)
    verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    (verification.isQuick, verification.jobs) = (isQuick, 2)
    let report = try await verification.run(key: Shared(try TestSupport.key(filledFrom: 0)))
    return report.findings.map(\.rule.id).filter { $0.hasPrefix("PK20") }
  }
}

@Suite("The lead of a pack", .bounded)
struct LeadTests {
  @Test("has the digest of each segment, the end of the pack, and its start up to what is read at the launch")
  func content() async throws {
    let sample = try LedProject()
    try await sample.project.build()
    let entry = try sample.entry()
    let stream = try #require(entry.stream)
    let bytes = try #require(sample.directory.bytes(of: "dist/\(entry.fileName)"))
    // Each of 8 KiB, because there is little, but for the first, which has the header, too.
    var (leaves, start, end) = ([] as [UInt8], 0, 132 + 12 + 8192)
    let headerSize = Int(bytes[96]) | Int(bytes[97]) << 8
    end = 132 + headerSize + 8192
    var ends: [Int] = []
    while start < bytes.count {
      leaves += try CryptoBackends.standard.digest(of: bytes[start..<min(end, bytes.count)].byteSpan)
      (start, end) = (end, end + 8192)
      ends.append(start)
    }
    let (launch, tail) = (Int(stream.launch), Int(stream.tail))
    #expect(ends.contains(launch) && ends.contains(tail) && launch <= tail)
    let lead = try #require(sample.directory.bytes(of: sample.path(of: stream)))
    #expect(lead == leaves + bytes[tail...] + bytes[..<launch])
    let digest = try CryptoBackends.standard.digest(of: lead.byteSpan)
    #expect(lead.count == Int(stream.size) && digest == stream.sha256)
    #expect(try CryptoBackends.standard.digest(of: leaves.byteSpan) == stream.leaves)
    // What is read at the launch does not shrink, and the next file would add a hundred segments.
    #expect((100_000...(100_000 + 2 * 8192)).contains(launch) && bytes.count - tail <= 2 * 8192)
    #expect(try await sample.rules() == [])
  }

  @Test(
    "has few digests and small edges by segments for the size of the content, of 64 KiB without an order",
    arguments: zip(
      [0, 2_097_152, 2_097_153, 8_388_608, 33_554_432, 33_554_433, 1_099_511_627_776] as [UInt64],
      [8192, 8192, 16384, 16384, 32768, 65536, 65536] as [UInt32]))
  func segments(_ contentSize: UInt64, _ segment: UInt32) {
    var settings = PackSettings()
    #expect(settings.segmentSize(forContentOf: contentSize) == 65536)
    settings.order = LoadOrder(launch: ["index.html"], later: [])
    #expect(settings.segmentSize(forContentOf: contentSize) == segment)
    settings.segmentSize = 4096
    #expect(settings.segmentSize(forContentOf: contentSize) == 4096)
  }

  @Test("is the same for the same tree and order, and another one for another launch of the same content")
  func repeated() async throws {
    let (sample, other) = (try LedProject(), try LedProject())
    try await sample.project.build()
    try await other.project.build()
    let entry = try sample.entry()
    #expect(try other.entry() == entry)
    try await other.project.build(on: 2)
    #expect(try other.entry() == entry)
    try other.order(["index.html"])
    try await other.project.build(on: 3)
    let changed = try other.entry()
    #expect(changed.contentRoot == entry.contentRoot && changed.stream?.sha256 != entry.stream?.sha256)
    let (less, more) = (try #require(changed.stream), try #require(entry.stream))
    #expect(less.launch < more.launch)
    let old = ManifestPack.leadName("movie", try #require(entry.stream).sha256)
    #expect(!other.directory.names(in: "dist").contains(old))
  }

  @Test(
    "is not made of a pack that is unpacked, is mostly launch, or has none of it",
    arguments: [
      (["index.html"], "unpacked"), (["index.html", "first.bin", "rest.bin"], "packed"), (["gone.html"], "packed"), ([], "packed"),
    ])
  func none(_ launch: [String], _ install: String) async throws {
    let sample = try LedProject(launch, install: install)
    try await sample.project.build()
    #expect(try sample.entry().stream == nil)
    #expect(!sample.directory.names(in: "dist").contains { $0.hasSuffix(".lead") })
  }

  @Test("is missed, cut, changed, or left over", arguments: ["PK2001", "PK2003", "PK2004", "PK2002"])
  func wrongFile(_ rule: String) async throws {
    let sample = try LedProject()
    try await sample.project.build()
    let path = sample.path(of: try #require(try sample.entry().stream))
    var bytes = try #require(sample.directory.bytes(of: path))
    switch rule {
    case "PK2001": try sample.project.remove(path)
    case "PK2002": try sample.directory.write(bytes, to: "dist/movie-0123456789abcdef.lead")
    case "PK2003": try sample.directory.write(bytes.dropLast(), to: path)
    default:
      bytes[bytes.count / 2] ^= 1
      try sample.directory.write(bytes, to: path)
    }
    #expect(try await sample.rules() == [rule])
    #expect(try await sample.rules(isQuick: true) == [rule])
  }

  @Test("is refused if it is signed, but not that of its pack: another digest, or ends that are none of a segment")
  func ofOtherPack() async throws {
    let sample = try LedProject()
    try await sample.project.build()
    var entry = try sample.entry()
    let stream = try #require(entry.stream)
    let place = ReleaseInspection.Place(directory: sample.directory("dist"), manifest: "")
    func isOfPack(_ stream: ManifestStream) throws -> Bool? {
      entry.stream = stream
      return try LeadSighting(stream, of: entry, in: place, isQuick: false, files: SystemFiles()).isOfPack
    }
    #expect(try isOfPack(stream) == true)
    var bytes = try #require(sample.directory.bytes(of: sample.path(of: stream)))
    bytes[40] ^= 1
    var other = stream
    other.sha256 = try CryptoBackends.standard.digest(of: bytes.byteSpan)
    try sample.directory.write(bytes, to: sample.path(of: other))
    #expect(try isOfPack(other) == false)
    for step: Int64 in [1, -8192] {
      other = stream
      (other.launch, other.tail) = (UInt64(Int64(stream.launch) + step), UInt64(Int64(stream.tail) + step))
      try sample.directory.write(try #require(sample.directory.bytes(of: sample.path(of: stream))), to: sample.path(of: other))
      #expect(try isOfPack(other) == false, "\(other)")
    }
  }

  @Test("is published, recorded and kept with its pack")
  func published() async throws {
    let sample = try LedProject()
    try await sample.project.build()
    let entry = try sample.entry()
    let lead = ManifestPack.leadName("movie", try #require(entry.stream).sha256)
    #expect(try ReleaseFiles(sample.directory("dist")).files.map(\.name) == [entry.fileName, lead].sorted())
    let path = sample.directory("dist/\(lead)")
    try Data("another".utf8).write(to: URL(fileURLWithPath: path))
    var recording = ReleaseRecording(dist: sample.directory("dist"), lockPath: sample.directory("packer.lock.json"))
    recording.files = FaultyFiles()
    #expect(throws: PackError.self) { try recording.record() }
  }
}
