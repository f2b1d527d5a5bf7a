import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackStore

/// The gate reads what the store writes on a device, with libarchive.
@Suite("Packs that are made of deltas", .bounded)
struct RewritingTests {
  /// Makes a pack of the delta of a sample, as a store does.
  @discardableResult
  private func rewrite(
    _ sample: DeltaSample, over base: (any DeltaBase)? = nil, to name: String = "made.pack", limit: UInt64 = 1 << 30
  ) async throws(PackError) -> (sha256: [UInt8], size: UInt64) {
    let (path, files) = (sample.directory(name), FaultyFiles())
    let delta = try DeltaPack.open(sample.directory("out.delta"), key: sampleKey(), files: files)
    let output = try writing(path, files.open(path, .create(mode: 0o644), in: nil))
    return try await PackRewriter.write(
      delta, over: [base ?? sample.old], to: output, path: path, key: sampleKey(), limit: limit,
      contentLimit: Limits.contentSize, jobs: 2)
  }

  /// Makes the delta of two trees and a pack of it, and has the gate compare that with the new tree.
  @discardableResult
  private func check(
    _ old: SampleTree, _ new: SampleTree, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> (sample: DeltaSample, pack: Pack) {
    let sample = try await DeltaSample(old, new)
    try await sample.make()
    let made = try await rewrite(sample)
    let bytes = try #require(sample.directory.bytes(of: "made.pack"))
    #expect(made.size == UInt64(bytes.count), sourceLocation: sourceLocation)
    #expect(made.sha256 == (try CryptoBackends.standard.digest(of: bytes.byteSpan)), sourceLocation: sourceLocation)
    return (sample, try await verify(sample, sourceLocation))
  }

  private func verify(_ sample: DeltaSample, _ sourceLocation: SourceLocation = #_sourceLocation) async throws -> Pack {
    let report = try await PackVerification.run(
      sample.directory("made.pack"), key: try sampleKey(), against: sample.directory("new.source"), allowsUnportablePaths: true, jobs: 2)
    #expect(report.findings.isEmpty, sourceLocation: sourceLocation)
    #expect(report.contentRoot == sample.new.contentRoot && report.keyID == sample.new.keyID, sourceLocation: sourceLocation)
    let pack = try Pack.open(sample.directory("made.pack"), key: try sampleKey())
    #expect(pack.header.packID == sample.new.header.packID && pack.header.packVersion == 2, sourceLocation: sourceLocation)
    #expect(pack.header.segmentSize == 4096 && !pack.header.hasDeterministicSalt, sourceLocation: sourceLocation)
    return pack
  }

  /// A tree with sizes around those of frames and segments, names of every kind, and equal contents.
  private static func awkward() -> SampleTree {
    var random = SeededGenerator()
    var tree = SampleTree.awkward(&random)
    let frame = Int(RewritePlan.frameSize)
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

  // MARK: Refusals

  @Test("a file that would be larger than its limit is not finished")
  func limit() async throws {
    let sample = try await DeltaSample(SampleTree(), SampleTree(["file": .init([UInt8](repeating: 5, count: 5000))]))
    try await sample.make()
    let size = try await rewrite(sample).size
    try await rewrite(sample, to: "exact.pack", limit: size)
    let error = await #expect(throws: PackError.self) { try await rewrite(sample, to: "large.pack", limit: size - 1) }
    #expect(error?.code == .limitExceeded)
  }

  /// Opens the bases of a vector, and its delta.
  private func open(_ name: String, in directory: TemporaryDirectory) throws -> (delta: DeltaPack, bases: [Pack]) {
    let vector = try TestVector(named: "deltas/hostile/\(name).delta-vector")
    let key = try vector.key.packKey()
    let bases = TestVector.folder.appendingPathComponent("deltas/bases")
    let packs = try vector.bases.map { try Pack.open(bases.appendingPathComponent($0).path, key: key) }
    return (try DeltaPack.open(try directory.write(vector.pack, to: "out.delta"), key: key), packs)
  }

  /// Receives a payload, and keeps nothing of it.
  private final class NoSink: PayloadSink {
    func append(_ bytes: Span<UInt8>) {}
  }

  @Test("what does not have the content root that the delta names is not finished")
  func otherRoot() async throws {
    let directory = try TemporaryDirectory()
    let (delta, bases) = try open("fields-target-root", in: directory)
    let application = try DeltaApplication(delta, over: bases)
    let error = await #expect(throws: PackError.self) { try await PackRewriter(application).run(application, to: NoSink(), jobs: 2) }
    #expect(error?.code == .damagedPayload)
  }

  @Test("content of a base that is not the one in its index is not unpacked")
  func otherContent() async throws {
    let directory = try TemporaryDirectory()
    let (delta, bases) = try open("base-digest", in: directory)
    let error = await #expect(throws: PackError.self) { try await PackUnpacking.run(delta, over: bases, to: directory("out"), jobs: 2) }
    #expect(error?.code == .digestMismatch)
    #expect(!FileManager.default.fileExists(atPath: directory("out")))
  }

  @Test("frames of a base are not decompressed again and again for a delta")
  func work() async throws {
    let project = try SampleProject()
    var random = SeededGenerator(seed: 8)
    for number in 0..<2 { try project.add("\(number).bin", random.bytes(1 << 20)) }
    try await project.pack { $0.settings.frameSize = 2 << 20 }
    let pack = try project.open()
    var string = BaseString()
    string.add(list: [])
    for number in 0..<2 { string.add(contentAt: try pack.entry(at: "\(number).bin").offset, size: 1 << 20) }
    try #require(Set(string.parts.compactMap(\.offset).map(pack.table.frame)).count == 2)
    let reader = BaseStringReader(string, [pack])
    var buffer = [UInt8](repeating: 0, count: 64)
    var rounds = 0
    let error = #expect(throws: PackError.self) {
      while rounds < 1000 {
        try reader.read([0..<64], into: &buffer)
        try reader.read([1 << 20..<(1 << 20) + 64], into: &buffer)
        rounds += 1
      }
    }
    #expect(error?.code == .limitExceeded && error?.advice == .fetchFullPack)
    // 64 MiB, and three times the base.
    #expect((32...40).contains(rounds), "\(rounds) rounds")
  }

  /// Trees in which each frame of the old pack has a file that changes beside files that stay, and the delta between them.
  private func neighbours() async throws -> DeltaSample {
    var random = SeededGenerator(seed: 9)
    var (old, new) = (SampleTree(), SampleTree())
    for number in 100..<160 {
      old.files["\(number).bin"] = .init(random.bytes(20_000))
      new.files["\(number).bin"] = old.files["\(number).bin"]
      if number % 3 == 0 { new.files["\(number).bin"]?.bytes[10_000] ^= 1 }
    }
    let sample = try await DeltaSample(old, new)
    try await sample.make()
    return sample
  }

  @Test("a frame of a base is read once for new contents and for the files beside them")
  func framesAreReadOnce() async throws {
    let sample = try await neighbours()
    let files = FaultyFiles()
    let base = try Pack(sample.directory("old.pack"), key: sampleKey(), files: files, backend: CryptoBackends.standard)
    try #require(base.table.dataFrameCount >= 20)
    let delta = try DeltaPack.open(sample.directory("out.delta"), key: sampleKey(), files: files)
    let opened = files.bytesRead
    _ = try await PackUnpacking.run(delta, over: [base], to: sample.directory("out"), jobs: 2)
    #expect(try SampleTree(reading: sample.directory("out")) == sample.newTree)
    let (read, size) = (files.bytesRead - opened, base.layout.packSize)
    // Frames begin inside segments, and the index is read for three purposes.
    #expect(read < size + size / 4, "\(read) bytes for a base of \(size)")
  }

  @Test("a file that cannot be written beside new contents is no fault of delta or base")
  func neighbourFails() async throws {
    let sample = try await neighbours()
    let files = FaultyFiles { $0.operation == .open && $0.name == "101.bin" ? .failure(.fullDisk) : nil }
    let delta = try DeltaPack.open(sample.directory("out.delta"), key: sampleKey(), files: files)
    let error = await #expect(throws: PackError.self) {
      try await PackUnpacking.run(delta, over: [sample.old], to: sample.directory("out"), jobs: 2)
    }
    #expect(error?.code == .noSpace && error?.message.contains(".delta") == false && error?.message.contains(".pack") == false)
    #expect(sample.directory.names().allSatisfy { !$0.hasPrefix("out") || $0 == "out.delta" })
  }

