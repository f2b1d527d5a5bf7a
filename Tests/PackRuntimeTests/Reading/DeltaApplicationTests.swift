import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Applying a delta", .bounded)
struct DeltaApplicationTests {
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

  private func full(_ number: Int) async throws -> Pack {
    try PackRuntimeTests.open(try await makePack(Self.version(number), in: directory, name: "v\(number)"))
  }

  /// Makes the delta that brings a version out of another one.
  private func delta(_ old: Int, _ new: Int) async throws -> String {
    try await delta(full(old), full(new), "\(old)-\(new).delta")
  }

  private func delta(_ old: Pack, _ new: Pack, _ name: String) async throws -> String {
    _ = try await DeltaJob(from: old, to: new, output: directory(name)).run(key: try knownKey())
    return directory(name)
  }

  private func open(_ path: String) throws(PackError) -> DeltaPack { try DeltaPack.open(path, key: knownKey()) }

  /// Returns the error of applying a delta in each way, which must be the same.
  private func refusal(
    _ path: String, over bases: [any DeltaBase], contentLimit: UInt64 = Limits.contentSize,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> PackError? {
    try directory.makeDirectory("room")
    let error = await failure { () async throws(PackError) in
      try await apply(open(path), over: bases, to: directory("room/out"), contentLimit: contentLimit)
    }
    #expect(directory.names(in: "room").isEmpty, "something was left behind", sourceLocation: sourceLocation)
    let proof = await failure { () throws(PackError) in
      var application = try DeltaApplication(open(path), over: bases, contentLimit: contentLimit)
      try application.prove()
    }
    #expect(proof?.code == error?.code, sourceLocation: sourceLocation)
    return error
  }

  // MARK: Refusals

  @Test("a delta is no pack: the message says what it is, and the advice is to choose a base")
  func asPack() async throws {
    let path = try await delta(0, 1)
    let error = await failure { () throws(PackError) in _ = try PackRuntimeTests.open(path) }
    #expect(error?.code == .unsupported && error?.advice == .chooseBase)
    #expect(error?.message == "\(path) is a delta, which has to be applied to the packs that it was made for")
  }

  @Test("a pack is no delta")
  func fullPack() async throws {
    let path = try await full(0).source.path
    #expect(code { () throws(PackError) in _ = try open(path) } == .usage)
  }

  @Test("another base is wrong, and the message has both content roots and the path of the base")
  func otherBase() async throws {
    let path = try await delta(0, 1)
    let (right, other) = (try await full(0), try await full(2))
    let error = try await refusal(path, over: [other])
    #expect(error?.code == .wrongBase && error?.advice == .chooseBase)
    #expect(
      error?.message
        == """
        \(path): pack is a delta over content \(right.contentRoot.prefix(8).hex), but \(other.source.path) has content \
        \(other.contentRoot.prefix(8).hex)
        """)
  }

  @Test("bases are found among others by their content, and the message says which one is missing")
  func search() async throws {
    let path = try await delta(0, 1)
    let (right, other, third) = (try await full(0), try await full(2), try await full(1))
    let missing = "\(path): pack is a delta over content \(right.contentRoot.prefix(8).hex), which no given base has"
    for bases in [[], [other, third]] {
      let error = try await refusal(path, over: bases)
      #expect(error?.code == .wrongBase && error?.advice == .chooseBase && error?.message == missing)
    }
    try Self.version(0).write(to: "tree", in: directory)
    for paths in [[other.source.path, right.source.path, third.source.path], [directory("tree"), other.source.path]] {
      let found = try DeltaBases.open(paths, for: open(path), key: knownKey())
      #expect(found.map(\.basePath) == paths)
      let bases = try DeltaApplication(open(path), over: found).bases
      #expect(bases.count == 1 && bases[0].contentRoot == right.contentRoot)
    }
  }

  @Test("the key of another pack is wrong")
  func wrongKey() async throws {
    let path = try await delta(0, 1)
    #expect(code { () throws(PackError) in _ = try DeltaPack.open(path, key: key(filledFrom: 1)) } == .wrongKey)
  }

  @Test("more content than expected is refused")
  func contentLimit() async throws {
    let path = try await delta(0, 1)
    let base = try await full(0)
    let size = UInt64(Self.version(1).contentSize)
    #expect(try DeltaApplication(open(path), over: [base], contentLimit: size).target.contentSize == size)
    #expect(try await refusal(path, over: [base], contentLimit: size - 1)?.code == .limitExceeded)
  }

  @Test("a delta with any byte changed is refused")
  func flipped() async throws {
    let path = try await delta(0, 1)
    let base = try await full(0)
    let whole = try #require(directory.bytes(of: "0-1.delta"))
    for place in stride(from: 0, to: whole.count, by: Effort.number(quick: 7, full: 1)) {
      var bytes = whole
      bytes[place] ^= 0x10
      let changed = try directory.write(bytes, to: "changed.delta")
      let error = await failure { () throws(PackError) in
        var application = try DeltaApplication(open(changed), over: [base])
        try application.prove()
      }
      // A changed version, id or salt is found by the MAC, and a changed key id looks like another key.
      #expect(error != nil, "byte \(place)")
    }
    #expect(try DeltaApplication(open(path), over: [base]).target.count == Self.version(1).files.count + 2)
  }

  @Test("a delta that ends early is refused as truncated or damaged")
  func cut() async throws {
    _ = try await delta(0, 1)
    let whole = try #require(directory.bytes(of: "0-1.delta"))
    for size in stride(from: 0, to: whole.count, by: Effort.number(quick: 11, full: 1)) {
      let changed = try directory.write(whole.prefix(size), to: "cut.delta")
      let error = await failure { () throws(PackError) in _ = try open(changed) }
      #expect(error.map { [.truncated, .authenticationFailed].contains($0.code) } == true, "\(size) bytes")
    }
  }

