import Foundation
import TestSupport
import Testing

@testable import PackStore

extension StoreStage {
  /// A rollout of all devices, whose time ends an hour after the stage's clock.
  static let rollout = Rollout(
    id: "winter", salt: Array(repeating: 7, count: 16), share: Rollout.wholeShare, state: .running,
    until: ManifestTime(secondsSince1970: 1_800_003_600)!)

  /// Returns a signed manifest with packs of which some have candidates.
  func manifest(_ version: UInt64, _ packs: [ManifestPack], _ rollouts: [Rollout]) throws(PackError) -> SignedManifest {
    var manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
      defaults: ManifestDefaults(baseURL: Self.base), packs: packs)
    manifest.rollouts = rollouts
    return try KeysSample.sign(manifest, by: [0], keys: [])
  }

  /// Returns the entry of a pack that offers another version as the candidate of a rollout.
  func entry(_ stable: Offer, offering candidate: Offer, in rollout: String = "winter") -> ManifestPack {
    var entry = stable.entry
    entry.url = Self.base + ManifestPack.publishedName(entry.id, entry.sha256)
    entry.candidate = ManifestCandidate(candidate.entry, in: rollout)
    return entry
  }
}

@Suite("A candidate of a rollout", .bounded)
struct StoreRolloutTests {
  let stage: StoreStage

  init() throws { stage = try StoreStage() }

  private static let choice = RolloutChoice(installation: Array(0..<32))

  private func rollout(_ change: (inout Rollout) -> Void = { _ in }) -> Rollout {
    var rollout = StoreStage.rollout
    change(&rollout)
    return rollout
  }

  /// A store in which version 1 is proven and version 2 is a candidate of a rollout of all devices.
  private struct Sample {
    let store: AssetStore
    let stable: StoreStage.Offer
    let candidate: StoreStage.Offer
    let entry: ManifestPack
  }

