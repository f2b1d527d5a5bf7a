import TestSupport
import Testing

@testable import PackBuild
@testable import PackStore

@Suite("What files take in a pack", .bounded)
struct PackedSizesTests {
  private func check(
    _ pack: Pack, _ path: String, in directory: TemporaryDirectory, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let frames = (0..<pack.table.dataFrameCount).reduce(0 as UInt64) { $0 + UInt64(pack.table[$1].compressedSize) }
    try check(
      try PackedSizes(pack), frames, count: pack.entryCount, path, in: directory, sourceLocation: sourceLocation)
  }

  private func check(
    _ packed: PackedSizes, _ frames: UInt64, count: Int, _ path: String, in directory: TemporaryDirectory,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let size = UInt64(directory.bytes(of: path)?.count ?? 0)
    #expect(packed.total + packed.parts.reduce(0) { $0 + $1.size } == size, sourceLocation: sourceLocation)
    // Nothing of a frame is lost when it is divided.
    let unused = packed.parts.first { $0.name == "frames without file content" }?.size ?? 0
    #expect(packed.total + unused == frames, sourceLocation: sourceLocation)
    #expect(packed.sizes.count == count && packed.sizes.reduce(0, +) == packed.total, sourceLocation: sourceLocation)
  }

  @Test("adds up to the size of the pack, with frames of any size", arguments: [65_536, 1 << 20])
  func sums(frameSize: Int) async throws {
    var random = SeededGenerator(for: "packed sizes")
    for _ in 0..<4 {
      let directory = try TemporaryDirectory()
      var tree = SampleTree(emptyDirectories: ["empty"])
      for number in 0..<Int.random(in: 0...60, using: &random) {
        let size = Int.random(in: 0...[100, 5000, 200_000].randomElement(using: &random)!, using: &random)
        tree.files["d\(number % 7)/\(number)"] = .init(number % 3 == 0 ? random.bytes(size) : [UInt8](repeating: 7, count: size))
      }
      try tree.write(to: "tree", in: directory)
      var job = PackJob(source: directory("tree"), output: directory("p.pack"), name: try PackName("p"))
      (job.settings.frameSize, job.settings.segmentSize) = (frameSize, 4096)
      _ = try await job.run(key: try sampleKey())
      try check(try Pack.open(directory("p.pack"), key: try sampleKey()), "p.pack", in: directory)
    }
  }

  @Test("adds up to the size of a delta, in which files of the base take nothing")
  func delta() async throws {
    var random = SeededGenerator(seed: 4)
    let old = SampleTree(["same": .init(random.bytes(100_000)), "changed": .init(random.bytes(100_000))])
    var new = old
    new.files["changed"]?.bytes[50_000] ^= 1
    new.files["new"] = .init(random.bytes(3000))
    let sample = try await DeltaSample(old, new)
    try await sample.make()
    let delta = try DeltaPack.open(sample.directory("out.delta"), key: try sampleKey())
    let application = try DeltaApplication(delta, over: [sample.old])
    let packed = PackedSizes(application)
    let windows = application.windows.reduce(0 as UInt64) { $0 + UInt64($1.compressedSize) }
    try check(packed, windows, count: application.target.count, "out.delta", in: sample.directory)
    let paths = (0..<application.target.count).map(application.target.path)
    let sizes = Dictionary(uniqueKeysWithValues: zip(paths, packed.sizes))
    #expect(sizes["same"] == 0)
    // Both are in one window, and divide its bytes.
    let (changed, added) = (sizes["changed"] ?? 0, sizes["new"] ?? 0)
    #expect(changed > 0 && added > 0 && (3000..<4000).contains(changed + added), "\(sizes)")
  }

  @Test("are refused or add up for every hostile pack that opens, and overlapping contents are refused")
  func hostile() throws {
    let directory = try TemporaryDirectory()
    var (refused, checked) = (Set<String>(), 0)
    for name in TestVector.all where name.hasPrefix("hostile/") {
      let vector = try TestVector(named: name)
      try directory.write(vector.pack, to: "p.pack")
      for secret in vector.keys {
        guard let key = try? secret.packKey(), let pack = try? Pack.open(directory("p.pack"), key: key) else { continue }
        do throws(PackError) {
          _ = try PackedSizes(pack)
        } catch {
          refused.insert(name)
          continue
        }
        try check(pack, "p.pack", in: directory)
        checked += 1
      }
    }
    #expect(refused.contains("hostile/match-overlap.vector") && checked > 50, "\(checked) checked")
  }

