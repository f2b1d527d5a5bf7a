import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackStore

/// The gate reads what the store writes on a device, with libarchive.
@Suite("Packs that a store rewrites", .bounded)
struct RewritingTests {
  /// Rewrites a pack to a file, as a store does.
  @discardableResult
  private func rewrite(
    _ pack: Pack, to path: String, limit: UInt64 = 1 << 30, backend: any CryptoBackend = CryptoBackends.standard,
    files: any FileSystem = FaultyFiles()
  ) async throws(PackError) -> (sha256: [UInt8], size: UInt64) {
    try await WorkerPool.value { (pool) throws(PackError) in
      let key = try sampleKey()
      let output: OpenFile
      do throws(FileFailure) {
        output = try files.open(path, .create(mode: 0o644), in: nil)
      } catch {
        throw error.writing(path)
      }
      let header = try PackRewriter.header(of: pack, key: key, backend: backend)
      let stream = try SealedStream(output, path: path, limit: limit, header: header, key: key, files: files, backend: backend)
      try PackRewriter(pack, to: stream, backend: backend, pool: pool, progress: nil).run()
      return (try stream.finish(), stream.size)
    }
  }

  private func verify(_ path: String, against tree: String) async throws -> VerificationReport {
    try await PackVerification.run(path, key: try sampleKey(), against: tree, jobs: 2)
  }

  /// A tree with sizes around those of frames and segments, names of every kind, and equal contents.
  private static func awkward() -> SampleTree {
    var random = SeededGenerator()
    var tree = SampleTree.awkward(&random)
    let frame = PackRewriter.frameSize
    for size in [frame - 513, frame - 512, frame - 511, frame, 2 * frame - 512, 2 * frame, 3_000_000] {
      tree.files["large/\(size).bin"] = .init(random.bytes(size))
    }
    for number in 0..<400 { tree.files["many/\(number).json"] = .init(Array("{\"number\": \(number)}".utf8)) }
    tree.files["long/" + String(repeating: "ü", count: 127) + "x"] = .init([1])
    tree.files[String(repeating: "0123456789abcde/", count: 63) + "0123456789abcdef"] = .init([2])
    tree.files["bin/tool"] = .init([3], isExecutable: true)
    tree.files["bin/tool-copy"] = .init([3], isExecutable: true)
    tree.files["bin/no-tool"] = .init([3])
    tree.files["日本語/" + String(repeating: "語", count: 60) + ".bin"] = .init(random.bytes(20_000))
    tree.files["日本語/" + String(repeating: "語", count: 60) + "2.bin"] = tree.files["日本語/" + String(repeating: "語", count: 60) + ".bin"]
    tree.emptyDirectories.insert("日本語/空")
    return tree
  }

  @Test("an awkward tree passes the gate, with every header as libarchive writes it", arguments: [4096, 65_536] as [UInt32])
  func awkward(segmentSize: UInt32) async throws {
    let tree = Self.awkward()
    let project = try SampleProject()
    try tree.write(to: "tree", in: project.directory)
    try await project.pack { $0.settings.segmentSize = segmentSize }
    let pack = try project.open()
    let path = project.directory("rewritten.pack")
    let made = try await rewrite(pack, to: path)
    let bytes = try #require(project.directory.bytes(of: "rewritten.pack"))
    #expect(made.size == UInt64(bytes.count))
    #expect(made.sha256 == (try CryptoBackends.standard.digest(of: bytes.byteSpan)))
    let report = try await verify(path, against: project.directory("tree"))
    #expect(report.findings.isEmpty)
    let rewritten = try Pack.open(path, key: try sampleKey())
    #expect(rewritten.contentRoot == pack.contentRoot && rewritten.header.packVersion == pack.header.packVersion)
    #expect(rewritten.header.packID == pack.header.packID && rewritten.header.segmentSize == segmentSize)
    #expect(rewritten.keyID == pack.keyID && !rewritten.header.hasDeterministicSalt)
    #expect(rewritten.largestFrame == UInt32(PackRewriter.frameSize))
    try await rewritten.unpack(to: project.directory("back"), jobs: 2)
    let back = try SampleTree(reading: project.directory("back"))
    #expect(back == tree)
  }

