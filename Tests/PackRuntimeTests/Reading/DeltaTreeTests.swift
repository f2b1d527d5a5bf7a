import Foundation
import TestSupport
import Testing

@Suite("Deltas over files on the disk", .bounded)
struct DeltaTreeTests {
  let directory: TemporaryDirectory
  let old: SampleTree
  let new: SampleTree

  init() throws {
    directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 9)
    var tree = SampleTree(
      [
        "a/level.bin": .init(random.bytes(3 << 20)), "a/small.txt": .init(Array("small".utf8)), "a b/ü.txt": .init(Array("ü".utf8)),
        "empty": .init([]), "run": .init([1, 2, 3], isExecutable: true), "same.bin": .init(random.bytes(70_000)),
        // The same name in directories that follow each other and whose names are equally long.
        "r1/same.txt": .init(Array("one".utf8)), "r2/same.txt": .init(Array("two".utf8)),
      ], emptyDirectories: ["a-", "void/deep"])
    old = tree
    tree.files["a/level.bin"]?.bytes[1 << 20] ^= 1
    tree.files["moved.bin"] = tree.files.removeValue(forKey: "same.bin")
    tree.files["new.txt"] = .init(Array("new".utf8))
    // Is made from bytes of the file that was moved.
    tree.files["variant.bin"] = tree.files["moved.bin"]
    tree.files["variant.bin"]?.bytes[35_000] ^= 1
    new = tree
  }

  /// Makes the delta, and writes the old tree to `tree`.
  private func delta() async throws -> String {
    let oldPack = try PackRuntimeTests.open(try await makePack(old, in: directory, name: "old"))
    let newPack = try PackRuntimeTests.open(try await makePack(new, in: directory, name: "new"))
    _ = try await DeltaJob(from: oldPack, to: newPack, output: directory("out.delta")).run(key: try knownKey())
    try old.write(to: "tree", in: directory)
    return directory("out.delta")
  }

  private func tree(_ files: any FileSystem = SystemFiles()) throws(PackError) -> BaseTree {
    let root: OpenFile
    do {
      root = try files.open(directory("tree"), .directory, in: nil)
    } catch {
      throw error.reading(directory("tree"))
    }
    return try BaseTree(root, path: directory("tree"), files: files, backend: CryptoBackends.standard) { () throws(PackError) in }
  }

  private func open(_ path: String) throws(PackError) -> Pack { try Pack.open(path, key: try knownKey(), over: [try tree()]) }

  @Test("a tree with a changed, an added or a missing file, or with other permissions, is the wrong base")
  func otherTree() async throws {
    let path = try await delta()
    for way in ["changed", "added", "missing", "executable"] {
      try? FileManager.default.removeItem(atPath: directory("tree"))
      try old.write(to: "tree", in: directory)
      switch way {
      case "changed": try directory.write([9], to: "tree/a/small.txt")
      case "added": try directory.write([9], to: "tree/b.txt")
      case "missing": try FileManager.default.removeItem(atPath: directory("tree/empty"))
      default: try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory("tree/a/small.txt"))
      }
      let error = await failure { () throws(PackError) in _ = try open(path) }
      #expect(error?.code == .wrongBase, "\(way)")
    }
  }

  @Test("a tree with a link is no base, even if the link leads to the right bytes")
  func link() async throws {
    let path = try await delta()
    try FileManager.default.moveItem(atPath: directory("tree/same.bin"), toPath: directory("elsewhere.bin"))
    try FileManager.default.createSymbolicLink(atPath: directory("tree/same.bin"), withDestinationPath: directory("elsewhere.bin"))
    let error = await failure { () throws(PackError) in _ = try open(path) }
    #expect(error?.code == .wrongBase)
    #expect(
      error?.message == "\(directory("tree")): has something that no pack can contain"
        || error?.message.hasSuffix("has something that no pack can contain") == true)
  }

  @Test(
    "a file that changes, or is replaced by a link, after the tree was opened is noticed before its bytes are used",
    arguments: [true, false])
  func changedLater(isLinked: Bool) async throws {
    let path = try await delta()
    let pack = try open(path)
    if isLinked {
      try FileManager.default.moveItem(atPath: directory("tree/same.bin"), toPath: directory("elsewhere.bin"))
      try FileManager.default.createSymbolicLink(atPath: directory("tree/same.bin"), withDestinationPath: directory("elsewhere.bin"))
    } else {
      let file = try #require(FileHandle(forUpdatingAtPath: directory("tree/same.bin")))
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data([0, 1, 2, 3]))
      try file.close()
    }
    let error = await failure { () throws(PackError) in _ = try pack.read("moved.bin") }
    #expect(error?.code == (isLinked ? .cannotRead : .sourceChanged))
    try directory.makeDirectory("room")
    let unpacking = await failure { () async throws(PackError) in try await pack.unpack(to: directory("room/out"), jobs: 2) }
    #expect(unpacking?.code == error?.code)
    #expect(directory.names(in: "room").isEmpty)
  }

  @Test("files with the same name in directories whose names have the same length are not mixed up")
  func alikeDirectories() async throws {
    var random = SeededGenerator(seed: 10)
    var tree = SampleTree([
      "ab/x": .init(random.bytes(5000)), "ab/cd/x": .init(random.bytes(5000)), "cd/x": .init(random.bytes(5000)),
      "cd/ab/x": .init(random.bytes(5000)), "x": .init(random.bytes(5000)),
    ])
    try tree.write(to: "tree", in: directory)
    let oldPack = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "old"))
    for path in tree.files.keys { tree.files[path]?.bytes[2500] ^= 1 }
    let newPack = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "new"))
    _ = try await DeltaJob(from: oldPack, to: newPack, output: directory("out.delta")).run(key: try knownKey())
    try await open(directory("out.delta")).unpack(to: directory("out"), jobs: 1)
    #expect(try SampleTree(reading: directory("out")) == tree)
  }

  @Test("a delta over a tree reads as the full pack does", arguments: [1, 3])
  func sameAsFull(jobs: Int) async throws {
    let pack = try open(try await delta())
    #expect(pack.deltaDepth == 1)
    for (path, file) in new.files {
      let isSame = try pack.read(path) == file.bytes
      #expect(isSame, "\(path)")
    }
    #expect(
      try pack.read("a/level.bin", range: (1 << 20) - 5..<(1 << 20) + 5)
        == Array((new.files["a/level.bin"]?.bytes ?? [])[(1 << 20) - 5..<(1 << 20) + 5]))
    try await pack.verify(jobs: jobs)
    try await pack.unpack(to: directory("out"), jobs: jobs)
    let isSame = try SampleTree(reading: directory("out")) == new
    #expect(isSame)
  }

  /// Fills a directory as the store does.
  private func fill(_ pack: Pack, _ files: any FileSystem) async throws(PackError) -> ClonedFiles {
    let output = try OutputDirectory(directory("out"), files: files)
    let cloned = try await WorkerPool.value { (pool) throws(PackError) in
      var cloning = try TreeCloning(pack, into: output, linking: [directory("tree")], pool: pool)
      return try cloning.run()
    }
    try await TreeWalk.run(pack, into: output, jobs: 2, phase: .unpacking, skipped: cloned.made, progress: nil)
    try output.commit(mode: 0o755)
    return cloned
  }

  @Test(
    "what the tree has whole is shared or copied, and a file that changed meanwhile is refused by its digest",
    arguments: ["as it is", "no links", "changed"])
  func cloning(way: String) async throws {
    let path = try await delta()
    let files = FaultyFiles { call in way == "no links" && [.link, .clone].contains(call.operation) ? .failure(.unsupported) : nil }
    let pack = try Pack.open(path, key: try knownKey(), over: [try tree(files)], files: files)
    if way == "changed" {
      try directory.write([0, 1, 2], to: "tree/run")
      let error = await failure { () async throws(PackError) in _ = try await fill(pack, files) }
      #expect(error?.code == .sourceChanged)
      #expect(!FileManager.default.fileExists(atPath: directory("out")))
      return
    }
    let cloned = try await fill(pack, files)
    #expect(cloned.sharedFiles + cloned.copiedFiles == 6)
    if way == "no links" { #expect(cloned.copiedFiles == 6 && cloned.sharedBytes == 0) }
    let isSame = try SampleTree(reading: directory("out")) == new
    #expect(isSame)
    #expect(try SampleTree(reading: directory("tree")) == old)
  }

  @Test("new contents are written while the delta is opened, also one of several windows")
  func newContents() async throws {
    let path = try await delta()
    let newFiles = NewFiles { (_) throws(PackError) in try OutputDirectory(directory("out"), files: SystemFiles()) }
    let bytes = (0..<32).map { UInt8($0) }
    let pack = try await Pack.open(
      try PackStart(path, files: SystemFiles()), path: path, keys: KeyRing(try PackKey(bytes: bytes.byteSpan)), over: [try tree()],
      newFiles: newFiles, files: SystemFiles(), backend: CryptoBackends.standard)
    let written = try #require(newFiles.result)
    let cloned = try await WorkerPool.value { (pool) throws(PackError) in
      var cloning = try TreeCloning(pack, into: written.output, besides: written.made, linking: [], pool: pool)
      return try cloning.run()
    }
    try await TreeWalk.run(pack, into: written.output, jobs: 1, phase: .unpacking, skipped: cloned.made, progress: nil)
    try written.output.commit(mode: 0o755)
    let isSame = try SampleTree(reading: directory("out")) == new
    #expect(isSame)
  }
}