  @Test("counts a content for the first path, and a file alone in its frames for all of them")
  func shares() async throws {
    var random = SeededGenerator(seed: 5)
    let directory = try TemporaryDirectory()
    let large = random.bytes(65_536 * 3)
    let tree = SampleTree(["b.png": .init(large), "a.png": .init(large), "c.txt": .init([UInt8](repeating: 65, count: 9000))])
    try tree.write(to: "tree", in: directory)
    var job = PackJob(source: directory("tree"), output: directory("p.pack"), name: try PackName("p"))
    (job.settings.frameSize, job.settings.segmentSize) = (65_536, 4096)
    _ = try await job.run(key: try sampleKey())
    let pack = try Pack.open(directory("p.pack"), key: try sampleKey())
    let packed = try PackedSizes(pack)
    #expect(packed.sizes[1] == 0 && (1..<1000).contains(packed.sizes[2]))
    // What does not compress takes its length and what its frames' headers take.
    #expect((UInt64(large.count)..<UInt64(large.count) + 1000).contains(packed.sizes[0]))
  }
}

@Suite("Entries of a pack in order and as a tree", .bounded)
struct EntryListTests {
  private func pack(_ directory: TemporaryDirectory) async throws -> Pack {
    var tree = SampleTree(emptyDirectories: ["none/here"])
    for (path, size) in [("a/b/one", 10), ("a/b/two", 300), ("a/c", 50), ("a-b", 200), ("z", 200)] {
      tree.files[path] = .init([UInt8](repeating: UInt8(size & 0xFF), count: size))
    }
    try tree.write(to: "tree", in: directory)
    _ = try await PackJob(source: directory("tree"), output: directory("p.pack"), name: try PackName("p")).run(key: try sampleKey())
    return try Pack.open(directory("p.pack"), key: try sampleKey())
  }

  @Test("sorts by size, the largest first, and by path if sizes are equal")
  func order() async throws {
    let directory = try TemporaryDirectory()
    var list = try EntryList(try await pack(directory)) { $0.path != "a/c" }
    #expect(list.items.map(\.path) == ["a-b", "a/b/one", "a/b/two", "none/here", "z"])
    list.sort(by: .size)
    #expect(list.items.map(\.path) == ["a/b/two", "a-b", "z", "a/b/one", "none/here"])
  }

  @Test("puts each directory before what is in it, with the sums", arguments: EntryList.Order.allCases)
  func tree(order: EntryList.Order) async throws {
    let directory = try TemporaryDirectory()
    let pack = try await pack(directory)
    let packed = try PackedSizes(pack)
    var list = try EntryList(pack, packed)
    list.makeTree(by: order)
    let paths = list.items.map { $0.entry == nil ? $0.path + "/" : $0.path }
    switch order {
    case .path: #expect(paths == ["a-b", "a/", "a/b/", "a/b/one", "a/b/two", "a/c", "none/", "none/here", "z"])
    case .size, .packed: #expect(paths.first == "a/" && Array(paths.suffix(2)) == ["none/", "none/here"])
    }
    if order == .size { #expect(paths == ["a/", "a/b/", "a/b/two", "a/b/one", "a/c", "a-b", "z", "none/", "none/here"]) }
    let top = try #require(list.items.first { $0.path == "a" })
    #expect(top.size == 360 && top.files == 3 && top.depth == 0)
    let below = try #require(list.items.first { $0.path == "a/b" })
    #expect(below.size == 310 && below.files == 2 && below.name == "b" && below.depth == 1)
    #expect(list.items.filter { $0.depth == 0 }.reduce(0) { $0 + $1.packedSize } == packed.total)
  }

  @Test("puts names that begin with a combining mark into their directories")
  func combining() async throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 3)
    let sample = SampleTree.awkward(&random)
    try sample.write(to: "tree", in: directory)
    var job = PackJob(source: directory("tree"), output: directory("p.pack"), name: try PackName("p"))
    job.settings.allowsUnportablePaths = true
    _ = try await job.run(key: try sampleKey())
    var list = try EntryList(try Pack.open(directory("p.pack"), key: try sampleKey()))
    list.makeTree(by: .path)
    let text = try #require(list.items.first { $0.path == "text" })
    #expect(text.files == sample.files.keys.count { $0.utf8.starts(with: "text/".utf8) })
    let paths = list.items.filter { $0.entry == nil }.map { Array($0.path.utf8) }
    #expect(Set(paths).count == paths.count, "each directory once")
    #expect(list.items.contains { Array($0.name.utf8) == Array("\u{301}accent first.txt".utf8) && $0.depth == 1 })
  }
}
