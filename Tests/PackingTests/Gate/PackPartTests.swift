import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("Part of a pack", .bounded)
struct PackPartTests {
  private let directory: TemporaryDirectory
  private let tree: SampleTree

  init() throws {
    directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 7)
    tree = SampleTree.awkward(&random)
  }

  private func pack(files: any FileSystem = SystemFiles()) async throws -> Pack {
    try tree.write(to: "tree", in: directory)
    var job = PackJob(source: directory("tree"), output: directory("p.pack"), name: try PackName("p"))
    (job.settings.frameSize, job.settings.segmentSize, job.settings.allowsUnportablePaths) = (65_536, 4096, true)
    _ = try await job.run(key: try sampleKey())
    return try Pack("\(directory("p.pack"))", key: try sampleKey(), files: files, backend: CryptoBackends.standard)
  }

  @Test(
    "has exactly the paths that match, with their digests",
    arguments: [
      (["size/*"], "size/"), (["text"], "text/"), (["*.sh"], "run.sh"), (["deep/**", "run.sh"], "deep/ run.sh"), (["deep/er"], "deep/er/"),
      (["**"], ""),
    ])
  func unpacking(patterns: [String], starts: String) async throws {
    let part = try PackPart(try await pack(), try PathSelection(patterns))
    let wanted = starts.split(separator: " ").map(String.init)
    // By bytes, because a combining mark may follow a slash.
    func isWanted(_ path: String) -> Bool {
      wanted.isEmpty || wanted.contains { path == $0 || $0.hasSuffix("/") && path.utf8.starts(with: $0.utf8) }
    }
    let expected = SampleTree(
      tree.files.filter { isWanted($0.key) }, emptyDirectories: tree.emptyDirectories.filter { isWanted($0) || isWanted($0 + "/") })
    #expect(part.entryCount == expected.files.count + expected.emptyDirectories.count && part.contentSize == UInt64(expected.contentSize))
    try await part.unpack(to: directory("out"), allowsUnportablePaths: true, jobs: 2)
    let isSame = try SampleTree(reading: directory("out")) == expected
    #expect(isSame)
    try await part.verify(allowsUnportablePaths: true, jobs: 2)
  }

  private func refusal(_ part: PackPart) async -> PackError? {
    do throws(PackError) {
      try await part.unpack(to: directory("out"), allowsUnportablePaths: true)
      return nil
    } catch {
      return error
    }
  }

  @Test("is checked, and nothing else is read")
  func damage() async throws {
    let pack = try await pack()
    let (chosen, other) = (try pack.entry(at: "size/200000.bin"), try pack.entry(at: "size/65537.bin"))
    let frame = pack.table[pack.table.frame(holding: other.offset + 60_000)]
    try #require(frame.tarRange.clamped(to: chosen.offset..<chosen.offset + chosen.size).isEmpty)
    var bytes = try #require(directory.bytes(of: "p.pack"))
    bytes[Int(pack.layout.packRange(ofSegment: pack.layout.segment(holding: frame.offset + 5000)).lowerBound) + 9] ^= 1
    try directory.write(bytes, to: "p.pack")
    let damaged = try Pack.open(directory("p.pack"), key: try sampleKey())
    try await PackPart(damaged, try PathSelection(["200000.bin"])).verify(allowsUnportablePaths: true)
    let part = try PackPart(damaged, try PathSelection(["65537.bin"]))
    let error = await refusal(part)
    #expect(error?.code == .authenticationFailed)
    #expect(!FileManager.default.fileExists(atPath: directory("out")))
  }

  @Test("that no path matches is an error, also if other patterns match")
  func nothing() async throws {
    let pack = try await pack()
    for patterns in [["size/*", "*.gif"], ["SIZE"], ["run.sh/"]] {
      let error = #expect(throws: PackError.self) { try PackPart(pack, try PathSelection(patterns)) }
      #expect(error?.code == .noSuchEntry && error?.message.contains("'\(patterns.last ?? "")'") == true)
    }
    #expect(throws: PackError.self) { try PathSelection([""]) }
    #expect(throws: PackError.self) { try PathSelection(["a", "//"]) }
  }

  @Test("that has no room on the volume is refused before anything is written")
  func space() async throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(100_000) : nil }
    let pack = try await pack(files: files)
    let large = try PackPart(pack, try PathSelection(["200000.bin"]))
    let error = await refusal(large)
    #expect(error?.code == .noSpace && !files.calls.contains { $0.operation == .write })
    try await PackPart(pack, try PathSelection(["run.sh"])).unpack(to: directory("small"), allowsUnportablePaths: true)
    #expect(directory.names(in: "small") == ["run.sh"])
  }
}
