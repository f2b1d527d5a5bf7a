import Foundation
import TestSupport
import Testing

@testable import PackStore

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

  private func application(_ path: String) throws(PackError) -> DeltaApplication {
    try DeltaApplication(DeltaPack.open(path, key: knownKey()), over: [baseTree(directory("tree"))])
  }

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
      let error = await failure { () throws(PackError) in _ = try application(path) }
      #expect(error?.code == .wrongBase, "\(way)")
    }
  }

  @Test("a tree with a link is no base, even if the link leads to the right bytes")
  func link() async throws {
    let path = try await delta()
    try FileManager.default.moveItem(atPath: directory("tree/same.bin"), toPath: directory("elsewhere.bin"))
    try FileManager.default.createSymbolicLink(atPath: directory("tree/same.bin"), withDestinationPath: directory("elsewhere.bin"))
    let error = await failure { () throws(PackError) in _ = try application(path) }
    #expect(error?.code == .wrongBase)
    #expect(
      error?.message == "\(directory("tree")): has something that no pack can contain"
        || error?.message.hasSuffix("has something that no pack can contain") == true)
  }

  @Test(
    "a file that changes, or is replaced by a link, after the tree was opened is noticed before its bytes are used",
    arguments: [true, false])
  func changedLater(isLinked: Bool) async throws {
    let delta = try DeltaPack.open(try await delta(), key: try knownKey())
    let base = try baseTree(directory("tree"))
    if isLinked {
      try FileManager.default.moveItem(atPath: directory("tree/same.bin"), toPath: directory("elsewhere.bin"))
      try FileManager.default.createSymbolicLink(atPath: directory("tree/same.bin"), withDestinationPath: directory("elsewhere.bin"))
    } else {
      let file = try #require(FileHandle(forUpdatingAtPath: directory("tree/same.bin")))
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data([0, 1, 2, 3]))
      try file.close()
    }
    try directory.makeDirectory("room")
    let error = await failure { () async throws(PackError) in try await apply(delta, over: [base], to: directory("room/out")) }
    #expect(error?.code == (isLinked ? .cannotRead : .sourceChanged))
    #expect(directory.names(in: "room").isEmpty)
    let rewriting = await failure { () async throws(PackError) in
      _ = try await rewrite(delta, over: [base], to: directory("made.pack"))
    }
    #expect(rewriting?.code == error?.code)
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
    let delta = try DeltaPack.open(directory("out.delta"), key: try knownKey())
    try await apply(delta, over: [baseTree(directory("tree"))], to: directory("out"), jobs: 1)
    #expect(try SampleTree(reading: directory("out")) == tree)
  }

  @Test("what is made of a tree has the content of the full pack, unpacked and as a pack", arguments: [1, 3])
  func sameAsFull(jobs: Int) async throws {
    let delta = try DeltaPack.open(try await delta(), key: try knownKey())
    try await apply(delta, over: [baseTree(directory("tree"))], to: directory("out"), jobs: jobs)
    let pack = try await rewrite(delta, over: [baseTree(directory("tree"))], to: directory("made.pack"), jobs: jobs)
    #expect(pack.contentRoot == (try PackRuntimeTests.open(directory("new.pack")).contentRoot))
    try await pack.verify(jobs: jobs)
    try await pack.unpack(to: directory("unpacked"), jobs: jobs)
    for place in ["out", "unpacked"] {
      let isSame = try SampleTree(reading: directory(place)) == new
      #expect(isSame, "\(place)")
    }
    #expect(try SampleTree(reading: directory("tree")) == old)
  }

  @Test(
    "files with equal contents, in each combination of kept, moved, copied and removed, and with either permissions",
    arguments: [true, false])
  func equalContents(isTree: Bool) async throws {
    var random = SeededGenerator(seed: 11)
    let (one, two) = (random.bytes(200_000), random.bytes(30_000))
    let before = SampleTree(
      [
        "a/first": .init(one), "a/second": .init(one), "b/run": .init(one, isExecutable: true), "b/small": .init(two),
        "c/empty": .init([]), "c/tool": .init([], isExecutable: true),
      ], emptyDirectories: ["d"])
    let after = SampleTree(
      [
        // The first file of the content is gone, and links to it stay.
        "a/second": .init(one), "b/run": .init(one), "b/other": .init(one, isExecutable: true), "e/third": .init(one),
        "e/run": .init(one, isExecutable: true), "b/small": .init(two, isExecutable: true), "c/small": .init(two),
        "c/tool": .init([]), "c/none": .init([]), "f/new": .init(random.bytes(70_000)),
      ], emptyDirectories: ["c/empty", "e/void"])
    var twice = after
    twice.files["f/again"] = after.files["f/new"]
    twice.files["f/run"] = after.files["f/new"]
    twice.files["f/run"]?.isExecutable = true
    for (number, pair) in [(before, twice), (twice, before), (SampleTree(), twice), (before, SampleTree())].enumerated() {
      let old = try PackRuntimeTests.open(try await makePack(pair.0, in: directory, name: "old\(number)"))
      let new = try PackRuntimeTests.open(try await makePack(pair.1, in: directory, name: "new\(number)"))
      _ = try await DeltaJob(from: old, to: new, output: directory("\(number).delta")).run(key: try knownKey())
      let delta = try DeltaPack.open(directory("\(number).delta"), key: try knownKey())
      let base: any DeltaBase = isTree ? try baseTree(directory("old\(number).source")) : old
      try await apply(delta, over: [base], to: directory("out\(number)"), linking: [base.basePath])
      let pack = try await rewrite(delta, over: [base], to: directory("made\(number).pack"))
      #expect(pack.contentRoot == new.contentRoot)
      try await pack.verify(jobs: 2)
      try await pack.unpack(to: directory("unpacked\(number)"), jobs: 2)
      for place in ["out\(number)", "unpacked\(number)"] {
        let isSame = try SampleTree(reading: directory(place)) == pair.1
        #expect(isSame, "\(place)")
      }
    }
  }

  @Test("equal contents of the base are in the tar of a pack once", arguments: [true, false])
  func sharedContents(isTree: Bool) async throws {
    var random = SeededGenerator(seed: 12)
    let content = random.bytes(200_000)
    var tree = SampleTree(["a.bin": .init(content), "b.bin": .init(content), "c.bin": .init(random.bytes(1000))])
    let old = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "old"))
    tree.files["c.bin"]?.bytes[5] ^= 1
    tree.files["d.bin"] = tree.files["a.bin"]
    let new = try PackRuntimeTests.open(try await makePack(tree, in: directory, name: "new"))
    _ = try await DeltaJob(from: old, to: new, output: directory("out.delta")).run(key: try knownKey())
    let base: any DeltaBase = isTree ? try baseTree(directory("old.source")) : old
    let pack = try await rewrite(DeltaPack.open(directory("out.delta"), key: knownKey()), over: [base], to: directory("made.pack"))
    #expect(pack.contentRoot == new.contentRoot)
    #expect(pack.table.tarSize < new.table.tarSize + 4096, "\(pack.table.tarSize) bytes instead of \(new.table.tarSize)")
  }

  @Test("what the tree has whole is shared or copied", arguments: ["as it is", "no links"])
  func sharing(way: String) async throws {
    let path = try await delta()
    let files = FaultyFiles { call in way != "as it is" && [.link, .clone].contains(call.operation) ? .failure(.unsupported) : nil }
    let delta = try DeltaPack.open(path, key: try knownKey(), files: files)
    let made = try await apply(delta, over: [baseTree(directory("tree"), files: files)], to: directory("out"), linking: [directory("tree")])
    #expect(made.sharedFiles + made.copiedFiles == 6 && made.contentRoot == delta.head.target)
    if way != "as it is" { #expect(made.copiedFiles == 6 && made.sharedBytes == 0 && made.linkedSpace == [:]) }
    let isSame = try SampleTree(reading: directory("out")) == new
    #expect(isSame)
    #expect(try SampleTree(reading: directory("tree")) == old)
  }

  @Test("a file that is replaced while the others are made is refused, and nothing is left behind")
  func changedMeanwhile() async throws {
    let delta = try DeltaPack.open(try await delta(), key: try knownKey())
    let base = try baseTree(directory("tree"))
    try directory.write([0, 1, 2], to: "tree/run", mode: 0o755)
    let error = await failure { () async throws(PackError) in try await apply(delta, over: [base], to: directory("out")) }
    #expect(error?.code == .sourceChanged)
    #expect(!FileManager.default.fileExists(atPath: directory("out")))
  }
}
