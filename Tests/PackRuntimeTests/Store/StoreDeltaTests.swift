import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Installing deltas", .bounded)
struct StoreDeltaTests {
  // MARK: Refusals

  /// Checks that an installation is refused, and that the store is as it was before.
  private func expectRefusal(
    _ code: PackError.Code, _ message: String? = nil, in store: AssetStore, of stage: DeltaStage,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws(PackError) -> Void
  ) async throws {
    let before = try stage.stage.snapshot()
    let error = await failure(body)
    #expect(error?.code == code, "\(error.map { "\($0)" } ?? "none")", sourceLocation: sourceLocation)
    if let message { #expect(error?.message == message, sourceLocation: sourceLocation) }
    let after = try stage.stage.snapshot()
    let isSame = after == before
    #expect(isSame, "\(Set(after.keys).symmetricDifference(before.keys))", sourceLocation: sourceLocation)
  }

  @Test("a delta that the manifest does not list is refused, and its file stays", arguments: InstallMode.allCases)
  func notListed(mode: InstallMode) async throws {
    let stage = try await DeltaStage(mode)
    let store = try await stage.start()
    let (delta, other) = (try await stage.delta(1, 2), try await stage.delta(4, 2))
    try #require(other.offer.size != delta.offer.size)
    try await stage.adopt(2, [other.offer], by: store)
    try await expectRefusal(.wrongPack, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
    }
    try await expectRefusal(.wrongPack, in: store, of: stage) { () throws(PackError) in
      _ = try await store.install(deltas: [delta.path], as: DeltaStage.id, by: [delta.offer])
    }
    #expect(FileManager.default.fileExists(atPath: delta.path))
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("the first of two deltas alone is refused: it makes another edition than the manifest lists")
  func firstAlone() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let (first, last) = (try await stage.delta(1, 3, final: 5), try await stage.delta(3, 5))
    try await stage.adopt(5, [first.offer, last.offer], by: store)
    try await expectRefusal(.wrongPack, "pack 'core' is another edition than the delta makes", in: store, of: stage) {
      () throws(PackError) in try await store.install(first.path, as: DeltaStage.id)
    }
  }

  @Test("a changed delta is refused by its digest before its key is asked for")
  func changedDelta() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    var bytes = try #require(stage.stage.directory.bytes(of: "1-2.delta"))
    bytes[bytes.count - 40] ^= 1
    let changed = try stage.stage.directory.write(bytes, to: "changed.delta")
    // Opening the delta would fail with another code.
    try await expectRefusal(.digestMismatch, in: store, of: stage) { () throws(PackError) in
      try await store.install(changed, as: DeltaStage.id)
    }
    bytes[4] = 9
    let unknown = try stage.stage.directory.write(bytes, to: "unknown.delta")
    try await expectRefusal(.truncated, in: store, of: stage) { () throws(PackError) in
      try await store.install(unknown, as: DeltaStage.id)
    }
  }

