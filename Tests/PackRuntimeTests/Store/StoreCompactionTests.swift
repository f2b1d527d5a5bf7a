import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Rewriting deltas", .bounded)
struct StoreCompactionTests {
  private static let many = StorePolicy(keepVersions: 9, lockTimeout: .seconds(1000), freeSpaceMargin: 0)
  private static let one = StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0)

  /// A store in which a version runs that is read over as many deltas.
  private func layered(_ deltas: UInt64, _ policy: StorePolicy = many) async throws -> (DeltaStage, AssetStore) {
    let stage = try await DeltaStage()
    let store = try await stage.start(policy)
    for version in 2..<2 + deltas { try await stage.update(version - 1, version, in: store) }
    return (stage, store)
  }

  /// Checks that rewriting is refused, and that the store is as it was before.
  private func expectRefusal(
    _ code: PackError.Code, _ store: AssetStore, _ stage: DeltaStage, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try stage.stage.snapshot()
    let report = try await store.compact([DeltaStage.id])
    #expect(report.failures.map(\.error.code) == [code], "\(report.failures.map { "\($0.error)" })", sourceLocation: sourceLocation)
    #expect(report.rewritten.isEmpty, sourceLocation: sourceLocation)
    #expect(report.failures.map(\.id) == [DeltaStage.id], sourceLocation: sourceLocation)
    let isSame = try stage.stage.snapshot() == before
    #expect(isSame, sourceLocation: sourceLocation)
  }

  // MARK: Refusals

  @Test("a damaged base or delta is not rewritten", arguments: [true, false])
  func damaged(isBase: Bool) async throws {
    let (stage, store) = try await layered(1)
    let item = isBase ? stage.item(1) : stage.item(2, try await stage.delta(1, 2))
    try stage.damage(item)
    try await expectRefusal(.damagedStore, store, stage)
    #expect(
      try await store.compact([DeltaStage.id]).failures.first?.error.message
        == "version \(isBase ? 1 : 2) of pack 'core' \(isBase ? "" : "has a delta that ")does not have the bytes that were installed")
  }

  @Test("deltas that make another content than the record says are not rewritten")
  func otherRoot() async throws {
    let (stage, store) = try await layered(1)
    // The record says another content than the files have.
    let text = String(decoding: try #require(stage.stage.directory.bytes(of: "store/state/core")), as: UTF8.self)
    let root = stage.offer(2).entry.contentRoot.hex
    let other = text.replacingOccurrences(of: root, with: String(repeating: "0", count: 64))
    #expect(other != text)
    try stage.stage.directory.write(Array(other.utf8), to: "store/state/core")
    try await expectRefusal(.damagedStore, store, stage)
    let error = await failure { () throws(PackError) in _ = try await store.open(DeltaStage.id) }
    #expect(error?.code == .damagedStore)
  }

  @Test("a wrong key and a missing base are errors of their own")
  func keys() async throws {
    let (stage, _) = try await layered(1)
    let other = try await stage.stage.open(keys: KeyRing(try key(filledFrom: 7)))
    try await expectRefusal(.wrongKey, other, stage)
    stage.remove("store/packs/\(stage.item(1))")
    try await expectRefusal(.purged, try await stage.stage.open(), stage)
  }

  @Test("a record that cannot be read is an error, also if no pack is named")
  func damagedRecord() async throws {
    let (stage, store) = try await layered(3)
    try stage.stage.directory.write([1], to: "store/state/core")
    try await expectRefusal(.damagedStore, store, stage)
    #expect(try await store.compact().failures.map(\.error.code) == [.damagedStore])
  }

  @Test("without room nothing is removed, and the error says how much is missing", arguments: [true, false])
  func room(isQuota: Bool) async throws {
    let (stage, store) = try await layered(1)
    try await withExtendedUse(of: store) {
      let held = try stage.stage.sizeOnDevice()
      let files = FaultyFiles { $0.operation == .freeSpace && !isQuota ? .freeSpace(40_000) : nil }
      let tight = try await stage.stage.open(
        StorePolicy(keepVersions: 9, quota: isQuota ? held + 40_000 : nil, lockTimeout: .seconds(1000), freeSpaceMargin: 0), files: files)
      try await expectRefusal(isQuota ? .quotaExceeded : .noSpace, tight, stage)
      #expect(try await tight.installed().count == 2)
    }
  }

  private func withExtendedUse(of store: AssetStore, _ body: () async throws -> Void) async throws {
    try await body()
    withExtendedLifetime(store) {}
  }

  @Test("a failing write leaves the deltas, and nothing else", arguments: [FaultyFiles.Call.Operation.write, .sync, .open, .rename])
  func failures(operation: FaultyFiles.Call.Operation) async throws {
    let (stage, _) = try await layered(2)
    let opened = Monitor(false)
    let files = FaultyFiles { call in
      guard opened.withLock({ $0 }), call.operation == operation else { return nil }
      return operation != .open || call.name.hasPrefix("staging/") ? .failure(.inputOutput) : nil
    }
    let store = try await stage.stage.open(Self.many, files: files)
    opened.withLock { $0 = true }
    let report = try await store.compact([DeltaStage.id])
    #expect(report.failures.map(\.error.code) == [.cannotWrite])
    opened.withLock { $0 = false }
    #expect(stage.stage.directory.names(in: "store/staging") == [] && stage.stage.directory.names(in: "store/trash") == [])
    #expect(try await store.current(DeltaStage.id)?.deltaCount == 2)
    #expect(try await stage.difference(store, 3) == [])
  }

  @Test("a task that is cancelled changes nothing")
  func cancelled() async throws {
    let (stage, store) = try await layered(1)
    let before = try stage.stage.snapshot()
    for phase in [PackProgress.Phase.packing, .verifying] {
      let running = Monitor<Task<PackError?, Never>?>(nil)
      let task = Task { () async -> PackError? in
        await failure { () async throws(PackError) in
          _ = try await store.compact([DeltaStage.id]) { progress in
            guard progress.phase == phase else { return }
            running.wait(for: { $0 })?.cancel()
          }
        }
      }
      running.update { $0 = task }
      #expect(await task.value?.code == .cancelled, "while \(phase)")
      let isSame = try stage.stage.snapshot() == before
      #expect(isSame && stage.stage.directory.names(in: "store/staging") == [], "while \(phase)")
    }
    #expect(try await store.compact([DeltaStage.id]).rewritten.map(\.version) == [2])
  }

  // MARK: What is rewritten

  @Test("three deltas become one pack with the same content, over which the next delta goes")
  func threeDeltas() async throws {
    let (stage, store) = try await layered(3, Self.one)
    let events = store.events()
    let report = try await store.compact()
    #expect(report.failures.isEmpty)
    let pack = try #require(report.rewritten.first)
    #expect(pack.version == 4 && pack.deltaCount == 0 && pack.deltaRoom == 3 && pack.state == .current && pack.mode == .packed)
    #expect(pack.sha256 == stage.offer(4).entry.sha256 && pack.contentRoot == stage.offer(4).entry.contentRoot)
    let told = await drain(events, report.rewritten.isEmpty ? 0 : 1 + 3)
    guard case .rewritten(pack, let cost)? = told.first else { return #expect(Bool(false), "\(told)") }
    #expect(told.dropFirst().compactMap(\.purgedPack?.version).sorted() == [1, 2, 3])
    let names = stage.stage.directory.names(in: "store/packs")
    #expect(names.count == 1 && pack.path.hasSuffix("/\(names[0])"))
    let bytes = try #require(stage.stage.directory.bytes(of: "store/packs/\(names.first ?? "")"))
    #expect(cost == InstallCost(written: UInt64(bytes.count)) && bytes != stage.stage.directory.bytes(of: "4.pack"))
    #expect(ItemName(names[0])?.origin == .rewritten)
    #expect(try await stage.difference(store, 4) == [])
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
    #expect(try await store.plan().isEmpty)
    // The same bytes of the publisher need no installation.
    #expect(try await store.install(stage.offer(4).path, as: DeltaStage.id, taking: .copying).path == pack.path)
    #expect(try await store.compact().rewritten.isEmpty)
    try await stage.update(4, 5, in: store)
    #expect(try await stage.difference(store, 5) == [])
    #expect(try await store.current(DeltaStage.id)?.deltaCount == 1)
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("deltas are due if there are three, or if they are more than 30 % of the pack below them")
  func due() async throws {
    let (stage, store) = try await layered(1)
    try await stage.update(2, 3, in: store)
    let deltas = try await stage.delta(1, 2).offer.size + stage.delta(2, 3).offer.size
    let directory = await store.directory
    let compaction = StoreCompaction(directory: directory, manifests: await store.manifests, progress: nil)
    // The sizes are those in the record.
    func isDue(_ base: UInt64) throws -> Bool {
      var record = try #require(try directory.record(DeltaStage.id))
      record.contents[0].size = base
      try directory.write(record)
      return try compaction.due() == [DeltaStage.id]
    }
    #expect(try !isDue(stage.offer(1).entry.size) && !isDue(deltas * 4) && !isDue(deltas * 100 / 30 + 1))
    #expect(try isDue(deltas * 3) && isDue(deltas * 100 / 30) && isDue(deltas))
    _ = try isDue(stage.offer(1).entry.size)
    #expect(try await store.compact().rewritten.isEmpty)
    try await stage.update(3, 4, in: store)
    #expect(try await store.compact().rewritten.map(\.version) == [4])
    #expect(try await stage.difference(store, 4) == [])
  }

  @Test("versions that other ones are read over, and earlier ones, stay as they are")
  func others() async throws {
    let (stage, store) = try await layered(2)
    #expect(try await store.compact([DeltaStage.id]).rewritten.map(\.version) == [3])
    #expect(try await store.installed().map(\.deltaCount) == [0, 1, 0])
    try await store.rollback(DeltaStage.id, reason: "a test")
    #expect(try await stage.difference(store, 2) == [])
    // The version that failed is gone, and with it the file that was made.
    let left = [stage.item(1), stage.item(2, try await stage.delta(1, 2))]
    #expect(stage.stage.directory.names(in: "store/packs").sorted() == left.sorted())
    #expect(try await store.compact([DeltaStage.id]).rewritten.map(\.version) == [2])
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("a version is not rewritten while one is on trial, nor is one that waits, is unpacked, or has no deltas")
  func passedOver() async throws {
    let (stage, store) = try await layered(1)
    let delta = try await stage.delta(2, 3)
    try await stage.adopt(3, [delta.offer], by: store)
    try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    let token = try await store.activate(DeltaStage.id)
    let report = try await store.compact([DeltaStage.id])
    #expect(report.rewritten.isEmpty && report.unchanged == [DeltaStage.id: .onTrial])
    try await store.confirm(token)
    #expect(try await store.compact([DeltaStage.id]).rewritten.map(\.version) == [3])
    #expect(try await store.compact([DeltaStage.id]).unchanged == [DeltaStage.id: .noDeltas])
    let others = try await store.compact(["other", "../x"])
    #expect(others.failures.isEmpty && others.unchanged == ["other": .noDeltas, "../x": .noDeltas])
    let tree = try await DeltaStage(.unpacked)
    let unpacked = try await tree.start()
    try await tree.update(1, 2, in: unpacked)
    #expect(try await unpacked.compact([DeltaStage.id]).rewritten.isEmpty)
  }

  @Test("a version that was replaced while it was rewritten stays replaced, and nothing is left of the work")
  func changed() async throws {
    let (stage, store) = try await layered(2, Self.one)
    let other = try await stage.stage.open(Self.one)
    let delta = try await stage.delta(3, 4)
    try await stage.adopt(4, [delta.offer], by: other)
    let isDone = Monitor(false)
    let work = Monitor<Task<Void, any Error>?>(nil)
    let report = try await store.compact([DeltaStage.id]) { progress in
      // The first call comes on a thread that other tasks need.
      guard progress.phase == .verifying, progress.done > 0, work.withLock({ $0 == nil }) else { return }
      work.withLock {
        $0 = Task {
          defer { isDone.update { $0 = true } }
          try await other.install(delta.path, as: DeltaStage.id, taking: .copying)
          try await other.activate(DeltaStage.id, onTrial: false)
        }
      }
      isDone.waitUntil { $0 }
    }
    try await work.withLock { $0 }?.value
    #expect(report.rewritten.isEmpty && report.unchanged == [DeltaStage.id: .changed])
    #expect(try await store.current(DeltaStage.id)?.version == 4)
    #expect(stage.stage.directory.names(in: "store/staging") == [])
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await stage.difference(store, 4) == [])
  }

  @Test("an open version stays readable from its old files, which the next repair removes")
  func openVersion() async throws {
    let (stage, store) = try await layered(3, Self.one)
    let opened = Monitor<OpenedPack?>(try await store.open(DeltaStage.id))
    let old = stage.stage.directory.names(in: "store/packs")
    #expect(try await store.compact().rewritten.map(\.version) == [4])
    #expect(stage.stage.directory.names(in: "store/packs").count == old.count + 1)
    #expect(try await store.reconcile(.thorough) == [])
    // The version counts as in use, although the open files are not those that it has now.
    #expect(try await store.purge(toFree: 1 << 30).removed.isEmpty)
    let removal = await failure { () throws(PackError) in try await store.remove(DeltaStage.id) }
    #expect(removal?.code == .inUse)
    for (path, file) in DeltaStage.tree(4).files {
      let bytes = try #require(opened.withLock { $0 }).read(path)
      #expect(bytes == file.bytes, "\(path)")
    }
    #expect(try await stage.difference(store, 4) == [])
    opened.withLock { $0 = nil }
    let found = try await store.reconcile()
    #expect(Set(found.map(\.kind)).isSubset(of: [.orphaned, .surplus, .adopted]) && !found.isEmpty)
    #expect(stage.stage.directory.names(in: "store/packs").count == 1)
    #expect(try await stage.difference(store, 4) == [])
  }

  @Test("a changed byte in a rewritten pack is found, and the version before it runs")
  func damagedFile() async throws {
    let (stage, store) = try await layered(1)
    try await store.compact([DeltaStage.id])
    let name = try #require(stage.stage.directory.names(in: "store/packs").first { ItemName($0)?.origin == .rewritten })
    try stage.damage(name)
    #expect(try await store.reconcile() == [])
    #expect(
      try await store.reconcile(.thorough).map(\.text) == [
        "version 2 of pack 'core' does not have the bytes that were installed; it was removed; version 1 runs now"
      ])
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("a rewritten pack whose record is lost or damaged is found again, if its bytes are those of its name", arguments: [true, false])
  func lostRecord(isDamaged: Bool) async throws {
    let (stage, store) = try await layered(1, Self.one)
    try await store.compact([DeltaStage.id])
    let names = stage.stage.directory.names(in: "store/packs")
    if isDamaged { try stage.stage.directory.write([1], to: "store/state/core") } else { stage.remove("store/state/core") }
    #expect(try await store.reconcile(.thorough).map(\.kind) == [isDamaged ? .damagedRecord : .adopted])
    #expect(stage.stage.directory.names(in: "store/packs") == names)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
    try await stage.update(2, 3, in: store)
    #expect(try await stage.difference(store, 3) == [])
  }

  @Test("a rewritten pack that no record names is removed if its bytes are others, or if it is not needed", arguments: [true, false])
  func orphan(isChanged: Bool) async throws {
    let (stage, store) = try await layered(1)
    try await store.compact([DeltaStage.id])
    let name = try #require(stage.stage.directory.names(in: "store/packs").first { ItemName($0)?.origin == .rewritten })
    let bytes = try #require(stage.stage.directory.bytes(of: "store/packs/\(name)"))
    if isChanged {
      stage.remove("store/state/core")
      try stage.damage(name)
    } else {
      try await store.rollback(DeltaStage.id, reason: "a test")
      try stage.stage.directory.write(bytes, to: "store/packs/\(name)")
    }
    let findings = try await store.reconcile()
    #expect(findings.contains { $0.kind == .orphaned && $0.text.contains("was made of deltas") })
    #expect(!stage.stage.directory.names(in: "store/packs").contains(name))
  }

  @Test("another file of the right key in the place of a rewritten pack is not opened as that version")
  func replaced() async throws {
    let (stage, store) = try await layered(1)
    try await store.compact([DeltaStage.id])
    let name = try #require(stage.stage.directory.names(in: "store/packs").first { ItemName($0)?.origin == .rewritten })
    try stage.stage.directory.write(try #require(stage.stage.directory.bytes(of: "3.pack")), to: "store/packs/\(name)")
    let error = await failure { () throws(PackError) in _ = try await store.open(DeltaStage.id) }
    #expect(error?.code == .damagedStore)
  }
}