  // MARK: What is made

  @Test("an awkward tree, all new, passes the gate, with every header as libarchive writes it")
  func allNew() async throws {
    let (_, pack) = try await check(SampleTree(), Self.awkward())
    #expect(pack.largestFrame == UInt32(RewritePlan.frameSize))
  }

  @Test("a tree of which most stays passes the gate, with files that are changed, moved, copied, new and gone")
  func changed() async throws {
    let old = Self.awkward()
    var new = old
    for number in stride(from: 0, to: 400, by: 7) { new.files["many/\(number).json"] = .init(Array("{\"changed\": \(number)}".utf8)) }
    new.files["moved/tool"] = old.files["bin/tool"]
    new.files["bin/tool"] = nil
    new.files["bin/no-tool"]?.isExecutable = true
    // The link stays, and what it led to is gone.
    new.files["text/copy of ü.txt"] = nil
    new.files["large/3000000.bin"]?.bytes[1_500_000] ^= 1
    new.files["large/again.bin"] = old.files["large/1048576.bin"]
    new.files["new.bin"] = .init([UInt8](repeating: 9, count: 70_000))
    new.files["new-copy.bin"] = new.files["new.bin"]
    new.files["new-tool.bin"] = new.files["new.bin"]
    new.files["new-tool.bin"]?.isExecutable = true
    new.emptyDirectories.remove("empty")
    let (sample, pack) = try await check(old, new)
    #expect(pack.layout.packSize <= PackRewriter.largestSize(for: sample.new.layout.packSize))
    let delta = try DeltaPack.open(sample.directory("out.delta"), key: try sampleKey())
    let rewriter = try PackRewriter(try DeltaApplication(delta, over: [sample.old]))
    #expect(try await rewriter.packSize(try DeltaApplication(delta, over: [sample.old]), jobs: 2) == pack.layout.packSize)
  }