  @Test("a delta whose base is not installed is refused with the content that is missing")
  func noBase() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(3, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let root = stage.offer(3).entry.contentRoot.prefix(8).hex
    try await expectRefusal(
      .wrongBase, "pack 'core' has a delta over content \(root), which no installed version has", in: store, of: stage
    ) { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    let error = await failure { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    #expect(error?.advice == .fetchFullPack)
  }

  @Test("a delta over a damaged or missing base is refused with the reason, and the full pack can be installed", arguments: [true, false])
  func damagedBase(isMissing: Bool) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let item = stage.item(1)
    if isMissing { stage.remove("store/packs/\(item)") } else { try stage.damage(item) }
    let reason =
      isMissing
      ? "pack 'core' has a delta over version 1, which is no longer on the device"
      : "pack 'core' has a delta over version 1, which cannot be used: version 1 does not have the bytes that were installed"
    try await expectRefusal(.wrongBase, reason, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
    }
    try await store.install(stage.offer(2).path, as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
  }

  @Test(
    "a delta to an unpacked pack is refused if a file of the base was changed, removed or added",
    arguments: ["changed", "removed", "added"])
  func damagedTree(way: String) async throws {
    let stage = try await DeltaStage(.unpacked)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let file = "store/packs/\(stage.item(1))/js/same.bin"
    switch way {
    case "changed": try stage.stage.directory.write([1, 2, 3], to: file)
    case "removed": stage.remove(file)
    default: try stage.stage.directory.write([1], to: "store/packs/\(stage.item(1))/js/more.bin")
    }
    try await expectRefusal(.wrongBase, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
    }
    #expect(stage.stage.directory.names(in: "store/staging") == [])
    try await store.install(stage.offer(2).path, as: DeltaStage.id, taking: .copying)
  }

  @Test("a fourth delta is refused, and the full pack can be installed")
  func fourDeltas() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start(StorePolicy(keepVersions: 9, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    for version in 2...4 as ClosedRange<UInt64> { try await stage.update(version - 1, version, in: store) }
    #expect(try await stage.difference(store, 4) == [])
    let delta = try await stage.delta(4, 5)
    try await stage.adopt(5, [delta.offer], by: store)
    try await expectRefusal(
      .tooManyDeltas, "pack 'core' would be read over 4 deltas; at most 3 lie over each other", in: store, of: stage
    ) { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    try await store.install(stage.offer(5).path, as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 5) == [])
  }

  @Test("a delta whose tree takes more than its manifest says is refused, and nothing is left of it")
  func tooLarge() async throws {
    let stage = try await DeltaStage(.unpacked)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    var entry = stage.offer(2).entry
    let size = entry.installSize
    entry.installSize -= 1
    try await store.adopt(DeltaStage.release(of: DeltaStage.entry(entry, [delta.offer])))
    try await expectRefusal(
      .limitExceeded, "\(delta.path): pack takes \(size) bytes unpacked, but the manifest says \(size - 1)", in: store, of: stage
    ) { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("deltas that do not lead to the pack of the manifest, or not in this order, are refused")
  func wrongRoute() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let (first, second) = (try await stage.delta(1, 2, final: 3), try await stage.delta(2, 3))
    try await stage.adopt(3, [first.offer, second.offer], by: store)
    try await expectRefusal(.wrongPack, in: store, of: stage) { () throws(PackError) in
      try await store.install(first.path, as: DeltaStage.id)
    }
    try await expectRefusal(.wrongBase, in: store, of: stage) { () throws(PackError) in
      try await store.install(second.path, as: DeltaStage.id)
    }
    try await expectRefusal(.wrongPack, in: store, of: stage) { () throws(PackError) in
      _ = try await store.install(deltas: [second.path, first.path], as: DeltaStage.id, by: [second.offer, first.offer])
    }
    // Files in another order than the route.
    let error = await failure { () throws(PackError) in
      _ = try await store.install(deltas: [second.path, first.path], as: DeltaStage.id, by: [first.offer, second.offer])
    }
    #expect(error?.code == .wrongPack || error?.code == .digestMismatch)
    try await expectRefusal(.usage, in: store, of: stage) { () throws(PackError) in
      _ = try await store.install(deltas: [first.path], as: DeltaStage.id, by: [first.offer, second.offer])
    }
  }

  @Test("a delta to a pack whose shard is missing is not installed, and is as soon as the shard is there")
  func missingShard() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    var listed = stage.offer(2)
    listed.entry = DeltaStage.entry(listed.entry, [delta.offer])
    listed.entry.delivery = .onDemand
    let release = try CatalogueRelease(2, [], catalogue: [listed])
    try await store.adopt(release.document)
    try await expectRefusal(.catalogueNotAvailable, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
    }
    try release.deliver(to: store)
    #expect(try await store.routes(to: [listed.entry], hops: 2) == [DeltaStage.id: UpdateRoute(deltas: [delta.offer])])
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    #expect(installed.version == 2 && installed.deltaCount == 1)
  }

  // MARK: Packed

  @Test("a delta lies beside its base, and both are read as one pack", arguments: Taking.allCases)
  func packed(taking: Taking) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let note = Monitor(InstallNote())
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: taking, mode: nil, progress: nil, note: note)
    #expect(installed.version == 2 && installed.sha256 == stage.offer(2).entry.sha256 && installed.mode == .packed)
    #expect(installed.deltaCount == 1 && installed.deltaRoom == 2 && installed.contentRoot == stage.offer(2).entry.contentRoot)
    // The digests of two contents and a tag.
    #expect(note.withLock { $0.cost } == InstallCost(written: 80 + (taking == .moving ? 0 : delta.offer.size)))
    note.withLock { $0.mark = nil }
    #expect(FileManager.default.fileExists(atPath: delta.path) == (taking == .copying))
    #expect(stage.stage.directory.names(in: "store/packs").sorted() == [stage.item(1), stage.item(2, delta)].sorted())
    #expect(try await stage.difference(store, 1) == [])
    try await store.confirm(try await store.activate(DeltaStage.id))
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
    let usage = try await store.usage()
    #expect(usage.reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
    #expect(usage.first { $0.path.hasSuffix(stage.item(1)) }?.reason == "is kept for rollback, and version 2 is read over it")
    #expect(try await store.plan().isEmpty)
    // Installing the same bytes again does nothing.
    let again = try await store.install(stage.offer(2).path, as: DeltaStage.id, taking: .copying)
    #expect(again.deltaCount == 1)
  }

  @Test("two deltas lead through an edition that is not installed", arguments: InstallMode.allCases, Taking.allCases)
  func twoHops(mode: InstallMode, taking: Taking) async throws {
    let stage = try await DeltaStage(mode)
    let store = try await stage.start()
    let (first, second) = (try await stage.delta(1, 2, final: 3), try await stage.delta(2, 3))
    try await stage.adopt(3, [first.offer, second.offer], by: store)
    let installed = try await store.install(
      deltas: [first.path, second.path], as: DeltaStage.id, by: [first.offer, second.offer], taking: taking)
    #expect(installed.version == 3 && installed.deltaCount == (mode == .packed ? 2 : 0))
    for path in [first.path, second.path] { #expect(FileManager.default.fileExists(atPath: path) == (taking == .copying)) }
    let items = mode == .packed ? [stage.item(1), stage.item(3, first), stage.item(3, second)] : [stage.item(1), stage.item(3)]
    #expect(stage.stage.directory.names(in: "store/packs").sorted() == items.sorted())
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 3) == [])
    #expect(try await store.reconcile(.thorough) == [])
    // A file that was delivered again is removed.
    guard taking == .copying else { return }
    _ = try await store.install(deltas: [first.path, second.path], as: DeltaStage.id, by: [first.offer, second.offer])
    for path in [first.path, second.path] { #expect(!FileManager.default.fileExists(atPath: path)) }
  }

  @Test("a base beyond the versions to keep stays until the last version over it goes")
  func neededBase() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start(StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    try await stage.update(1, 2, in: store)
    try await stage.update(2, 3, in: store)
    #expect(try await store.installed().map(\.version) == [1, 2, 3])
    #expect(try await store.purge(toFree: 1).removed.map(\.pack.version) == [3], "what it is read over is needed")
    #expect(try await store.installed().map(\.version) == [1, 2])
  }

  @Test("versions that are removed go before what they are read over, and a full pack frees all of them")
  func replacedByFull() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start(StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    try await stage.update(1, 2, in: store)
    try await stage.adopt(3, [], by: store)
    try await store.install(stage.offer(3).path, as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await store.installed().map(\.version) == [3])
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(3)])
    #expect(try await store.remove(DeltaStage.id))
    #expect(stage.stage.directory.names(in: "store/packs") == [])
  }

  @Test("everything that may be purged is purged in the order of need, and counted once")
  func purge() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let held = try await store.installed().reduce(0) { $0 + $1.sizeOnDevice }
    let report = try await store.purge(toFree: 1 << 30)
    #expect(report.removed.map(\.pack.version) == [2, 1])
    #expect(report.freed == held)
    #expect(stage.stage.directory.names(in: "store/packs") == [])
  }

  @Test("a base is in use while a version over it is open")
  func useOfBase() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let opened = try await store.open(DeltaStage.id)
    let reasons = try await store.usage().filter { $0.kind == .pack }.map(\.reason)
    #expect(reasons.count == 2 && reasons.allSatisfy { $0.hasSuffix("in use") }, "\(reasons)")
    #expect(try await store.purge(toFree: 1 << 30).removed.isEmpty)
    let error = await failure { () throws(PackError) in try await store.remove(DeltaStage.id) }
    #expect(error?.code == .inUse)
    #expect(try opened.read("index.html") == Array("version 2".utf8))
  }

  @Test("a rollback goes back to the base, and a failed delta is removed without it")
  func rollback() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    try await store.activate(DeltaStage.id)
    try await store.rollback(DeltaStage.id, reason: "a test")
    #expect(try await stage.difference(store, 1) == [])
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(1)])
    let error = await failure { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    #expect(error?.code == .versionFailed)
  }

  @Test("a base that was installed by an earlier release of the store is found by its content")
  func oldRecord() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let text = String(decoding: try #require(stage.stage.directory.bytes(of: "store/state/core")), as: UTF8.self)
    let old = text.replacing(/"contentRoot":"[0-9a-f]{64}",/, with: "")
    #expect(old.count == text.count - 81)
    try stage.stage.directory.write(Array(old.utf8), to: "store/state/core")
    #expect(try await store.installed().first?.contentRoot == nil)
    try await stage.update(1, 2, in: store)
    #expect(try await stage.difference(store, 2) == [])
  }

  // MARK: Repair

  @Test("a thorough repair finds a damaged delta, and the version below runs")
  func damagedLayer() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    try stage.damage(stage.item(2, try await stage.delta(1, 2)))
    #expect(try await store.reconcile() == [])
    let findings = try await store.reconcile(.thorough)
    #expect(findings.map(\.kind) == [.damaged])
    #expect(
      findings.map(\.text) == [
        "version 2 of pack 'core' has a delta that does not have the bytes that were installed; it was removed; version 1 runs now"
      ])
    #expect(try await stage.difference(store, 1) == [])
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("a thorough repair finds a damaged base, and removes what is read over it", arguments: [true, false])
  func damagedBelow(isMissing: Bool) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    if isMissing { stage.remove("store/packs/\(stage.item(1))") } else { try stage.damage(stage.item(1)) }
    if isMissing {
      let error = await failure { () throws(PackError) in _ = try await store.open(DeltaStage.id) }
      #expect(error?.code == .purged)
    }
    let findings = try await store.reconcile(isMissing ? .quick : .thorough)
    let fault = isMissing ? "is no longer on the device" : "does not have the bytes that were installed"
    #expect(
      findings.map(\.text) == [
        isMissing ? "version 1 of pack 'core' \(fault)" : "version 1 of pack 'core' \(fault); it was removed",
        "version 2 of pack 'core' is made by deltas over version 1, which \(fault); it was removed; install it again",
      ])
    #expect(try await store.installed().isEmpty)
    #expect(stage.stage.directory.names(in: "store/packs") == [])
    #expect(try await store.plan().downloads.map(\.version) == [2])
  }

  @Test("a delta that no record names is removed")
  func orphan() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let bytes = try #require(stage.stage.directory.bytes(of: "1-2.delta"))
    try stage.stage.directory.write(bytes, to: "store/packs/\(stage.item(2, delta))")
    #expect(try await store.reconcile().map(\.kind) == [.orphaned])
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(1)])
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("a record that is lost costs the deltas, not their base")
  func lostRecord() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    try stage.stage.directory.write([1], to: "store/state/core")
    try await store.reconcile()
    #expect(try await stage.difference(store, 1) == [])
    #expect(try await store.installed().map(\.version) == [1])
    #expect(try await store.reconcile(.thorough) == [])
  }

  // MARK: Unpacked

  @Test("a new tree is made from the old one, and shares the files that stay", arguments: Taking.allCases)
  func unpacked(taking: Taking) async throws {
    let stage = try await DeltaStage(.unpacked)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let note = Monitor(InstallNote())
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: taking, mode: nil, progress: nil, note: note)
    #expect(installed.version == 2 && installed.mode == .unpacked && installed.deltaCount == 0)
    #expect(FileManager.default.fileExists(atPath: delta.path) == (taking == .copying))
    let cost = note.withLock { $0.cost }
    #expect(cost.sharedFiles + cost.copiedFiles == 3, "what was renamed, and what stays")
    let shared = cost.sharedFiles == 3 ? UInt64(29_001) : 0
    #expect(cost.written == stage.offer(2).entry.contentSize - shared)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
    #expect(try SampleTree(reading: installed.path) == DeltaStage.tree(2))
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
    // The old tree can be removed, and nothing of the new one goes with it.
    try await store.purge(toFree: 1)
    #expect(try await store.installed().map(\.version) == [2])
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
  }

  @Test("an unpacked version is made over a packed one, but not the other way round")
  func otherMode() async throws {
    let stage = try await DeltaStage(.packed)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    try await store.install(delta.path, as: DeltaStage.id, taking: .copying, mode: .unpacked)
    try await store.activate(DeltaStage.id, onTrial: false)
    #expect(try await stage.difference(store, 2) == [])
    let next = try await stage.delta(2, 3)
    try await stage.adopt(3, [next.offer], by: store)
    try await expectRefusal(
      .wrongBase, "pack 'core' has a delta over version 2, which was unpacked, so the delta cannot stay packed", in: store, of: stage
    ) { () throws(PackError) in try await store.install(next.path, as: DeltaStage.id) }
  }

  // MARK: A release folder

  /// Installs a release as `packer store install` does.
  private func install(
    _ folder: String, in store: AssetStore, of stage: DeltaStage, mode: InstallMode? = nil
  ) async throws -> ReleaseInstallation.Outcome {
    let installation = try ReleaseInstallation(release: stage.stage.directory(folder))
    let outcome = try await installation.run(in: store, taking: .copying, mode: mode) { (_, install) async throws(PackError) in
      try await install(nil)
    }
    try await store.activate(DeltaStage.id, onTrial: false)
    return outcome
  }

  @Test("a release is installed by its deltas if they are smaller than the pack, and by the pack if a base is damaged, with the reason")
  func release() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try stage.publish(2, [try await stage.delta(1, 2)], in: "second")
    let second = try #require(try await install("second", in: store, of: stage).installed.first)
    #expect(second.pack.deltaCount == 1 && second.deltas == 1)
    #expect(second.size > 0 && second.fullSize.map { second.size < $0 } == true)
    #expect(try await stage.difference(store, 2) == [])
    // Through an edition that is not installed.
    try stage.publish(4, [try await stage.delta(2, 3, final: 4), try await stage.delta(3, 4)], in: "fourth")
    #expect(try await install("fourth", in: store, of: stage).installed.map(\.pack.deltaCount) == [3])
    #expect(try await stage.difference(store, 4) == [])
    // Nothing more can lie over version 4, and nothing is said about that.
    let last = try await stage.delta(4, 5)
    try stage.publish(5, [last], in: "fifth")
    let outcome = try await install("fifth", in: store, of: stage)
    #expect(outcome.installed.map(\.pack.deltaCount) == [0] && outcome.fallbacks.isEmpty)
    #expect(outcome.installed.map(\.deltas) == [0] && outcome.installed.first.map { $0.size == $0.fullSize } == true)
    #expect(try await stage.difference(store, 5) == [])

    let other = try await DeltaStage()
    let damaged = try await other.start()
    try other.damage(other.item(1))
    try other.publish(2, [try await other.delta(1, 2)], in: "second")
    let fallen = try await install("second", in: damaged, of: other)
    #expect(fallen.installed.map(\.deltas) == [0])
    #expect(
      fallen.fallbacks.map(\.reason.message) == [
        "pack 'core' has a delta over version 1, which cannot be used: version 1 does not have the bytes that were installed"
      ])
    #expect(try await other.difference(damaged, 2) == [])
  }

  @Test("a way over deltas is sought for the mode that was asked for", arguments: InstallMode.allCases)
  func releaseInOtherMode(listed: InstallMode) async throws {
    let stage = try await DeltaStage(listed)
    let store = try await stage.start()
    try stage.publish(2, [try await stage.delta(1, 2)], in: "second")
    let outcome = try await install("second", in: store, of: stage, mode: listed == .packed ? .unpacked : .packed)
    // A delta cannot be kept over a tree, which is no fault of anything.
    #expect(outcome.installed.map(\.pack.mode) == [listed == .packed ? .unpacked : .packed] && outcome.fallbacks.isEmpty)
    #expect(try await stage.difference(store, 2) == [])
  }

  @Test("a single delta of a release is installed under its published name")
  func publishedDelta() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try stage.publish(2, [delta], in: "second")
    let name = stage.stage.directory("second/\(ManifestPack.publishedName(DeltaStage.id, delta.offer.sha256))")
    try await store.adopt(SignedManifest(try #require(stage.stage.directory.bytes(of: "second/manifest.json"))))
    let outcome = try await ReleaseInstallation(files: [name], as: nil).run(in: store, taking: .copying, mode: nil) {
      (_, install) async throws(PackError) in try await install(nil)
    }
    #expect(outcome.installed.map(\.deltas) == [1])
    #expect(outcome.installed.first.map { $0.size == delta.offer.size && $0.fullSize == nil } == true)
  }
}
