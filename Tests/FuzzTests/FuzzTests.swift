import Foundation
import TestSupport
import Testing

@testable import packer_fuzz

@Suite("Fuzz targets", .bounded)
struct FuzzTests {
  private static let names = FuzzTarget.all.map(\.name)

  /// The number of mutated inputs per target, if `PACKER_FUZZ_ROUNDS` sets it. Otherwise each target has its own number, and a push tries a fifth of it.
  private static let rounds = ProcessInfo.processInfo.environment["PACKER_FUZZ_ROUNDS"].flatMap(Int.init)

  private static func corpus(_ name: String) -> [FuzzSeed] {
    let folder = TestVector.testsFolder.appendingPathComponent("Corpora/\(name)")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.sorted().compactMap { file in
      (try? Data(contentsOf: folder.appendingPathComponent(file))).map { FuzzSeed(file, [UInt8]($0)) }
    }
  }

  @Test("keep their promises on seeds and on all kept findings", arguments: names)
  func seeds(_ name: String) async throws {
    let target = try #require(FuzzTarget.named(name))
    let seeds = try target.seeds()

    #expect(seeds.count >= 3)
    #expect(Set(seeds.map(\.name)).count == seeds.count, "two seeds have the same name")
    await expectPromises(target, (seeds + Self.corpus(name)).map { ($0.bytes, $0.name) })
  }

  @Test("keep their promises on mutated inputs", arguments: names)
  func mutations(_ name: String) async throws {
    let target = try #require(FuzzTarget.named(name))
    let random = SeededGenerator(for: "mutations for \(name)")
    var mutator = Mutator(random)
    let seeds = try target.seeds() + Self.corpus(name)
    let inputs = (0..<(Self.rounds ?? target.rounds / Effort.number(quick: 5, full: 1))).map { round in
      (mutator.input(from: seeds, largest: target.largestInput), "PACKER_TEST_SEED=\(random.seed), round \(round)")
    }
    await expectPromises(target, inputs)
  }

  @Test(
    "survive nested openings: a quarter of a million bytes on a push, a million if everything is tried",
    arguments: ["manifest", "shard", "json", "records", "plist", "configuration", "key-text", "ranges", "status", "store"])
  func nesting(_ name: String) async throws {
    let target = try #require(FuzzTarget.named(name))
    let openings = [
      "[", "{\"a\":", "[{\"a\":", "<?xml version=\"1.0\"?><plist>|<array>", "- ", "? ", "[*a,", "&a [", "\"\\u", "/%41", "bytes=|1-,",
      "\"a\",",
    ]
    await expectPromises(
      target,
      openings.map { text in
        let parts = text.split(separator: "|").map(String.init)
        let (start, repeated) = parts.count == 2 ? (parts[0], parts[1]) : ("", parts[0])
        return (
          Array((start + String(repeating: repeated, count: Effort.number(quick: 250_000, full: 1_000_000) / repeated.utf8.count)).utf8),
          text
        )
      })
  }

  @Test("exist for every folder of kept inputs, and the folders stay small")
  func folders() throws {
    let root = TestVector.testsFolder.appendingPathComponent("Corpora")
    let folders = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0 != "README.md" }

    #expect(folders.allSatisfy { Self.names.contains($0) }, "\(folders)")
    #expect(folders.map { Self.corpus($0).reduce(0) { $0 + $1.bytes.count } }.reduce(0, +) < 300_000)
  }

  @Test("name source files that exist")
  func files() {
    let root = TestVector.testsFolder.deletingLastPathComponent()
    for file in Set(FuzzTarget.all.flatMap(\.files)) {
      #expect(FileManager.default.fileExists(atPath: root.appendingPathComponent(file).path), "\(file)")
    }
  }

  @Test("report a broken promise")
  func broken() {
    let target = FuzzTarget(
      "broken", files: [], seeds: { [] },
      run: { (bytes) throws(BrokenPromise) in
        try hold(bytes.isEmpty, "it is not empty")
      })

    #expect(throws: BrokenPromise("it is not empty")) { try target.run([1]) }
    #expect(throws: Never.self) { try target.run([]) }
  }

  /// Runs a target on its own thread, because some targets block on tasks, which need the threads that tests run on.
  private func expectPromises(_ target: FuzzTarget, _ inputs: [(bytes: [UInt8], name: String)]) async {
    let broken = await WorkerPool.settled { () -> [String] in
      var broken: [String] = []
      for (bytes, name) in inputs {
        do throws(BrokenPromise) {
          try target.run(bytes)
        } catch {
          broken.append("\(target.name), \(name): \(error)\n\(Data(bytes.prefix(8192)).base64EncodedString())")
        }
      }
      return broken
    }
    for text in broken.prefix(5) { Issue.record("\(text)") }
  }
}
