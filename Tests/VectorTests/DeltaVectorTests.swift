import Foundation
import TestSupport
import Testing

@Suite("A reader gives the expected result for every vector of a delta", .bounded)
struct DeltaVectorTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(TestVector.deltas.count > 200 || TestVector.folder.lastPathComponent != "Vectors")
    for name in TestVector.deltas { #expect(Class.all.contains(try TestVector(named: name).expect), "\(name)") }
  }

  @Test("a delta unpacks to the records of its vector, or gives its class and leaves nothing", arguments: TestVector.deltas)
  func unpacking(_ name: String) async throws {
    let vector = try TestVector(named: name)
    for (number, backend) in CryptoBackends.all.enumerated() {
      try directory.makeDirectory("room\(number)")
      let path = directory("room\(number)/out")
      let outcome = await Class.of { () async throws(PackError) in
        let pack = try open(vector, backend)
        try await pack.unpack(to: path, jobs: 2)
      }
      #expect(outcome.name == vector.expect, "\(name) with \(backend.name): \(outcome.message)")
      #expect(directory.names(in: "room\(number)") == (outcome.name == "ok" ? ["out"] : []), "\(name)")
      if outcome.name == "ok" { #expect(try records(SampleTree(reading: path)) == Set(vector.records), "\(name)") }
    }
  }

  @Test(
    "what is wrong in a delta is refused when it is opened, before anything of it is listed",
    arguments: TestVector.deltas.filter { $0.contains("/hostile/") })
  func opening(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let outcome = await Class.of { () async throws(PackError) in _ = try open(vector, CryptoBackends.standard) }
    // Only who reads this file of the base notices, or who makes the tree.
    let isLater = Self.refusedLater.contains { name.hasSuffix("/\($0).delta-vector") }
    #expect(outcome.name == (isLater ? "ok" : vector.expect), "\(name): \(outcome.message)")
  }

  private static let refusedLater = ["base-digest", "list-directories-65537"]

  @Test(
    "the entries of an open delta are those of the vector, each with its content, and parts of contents are right",
    arguments: TestVector.deltas.filter { $0.contains("/valid/") })
  func reading(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let pack = try open(vector, CryptoBackends.standard)
    var listed: [TestVector.Record] = []
    try pack.forEachEntry { entry in
      listed.append(
        TestVector.Record(
          path: entry.path + (entry.kind == .directory ? "/" : ""), sha256: entry.kind == .directory ? nil : entry.sha256.hex))
    }
    #expect(listed == vector.records)
    for record in vector.records where record.sha256 != nil {
      let content = try pack.read(record.path)
      #expect(try sha256(content) == record.sha256)
      guard content.count > 1 else { continue }
      let middle = UInt64(content.count / 2)
      #expect(try pack.read(record.path, range: middle - 1..<middle + 1) == Array(content[Int(middle) - 1..<Int(middle) + 1]))
    }
    try await pack.verify(jobs: 1)
  }

  @Test("a delta without bases is refused with advice, and a full pack needs none")
  func withoutBases() throws {
    let vector = try TestVector(named: try #require(TestVector.deltas.first { $0.hasSuffix("valid/changed.delta-vector") }))
    let file = try directory.write(vector.pack, to: "delta.pack")
    let key = try vector.key.packKey()
    let error = #expect(throws: PackError.self) { try Pack.open(file, key: key) }
    #expect(error?.code == .unsupported && error?.advice == .chooseBase)
    let base = Self.basesFolder.appendingPathComponent("old.pack").path
    let full = try Pack.open(base, key: key)
    #expect(try Pack.open(base, key: key, over: [full]).contentRoot == full.contentRoot)
  }

  private static let basesFolder = TestVector.folder.appendingPathComponent("deltas/bases")

  /// Opens the bases of a vector in their order, then the delta.
  private func open(_ vector: TestVector, _ backend: any CryptoBackend) throws(PackError) -> Pack {
    let key = try vector.key.packKey()
    var bases: [Pack] = []
    for line in vector.bases {
      let parts = line.split(separator: " ")
      let below = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
      let path = Self.basesFolder.appendingPathComponent(String(parts[0])).path
      let base = try Pack.open(path, key: key, over: Array(bases.suffix(below)), backend: backend)
      bases = bases.dropLast(below) + [base]
    }
    let file = directory("vector.pack")
    do {
      try Data(vector.pack).write(to: URL(fileURLWithPath: file))
    } catch {
      throw PackError(.cannotWrite, "\(error)")
    }
    return try Pack.open(file, key: key, over: bases, backend: backend)
  }

  private func records(_ tree: SampleTree) throws -> Set<TestVector.Record> {
    var found: Set<TestVector.Record> = []
    for (path, file) in tree.files { found.insert(.init(path: path, sha256: try sha256(file.bytes))) }
    for path in tree.emptyDirectories { found.insert(.init(path: path + "/")) }
    return found
  }

  private func sha256(_ bytes: [UInt8]) throws -> String {
    let digest = try CryptoBackends.standard.makeDigest()
    try digest.update(bytes.byteSpan)
    return try digest.finish().hex
  }
}
