import Foundation
import TestSupport
import Testing

@testable import PackBase
@testable import PackBuild
@testable import PackReading

@Suite("Deltas", .bounded)
struct DeltaTests {
  private static func bytes(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return random.bytes(count)
  }

  private static func tree(_ files: [String: [UInt8]], executable: Set<String> = [], empty: Set<String> = []) -> SampleTree {
    var tree = SampleTree(emptyDirectories: empty)
    for (path, bytes) in files { tree.files[path] = SampleTree.File(bytes, isExecutable: executable.contains(path)) }
    return tree
  }

  private static let usual = tree([
    "a.txt": Array("hello".utf8), "img/hero.png": bytes(150_000, 1), "img/copy.png": bytes(150_000, 1), "js/app.js": bytes(30_000, 2),
    "js/empty.js": [],
  ])

  private static func changed(_ change: (inout SampleTree) -> Void) -> SampleTree {
    var tree = usual
    change(&tree)
    return tree
  }

  // MARK: Refusals

  @Test("a key that did not make the new pack is refused, and nothing is left behind")
  func wrongKey() async throws {
    let sample = try await DeltaSample(Self.usual, Self.usual)
    let error = try await sample.refusal(key: try key(filledFrom: 77))
    #expect(error?.code == .wrongKey)
  }

  @Test("a directory at the place of the output is refused")
  func outputIsDirectory() async throws {
    let sample = try await DeltaSample(Self.usual, Self.usual)
    try sample.directory.makeDirectory("out.delta")
    await #expect { try await sample.make() } throws: { ($0 as? PackError)?.code == .outputExists }
  }

  @Test("a number of threads that is out of range is refused", arguments: [0, -1, 1025])
  func jobs(_ jobs: Int) async throws {
    let sample = try await DeltaSample(Self.usual, Self.usual)
    #expect(try await sample.refusal(key: try sampleKey()) { $0.jobs = jobs }?.code == .usage)
  }

  @Test("damage in either pack is refused, and nothing is left behind", arguments: ["old.pack", "new.pack"])
  func damaged(_ name: String) async throws {
    let sample = try await DeltaSample(Self.usual, Self.changed { $0.files["js/app.js"]?.bytes[5] ^= 1 })
    var bytes = try #require(sample.directory.bytes(of: name))
    // Inside a content, which is read only when the delta is made.
    for offset in stride(from: 9000, to: bytes.count - 9000, by: 4096) { bytes[offset] ^= 1 }
    overwrite(sample.directory(name), bytes)
    #expect(try await sample.refusal(key: try sampleKey())?.code == .authenticationFailed)
  }

  @Test("a full disk is reported, and nothing is left behind")
  func fullDisk() async throws {
    let sample = try await DeltaSample(Self.usual, Self.changed { $0.files["new.bin"] = SampleTree.File(Self.bytes(200_000, 9)) })
    let error = try await sample.refusal(key: try sampleKey()) { job in
      job.files = FaultyFiles { call in
        switch call.operation {
        case .write: .failure(.fullDisk)
        case .freeSpace: .freeSpace(1000)
        default: nil
        }
      }
    }
    #expect(error?.code == .noSpace)
  }

  @Test("if any one file operation fails, the earlier output is unchanged")
  func everyOperation() async throws {
    let sample = try await DeltaSample(Self.usual, Self.changed { $0.files["js/app.js"]?.bytes[5] ^= 1 })
    let counting = FaultyFiles()
    try await sample.make {
      $0.files = counting
      $0.jobs = 1
    }
    let finished = sample.made
    let renamed = try #require(counting.calls.last { $0.operation == .rename }).number
    for call in counting.calls where call.number <= renamed {
      try sample.directory.write(Array("the earlier delta".utf8), to: "out.delta")
      do throws(PackError) {
        try await sample.make {
          $0.files = FaultyFiles.failing(at: call.number)
          $0.jobs = 1
        }
        let isWhole = sample.made == finished
        #expect(isWhole, "\(call)")
      } catch {
        let isUntouched = sample.made == Array("the earlier delta".utf8)
        #expect(isUntouched, "\(call)")
      }
    }
  }

