import Foundation
import TestSupport
import Testing

@testable import PackGate
@testable import PackStore

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
        let (delta, bases) = try open(vector, backend)
        let unpacking = DeltaUnpacking(delta, over: bases, jobs: 2)
        let made = try await unpacking.run(contentLimit: Limits.contentSize) { (_, _) throws(PackError) in
          try OutputDirectory(path, files: SystemFiles())
        }
        try made.output.commit()
      }
      #expect(outcome.name == vector.expect, "\(name) with \(backend.name): \(outcome.message)")
      #expect(directory.names(in: "room\(number)") == (outcome.name == "ok" ? ["out"] : []), "\(name)")
      if outcome.name == "ok" { #expect(try records(SampleTree(reading: path)) == Set(vector.records), "\(name)") }
    }
  }

  @Test(
    "what is wrong in a delta is refused before anything of a base is taken into the tree",
    arguments: TestVector.deltas.filter { $0.contains("/hostile/") })
  func applying(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let outcome = await Class.of { () async throws(PackError) in
      let (delta, bases) = try open(vector, CryptoBackends.standard)
      var application = try DeltaApplication(delta, over: bases)
      try application.prove()
    }
    // Only who reads this file of the base notices, or who makes the tree.
    let isLater = Self.refusedLater.contains { name.hasSuffix("/\($0).delta-vector") }
    #expect(outcome.name == (isLater ? "ok" : vector.expect), "\(name): \(outcome.message)")
  }

  private static let refusedLater = ["base-digest", "list-directories-65537"]

  @Test(
    "a pack that is made of a delta has the records of the vector, and passes every check of a full pack",
    arguments: TestVector.deltas.filter { $0.contains("/valid/") })
  func rewriting(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let (delta, bases) = try open(vector, CryptoBackends.standard)
    let pack = try await rewrite(delta, over: bases, key: vector.key)
    var listed: [TestVector.Record] = []
    try pack.forEachEntry { entry in
      listed.append(
        TestVector.Record(
          path: entry.path + (entry.kind == .directory ? "/" : ""), sha256: entry.kind == .directory ? nil : entry.sha256.hex))
    }
    #expect(listed == vector.records)
    _ = try await PackVerification.run(pack, allowsUnportablePaths: true)
  }

  @Test(
    "a delta gives the same records if its bases were unpacked, as a tree and as a pack",
    arguments: TestVector.deltas.filter { $0.contains("/valid/") })
  func overTrees(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let (delta, packs) = try open(vector, CryptoBackends.standard)
    var trees: [any DeltaBase] = []
    for (number, pack) in packs.enumerated() {
      guard let pack = pack as? Pack else { continue }
      let path = directory("base\(number)")
      try await pack.unpack(to: path)
      let root = try SystemFiles().open(path, .directory, in: nil)
      trees.append(
        try BaseTree(root, path: path, files: SystemFiles(), backend: CryptoBackends.standard) { () throws(PackError) in })
    }
    let made = try await DeltaUnpacking(delta, over: trees).run(contentLimit: Limits.contentSize) {
      (_, _) throws(PackError) in try OutputDirectory(directory("out"), files: SystemFiles())
    }
    try made.output.commit()
    #expect(try records(SampleTree(reading: directory("out"))) == Set(vector.records))
    let pack = try await rewrite(delta, over: trees, key: vector.key)
    try await pack.unpack(to: directory("unpacked"))
    #expect(try records(SampleTree(reading: directory("unpacked"))) == Set(vector.records))
  }

  @Test("a delta cannot be opened as a pack, and is refused with advice")
  func asPack() throws {
    let vector = try TestVector(named: try #require(TestVector.deltas.first { $0.hasSuffix("valid/changed.delta-vector") }))
    let file = try directory.write(vector.pack, to: "delta.pack")
    let error = #expect(throws: PackError.self) { try Pack.open(file, key: try vector.key.packKey()) }
    #expect(error?.code == .unsupported && error?.advice == .chooseBase)
  }

  private static let basesFolder = TestVector.folder.appendingPathComponent("deltas/bases")

  /// Opens the bases of a vector in their order, and the delta.
  private func open(_ vector: TestVector, _ backend: any CryptoBackend) throws(PackError) -> (DeltaPack, [any DeltaBase]) {
    let key = try vector.key.packKey()
    var bases: [any DeltaBase] = []
    for line in vector.bases {
      bases.append(try Pack(Self.basesFolder.appendingPathComponent(line).path, key: key, files: SystemFiles(), backend: backend))
    }
    let file = directory("vector.pack")
    do {
      try Data(vector.pack).write(to: URL(fileURLWithPath: file))
    } catch {
      throw PackError(.cannotWrite, "\(error)")
    }
    // A full pack is read as one.
    if try PackStart(file, files: SystemFiles()).header.kind == .full {
      _ = try Pack(file, key: key, files: SystemFiles(), backend: backend)
    }
    return (try DeltaPack.open(file, key: key, backend: backend), bases)
  }

  /// Makes a pack of a delta, as a store does.
  private func rewrite(_ delta: DeltaPack, over bases: [any DeltaBase], key secret: TestVector.Secret) async throws -> Pack {
    let path = directory("made.pack")
    let output = try SystemFiles().open(path, .create(mode: 0o644), in: nil)
    _ = try await PackRewriter.write(
      delta, over: bases, to: output, path: path, key: secret.packKey(), limit: 1 << 40,
      contentLimit: Limits.contentSize, jobs: 2)
    return try Pack.open(path, key: secret.packKey())
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
