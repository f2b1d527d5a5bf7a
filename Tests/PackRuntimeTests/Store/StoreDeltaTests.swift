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
    #expect(FileManager.default.fileExists(atPath: delta.path))
    #expect(try await stage.difference(store, 1) == [])
  }

  /// What is wrong with an entry that lists a delta from version 1 to version 2.
  enum WrongEntry: String, CaseIterable, CustomTestStringConvertible {
    case version, contentRoot, files, smallerContent, largerContent

    var testDescription: String { rawValue }
    /// Content beyond what the entry says is not made, so the full pack is to come.
    var code: PackError.Code { self == .smallerContent ? .wrongBase : .wrongPack }

    func change(_ entry: inout ManifestPack) {
      switch self {
      case .version: entry.version += 1
      case .contentRoot: entry.contentRoot[0] ^= 1
      case .files: entry.files += 1
      case .smallerContent: entry.contentSize -= 1
      case .largerContent: entry.contentSize += 1
      }
    }
  }

  @Test("a delta that does not make what its entry says is refused", arguments: InstallMode.allCases, WrongEntry.allCases)
  func wrongEntry(mode: InstallMode, way: WrongEntry) async throws {
    let stage = try await DeltaStage(mode)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    var entry = DeltaStage.entry(stage.offer(2).entry, [delta.offer])
    way.change(&entry)
    try await store.adopt(DeltaStage.release(of: entry))
    try await expectRefusal(way.code, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
    }
    #expect(try await stage.difference(store, 1) == [])
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
      .wrongBase,
      "pack 'core' cannot be made by a delta: \(delta.path): pack takes \(size) bytes unpacked, but the manifest says \(size - 1)",
      in: store, of: stage
    ) { () throws(PackError) in try await store.install(delta.path, as: DeltaStage.id) }
    #expect(try await stage.difference(store, 1) == [])
  }

  @Test("a version whose content is not known is no base")
  func unknownContent() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let text = String(decoding: try #require(stage.stage.directory.bytes(of: "store/state/core")), as: UTF8.self)
    let old = text.replacing(/"contentRoot":"[0-9a-f]{64}",/, with: "")
    #expect(old.count == text.count - 81)
    try stage.stage.directory.write(Array(old.utf8), to: "store/state/core")
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    #expect(try await store.deltas(to: [DeltaStage.entry(stage.offer(2).entry, [delta.offer])]) == [:])
    try await expectRefusal(.wrongBase, in: store, of: stage) { () throws(PackError) in
      try await store.install(delta.path, as: DeltaStage.id)
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
    #expect(try await store.deltas(to: [listed.entry]) == [DeltaStage.id: delta.offer])
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: .copying)
    #expect(installed.version == 2)
  }

  // MARK: Packed

  @Test("a packed version is a new file beside its base, with the content of the published one", arguments: Taking.allCases)
  func packed(taking: Taking) async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    let (delta, offer) = (try await stage.delta(1, 2), stage.offer(2))
    try await stage.adopt(2, [delta.offer], by: store)
    let note = Monitor(InstallNote())
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: taking, mode: nil, progress: nil, note: note)
    #expect(installed.version == 2 && installed.sha256 == offer.entry.sha256 && installed.mode == .packed)
    #expect(installed.contentRoot == offer.entry.contentRoot)
    #expect(FileManager.default.fileExists(atPath: delta.path) == (taking == .copying))
    let item = try #require(stage.rewrittenItems.first)
    #expect(stage.stage.directory.names(in: "store/packs") == [stage.item(1), item].sorted() && installed.path.hasSuffix("/\(item)"))
    let bytes = try #require(stage.stage.directory.bytes(of: "store/packs/\(item)"))
    #expect(note.withLock { $0.cost } == InstallCost(written: UInt64(bytes.count)))
    #expect(bytes.count <= Int(PackRewriter.largestSize(for: offer.entry.size)))
    note.withLock { $0.mark = nil }
    #expect(try await stage.difference(store, 1) == [])
    try await store.confirm(try await store.activate(DeltaStage.id))
    #expect(try await stage.difference(store, 2) == [])
    #expect(try await store.reconcile(.thorough) == [])
    let usage = try await store.usage()
    #expect(usage.reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
    #expect(usage.first { $0.path.hasSuffix(stage.item(1)) }?.reason == "is kept for rollback")
    #expect(try await store.plan().isEmpty)
    // The published file has nothing that is missing.
    let again = try await store.install(offer.path, as: DeltaStage.id, taking: .copying)
    #expect(again.path == installed.path)
  }

  @Test("what a version was made from is not needed any more", arguments: InstallMode.allCases)
  func unneededBase(mode: InstallMode) async throws {
    let stage = try await DeltaStage(mode)
    let store = try await stage.start(StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    for version in 2...5 as ClosedRange<UInt64> {
      try await stage.update(version - 1, version, in: store)
      #expect(try await store.installed().map(\.version) == [version])
      #expect(try await stage.difference(store, version) == [])
    }
    #expect(stage.stage.directory.names(in: "store/packs").count == 1)
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.remove(DeltaStage.id))
    #expect(stage.stage.directory.names(in: "store/packs") == [])
  }

  @Test("everything that may be purged is purged, the earlier version first, and counted once")
  func purge() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let held = try await store.installed().reduce(0) { $0 + $1.sizeOnDevice }
    let report = try await store.purge(toFree: 1 << 30)
    #expect(report.removed.map(\.pack.version) == [1, 2])
    #expect(report.freed == held)
    #expect(stage.stage.directory.names(in: "store/packs") == [])
  }

  @Test("a version that is open is in use, and what it was made from is not")
  func use() async throws {
    let stage = try await DeltaStage()
    let store = try await stage.start()
    try await stage.update(1, 2, in: store)
    let opened = try await store.open(DeltaStage.id)
    #expect(try await store.purge(toFree: 1 << 30).removed.map(\.pack.version) == [1])
    let error = await failure { () throws(PackError) in try await store.remove(DeltaStage.id) }
    #expect(error?.code == .inUse)
    #expect(try opened.read("index.html") == Array("version 2".utf8))
  }

  @Test("a rollback goes back to the base, and a version that failed is removed and not made again", arguments: InstallMode.allCases)
  func rollback(mode: InstallMode) async throws {
    let stage = try await DeltaStage(mode)
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

  // MARK: Unpacked

  @Test("a new tree is made from the old one, and shares the files that stay", arguments: Taking.allCases)
  func unpacked(taking: Taking) async throws {
    let stage = try await DeltaStage(.unpacked)
    let store = try await stage.start()
    let delta = try await stage.delta(1, 2)
    try await stage.adopt(2, [delta.offer], by: store)
    let note = Monitor(InstallNote())
    let installed = try await store.install(delta.path, as: DeltaStage.id, taking: taking, mode: nil, progress: nil, note: note)
    #expect(installed.version == 2 && installed.mode == .unpacked)
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

  @Test("an unpacked version is made from a packed one, and a packed one from that", arguments: InstallMode.allCases)
  func otherMode(first: InstallMode) async throws {
    let stage = try await DeltaStage(first)
    let store = try await stage.start()
    for (version, mode) in [(2, first == .packed ? .unpacked : .packed), (3, first)] as [(UInt64, InstallMode)] {
      let delta = try await stage.delta(version - 1, version)
      try await stage.adopt(version, [delta.offer], by: store)
      let installed = try await store.install(delta.path, as: DeltaStage.id, taking: .copying, mode: mode)
      #expect(installed.version == version && installed.mode == mode)
      try await store.activate(DeltaStage.id, onTrial: false)
      #expect(try await stage.difference(store, version) == [])
    }
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } == (try stage.stage.sizeOnDevice()))
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
    #expect(second.isDelta && second.size > 0 && second.fullSize.map { second.size < $0 } == true)
    #expect(try await stage.difference(store, 2) == [])
    // Nothing is said about a delta over an edition that is not installed.
    try stage.publish(4, [try await stage.delta(3, 4)], in: "fourth")
    let outcome = try await install("fourth", in: store, of: stage)
    #expect(outcome.installed.map(\.isDelta) == [false] && outcome.fallbacks.isEmpty)
    #expect(outcome.installed.first.map { $0.size == $0.fullSize } == true)
    #expect(try await stage.difference(store, 4) == [])

    let other = try await DeltaStage()
    let damaged = try await other.start()
    try other.damage(other.item(1))
    try other.publish(2, [try await other.delta(1, 2)], in: "second")
    let fallen = try await install("second", in: damaged, of: other)
    #expect(fallen.installed.map(\.isDelta) == [false])
    #expect(
      fallen.fallbacks.map(\.reason.message) == [
        "pack 'core' has a delta over version 1, which cannot be used: version 1 does not have the bytes that were installed"
      ])
    #expect(try await other.difference(damaged, 2) == [])
  }

  @Test("a release is installed by its deltas in the mode that was asked for", arguments: InstallMode.allCases)
  func releaseInOtherMode(listed: InstallMode) async throws {
    let stage = try await DeltaStage(listed)
    let store = try await stage.start()
    try stage.publish(2, [try await stage.delta(1, 2)], in: "second")
    let outcome = try await install("second", in: store, of: stage, mode: listed == .packed ? .unpacked : .packed)
    #expect(outcome.installed.map(\.pack.mode) == [listed == .packed ? .unpacked : .packed] && outcome.fallbacks.isEmpty)
    #expect(outcome.installed.map(\.isDelta) == [true])
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
    #expect(outcome.installed.map(\.isDelta) == [true])
    #expect(outcome.installed.first.map { $0.size == delta.offer.size && $0.fullSize == nil } == true)
  }
}