  @Test("a cancelled delta leaves nothing behind")
  func cancelled() async throws {
    let sample = try await DeltaSample(Self.usual, Self.changed { $0.files["new.bin"] = SampleTree.File(Self.bytes(3_000_000, 9)) })
    let task = Task { try await sample.make() }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? PackError)?.code == .cancelled }
    #expect(!sample.directory.names().contains("out.delta"))
  }

  // MARK: Trees

  @Test(
    "a delta makes the new tree",
    arguments: [
      usual,
      SampleTree(),
      tree([:], empty: ["only", "empty/directories"]),
      tree(["a.txt": []]),
      changed { $0.files["a.txt"]?.bytes = Array("hullo".utf8) },
      changed { $0.files["a.txt"]?.isExecutable = true },
      changed { $0.files["js/app.js"]?.bytes[17_000] ^= 1 },
      changed { $0.files["img/copy.png"] = nil },
      changed { $0.files["img/copy.png"]?.bytes = bytes(150_000, 3) },
      changed { $0.files["again.js"] = $0.files["js/app.js"] },
      changed {
        $0.files["x.bin"] = SampleTree.File(bytes(9000, 4))
        $0.files["y.bin"] = SampleTree.File(bytes(9000, 4))
        $0.files["z.bin"] = SampleTree.File(bytes(9000, 4), isExecutable: true)
      },
      changed { tree in
        // Two contents change places.
        (tree.files["js/app.js"], tree.files["img/hero.png"]) = (tree.files["img/hero.png"], tree.files["js/app.js"])
      },
    ])
  func trees(_ new: SampleTree) async throws {
    try await DeltaSample(Self.usual, new).check()
    try await DeltaSample(new, Self.usual).check()
  }

  @Test("difficult names and sizes are kept")
  func awkward() async throws {
    var random = SeededGenerator()
    let tree = SampleTree.awkward(&random)
    var other = tree
    for (path, file) in tree.files where file.bytes.count > 1000 { other.files[path]?.bytes[500] ^= 1 }
    try await DeltaSample(tree, other).check()
    try await DeltaSample(SampleTree(), tree).check()
  }

  @Test("equal trees need a few hundred bytes, and no content is read")
  func equal() async throws {
    let report = try await DeltaSample(Self.usual, Self.usual).check()
    #expect(report.deltaSize < 400 && report.new == 0 && report.moved == 0 && report.unchanged == 5)
  }

  @Test("a renamed directory costs a few bytes")
  func renamed() async throws {
    var old = SampleTree()
    var new = SampleTree()
    for number in 0..<200 {
      old.files["assets/level-\(number)/tiles.bin"] = SampleTree.File(Self.bytes(500, UInt64(number)))
      new.files["content/level-\(number)/tiles.bin"] = SampleTree.File(Self.bytes(500, UInt64(number)))
    }
    let report = try await DeltaSample(old, new).check()
    #expect(report.moved == 200 && report.new == 0)
    #expect(report.deltaSize < 1500, "\(report.deltaSize)")
  }

  @Test("a changed byte costs a few hundred bytes, also in a file with another name", arguments: ["js/app.js", "js/app.4f2a.js"])
  func oneByte(_ path: String) async throws {
    let new = Self.changed { tree in
      let file = tree.files["js/app.js"]
      tree.files["js/app.js"] = nil
      tree.files[path] = file
      tree.files[path]?.bytes[17_000] ^= 1
    }
    let report = try await DeltaSample(Self.usual, new).check()
    #expect(report.new == 1 && report.deltaSize < 500, "\(report.deltaSize)")
  }

  @Test("a content that moved inside a file is found, wherever it is now")
  func shifted() async throws {
    let content = Self.bytes(300_000, 1)
    let old = Self.tree(["a.bin": content])
    let new = Self.tree(["b.bin": Array(content[200_000...]) + Self.bytes(1000, 2) + Array(content[..<200_000])])
    let report = try await DeltaSample(old, new).check()
    #expect(report.deltaSize < 2000, "\(report.deltaSize)")
  }

  @Test("a large file is copied but for its edits, and what is new in it fills several windows")
  func large() async throws {
    let content = Self.bytes(3_400_000, 1)
    var edited = content
    for offset in stride(from: 1000, to: edited.count, by: 400_000) { edited[offset] ^= 1 }
    edited.removeSubrange(1_500_000..<1_500_010)
    edited += Self.bytes(2_500_000, 2)
    let report = try await DeltaSample(Self.tree(["a.bin": content]), Self.tree(["a.bin": edited])).check()
    #expect(report.windows == 3 && report.deltaSize < 2_512_000, "\(report.windows) \(report.deltaSize)")
  }

  @Test("10000 tiny files, of which ten changed, take less than a kilobyte")
  func tiny() async throws {
    var old = SampleTree()
    for number in 0..<10_000 { old.files["d\(number % 97)/\(number).json"] = SampleTree.File(Array("{\"level\":\(number * 7)}".utf8)) }
    var new = old
    for number in stride(from: 0, to: 10_000, by: 1000) {
      new.files["d\(number % 97)/\(number).json"]?.bytes = Array("{\"level\":\(number * 7 + 1)}".utf8)
    }
    let report = try await DeltaSample(old, new).check()
    #expect(report.new == 10 && report.unchanged == 9990)
    #expect(report.deltaSize < 1000, "\(report.deltaSize)")
  }

  @Test("a base of another name may be used")
  func otherName() async throws {
    try await DeltaSample(Self.usual, Self.changed { $0.files["b"] = SampleTree.File([1]) }, names: ("engine", "game")).check()
  }

  @Test("random trees, changed at random")
  func random() async throws {
    var random = SeededGenerator()
    for _ in 0..<Effort.number(quick: 8, full: 100) {
      let (old, new) = Self.randomPair(&random)
      try await DeltaSample(old, new).check()
    }
  }

  private static func randomPair(_ random: inout SeededGenerator) -> (SampleTree, SampleTree) {
    var old = SampleTree()
    for number in 0..<Int.random(in: 0...12, using: &random) {
      let size = [0, 1, 15, 16, 17, 500, 4096, 70_000, 600_000].randomElement(using: &random) ?? 0
      let repeats = Bool.random(using: &random)
      let bytes = repeats ? Array(repeating: random.bytes(50), count: size / 50 + 1).flatMap { $0 }.prefix(size) : random.bytes(size)[...]
      old.files["\(number % 3)/\(number)"] = SampleTree.File(Array(bytes), isExecutable: Bool.random(using: &random))
    }
    var new = SampleTree()
    for (path, file) in old.files.sorted(by: { $0.key < $1.key }) { change(path, file, of: old, in: &new, &random) }
    return (old, new)
  }

  private static func change(
    _ path: String, _ file: SampleTree.File, of old: SampleTree, in new: inout SampleTree, _ random: inout SeededGenerator
  ) {
    var bytes = file.bytes
    let place = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return
    case 1: new.files["moved/\(path)"] = file
    case 2: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...300, using: &random)), at: place)
    case 3: bytes.removeSubrange(place...)
    case 4: bytes += old.files.values.map(\.bytes).min { $0.count < $1.count } ?? []
    case 5 where place < bytes.count: bytes[place] ^= 0x20
    case 6: new.files["copy/\(path)"] = SampleTree.File(bytes + [7])
    default: break
    }
    new.files[path] = SampleTree.File(bytes, isExecutable: file.isExecutable)
  }

  // MARK: The same bytes

  @Test("the same packs give the same delta, whatever the number of threads", arguments: Effort.number(quick: [2, 8], full: [1, 2, 3, 8]))
  func threads(_ jobs: Int) async throws {
    let content = Self.bytes(5_000_000, 1)
    var edited = content
    for offset in stride(from: 1000, to: edited.count, by: 300_000) { edited[offset] ^= 1 }
    let sample = try await DeltaSample(Self.tree(["a.bin": content]), Self.tree(["b.bin": edited, "c": Self.bytes(90_000, 2)]))
    try await sample.make { $0.jobs = 1 }
    let first = sample.made
    try await sample.make { $0.jobs = jobs }
    let isSame = sample.made == first
    #expect(isSame)
  }

  @Test("the frames of neither pack make a difference")
  func frames() async throws {
    var (old, new) = (SampleTree(), SampleTree())
    for number in 0..<12 {
      var bytes = Self.bytes(150_000, UInt64(number))
      old.files["\(number)"] = .init(bytes)
      bytes.insert(contentsOf: [1, 2, 3], at: 70_000)
      new.files["\(number)"] = .init(bytes)
    }
    let sample = try await DeltaSample(old, new)
    try await sample.make()
    let made = sample.made
    var others: [Pack] = []
    for (name, version) in [("old", 1), ("new", 2)] as [(String, UInt64)] {
      let path = sample.directory("other-\(name).pack")
      var job = PackJob(source: sample.directory("\(name).source"), output: path, name: try PackName("sample"))
      (job.packVersion, job.settings.segmentSize, job.jobs, job.files) = (version, 4096, 2, FaultyFiles())
      _ = try await job.run(key: try sampleKey())
      others.append(try Pack.open(path, key: try sampleKey()))
    }
    try #require(others[0].largestFrame > sample.old.largestFrame && others[1].largestFrame > sample.new.largestFrame)
    var delta = DeltaJob(from: others[0], to: others[1], output: sample.directory("out.delta"))
    delta.files = FaultyFiles()
    _ = try await delta.run(key: try sampleKey())
    let isSame = sample.made == made
    #expect(isSame)
  }
}