  @Test("order, headers and frames are those of the packing side")
  func likePacked() async throws {
    var random = SeededGenerator(seed: 11)
    var tree = SampleTree(emptyDirectories: ["empty"])
    // Large and small ones in turn, all different.
    for number in 0..<40 {
      let size = [3_000_000, 700, 1_048_064, 400_000, 1_048_576, 90_000, 2_097_152, 12][number % 8]
      tree.files["\(number % 3)/\(number).bin"] = .init(random.bytes(size + number / 8))
      tree.files["\(number)/readme"] = .init(random.bytes(900 + number))
    }
    let project = try SampleProject()
    try tree.write(to: "tree", in: project.directory)
    try await project.pack { $0.settings.frameSize = PackRewriter.frameSize }
    let pack = try project.open()
    try await rewrite(pack, to: project.directory("rewritten.pack"))
    let rewritten = try Pack.open(project.directory("rewritten.pack"), key: try sampleKey())
    func frames(_ pack: Pack) -> [UInt32] { (0..<pack.table.dataFrameCount).map { pack.table[$0].size } }
    #expect(frames(pack).count > 30 && frames(rewritten) == frames(pack))
    for path in tree.files.keys { #expect(try rewritten.entry(at: path).offset == pack.entry(at: path).offset) }
  }

  @Test(
    "an empty tree, and one of empty files, pass the gate",
    arguments: [SampleTree(), SampleTree(["a": .init([])], emptyDirectories: ["b"])])
  func empty(tree: SampleTree) async throws {
    let project = try SampleProject()
    try tree.write(to: "tree", in: project.directory)
    try await project.pack()
    try await rewrite(try project.open(), to: project.directory("rewritten.pack"))
    #expect(try await verify(project.directory("rewritten.pack"), against: project.directory("tree")).findings.isEmpty)
  }

  @Test("a payload of any length around a segment ends in a segment that is sealed as the last one")
  func lastSegment() async throws {
    var random = SeededGenerator(seed: 5)
    let bytes = random.bytes(9000)
    var lengths: Set<Int> = []
    for size in stride(from: 6200, to: 8400, by: 41) {
      let project = try SampleProject()
      try project.add("file", Array(bytes.prefix(size)))
      try await project.pack()
      let made = try await rewrite(try project.open(), to: project.directory("rewritten.pack"))
      lengths.insert(Int(made.size) % 4096)
      #expect(try await verify(project.directory("rewritten.pack"), against: project.directory("tree")).findings.isEmpty, "\(size) bytes")
    }
    #expect(lengths.count > 20)
  }

  @Test("a delta is rewritten with what it is read over")
  func delta() async throws {
    let old = Self.awkward()
    var new = old
    for number in stride(from: 0, to: 400, by: 7) { new.files["many/\(number).json"] = .init(Array("{\"changed\": \(number)}".utf8)) }
    new.files["moved/tool"] = old.files["bin/tool"]
    new.files["bin/tool"] = nil
    new.files["large/3000000.bin"]?.bytes[1_500_000] ^= 1
    new.files["new.bin"] = .init([UInt8](repeating: 9, count: 70_000))
    new.files["new-copy.bin"] = new.files["new.bin"]
    let sample = try await DeltaSample(old, new)
    try await sample.make()
    let pack = try Pack.open(sample.directory("out.delta"), key: try sampleKey(), over: [sample.old])
    #expect(pack.deltaDepth == 1)
    try await rewrite(pack, to: sample.directory("rewritten.pack"))
    let report = try await verify(sample.directory("rewritten.pack"), against: sample.directory("new.source"))
    #expect(report.findings.isEmpty)
    #expect(try Pack.open(sample.directory("rewritten.pack"), key: try sampleKey()).contentRoot == sample.new.contentRoot)
  }

  @Test("a file that would be larger than its limit is not made")
  func limit() async throws {
    let project = try SampleProject()
    try project.add("file", [UInt8](repeating: 5, count: 5000))
    try await project.pack()
    let pack = try project.open()
    let size = try await rewrite(pack, to: project.directory("whole.pack")).size
    try await rewrite(pack, to: project.directory("exact.pack"), limit: size)
    let error = await #expect(throws: PackError.self) { try await rewrite(pack, to: project.directory("large.pack"), limit: size - 1) }
    #expect(error?.code == .noSpace)
  }

  @Test("content that is not the one in the index is not rewritten", arguments: ["record-digest-wrong", "record-digest-wrong-frames"])
  func wrongDigest(name: String) async throws {
    let directory = try TemporaryDirectory()
    let vector = try TestVector(named: "hostile/\(name).vector")
    let path = try directory.write(vector.pack, to: "wrong.pack")
    let pack = try Pack.open(path, key: try vector.key.packKey())
    let error = await #expect(throws: PackError.self) { try await rewrite(pack, to: directory("rewritten.pack")) }
    #expect(error?.code == .digestMismatch && error?.subject == path)
  }

  @Test("the same pack is rewritten with another salt each time, and to the same length")
  func salt() async throws {
    let project = try SampleProject()
    try project.add("file", [UInt8](repeating: 5, count: 5000))
    try await project.pack()
    let pack = try project.open()
    var salts: Set<[UInt8]> = []
    var sizes: Set<UInt64> = []
    for number in 0..<4 {
      sizes.insert(try await rewrite(pack, to: project.directory("\(number).pack")).size)
      salts.insert(try Pack.open(project.directory("\(number).pack"), key: try sampleKey()).header.salt)
    }
    #expect(salts.count == 4 && sizes.count == 1)
  }
}