  private func sample(_ policy: StorePolicy = StoreStage.patient, install: InstallMode = .packed) async throws -> Sample {
    let store = try await stage.open(policy)
    store.choose(by: Self.choice)
    let stable = try await stage.offer("core", 1, install: install)
    let candidate = try await stage.offer("core", 2, install: install)
    try await store.adopt(stage.manifest(1, [stable]))
    try await store.install(stable.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let entry = stage.entry(stable, offering: candidate)
    try await store.adopt(stage.manifest(2, [entry], [rollout()]))
    return Sample(store: store, stable: stable, candidate: candidate, entry: entry)
  }

  /// Installs the candidate, activates and confirms it.
  private func run(_ sample: Sample) async throws {
    try await sample.store.install(sample.candidate.path, as: "core", taking: .copying)
    let token = try await sample.store.activate("core")
    #expect(token.version == 2)
    try await sample.store.confirm(token)
  }

  private func running(_ store: AssetStore) async throws -> UInt64? { try await store.current("core")?.version }
  private func versions(_ store: AssetStore) async throws -> [UInt64] { try await store.installed("core").map(\.version) }

  @Test("is what the device installs, tries, confirms and opens, if it is picked; otherwise it is not offered")
  func picked() async throws {
    let sample = try await sample()
    #expect(try await sample.store.plan().downloads.map(\.version) == [2])
    try await run(sample)
    #expect(try await sample.store.open("core").read("index.html") == sample.candidate.tree.files["index.html"]?.bytes)
    #expect(try await sample.store.plan().installed == ["core"])
    // Another installation, which no rollout picks.
    let other = try await stage.open(as: "other")
    #expect(try await other.plan().downloads.isEmpty, "without random bytes, none is taken")
    let late = try await sampleOfShare(0)
    #expect(late.downloads.isEmpty && late.installed == ["core"])
  }

  private func sampleOfShare(_ share: UInt64) async throws -> UpdatePlan {
    let stage = try StoreStage()
    let store = try await stage.open()
    store.choose(by: Self.choice)
    let (stable, candidate) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try await store.adopt(stage.manifest(1, [stable]))
    try await store.install(stable.path, as: "core", taking: .copying)
    return try await store.adopt(stage.manifest(2, [stage.entry(stable, offering: candidate)], [rollout { $0.share = share }]))
  }

  @Test("that is halted gives way without a trial also if its version is named, as requests by tags do")
  func named() async throws {
    let sample = try await sample()
    try await run(sample)
    try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .halted }]))
    #expect(try await sample.store.run(sample.entry.takingStable, startsTrial: true) != nil)
    #expect(try await sample.store.trial(of: "core") == nil)
    #expect(try await running(sample.store) == 1)
    // What was on no trial cannot fail it.
    #expect(try await stage.open(as: "later").current("core")?.version == 1)
  }

  @Test("that is halted is not what the next version falls back to")
  func fallsBack() async throws {
    let sample = try await sample()
    try await run(sample)
    let next = try await stage.offer("core", 3)
    var entry = next.entry
    entry.url = StoreStage.base + ManifestPack.publishedName(entry.id, entry.sha256)
    try await sample.store.adopt(stage.manifest(3, [entry], []))
    try await sample.store.install(next.path, as: "core", taking: .copying)
    #expect(try await sample.store.activate("core").version == 3)
    #expect(try await sample.store.rollback("core", reason: "no")?.version == 1)
  }

  @Test("that is removed to free space leaves the version before it running, which stays for that")
  func purged() async throws {
    let stage = try StoreStage()
    let store = try await stage.open()
    store.choose(by: Self.choice)
    let (stable, candidate) = (try await stage.offer("core", 1, install: .packed), try await stage.offer("core", 2, install: .packed))
    try await store.adopt(stage.manifest(1, [stable]))
    try await store.install(stable.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    try await store.adopt(stage.manifest(2, [stage.entry(stable, offering: candidate)], [rollout()]))
    try await store.install(candidate.path, as: "core", taking: .copying)
    try await store.confirm(store.activate("core"))
    _ = try await store.purge(toFree: 1)
    #expect(try await versions(store) == [1])
    #expect(try await running(store) == 1)
  }

  @Test("stays where it runs when its rollout is paused or over, and begins nowhere then")
  func paused() async throws {
    let sample = try await sample()
    try await sample.store.install(sample.candidate.path, as: "core", taking: .copying)
    try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .paused }]))
    // It is there, and did not begin.
    #expect(try await sample.store.activate("core").version == 1)
    #expect(try await running(sample.store) == 1)
    try await sample.store.adopt(stage.manifest(4, [sample.entry], [rollout()]))
    let token = try await sample.store.activate("core")
    #expect(token.version == 2, "nothing is downloaded again")
    try await sample.store.confirm(token)
    try await sample.store.adopt(stage.manifest(5, [sample.entry], [rollout { $0.state = .paused }]))
    #expect(try await sample.store.activate("core").version == 2)
    stage.clock.secondsSince1970 = 1_800_003_600
    try await sample.store.adopt(stage.manifest(6, [sample.entry], [rollout { $0.share = 0 }]))
    #expect(try await sample.store.activate("core").version == 2)
  }

  @Test("does not begin once the time of its rollout is over")
  func over() async throws {
    let sample = try await sample()
    stage.clock.secondsSince1970 = 1_800_003_599
    #expect(try await sample.store.plan().downloads.count == 1)
    stage.clock.secondsSince1970 = 1_800_003_600
    #expect(try await sample.store.plan().downloads.isEmpty)
    #expect(try await sample.store.install(sample.candidate.path, as: "core", taking: .copying).version == 1, "it has what is offered")
  }

  @Test("that is halted gives way to the version before at the next activation, without a trial and a download", arguments: [1, 2, 3])
  func halted(_ keep: Int) async throws {
    var policy = StoreStage.patient
    policy.keepVersions = keep
    let sample = try await sample(policy)
    try await run(sample)
    #expect(try await versions(sample.store) == [1, 2], "the way back stays")
    let plan = try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .halted }]))
    #expect(plan.downloads.isEmpty && plan.installed == ["core"])
    // A session goes on with its version.
    let session = try await sample.store.open("core")
    let token = try await sample.store.activate("core")
    #expect(token.version == 1)
    #expect(try await sample.store.current("core")?.state == .current, "nothing is on trial")
    #expect(try session.read("index.html") == sample.candidate.tree.files["index.html"]?.bytes)
    withExtendedLifetime(session) {}
    #expect(try await sample.store.open("core").installed.version == 1)
    // It did not fail, and it is never fallen back to.
    _ = try await sample.store.rollback("core", reason: "test")
    #expect(try await running(sample.store) == nil)
  }

  @Test("that is withdrawn never comes back by itself, also if the manifest is lost or its pack is no longer listed")
  func lost() async throws {
    let sample = try await sample()
    try await sample.store.install(sample.candidate.path, as: "core", taking: .copying)
    try FileManager.default.removeItem(atPath: "\(stage.root)/manifest")
    #expect(try await sample.store.activate("core").version == 1, "without a manifest, a candidate does not begin")
    try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .halted }]))
    #expect(try await sample.store.activate("core").version == 1)
    _ = try await sample.store.reconcile()
    #expect(try await running(sample.store) == 1)
  }

  @Test("goes on without a manifest where it runs")
  func goesOn() async throws {
    let sample = try await sample()
    try await run(sample)
    try FileManager.default.removeItem(atPath: "\(stage.root)/manifest")
    #expect(try await sample.store.activate("core").version == 2)
  }

  @Test("that is withdrawn and alone on a device does not run, and the stable version is downloaded")
  func alone() async throws {
    let store = try await stage.open()
    store.choose(by: Self.choice)
    let (stable, candidate) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let entry = stage.entry(stable, offering: candidate)
    try await store.adopt(stage.manifest(1, [entry], [rollout()]))
    try await store.install(candidate.path, as: "core", taking: .copying)
    try await store.confirm(try await store.activate("core"))
    #expect(try await store.leaveCandidate("core"))
    let plan = try await store.adopt(stage.manifest(2, [entry], [rollout { $0.state = .halted }]))
    #expect(plan.downloads.map(\.version) == [1])
    #expect(await failure { () async throws(PackError) in try await store.activate("core") }?.code == .notInstalled)
    #expect(try await !store.leaveCandidate("core"))
    try await store.install(stable.path, as: "core", taking: .copying)
    #expect(try await store.activate("core").version == 1)
    #expect(try await store.leaveCandidate("core"))
  }

  @Test("that failed on a device is not offered to it any more, and the stable version runs")
  func failed() async throws {
    let sample = try await sample()
    try await sample.store.install(sample.candidate.path, as: "core", taking: .copying)
    try await sample.store.activate("core")
    _ = try await sample.store.rollback("core", reason: "crash")
    let plan = try await sample.store.plan()
    #expect(plan.installed == ["core"] && plan.downloads.isEmpty && plan.failed.isEmpty)
    #expect(try await sample.store.activate("core").version == 1)
  }

  @Test("that becomes the stable version is kept as it is, and may be fallen back to")
  func finished() async throws {
    let sample = try await sample()
    try await run(sample)
    let plan = try await sample.store.adopt(stage.manifest(3, [sample.candidate]))
    #expect(plan.installed == ["core"] && plan.downloads.isEmpty)
    let third = try await stage.offer("core", 3)
    try await sample.store.adopt(stage.manifest(4, [third]))
    try await sample.store.install(third.path, as: "core", taking: .copying)
    try await sample.store.activate("core", onTrial: false)
    #expect(try await versions(sample.store) == [2, 3])
    #expect(try await sample.store.rollback("core", reason: "test")?.version == 2)
  }

  @Test("that became the stable version is fallen back to, also if the power failed before its record said so")
  func finishedBeforePowerCut() async throws {
    let sample = try await sample()
    try await run(sample)
    let record = try #require(stage.directory.bytes(of: "store/state/core"))
    try await sample.store.adopt(stage.manifest(3, [sample.candidate]))
    #expect(stage.directory.bytes(of: "store/state/core") != record)
    _ = try stage.directory.write(record, to: "store/state/core")
    let third = try await stage.offer("core", 3)
    try await sample.store.adopt(stage.manifest(4, [third]))
    try await sample.store.install(third.path, as: "core", taking: .copying)
    try await sample.store.activate("core", onTrial: false)
    #expect(try await sample.store.rollback("core", reason: "test")?.version == 2)
  }

  @Test("is no rollback if it is withdrawn, and a lower stable version still is one")
  func memory() async throws {
    let sample = try await sample()
    try await run(sample)
    try await sample.store.adopt(stage.manifest(3, [sample.entry.takingStable], []))
    #expect(try await sample.store.activate("core").version == 1)
    try await sample.store.adopt(stage.manifest(4, [sample.candidate]))
    let back = try stage.manifest(5, [sample.stable])
    #expect(await failure { () async throws(PackError) in try await sample.store.adopt(back) }?.code == .manifestRollback)
  }

  @Test("keeps the version before on the device when space is short")
  func space() async throws {
    let sample = try await sample()
    try await run(sample)
    let report = try await sample.store.purge(toFree: 1 << 40)
    #expect(!report.removed.contains { $0.pack.version == 1 })
    #expect(try await versions(sample.store).contains(1))
  }

  @Test("that was made by a delta is taken back like any other", arguments: InstallMode.allCases)
  func delta(_ mode: InstallMode) async throws {
    let stage = try await DeltaStage(mode)
    let store = try await stage.stage.open()
    store.choose(by: Self.choice)
    let delta = try await stage.delta(1, 2)
    try await store.adopt(stage.stage.manifest(1, [stage.offer(1)]))
    try await store.install(stage.offer(1).path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    var entry = stage.stage.entry(stage.offer(1), offering: stage.offer(2))
    entry.candidate?.deltas = [delta.offer]
    try await store.adopt(stage.stage.manifest(2, [entry], [rollout()]))
    try await store.install(delta.path, as: "core", taking: .copying)
    try await store.confirm(try await store.activate("core"))
    #expect(try await running(store) == 2)
    try await store.adopt(stage.stage.manifest(3, [entry], [rollout { $0.state = .halted }]))
    #expect(try await store.activate("core").version == 1)
    #expect(try await store.current("core")?.state == .current, "nothing is on trial")
    for (path, file) in stage.tree(1).files { #expect(try await store.open("core").read(path) == file.bytes) }
  }

  @Test("whose record was rebuilt without a manifest is known again with the next one")
  func rebuilt() async throws {
    let sample = try await sample()
    try await run(sample)
    try FileManager.default.removeItem(atPath: "\(stage.root)/manifest")
    try FileManager.default.removeItem(atPath: "\(stage.root)/memory")
    _ = try stage.directory.write([1], to: "store/state/core")
    _ = try await sample.store.reconcile()
    try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .halted }]))
    #expect(try await sample.store.activate("core", onTrial: false).version == 1)
    _ = try await sample.store.rollback("core", reason: "test")
    #expect(try await running(sample.store) != 2)
  }

  @Test("is found again as what it is when its record is lost", arguments: InstallMode.allCases)
  func repaired(_ mode: InstallMode) async throws {
    let sample = try await sample(install: mode)
    try await sample.store.install(sample.candidate.path, as: "core", taking: .copying)
    try FileManager.default.removeItem(atPath: "\(stage.root)/state/core")
    _ = try await sample.store.reconcile()
    #expect(try await versions(sample.store) == [1, 2])
    try await sample.store.adopt(stage.manifest(3, [sample.entry], [rollout { $0.state = .halted }]))
    #expect(try await sample.store.activate("core", onTrial: false).version == 1)
  }
}