@Suite("What a delta copies", .bounded)
struct CopySearchTests {
  /// Returns the copies of a new content from old ones, and the literals that remain.
  private func copies(_ old: [[UInt8]], _ new: [UInt8]) async throws -> (copies: [DeltaHead.Copy], literals: UInt64) {
    let files = old.enumerated().map { ("old/\($0)", SampleTree.File($1)) }
    let sample = try await DeltaSample(
      SampleTree(Dictionary(uniqueKeysWithValues: files)), SampleTree(["new": .init(new)]))
    let base = DeltaBaseReading(try DeltaTree(sample.old))
    let stream = try DeltaStream(of: try DeltaTree(sample.new), new: [0])
    let search = CopySearch(base: base, sampled: try await base.sampledContents(jobs: 2, progress: nil))
    let (copies, _) = CopySearch.divided(try await search.matches(of: stream, jobs: 2, progress: nil)) { _ in CopySearch.longCopy }
    // Each is the same on both sides.
    var position = 0
    for copy in copies {
      position += Int(copy.gap)
      let part = base.string.part(holding: copy.place)
      #expect(base.string.holds(copy.place..<copy.place + UInt64(copy.length)) && Limits.deltaCopyLengths.contains(UInt64(copy.length)))
      let start = Int(copy.place - base.string.range(of: part).lowerBound)
      #expect(old[part - 1][start..<start + Int(copy.length)] == new[position..<position + Int(copy.length)])
      position += Int(copy.length)
    }
    return (copies, CopyStream(size: UInt64(new.count), copies).literalCount)
  }

