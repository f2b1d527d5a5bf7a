import Foundation
import TestSupport
import Testing

@Suite("A reader gives the expected result for every vector", .bounded)
struct VectorTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(TestVector.all.count > 300 || TestVector.folder.lastPathComponent != "Vectors")
    for name in TestVector.all {
      let vector = try TestVector(named: name)
      #expect(Class.all.contains(vector.expect), "\(name)")
      #expect(Class.all.contains(vector.client), "\(name)")
    }
  }

  /// Paths outside the test's directory where packs of other people's suites would write, with their modification times.
  private static func outside() -> [String: Date?] {
    let places = ["/tmp/moo", "/tmp/evil.txt", "/tmp/foo", "/outerdir", "/foo", "/moo", "/escaped.evil", "/etc/moo"]
    return Dictionary(
      uniqueKeysWithValues: places.map { place in
        (place, (try? FileManager.default.attributesOfItem(atPath: place))?[.modificationDate] as? Date)
      })
  }

  /// Other people's suites, by the prefix of their vectors' names.
  static let suites = [
    "age": "CCTV: age, stream", "zstd": "zstd: golden errors", "traversal": "traversal-archives", "zip-slip": "zip-slip-vulnerability",
    "python": "CPython: extraction filters", "libarchive": "libarchive: tar fixtures",
  ]

  @Test("the cases of other people are there, each from a known suite")
  func othersAreThere() throws {
    var counts: [String: Int] = [:]
    for name in TestVector.all where name.hasPrefix("others/") {
      let suite = try #require(Self.suites.keys.first { name.hasPrefix("others/\($0)-") || name == "others/\($0).vector" }, "\(name)")
      counts[suite, default: 0] += 1
    }
    // Each is an argument of the tests below, which skip no case.
    for (suite, count) in counts { Evidence.tell(try #require(Self.suites[suite]), cases: count) }
    #expect(Set(counts.keys) == Set(Self.suites.keys) || TestVector.folder.lastPathComponent != "Vectors")
  }

  @Test("a verifier gives the class that the vector expects", arguments: TestVector.all)
  func verifier(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    for backend in CryptoBackends.all {
      for secret in vector.keys {
        let outcome = await Class.of { () async throws(PackError) in
          let key = try secret.packKey()
          let pack = try Pack(file, key: key, files: FaultyFiles(), backend: backend)
          _ = try await PackVerification.run(pack, allowsUnportablePaths: true, jobs: 2)
        }
        #expect(outcome.name == vector.expect, "\(name) with \(backend.name): \(outcome.message)")
      }
    }
  }

  @Test("the tool unpacks only what a verifier accepts, and leaves the whole tree or nothing", arguments: TestVector.all)
  func strictUnpacking(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    try directory.makeDirectory("room")
    let path = directory("room/out")
    let outside = Self.outside()
    let outcome = await Class.of { () async throws(PackError) in
      let pack = try Pack.open(file, key: try vector.key.packKey())
      try await PackUnpacking.run(pack, to: path, allowsUnportablePaths: true, jobs: 2)
    }
    #expect(outcome.name == vector.expect, "\(name): \(outcome.message)")
    #expect(directory.names(in: "room") == (outcome.name == "ok" ? ["out"] : []), "\(name)")
    #expect(directory.names().sorted() == ["room", "vector.pack"] && Self.outside() == outside, "\(name) wrote elsewhere")
    if outcome.name == "ok" { try expect(try SampleTree(reading: path), toBe: vector, name) }
  }

  @Test(
    "of a pack whose tar differs from its index, the tool writes nothing, not even for a moment",
    arguments: TestVector.all.filter { $0.hasPrefix("hostile/") })
  func strictBeforeWriting(_ name: String) async throws {
    let vector = try TestVector(named: name)
    guard vector.expect != "ok" else { return }
    let file = try directory.write(vector.pack, to: "vector.pack")
    let files = FaultyFiles()
    _ = await Class.of { () async throws(PackError) in
      let key = try vector.key.packKey()
      let pack = try Pack(file, key: key, files: files, backend: CryptoBackends.standard)
      try await PackUnpacking.run(pack, to: directory("out"), allowsUnportablePaths: true, jobs: 2)
    }
    // The one directory is the temporary one for the whole tree.
    #expect(files.calls.count { $0.operation == .makeDirectory } <= 1, "\(name)")
    // The digest of a file that is longer than a frame is known when all of it was read.
    let hasLongFile = name == "hostile/record-digest-wrong-frames.vector"
    #expect(files.calls.count { $0.operation == .write } == 0 || hasLongFile, "\(name)")
  }

  @Test(
    "the tool refuses paths that do not work on every platform, unless an option allows them",
    arguments: [
      "valid/path-case-twins.vector", "valid/path-portability.vector", "others/libarchive-patterns_4-04.vector",
      "others/libarchive-patterns_4-05.vector",
    ].filter(TestVector.all.contains))
  func unportable(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    let path = directory("out")
    let key = try vector.key.packKey()
    let pack = try Pack.open(file, key: key)
    await #expect(throws: PackError.self) { try await PackUnpacking.run(pack, to: path, jobs: 2) }
    let refusal = await Class.of { () async throws(PackError) in
      _ = try await PackVerification.run(pack, jobs: 2)
    }
    #expect(refusal.name == "unportable-path", "\(refusal.message)")
    #expect(directory.names() == ["vector.pack"])
  }

  @Test("a client gives its class, and leaves the whole tree or nothing", arguments: TestVector.all)
  func client(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    let outside = Self.outside()
    let ways = CryptoBackends.all.flatMap { backend in vector.keys.map { (backend, $0) } }
    for (number, (backend, secret)) in ways.enumerated() {
      let target = "room\(number)/out"
      try directory.makeDirectory("room\(number)")
      let path = directory(target)
      let outcome = await Class.of { () async throws(PackError) in
        let key = try secret.packKey()
        let pack = try Pack(file, key: key, files: FaultyFiles(), backend: backend)
        try await pack.unpack(to: path, jobs: 2)
      }
      #expect(outcome.name == vector.client, "\(name) with \(backend.name): \(outcome.message)")
      #expect(directory.names(in: "room\(number)") == (outcome.name == "ok" ? ["out"] : []), "\(name)")
      if outcome.name == "ok" {
        let tree = try SampleTree(reading: path)
        if vector.expect == "ok" { try expect(tree, toBe: vector, name) }
      }
    }
    let elsewhere = directory.names().filter { $0 != "vector.pack" && !$0.hasPrefix("room") }
    #expect(elsewhere == [] && Self.outside() == outside, "\(name) wrote elsewhere")
  }

  @Test(
    "a key provider gives the same results, with the pack's key, the root key and a recipient's key",
    arguments: TestVector.all.filter { $0.contains("/pack-key") || $0.contains("/wrap-") })
  func askedForKey(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    for backend in CryptoBackends.all {
      for secret in vector.keys {
        let outcome = await Class.of { () async throws(PackError) in
          let ring = KeyRing(try secret.packKey())
          let pack = try await Pack.open(file, keys: ring, files: FaultyFiles(), backend: backend)
          _ = try await PackVerification.run(pack, jobs: 2)
        }
        #expect(outcome.name == vector.expect, "\(name) with \(backend.name): \(outcome.message)")
      }
    }
  }

  @Test("the index of a valid pack lists the records of the vector in order", arguments: TestVector.all.filter { $0.hasPrefix("valid/") })
  func records(_ name: String) throws {
    let vector = try TestVector(named: name)
    let file = try directory.write(vector.pack, to: "vector.pack")
    let pack = try Pack.open(file, key: try vector.key.packKey())
    var listed: [TestVector.Record] = []
    try pack.forEachEntry { entry in
      listed.append(
        entry.kind == .directory
          ? TestVector.Record(path: entry.path + "/") : TestVector.Record(path: entry.path, sha256: entry.sha256.hex))
    }
    #expect(listed == vector.records)
    for record in vector.records where record.sha256 != nil {
      #expect(try sha256(try pack.read(record.path)) == record.sha256)
    }
  }

  private func expect(_ tree: SampleTree, toBe vector: TestVector, _ name: String) throws {
    var found: [String: String] = [:]
    for (path, file) in tree.files { found[path] = try sha256(file.bytes) }
    for path in tree.emptyDirectories { found[path + "/"] = "" }
    var listed: [String: String] = [:]
    for record in vector.records { listed[record.path] = record.sha256 ?? "" }
    #expect(found == listed, "\(name)")
  }

  private func sha256(_ bytes: [UInt8]) throws -> String {
    let digest = try CryptoBackends.standard.makeDigest()
    try digest.update(bytes.byteSpan)
    return try digest.finish().hex
  }
}

/// The error classes of FORMAT.md §0.4.
enum Class {
  static let all: Set<String> = [
    "ok", "not-a-pack", "unsupported", "no-usable-key", "wrong-key", "wrong-base", "truncated", "damaged", "limit",
  ]

  private static let names: [PackError.Code: String] = [
    .notAPack: "not-a-pack", .unsupported: "unsupported", .noUsableKey: "no-usable-key", .wrongKey: "wrong-key", .notWrapped: "wrong-key",
    .truncated: "truncated", .limitExceeded: "limit", .damagedHeader: "damaged", .damagedOpener: "damaged", .wrongPack: "damaged",
    .authenticationFailed: "damaged",
    .wrongBase: "wrong-base", .damagedPayload: "damaged", .damagedArchive: "damaged", .digestMismatch: "damaged", .illegalPath: "damaged",
  ]

  static func of(_ body: () async throws(PackError) -> Void) async -> (name: String, message: String) {
    do throws(PackError) {
      try await body()
      return ("ok", "no error")
    } catch {
      return (names[error.code] ?? error.code.rawValue, error.description)
    }
  }
}
