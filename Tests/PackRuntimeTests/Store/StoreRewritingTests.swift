import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Pack files that a store makes by deltas", .bounded)
struct StoreRewritingTests {
  private static let one = StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0)

  /// A store in which version 2 runs, made by a delta, and the name of its file.
  private func made(_ policy: StorePolicy = StoreStage.patient) async throws -> (DeltaStage, AssetStore, item: String) {
    let stage = try await DeltaStage()
    let store = try await stage.start(policy)
    try await stage.update(1, 2, in: store)
    return (stage, store, try #require(stage.rewrittenItems.first))
  }

  /// A store in which version 1 runs and version 2 can be made by a delta.
  private func offered() async throws -> (DeltaStage, DeltaStage.Delta) {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    return (stage, delta)
  }

  // MARK: Refusals

  @Test("a file that would be too large for its pack is not made, and the full pack is asked for")
  func tooLarge() async throws {
    // The manifest says a size that no pack with this content has.
    let stage = try await DeltaStage(freshSize: 200_000)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    var entry = DeltaStage.entry(stage.offer(2).entry, [delta.offer])
    entry.size = 206_000
    try await store.adopt(DeltaStage.release(of: entry))
    let before = try stage.stage.snapshot()
    let error = await failure { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    }
    #expect(error?.code == .wrongBase && error?.advice == .fetchFullPack)
    #expect(error?.message.hasPrefix("pack 'core' cannot be made by a delta: ") == true, "\(error?.message ?? "none")")
    let isSame = try stage.stage.snapshot() == before
    #expect(isSame)
  }

  @Test("without room nothing is removed, and the error says how much is missing", arguments: [true, false])
  func room(isQuota: Bool) async throws {
    let (stage, delta) = try await offered()
    let held = try stage.stage.sizeOnDevice()
    let before = try stage.stage.snapshot()
    let files = FaultyFiles { $0.operation == .freeSpace && !isQuota ? .freeSpace(40_000) : nil }
    let tight = try await stage.stage.open(
      StorePolicy(quota: isQuota ? held + 40_000 : nil, lockTimeout: .seconds(1000), freeSpaceMargin: 0), files: files)
    let error = await failure { () throws(PackError) in
      try await tight.install(delta.path, as: DeltaStage.id, taking: .copying)
    }
    #expect(error?.code == (isQuota ? .quotaExceeded : .noSpace))
    #expect(error?.message.contains(" bytes are missing") == true)
    let isSame = try stage.stage.snapshot() == before
    #expect(isSame)
  }

  @Test(
    "a failing operation leaves the version before, and nothing else", arguments: [FaultyFiles.Call.Operation.write, .sync, .open, .rename])
  func failures(operation: FaultyFiles.Call.Operation) async throws {
    let (stage, delta) = try await offered()
    let opened = Monitor(false)
    let files = FaultyFiles { call in
      guard opened.withLock({ $0 }), call.operation == operation else { return nil }
      return operation != .open || call.name.hasPrefix("staging/") ? .failure(.inputOutput) : nil
    }
    let store = try await stage.stage.open(files: files)
    opened.withLock { $0 = true }
    let error = await failure { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    }
    #expect(error?.code == .cannotWrite)
    opened.withLock { $0 = false }
    #expect(stage.stage.directory.names(in: "store/staging") == [] && stage.stage.directory.names(in: "store/trash") == [])
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(1)])
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("a task that is cancelled changes nothing", arguments: [PackProgress.Phase.verifying, .packing])
  func cancelled(phase: PackProgress.Phase) async throws {
    let (stage, delta) = try await offered()
    let store = try await stage.stage.open()
    let before = try stage.stage.snapshot()
    let running = Monitor<Task<PackError?, Never>?>(nil)
    let task = Task { () async -> PackError? in
      await failure { () async throws(PackError) in
        try await store.install(delta.path, as: DeltaStage.id, taking: .copying) { progress in
          // The first call may come on a thread that other tasks need.
          guard progress.phase == phase, progress.done > 0 else { return }
          running.wait(for: { $0 })?.cancel()
        }
      }
    }
    running.update { $0 = task }
    #expect(await task.value?.code == .cancelled)
    let isSame = try stage.stage.snapshot() == before
    #expect(isSame)
    try await store.install(delta.path, as: DeltaStage.id)
    #expect(try await store.installed().map(\.version) == [1, 2])
  }

  // MARK: Use

  @Test("a version counts as in use while an earlier file of it is open, and a repair removes that file afterwards")
  func openFile() async throws {
    let (stage, store, _) = try await made(Self.one)
    let opened = Monitor<OpenedPack?>(try await store.open(DeltaStage.id))
    try await store.install(stage.offer(2).path, as: DeltaStage.id, taking: .copying, mode: .unpacked)
    #expect(stage.stage.directory.names(in: "store/packs").count == 2)
    #expect(try await store.purge(toFree: 1 << 30).removed.isEmpty)
    let removal = await failure { () throws(PackError) in try await store.remove(DeltaStage.id) }
    #expect(removal?.code == .inUse)
    let bytes = try #require(opened.withLock { $0 }).read("index.html")
    #expect(bytes == Array("version 2".utf8))
    opened.withLock { $0 = nil }
    #expect(try await store.reconcile().map(\.kind) == [.orphaned])
    #expect(stage.rewrittenItems == [])
    #expect(try SampleTree(reading: try #require(try await store.current(DeltaStage.id)).path) == stage.tree(2))
  }

  // MARK: Repair

  @Test("a changed byte is found, and the version before runs")
  func damaged() async throws {
    let (stage, store, item) = try await made()
    try stage.damage(item)
    #expect(try await store.reconcile() == [])
    #expect(
      try await store.reconcile(.thorough).map(\.text) == [
        "version 2 of pack 'core' does not have the bytes that were installed; it was removed; version 1 runs now"
      ])
    #expect(try await stage.difference(store, 1) == [])
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("a damaged or missing version that it was made from does no harm", arguments: [true, false])
  func damagedBase(isMissing: Bool) async throws {
    let (stage, store, _) = try await made()
    if isMissing { stage.remove("store/packs/\(stage.item(1))") } else { try stage.damage(stage.item(1)) }
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough).map(\.kind) == [isMissing ? .missing : .damaged])
    #expect(try await store.installed().map(\.version) == [2])
    #expect(try await stage.difference(store, 2) == [])
  }

  @Test("a file whose record is lost or damaged is found again, if its bytes are those of its name", arguments: [true, false])
  func lostRecord(isDamaged: Bool) async throws {
    let (stage, store, item) = try await made(Self.one)
    if isDamaged { try stage.stage.directory.write([1], to: "store/state/core") } else { stage.remove("store/state/core") }
    #expect(try await store.reconcile(.thorough).map(\.kind) == [isDamaged ? .damagedRecord : .adopted])
    #expect(stage.stage.directory.names(in: "store/packs") == [item])
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
    try await stage.update(2, 3, in: store)
    #expect(try await stage.difference(store, 3) == [])
  }

  @Test("a file that no record names is removed if its bytes are others, or if it is not needed", arguments: [true, false])
  func orphan(isChanged: Bool) async throws {
    let (stage, store, item) = try await made()
    let bytes = try #require(stage.stage.directory.bytes(of: "store/packs/\(item)"))
    if isChanged {
      stage.remove("store/state/core")
      try stage.damage(item)
    } else {
      try await store.rollback(DeltaStage.id, reason: "a test")
      try stage.stage.directory.write(bytes, to: "store/packs/\(item)")
    }
    let findings = try await store.reconcile()
    #expect(findings.contains { $0.kind == .orphaned && $0.text.contains("was made by a delta") })
    #expect(stage.rewrittenItems == [])
  }

  @Test("a delta that lies among the packs is removed")
  func delta() async throws {
    let (stage, delta) = try await offered()
    let store = try await stage.stage.open()
    let bytes = try #require(stage.stage.directory.bytes(of: "1-2.delta"))
    try stage.stage.directory.write(bytes, to: "store/packs/core@2-\(delta.offer.sha256.prefix(8).hex).delta")
    try stage.stage.directory.write(bytes, to: "store/packs/core@2-\(delta.offer.sha256.prefix(8).hex).pack")
    #expect(try await store.reconcile().map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.foreign, .orphaned])
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(1)])
  }

  @Test("another pack of the right key in the place of the file is not opened as that version")
  func replaced() async throws {
    let (stage, store, item) = try await made()
    try stage.stage.directory.write(try #require(stage.stage.directory.bytes(of: "3.pack")), to: "store/packs/\(item)")
    let error = await failure { () throws(PackError) in _ = try await store.open(DeltaStage.id) }
    #expect(error?.code == .damagedStore)
  }
}
