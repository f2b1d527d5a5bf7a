import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Digests that are kept beside deltas", .bounded)
struct StoreDigestTests {
  private func name(_ item: String) -> String { "store/digests/\(item)" }

  /// Changes a byte in each of the segments that hold only windows of a delta.
  private func damageWindows(of item: String, in stage: DeltaStage) throws {
    let path = "store/packs/\(item)"
    var bytes = try #require(stage.stage.directory.bytes(of: path))
    let layout = try PackStart(stage.stage.directory(path), files: SystemFiles()).layout
    try #require(layout.segmentCount > 5)
    // The first segments have the list, and the last ones the head.
    for segment in 2..<layout.segmentCount - 2 { bytes[Int(layout.packRange(ofSegment: segment).lowerBound) + 5] ^= 1 }
    try stage.stage.directory.write(bytes, to: path)
  }

  /// The new contents of version 2 over version 1, in the order of their paths.
  private func newContents(of stage: DeltaStage) -> [[UInt8]] {
    let known = Set(stage.tree(1).files.values.map(\.bytes))
    return stage.tree(2).files.sorted { $0.key < $1.key }.map(\.value.bytes).filter { !known.contains($0) }
  }

  // MARK: Refusals

  @Test("a damaged delta is opened by what was kept, but what is damaged is never handed out")
  func damagedDelta() async throws {
    let stage = try await DeltaStage(freshSize: 30_000)
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let item = stage.item(2, try await stage.delta(1, 2))
    try damageWindows(of: item, in: stage)
    do {
      let opened = try await store.open(DeltaStage.id)
      #expect(try opened.read("js/same.bin") == stage.tree(2).files["js/same.bin"]?.bytes)
      let error = #expect(throws: PackError.self) { try opened.read("new.bin") }
      #expect(error?.code == .authenticationFailed)
    }
    stage.remove(name(item))
    let error = await failure { () async throws(PackError) in _ = try await store.open(DeltaStage.id) }
    #expect(error?.code == .authenticationFailed, "without digests, all windows are read")
    #expect(stage.stage.directory.bytes(of: name(item)) == nil)
  }