  @Test("nothing is copied without a base, and nothing shorter than is worth a copy", arguments: [1, 16, 500, 4095])
  func nothing(_ size: Int) async throws {
    var random = SeededGenerator(seed: 1)
    let content = random.bytes(6000)
    #expect(try await copies([], content).copies.isEmpty)
    #expect(try await copies([Array(content[1000..<1000 + size])], content).copies.isEmpty)
  }

  @Test("an edit ends a copy, and the next one begins right behind it")
  func edits() async throws {
    var random = SeededGenerator(seed: 2)
    let content = random.bytes(100_000)
    var new = content
    new[50_000] ^= 1
    new.insert(contentsOf: [1, 2, 3], at: 70_000)
    let found = try await copies([Array(content[40_000..<60_000]), content, Array(content[..<30_000])], new)
    #expect(found.copies.count == 3 && found.literals <= 8, "\(found)")
  }

  @Test("a long copy is divided, and what remains of it is not too short", arguments: [1 << 20, (1 << 20) + 1, (2 << 20) + 31, 5_000_000])
  func long(_ size: Int) async throws {
    var random = SeededGenerator(seed: 3)
    let content = random.bytes(size)
    let found = try await copies([content], [7] + content + [8])
    #expect(found.literals <= 2 && found.copies.count >= size >> 20)
  }

  @Test("matches that are too short for copies are extra ranges, joined over small holes, unless their frames cost too much")
  func extras() async throws {
    var random = SeededGenerator(seed: 4)
    let content = random.bytes(300_000)
    var new = content
    for place in stride(from: 100_000, to: 200_000, by: 1000) { new[place] ^= 1 }
    let sample = try await DeltaSample(
      SampleTree(["a": .init(random.bytes(90_000)), "old": .init(content)]), SampleTree(["a": .init(Array(new[100_500..<200_000]))]))
    let base = DeltaBaseReading(try DeltaTree(sample.old))
    let stream = try DeltaStream(of: try DeltaTree(sample.new), new: [0])
    let search = CopySearch(base: base, sampled: try await base.sampledContents(jobs: 2, progress: nil))
    let (copies, rest) = CopySearch.divided(try await search.matches(of: stream, jobs: 2, progress: nil)) { _ in CopySearch.longCopy }
    #expect(copies.isEmpty && rest.count == 100)
    var ranges = ExtraRanges(matches: rest, copies: CopyStream(size: stream.size, []), base: base)
    let start = base.string.range(of: 2).lowerBound
    let all = try ranges.chosen()
    #expect(all.ranges == [[start + 100_436..<start + 200_064]] && all.isAllowed)
    #expect(try ranges.missed(all.ranges).isEmpty)
    // Three frames of 64 KiB have it, and one of them only little.
    ranges.mostWork = 150_000
    let fewer = try ranges.chosen().ranges[0]
    #expect(fewer.total < 99_000 && fewer.total > 60_000, "\(fewer)")
    ranges.mostWork = 0
    let none = try ranges.chosen()
    #expect(none.ranges == [[]] && none.isAllowed)
    #expect(try ranges.missed(none.ranges).count == 100)
    let report = try await sample.check()
    #expect(report.copies == 0 && report.deltaSize < 2500, "\(report.deltaSize)")
  }