  @Test(
    "an empty tree, and one of empty files, pass the gate",
    arguments: [SampleTree(), SampleTree(["a": .init([])], emptyDirectories: ["b"])])
  func empty(tree: SampleTree) async throws {
    try await check(SampleTree(["file": .init([1, 2, 3])]), tree)
    try await check(SampleTree(), tree)
  }

  @Test("the same delta gives another salt each time, and a pack of the same length")
  func salt() async throws {
    let tree = SampleTree(["file": .init([UInt8](repeating: 5, count: 5000))])
    let sample = try await DeltaSample(tree, tree)
    try await sample.make()
    var (salts, sizes): (Set<[UInt8]>, Set<UInt64>) = ([sample.old.header.salt, sample.new.header.salt], [])
    for number in 0..<4 {
      sizes.insert(try await rewrite(sample, to: "\(number).pack").size)
      salts.insert(try Pack.open(sample.directory("\(number).pack"), key: try sampleKey()).header.salt)
    }
    #expect(salts.count == 6 && sizes.count == 1)
  }

  @Test("a payload of any length around a segment ends in a segment that is sealed as the last one")
  func lastSegment() async throws {
    var random = SeededGenerator(seed: 5)
    let bytes = random.bytes(9000)
    var lengths: Set<UInt64> = []
    for size in stride(from: 6200, to: 8400, by: 41) {
      let (_, pack) = try await check(SampleTree(), SampleTree(["file": .init(Array(bytes.prefix(size)))]))
      lengths.insert(pack.layout.packSize % 4096)
    }
    #expect(lengths.count > 20)
  }

  @Test("packs that are made of packs that were made pass the gate, in hardly more space than published ones")
  func chain() async throws {
    var random = SeededGenerator(seed: 7)
    var tree = SampleTree(emptyDirectories: ["void"])
    for number in 0..<200 { tree.files["text/\(number).json"] = .init(Self.text(number, 0)) }
    for number in 0..<10 { tree.files["bin/\(number).bin"] = .init(random.bytes(100_000)) }
    var last: (sample: DeltaSample, pack: Pack)?
    for step in 1...Effort.number(quick: 5, full: 20) {
      var next = tree
      for number in stride(from: step % 7, to: 200, by: 7) { next.files["text/\(number).json"] = .init(Self.text(number, step)) }
      next.files["bin/\(step % 10).bin"] = .init(random.bytes(90_000))
      next.files["text/moved-\(step).json"] = next.files.removeValue(forKey: "text/\(199 - step).json")
      next.files["copy-\(step % 3).bin"] = next.files["bin/\((step + 5) % 10).bin"]
      let sample = try await DeltaSample(tree, next)
      try await sample.make()
      try await rewrite(sample, over: last?.pack)
      let pack = try await verify(sample)
      let published = sample.new.layout.packSize
      #expect(pack.layout.packSize <= published * 103 / 100 + 65_536, "step \(step): \(pack.layout.packSize) instead of \(published)")
      last = (sample, pack)
      tree = next
    }
  }

  private static func text(_ number: Int, _ step: Int) -> [UInt8] {
    Array((0..<60).map { "{\"level\": \(number), \"step\": \(step), \"value\": \($0 * number * 7919 % 10_007)}\n" }.joined().utf8)
  }
}
