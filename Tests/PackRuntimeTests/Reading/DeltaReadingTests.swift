import Foundation
import TestSupport
import Testing

@Suite("Open deltas", .bounded)
struct DeltaReadingTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  // MARK: Samples

  /// Versions of a tree: each differs from the one before in a changed, a renamed, a new and a repeated file.
  private static func version(_ number: Int) -> SampleTree {
    var random = SeededGenerator(seed: 5)
    var tree = SampleTree.awkward(&random)
    tree.files["level.bin"] = SampleTree.File(random.bytes(90_000))
    tree.files["name-\(number).bin"] = SampleTree.File(random.bytes(3000))
    for step in 0..<number {
      tree.files["level.bin"]?.bytes[step * 20_000] ^= 1
      tree.files["new-\(step).txt"] = SampleTree.File(Array("new in version \(step)".utf8))
      tree.files["again-\(step).txt"] = tree.files["new-\(step).txt"]
    }
    return tree
  }

  private func full(_ number: Int) async throws -> String {
    try await makePack(Self.version(number), in: directory, name: "v\(number)")
  }

  /// Makes the delta that brings a version out of another one.
  private func delta(_ old: Int, _ new: Int) async throws -> String {
    let path = directory("\(old)-\(new).delta")
    let job = DeltaJob(
      from: try PackRuntimeTests.open(try await full(old)), to: try PackRuntimeTests.open(try await full(new)), output: path)
    _ = try await job.run(key: try knownKey())
    return path
  }

  private func open(_ path: String, over bases: [Pack], files: any FileSystem = FaultyFiles()) throws(PackError) -> Pack {
    try Pack.open(path, key: try knownKey(), over: bases, files: files)
  }

  // MARK: Refusals

  @Test("a delta without a base is refused: the message says that it is a delta, and the advice is to choose a base")
  func noBase() async throws {
    let path = try await delta(0, 1)
    for error in [
      await failure { () throws(PackError) in _ = try open(path, over: []) },
      await failure { () throws(PackError) in _ = try PackRuntimeTests.open(path) },
    ] {
      #expect(error?.code == .unsupported && error?.advice == .chooseBase)
      #expect(error?.message == "\(path) is a delta, which can be read only over the packs that it was made for")
    }
  }

  @Test("another base is wrong, and the message has both content roots and the path of the base")
  func otherBase() async throws {
    let path = try await delta(0, 1)
    let (right, other) = (try PackRuntimeTests.open(try await full(0)), try PackRuntimeTests.open(try await full(2)))
    let error = await failure { () throws(PackError) in _ = try open(path, over: [other]) }
    #expect(error?.code == .wrongBase && error?.advice == .chooseBase)
    #expect(
      error?.message
        == """
        \(path): pack is a delta over content \(right.contentRoot.prefix(8).hex), but \(other.source.path) has content \
        \(other.contentRoot.prefix(8).hex)
        """)
  }

  @Test("more bases than the delta names are wrong")
  func moreBases() async throws {
    let path = try await delta(0, 1)
    let base = try PackRuntimeTests.open(try await full(0))
    let error = await failure { () throws(PackError) in _ = try open(path, over: [base, base]) }
    #expect(error?.code == .wrongBase)
    #expect(error?.message == "\(path): pack is a delta over 1 pack, but 2 were given")
  }

  @Test("the key of another pack is wrong before a base is compared")
  func wrongKey() async throws {
    let path = try await delta(0, 1)
    let base = try PackRuntimeTests.open(try await full(2))
    let error = await failure { () throws(PackError) in _ = try Pack.open(path, key: key(filledFrom: 1), over: [base]) }
    #expect(error?.code == .wrongKey)
  }

  @Test("more content than expected is refused when the delta is opened")
  func contentLimit() async throws {
    let path = try await delta(0, 1)
    let base = try PackRuntimeTests.open(try await full(0))
    let size = UInt64(Self.version(1).contentSize)
    #expect(try Pack.open(path, key: try knownKey(), over: [base], contentLimit: size).contentSize == size)
    let error = await failure { () throws(PackError) in
      _ = try Pack.open(path, key: knownKey(), over: [base], contentLimit: size - 1)
    }
    #expect(error?.code == .limitExceeded)
  }

  @Test("a delta with any byte changed is refused")
  func flipped() async throws {
    let path = try await delta(0, 1)
    let base = try PackRuntimeTests.open(try await full(0))
    let whole = try #require(directory.bytes(of: "0-1.delta"))
    for place in stride(from: 0, to: whole.count, by: Effort.number(quick: 7, full: 1)) {
      var bytes = whole
      bytes[place] ^= 0x10
      let changed = try directory.write(bytes, to: "changed.delta")
      let error = await failure { () throws(PackError) in _ = try open(changed, over: [base]) }
      // A changed version, id or salt is found by the MAC, and a changed key id looks like another key.
      #expect(error != nil, "byte \(place)")
    }
    #expect(try open(path, over: [base]).entryCount == Self.version(1).files.count + 2)
  }

  @Test("a delta that ends early is refused as truncated or damaged")
  func cut() async throws {
    _ = try await delta(0, 1)
    let base = try PackRuntimeTests.open(try await full(0))
    let whole = try #require(directory.bytes(of: "0-1.delta"))
    for size in stride(from: 0, to: whole.count, by: Effort.number(quick: 11, full: 1)) {
      let changed = try directory.write(whole.prefix(size), to: "cut.delta")
      let error = await failure { () throws(PackError) in _ = try open(changed, over: [base]) }
      #expect(error.map { [.truncated, .authenticationFailed].contains($0.code) } == true, "\(size) bytes")
    }
  }

  @Test("a base that is damaged after it was opened has its own error, and unpacking leaves nothing", arguments: [true, false])
  func damagedBase(isDamagedBefore: Bool) async throws {
    let path = try await delta(0, 1)
    let basePath = try await full(0)
    let base = try PackRuntimeTests.open(basePath)
    let opened = isDamagedBefore ? nil : try open(path, over: [base])
    // The contents lie in the middle, header and index at the ends.
    let file = try #require(FileHandle(forUpdatingAtPath: basePath))
    let size = try file.seekToEnd()
    for offset in stride(from: 5000, to: size - 20_000, by: 4096) {
      try file.seek(toOffset: offset)
      try file.write(contentsOf: Data([0xA5, 0x5A]))
    }
    try file.close()
    try directory.makeDirectory("room")
    let error = await failure { () async throws(PackError) in
      let pack = if let opened { opened } else { try open(path, over: [base]) }
      try await pack.unpack(to: directory("room/out"), jobs: 2)
    }
    #expect(error?.code == .authenticationFailed)
    #expect(error?.message.hasPrefix("\(path): \(basePath): ") == true)
    #expect(directory.names(in: "room").isEmpty)
  }

  @Test("three deltas lie over each other, and a fourth is refused")
  func layers() async throws {
    var pack = try PackRuntimeTests.open(try await full(0))
    for number in 1...3 {
      pack = try open(try await delta(number - 1, number), over: [pack])
      try await check(pack, Self.version(number), "layer\(number)")
    }
    let path = try await delta(3, 4)
    let error = await failure { () throws(PackError) in _ = try open(path, over: [pack]) }
    #expect(error?.code == .limitExceeded)
  }

  @Test("a delta with the content of a full pack is not taken for it, in whichever order they are named")
  func equalContents() async throws {
    let (whole, equal) = (try await full(0), try await delta(0, 0))
    let deltas = [try await delta(0, 1), try await delta(1, 2)]
    let path = try await delta(2, 3)
    for (number, paths) in [[equal, whole] + deltas, deltas + [whole, equal]].enumerated() {
      var stack = DeltaStack(paths)
      let pack = try stack.open(path, key: try knownKey())
      try await check(pack, Self.version(3), "equal\(number)")
    }
    // Two files with the same content, of which one lies over too many deltas.
    let back = [try await delta(3, 2), path]
    var stack = DeltaStack(back + deltas + [whole])
    try await check(try stack.open(path, key: try knownKey()), Self.version(3), "shorter")
    let error = await failure { () async throws(PackError) in
      var stack = DeltaStack([equal] + deltas)
      _ = try stack.open(path, key: try knownKey())
    }
    #expect(error?.code == .wrongBase)
  }

  @Test("the layer between two others is not optional")
  func missingLayer() async throws {
    let path = try await delta(1, 2)
    let base = try PackRuntimeTests.open(try await full(0))
    let error = await failure { () throws(PackError) in _ = try open(path, over: [base]) }
    #expect(error?.code == .wrongBase)
  }

  // MARK: Reading

  /// Compares everything that a pack gives with a tree.
  private func check(_ pack: Pack, _ tree: SampleTree, _ place: String, jobs: Int = 2) async throws {
    #expect(pack.entryCount == tree.files.count + tree.emptyDirectories.count)
    #expect(pack.contentSize == UInt64(tree.contentSize))
    for (path, file) in tree.files {
      let isSame = try pack.read(path) == file.bytes
      #expect(isSame, "\(path)")
      #expect(try pack.find(path)?.isExecutable == file.isExecutable)
    }
    #expect(try pack.find("none") == nil)
    try await pack.verify(jobs: jobs)
    try await pack.unpack(to: directory(place), jobs: jobs)
    let isSame = try SampleTree(reading: directory(place)) == tree
    #expect(isSame)
  }

  @Test("a delta over a pack, over a delta and over the pack with other frames reads as the full pack does", arguments: [1, 3])
  func sameAsFull(jobs: Int) async throws {
    let whole = try PackRuntimeTests.open(try await full(2))
    let first = try PackRuntimeTests.open(try await full(0))
    let second = try open(try await delta(0, 1), over: [first])
    let large = try PackRuntimeTests.open(try await makePack(Self.version(1), in: directory, name: "large", frameSize: 2 << 20))
    let path = try await delta(1, 2)
    for (number, base) in [second, large, try PackRuntimeTests.open(directory("v1.pack"))].enumerated() {
      let pack = try open(path, over: [base])
      #expect(pack.contentRoot == whole.contentRoot && pack.keyID == whole.keyID && pack.header.packID == whole.header.packID)
      try await check(pack, Self.version(2), "out\(number)", jobs: jobs)
      var (entries, expected): ([String], [String]) = ([], [])
      try pack.forEachEntry { entries.append("\($0.path) \($0.kind) \($0.size) \($0.sha256.hex)") }
      try whole.forEachEntry { expected.append("\($0.path) \($0.kind) \($0.size) \($0.sha256.hex)") }
      #expect(entries == expected)
    }
  }

  @Test("ranges of files are those of the full pack, also in pieces as a server reads them")
  func ranges() async throws {
    let tree = Self.version(2)
    let pack = try open(try await delta(0, 2), over: [try PackRuntimeTests.open(try await full(0))])
    var random = SeededGenerator(for: "ranges of a delta")
    for (path, file) in tree.files where file.bytes.count > 1 {
      let entry = try pack.entry(at: path)
      let start = Int.random(in: 0..<file.bytes.count - 1, using: &random)
      let end = Int.random(in: start + 1...file.bytes.count, using: &random)
      let isSame = try pack.read(path, range: UInt64(start)..<UInt64(end)) == Array(file.bytes[start..<end])
      #expect(isSame, "\(path) \(start)..<\(end)")
      var position = UInt64(start)
      var (pieces, decrypted): ([UInt8], UInt64) = ([], 0)
      while position < UInt64(end) {
        position += try pack.withPiece(of: entry, position..<UInt64(end), decryptedBytes: &decrypted) { piece in
          pieces.append(copying: piece)
          return UInt64(piece.count)
        }
      }
      #expect(pieces == Array(file.bytes[start..<end]), "\(path)")
    }
    #expect(code { () throws(PackError) in _ = try pack.read("level.bin", range: 0..<90_001) } == .rangeNotSatisfiable)
  }

  @Test("many tasks read at once")
  func concurrently() async throws {
    let tree = Self.version(2)
    let first = try open(try await delta(0, 1), over: [try PackRuntimeTests.open(try await full(0))])
    let pack = try open(try await delta(1, 2), over: [first])
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for (path, file) in tree.files { group.addTask { try pack.read(path) == file.bytes } }
      for try await isSame in group { #expect(isSame) }
    }
  }

  @Test("a frame of a base is not read again for each window that needs it")
  func framesAreKept() async throws {
    var random = SeededGenerator(for: "frames of a base")
    // Two frames of 1.5 MiB. Each window needs parts of both.
    let content = random.bytes(3 << 20)
    var mixed: [UInt8] = []
    for part in 0..<6 {
      for start in [part * 250 << 10, (1600 + part * 240) << 10] { mixed += content[start..<start + 240 << 10] }
    }
    let old = try await makePack(SampleTree(["a.bin": .init(content)]), in: directory, name: "old", frameSize: 1536 << 10)
    let new = try await makePack(SampleTree(["b.bin": .init(mixed)]), in: directory, name: "new")
    let job = DeltaJob(from: try PackRuntimeTests.open(old), to: try PackRuntimeTests.open(new), output: directory("mixed.delta"))
    let report = try await job.run(key: try knownKey())
    #expect(report.windows == 4)
    let files = FaultyFiles()
    let base = try PackRuntimeTests.open(old, files: files)
    let before = files.bytesRead
    let pack = try open(directory("mixed.delta"), over: [base])
    // Each of three windows needs both frames, but has one of them from the window before: of 6 frames, 4 are read.
    let read = files.bytesRead - before
    #expect(read < 7 << 20, "\(read) bytes of the base were read")
    let isSame = try pack.read("b.bin") == mixed
    #expect(isSame)
  }
}