  @Test("ranges are joined, taken out of each other, and fitted into a room")
  func ranges() {
    let ranges: [Range<UInt64>] = [40..<50, 0..<10, 5..<12, 12..<15, 20..<30]
    #expect(ranges.joined(over: 0) == [0..<15, 20..<30, 40..<50])
    #expect(ranges.joined(over: 5) == [0..<30, 40..<50] && ranges.joined(over: 10) == [0..<50])
    #expect([0..<15, 20..<30].without([0..<2, 4..<6, 14..<22, 29..<40]) == [2..<4, 6..<14, 22..<29] as [Range<UInt64>])
    #expect([0..<15, 20..<30].without([]) == [0..<15, 20..<30] as [Range<UInt64>])
    #expect([0..<15, 20..<30].without([0..<30]) == [] as [Range<UInt64>])
    #expect(ranges.fitting(19) == [40..<50, 5..<12] && ranges.total == 40)
    #expect(ranges.cut(to: 15) == [40..<50, 0..<5] && ranges.cut(to: 10) == [40..<50])
    #expect(ranges.cut(to: 0).isEmpty && ranges.cut(to: 41) == ranges)
  }

  @Test("new contents come in the order of what they have most in common with, and no match reaches from one into the next")
  func order() async throws {
    var random = SeededGenerator(seed: 5)
    let contents = (0..<4).map { _ in random.bytes(20_000) }
    let old = SampleTree(Dictionary(uniqueKeysWithValues: contents.enumerated().map { ("old/\($0)", SampleTree.File($1)) }))
    // The two halves of one content, unlike their names, and what resembles nothing behind the first.
    let sample = try await DeltaSample(
      old,
      SampleTree([
        "a": .init(contents[2] + [1]), "b": .init(Array(contents[1][10_000...])), "c": .init(random.bytes(500)),
        "d": .init(Array(contents[1][..<10_000])), "e": .init(Array(contents[1][..<10_000])),
      ]))
    let base = DeltaBaseReading(try DeltaTree(sample.old))
    let ranges: [Range<UInt64>] = [0..<20_001, 20_001..<30_001, 30_001..<30_501, 30_501..<40_501]
    let place = { (number: Int) in base.string.range(of: number + 1).lowerBound }
    let order = ContentOrder(
      ranges,
      [
        .init(start: 0, place: place(2), length: 20_000), .init(start: 20_001, place: place(1) + 10_000, length: 10_000),
        // As if the bytes of the third and fourth were end to end in the base.
        .init(start: 30_441, place: place(0), length: 10_060),
      ], over: base)
    #expect(order.numbers == [3, 1, 2, 0])
    #expect(order.matches.map(\.start) == [0, 10_000, 20_500])
    #expect(order.matches.map(\.place) == [place(0) + 60, place(1) + 10_000, place(2)])
    #expect(order.matches.map(\.length) == [10_000, 10_000, 20_000])
    let report = try await sample.check()
    #expect(report.new == 4 && report.repeated == 1 && report.literalSize < 600)
  }

  @Test("a content that arrives in pieces has the samples of one that arrives whole", arguments: [1, 7, 16, 1000])
  func pieces(_ size: Int) {
    var random = SeededGenerator(seed: 3)
    let content = random.bytes(3000)
    for spacing in [4, 64, 1024] as [UInt64] {
      var whole = FingerprintSampler(spacing: spacing)
      whole.add(content.byteSpan)
      var cut = FingerprintSampler(spacing: spacing)
      for start in stride(from: 0, to: content.count, by: size) {
        cut.add(content.byteSpan.extracting(start..<min(start + size, content.count)))
      }
      #expect(cut.fingerprints == whole.fingerprints && whole.fingerprints.count == (3000 - 16) / Int(spacing) + 1)
    }
  }

  @Test("samples lie as near as the table allows", arguments: [(0, 4), (8 << 20, 4), (20 << 20, 16), (4 << 30, 256), (1 << 40, 65536)])
  func spacing(_ size: UInt64, _ spacing: UInt64) {
    var string = BaseString()
    string.add(contentAt: 0, size: size)
    #expect(BaseContents(string, parts: 0..<1).spacing == spacing)
  }
}
