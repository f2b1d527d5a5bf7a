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

  /// The largest number of frames of the old pack that a window of the delta needs.
  private static func mostFrames(of sample: DeltaSample) throws -> Int {
    let head = try DeltaSummary.read(sample.directory("out.delta"), key: try sampleKey()).head
    var entries: [Entry] = []
    try sample.old.forEachEntry { entries.append($0) }
    var most = 0
    for window in head.windows {
      var frames: Set<Int> = []
      for piece in head.pieces[window.pieces] where Int(piece.content) < entries.count {
        let start = entries[Int(piece.content)].offset + piece.offset
        let last = start + UInt64(piece.length) - 1
        frames.formUnion(sample.old.table.frame(holding: start)...sample.old.table.frame(holding: last))
      }
      most = max(most, frames.count)
    }
    return most
  }

  @Test("a delta that stays packed gives the same tree, and needs at most four frames for a window, whatever that costs")
  func staysPacked() async throws {
    // Twenty files of a frame each, and a new one with a part of each. Another one leaves out every second frame of an old one.
    var (old, new) = (SampleTree(), SampleTree())
    for number in 0..<20 {
      let bytes = Self.bytes(60_000, UInt64(number))
      old.files["level-\(number)"] = .init(bytes)
      new.files["all"] = .init((new.files["all"]?.bytes ?? []) + bytes[1000 * number..<1000 * number + 5000])
    }
    let long = Self.bytes(600_000, 99)
    old.files["long"] = .init(long)
    var rest: [UInt8] = []
    for part in 0..<5 { rest += long[part * 120_000 + 500..<part * 120_000 + 60_500] }
    new.files["long"] = .init(rest)
    let sample = try await DeltaSample(old, new)
    var sizes: [InstallMode: UInt64] = [:]
    for mode in InstallMode.allCases {
      sizes[mode] = try await sample.check { $0.mode = mode }.deltaSize
      let most = try Self.mostFrames(of: sample)
      #expect(mode == .packed ? most <= DeltaJob.mostFrames : most >= 10)
    }
    #expect(sizes[.unpacked] ?? 0 < 5000 && sizes[.packed] ?? 0 > 30_000)
  }

  @Test("a delta that stays packed is the same with any number of threads, and whatever frames the new pack has")
  func staysPackedDeterministic() async throws {
    var (old, new) = (SampleTree(), SampleTree())
    for number in 0..<12 {
      var bytes = Self.bytes(150_000, UInt64(number))
      old.files["\(number)"] = .init(bytes)
      bytes.insert(contentsOf: [1, 2, 3], at: 70_000)
      new.files["\(number)"] = .init(bytes)
    }
    let sample = try await DeltaSample(old, new)
    try await sample.make { $0.mode = .packed }
    let made = sample.made
    try await sample.make { ($0.mode, $0.jobs) = (.packed, 1) }
    #expect(sample.made == made)
    var job = PackJob(source: sample.directory("new.source"), output: sample.directory("other.pack"), name: try PackName("sample"))
    (job.packVersion, job.settings.segmentSize, job.jobs, job.files) = (2, 4096, 2, FaultyFiles())
    _ = try await job.run(key: try sampleKey())
    let other = try Pack.open(sample.directory("other.pack"), key: try sampleKey())
    try #require(other.largestFrame > sample.new.largestFrame)
    var delta = DeltaJob(from: sample.old, to: other, output: sample.directory("out.delta"))
    (delta.mode, delta.files) = (.packed, FaultyFiles())
    _ = try await delta.run(key: try sampleKey())
    #expect(sample.made == made)
  }

  @Test("a large file of many small frames, of which a byte changed, is a small delta also if it stays packed")
  func staysPackedLarge() async throws {
    let bytes = Self.bytes(2_000_000, 7)
    var changed = bytes
    changed[1_000_000] ^= 1
    let sample = try await DeltaSample(SampleTree(["a": .init(bytes)]), SampleTree(["a": .init([9, 9] + changed)]))
    let size = try await sample.check { $0.mode = .packed }.deltaSize
    #expect(size < 4000)
    #expect(try Self.mostFrames(of: sample) <= DeltaJob.mostFrames)
  }

  @Test("a delta that stays packed is about as small as another one if its files are like files of many frames")
  func staysPackedAndSmall() async throws {
    var (old, new) = (SampleTree(), SampleTree())
    for number in 0..<30 {
      var bytes = Self.bytes(30_000, UInt64(number))
      old.files["level-\(10 + number)"] = .init(bytes)
      bytes[15_000] ^= 1
      new.files["level-\(10 + number)"] = .init(bytes)
      // First by their names, and like the last ones. Each of them is there twice.
      bytes[7000] ^= 1
      if number >= 20 { for copy in ["a", "b"] { new.files["\(copy)-\(50 - number)"] = .init(bytes) } }
    }
    let sample = try await DeltaSample(old, new)
    var sizes: [UInt64] = []
    for mode in InstallMode.allCases { sizes.append(try await sample.check { $0.mode = mode }.deltaSize) }
    #expect(sizes.max()! < 3000 && sizes.max()! - sizes.min()! < 1000, "\(sizes)")
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

  @Test("a file of several windows is cut, and each window finds its part of the old file")
  func large() async throws {
    let content = Self.bytes(3_400_000, 1)
    var edited = content
    for offset in stride(from: 1000, to: edited.count, by: 400_000) { edited[offset] ^= 1 }
    edited.removeSubrange(1_500_000..<1_500_010)
    let report = try await DeltaSample(Self.tree(["a.bin": content]), Self.tree(["a.bin": edited])).check()
    #expect(report.windows == 5 && report.deltaSize < 2500, "\(report.windows) \(report.deltaSize)")
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

  @Test("a delta is as good a base as the full pack")
  func overDelta() async throws {
    let middle = Self.changed { $0.files["js/app.js"]?.bytes[17_000] ^= 1 }
    let last = Self.changed { $0.files["js/app.js"]?.bytes[18_000] ^= 1 }
    let first = try await DeltaSample(Self.usual, middle)
    try await first.make()
    let base = try Pack.open(first.directory("out.delta"), key: try sampleKey(), over: [first.old])
    let sample = try await DeltaSample(middle, last)
    try await sample.make()
    let overFull = sample.made
    _ = try await DeltaJob(from: base, to: sample.new, output: sample.directory("out.delta")).run(key: try sampleKey())
    let isSame = sample.made == overFull
    #expect(isSame)
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
}

@Suite("Ranges of a window", .bounded)
struct RangeSearchTests {
  private func search(_ contents: [[UInt8]], mostFrames: Int? = nil) -> RangeSearch {
    let places = BaseContents(contents.enumerated().map { ($0, UInt64($1.count)) })
    var fingerprints = [UInt32](repeating: 0, count: Int(places.end / places.spacing))
    for (item, content) in zip(places.items, contents) {
      var sampler = FingerprintSampler(spacing: places.spacing)
      sampler.add(content.byteSpan)
      fingerprints.replaceSubrange(
        Int(item.start / places.spacing)..<Int(item.start / places.spacing) + sampler.fingerprints.count, with: sampler.fingerprints)
    }
    return RangeSearch(places, FingerprintIndex(fingerprints, spacing: places.spacing), mostFrames: mostFrames) { address, item in
      // Frames of 20 000 bytes, in each content anew.
      let item = (number: item, start: places.items[item].start, end: places.items[item].end)
      let frame = (address - item.start) / 20_000
      return RangeSearch.FramePart(
        frame: item.number * 100 + Int(frame),
        range: item.start + frame * 20_000..<min(item.end, item.start + (frame + 1) * 20_000))
    }
  }

  @Test("nothing is found without a base, in an empty window, and in one shorter than a fingerprint", arguments: [0, 1, 15, 16])
  func nothing(_ size: Int) {
    var random = SeededGenerator(seed: 1)
    var search = search([])
    #expect(search.pieces(for: random.bytes(size).byteSpan).isEmpty)
    search = self.search([random.bytes(10)])
    #expect(search.pieces(for: random.bytes(size).byteSpan).isEmpty)
  }

  @Test("an edited content is one range, and other contents that have a part of it, too, are not used")
  func oneRange() throws {
    var random = SeededGenerator(seed: 2)
    let content = random.bytes(100_000)
    var window = content
    window[50_000] ^= 1
    window.insert(contentsOf: [1, 2, 3], at: 70_000)
    var search = search([Array(content[40_000..<60_000]), content, Array(content[..<30_000])])
    let pieces = search.pieces(for: window.byteSpan)
    #expect(pieces == [DeltaHead.Piece(content: 1, offset: 0, length: 100_000)])
  }

  @Test("ranges ascend, do not overlap, lie in their contents, and keep the limits")
  func limits() {
    var random = SeededGenerator()
    let contents = (0..<6).map { _ in random.bytes(1_500_000) }
    var window: [UInt8] = []
    while window.count < 1 << 20 {
      let content = contents[Int.random(in: 0..<6, using: &random)]
      let start = Int.random(in: 0..<1_499_000, using: &random)
      window += content[start..<start + Int.random(in: 100...400, using: &random)]
    }
    var search = search(contents)
    let pieces = search.pieces(for: window.byteSpan.extracting(first: 1 << 20))
    #expect(!pieces.isEmpty && pieces.count <= Limits.deltaRanges)
    #expect(pieces.reduce(0) { $0 + Int($1.length) } <= Limits.deltaPrefixSize)
    for (left, right) in zip(pieces, pieces.dropFirst()) {
      #expect(left.content < right.content || left.content == right.content && left.offset + UInt64(left.length) <= right.offset)
    }
    #expect(pieces.allSatisfy { $0.length > 0 && $0.offset + UInt64($0.length) <= 1_500_000 })
  }

  /// Returns the frames, as ``search(_:_:)`` cuts them, that pieces touch.
  private func frames(_ pieces: [DeltaHead.Piece]) -> Set<Int> {
    Set(
      pieces.flatMap { piece in
        (piece.offset / 20_000...(piece.offset + UInt64(piece.length) - 1) / 20_000).map { Int(piece.content) * 100 + Int($0) }
      })
  }

  @Test("for reading, a window takes bytes from the four frames that have most of it")
  func fewFrames() {
    var random = SeededGenerator(seed: 4)
    let contents = (0..<3).map { _ in random.bytes(100_000) }
    // Parts of eight frames, of different sizes. The largest one crosses the end of a frame.
    var window: [UInt8] = []
    for (content, start, size) in [
      (0, 1_000, 3_000), (0, 15_000, 20_000), (0, 61_000, 900), (1, 1_000, 1_500), (1, 45_000, 9_000), (2, 3_000, 700), (2, 81_000, 8_000),
    ] {
      window += contents[content][start..<start + size] + random.bytes(50)
    }
    var search = search(contents)
    #expect(frames(search.pieces(for: window.byteSpan)).count >= 8)
    search = self.search(contents, mostFrames: 4)
    let pieces = search.pieces(for: window.byteSpan)
    #expect(frames(pieces) == [0, 1, 102, 204])
    #expect(pieces.contains { $0.content == 0 && $0.offset <= 15_000 && $0.offset + UInt64($0.length) >= 35_000 })
    // What fits is taken, but nothing of the frames beside it.
    let part = Array(contents[1][..<39_990])
    #expect(search.pieces(for: part.byteSpan) == [DeltaHead.Piece(content: 1, offset: 0, length: 40_000)])
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
    #expect(BaseContents(size == 0 ? [] : [(0, size)]).spacing == spacing)
  }
}