  @Test(
    "digests that are damaged, too short, too long, none or those of another delta cost nothing but time, and are replaced",
    arguments: ["flipped", "cut", "longer", "empty", "missing", "other", "directory", "link"])
  func damagedDigests(way: String) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let item = stage.item(2, try await stage.delta(1, 2))
    let bytes = try #require(stage.stage.directory.bytes(of: name(item)))
    var changed = bytes
    switch way {
    case "flipped": changed[7] ^= 1
    case "cut": changed.removeLast()
    case "longer": changed.append(0)
    case "empty": changed = []
    case "other":
      let other = try await stage.delta(1, 3)
      let buffer = DigestBuffer()
      _ = try Pack.open(
        other.path, key: try knownKey(), over: [try PackRuntimeTests.open(stage.offer(1).path)], keeper: buffer)
      changed = try #require(buffer.bytes)
      try #require(changed.count == bytes.count)
    default: break
    }
    stage.remove(name(item))
    switch way {
    case "missing": break
    case "directory": try stage.stage.directory.write([1], to: "\(name(item))/in")
    case "link":
      try stage.stage.directory.write(bytes, to: "elsewhere")
      try FileManager.default.createSymbolicLink(
        atPath: stage.stage.directory(name(item)), withDestinationPath: stage.stage.directory("elsewhere"))
    default: try stage.stage.directory.write(changed, to: name(item))
    }
    #expect(try await stage.difference(store, 2) == [])
    #expect(stage.stage.directory.bytes(of: name(item)) == bytes)
    let kind = try SystemFiles().status(of: stage.stage.directory(name(item)), in: nil, following: .asThemselves).kind
    #expect(kind == .file)
    #expect(stage.stage.directory.bytes(of: "elsewhere") == (way == "link" ? bytes : nil))
  }

  @Test("digests that were encrypted with the right key, but are not those of the contents, are not used")
  func forgedDigests() async throws {
    let stage = try await DeltaStage()
    let delta = try await stage.delta(1, 2)
    let base = try PackRuntimeTests.open(stage.offer(1).path)
    let buffer = DigestBuffer()
    let pack = try Pack.open(delta.path, key: try knownKey(), over: [base], keeper: buffer)
    let sealed = try #require(buffer.bytes)
    let digests = try #require(try pack.source.open(digests: sealed))
    try #require(digests.count >= 64)
    for forged in [Array(digests[32...]) + Array(digests[..<32]), [UInt8](repeating: 0, count: digests.count)] {
      buffer.keep(try pack.source.seal(digests: forged))
      let opened = try Pack.open(delta.path, key: try knownKey(), over: [base], keeper: buffer)
      #expect(buffer.bytes == sealed, "they are made again")
      for (path, file) in stage.tree(2).files { #expect(try opened.read(path) == file.bytes) }
    }
  }

  // MARK: What is kept

  @Test("the digests of the new contents are kept encrypted, when the delta is installed")
  func kept() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    #expect(stage.stage.directory.names(in: "store").contains("digests") == false)
    try await stage.update(1, 2, in: store)
    let item = stage.item(2, try await stage.delta(1, 2))
    let bytes = try #require(stage.stage.directory.bytes(of: name(item)))
    let new = newContents(of: stage)
    try #require(new.count == 2)
    #expect(bytes.count == 32 * new.count + 16)
    for content in new {
      let digest = try CryptoBackends.standard.digest(of: content.byteSpan)
      #expect((0...bytes.count - 8).allSatisfy { Array(bytes[$0..<$0 + 8]) != Array(digest[..<8]) })
    }
    #expect(try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
  }

  @Test("the digests of both deltas of a way over two are kept, and an unpacked version has none", arguments: InstallMode.allCases)
  func twoDeltas(mode: InstallMode) async throws {
    let stage = try await DeltaStage(mode, freshSize: 30_000)
    let store = try await stage.start()
    let (first, second) = (try await stage.delta(1, 2, final: 3), try await stage.delta(2, 3))
    try await stage.adopt(3, [first.offer, second.offer], by: store)
    _ = try await store.install(deltas: [first.path, second.path], as: DeltaStage.id, by: [first.offer, second.offer], taking: .copying)
    let kept = stage.stage.directory.names(in: "store/digests").sorted()
    #expect(kept == (mode == .packed ? [stage.item(3, first), stage.item(3, second)].sorted() : []))
    try await store.activate(DeltaStage.id, onTrial: false)
    guard mode == .packed else { return }
    for item in kept { try damageWindows(of: item, in: stage) }
    let opened = try await store.open(DeltaStage.id)
    #expect(try opened.read("js/same.bin") == stage.tree(3).files["js/same.bin"]?.bytes)
  }

  @Test("the digests go with the delta: when the pack is removed, purged or rewritten", arguments: ["remove", "purge", "compact"])
  func gone(way: String) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start(StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    for version in 2...4 as ClosedRange<UInt64> { try await stage.update(version - 1, version, in: store) }
    #expect(stage.stage.directory.names(in: "store/digests").count == 3)
    switch way {
    case "remove": try await store.remove(DeltaStage.id)
    case "purge": _ = try await store.purge(toFree: 1 << 30)
    default: #expect(try await store.compact().rewritten.count == 1)
    }
    #expect(stage.stage.directory.names(in: "store/digests") == [])
  }

  @Test("a repair removes digests whose delta is gone, and what else is there, and keeps the others", arguments: [false, true])
  func repair(isThorough: Bool) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let item = stage.item(2, try await stage.delta(1, 2))
    try stage.stage.directory.write([1], to: name("core@9-0011223344556677-0011223344556677.delta"))
    try stage.stage.directory.write([1], to: name("something/else"))
    #expect(try await store.reconcile(isThorough ? .thorough : .quick) == [])
    #expect(stage.stage.directory.names(in: "store/digests") == [item])
    stage.remove("store/digests")
    try stage.stage.directory.write([1], to: "store/digests")
    #expect(try await stage.difference(store, 2) == [], "what cannot be kept is no error")
    #expect(try await store.reconcile().map(\.kind) == [.foreign])
    #expect(try await stage.difference(store, 2) == [])
    #expect(stage.stage.directory.names(in: "store/digests") == [item])
  }

  @Test("the digests of deltas that were open when the pack was rewritten go with them in the next repair")
  func rewrittenWhileOpen() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start(StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    for version in 2...4 as ClosedRange<UInt64> { try await stage.update(version - 1, version, in: store) }
    let opened = Monitor<OpenedPack?>(try await store.open(DeltaStage.id))
    #expect(try await store.compact().rewritten.count == 1)
    #expect(stage.stage.directory.names(in: "store/digests").count > 0)
    opened.withLock { $0 = nil }
    _ = try await store.reconcile()
    #expect(stage.stage.directory.names(in: "store/packs").count == 1)
    #expect(stage.stage.directory.names(in: "store/digests") == [])
  }

  @Test("a delta is installed and opened although nothing can be kept")
  func cannotKeep() async throws {
    let sample = try await CrashSample.shared().withDeltas
    let disk = MemoryDisk(.linux)
    sample.fetch(to: disk)
    let files = MemoryFiles(disk, .failing(.fullDisk) { $0.isChange && $0.name.hasPrefix("digests") })
    let store = try await CrashSession(files, "full").open()
    try await sample.release(1, to: store)
    try await sample.deliverDeltas(2, to: store)
    for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
    #expect(files.struck != nil)
    let opened = try await store.open(CrashSample.packed)
    for (path, file) in sample.trees[CrashSample.packed]?[2]?.files ?? [:] { #expect(try opened.read(path) == file.bytes) }
    #expect(disk.tree(below: "/store/digests").isEmpty)
  }
}