  @Test("a base that is damaged after it was opened has its own error, and nothing is left behind")
  func damagedBase() async throws {
    let path = try await delta(0, 1)
    let base = try await full(0)
    // The contents lie in the middle, header and index at the ends.
    let file = try #require(FileHandle(forUpdatingAtPath: base.source.path))
    let size = try file.seekToEnd()
    for offset in stride(from: 5000, to: size - 20_000, by: 4096) {
      try file.seek(toOffset: offset)
      try file.write(contentsOf: Data([0xA5, 0x5A]))
    }
    try file.close()
    let error = try await refusal(path, over: [base])
    #expect(error?.code == .authenticationFailed)
    #expect(error?.message.contains("\(base.source.path): ") == true)
  }

  @Test("the version between two others is not optional")
  func missingVersion() async throws {
    let path = try await delta(1, 2)
    #expect(try await refusal(path, over: [full(0)])?.code == .wrongBase)
  }

  // MARK: What is made

  /// Compares everything that a pack gives with a tree, and its index with the one of the published pack.
  private func check(_ pack: Pack, _ tree: SampleTree, like published: Pack, jobs: Int = 2) async throws {
    #expect(pack.contentRoot == published.contentRoot && pack.contentSize == UInt64(tree.contentSize))
    #expect(pack.keyID == published.keyID && pack.header.packID == published.header.packID)
    #expect(pack.header.packVersion == published.header.packVersion)
    var (entries, expected): ([String], [String]) = ([], [])
    try pack.forEachEntry { entries.append("\($0.path) \($0.kind) \($0.isExecutable) \($0.size) \($0.sha256.hex)") }
    try published.forEachEntry { expected.append("\($0.path) \($0.kind) \($0.isExecutable) \($0.size) \($0.sha256.hex)") }
    #expect(entries == expected)
    for (path, file) in tree.files {
      let isSame = try pack.read(path) == file.bytes
      #expect(isSame, "\(path)")
    }
    try await pack.verify(jobs: jobs)
  }

  @Test("a tree and a pack are made of a pack, of a pack that was made, and of one with other frames", arguments: [1, 3])
  func bases(jobs: Int) async throws {
    let published = try await full(2)
    let first = try await rewrite(open(try await delta(0, 1)), over: [full(0)], to: directory("first.pack"), jobs: jobs)
    try await check(first, Self.version(1), like: full(1), jobs: jobs)
    let large = try PackRuntimeTests.open(try await makePack(Self.version(1), in: directory, name: "large", frameSize: 2 << 20))
    let delta = try open(try await delta(1, 2))
    for (number, base) in [first, large, try await full(1)].enumerated() {
      let pack = try await rewrite(delta, over: [base], to: directory("made\(number).pack"), jobs: jobs)
      try await check(pack, Self.version(2), like: published, jobs: jobs)
      try await apply(delta, over: [base], to: directory("out\(number)"), jobs: jobs)
      let isSame = try SampleTree(reading: directory("out\(number)")) == Self.version(2)
      #expect(isSame)
    }
  }

  @Test("frames of a base that stay as they are are taken over, byte for byte, and the others are made anew")
  func takenFrames() async throws {
    var random = SeededGenerator(seed: 6)
    var tree = SampleTree()
    for number in 0..<30 { tree.files["\(number).bin"] = .init(random.bytes(100_000)) }
    let old = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "old"))
    tree.files["7.bin"]?.bytes[500] ^= 1
    tree.files["20.bin"] = nil
    tree.files["new.bin"] = .init(random.bytes(1000))
    let new = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "new"))
    let made = try await rewrite(open(try await delta(old, new, "a.delta")), over: [old], to: directory("made.pack"))
    try await check(made, tree, like: new)
    let (before, after) = (try old.compressedFrames(), try made.compressedFrames())
    try #require(before.count >= 30)
    // What the two gaps touch is lost, and the end of the tar.
    let lost = before.count { !after.contains($0) }
    #expect(lost < 10, "\(lost) of \(before.count) frames were made anew")
    #expect(made.layout.packSize < new.layout.packSize + 10_000)
    // A tree has no frames.
    try await old.unpack(to: directory("tree"), jobs: 2)
    let other = try await rewrite(open(directory("a.delta")), over: [baseTree(directory("tree"))], to: directory("other.pack"))
    try await check(other, tree, like: new)
  }

  @Test("a frame of a base is not read again for each window that needs it")
  func framesAreKept() async throws {
    var random = SeededGenerator(for: "frames of a base")
    // Two frames of 1.5 MiB, of which the new content has parts in turn.
    let content = random.bytes(3 << 20)
    var mixed: [UInt8] = []
    for part in 0..<6 {
      for start in [part * 250 << 10, (1600 + part * 240) << 10] { mixed += content[start..<start + 240 << 10] }
    }
    let old = try await makePack(SampleTree(["a.bin": .init(content)]), in: directory, name: "old", frameSize: 1536 << 10)
    let new = try PackRuntimeTests.open(try await makePack(SampleTree(["b.bin": .init(mixed)]), in: directory, name: "new"))
    let path = try await delta(try PackRuntimeTests.open(old), new, "mixed.delta")
    let files = FaultyFiles()
    let base = try PackRuntimeTests.open(old, files: files)
    let before = files.bytesRead
    var application = try DeltaApplication(open(path), over: [base])
    try application.prove()
    // In pieces of 1 MiB, in which parts of both take turns.
    let read = files.bytesRead - before
    #expect(read < 8 << 20, "\(read) bytes of the base were read")
  }
}
