import Foundation
import TestSupport
import Testing

@Suite("A store that is stopped at any operation", .bounded)
struct StoreCrashTests {
  @Test("has either the old version or the new one complete, and can be repaired", arguments: CrashScenario.all)
  func everyStop(scenario: CrashScenario) async throws {
    let plain = try await Self.sample(of: scenario)
    var random = SeededGenerator(for: scenario.description)
    var stops = 0
    var runs = 0
    for kind in [MemoryDisk.Kind.linux, .apple] {
      // On each kind of disk, one of the packs is listed in another place.
      let sample = kind == .linux ? plain : plain.inCatalogue
      let base = try await Self.base(of: scenario, sample, kind)
      let alone = MemoryFiles(base.after(.kill))
      #expect(await Self.attempt(scenario, by: alone, sample) == nil, "\(scenario) fails by itself")
      alone.end()
      stops += alone.changeCount
      var changes = Effort.Operations(of: alone.changeCount, 3, for: "\(scenario), \(kind)")
      var isReached = true
      while let number = changes.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(number))
        _ = await Self.attempt(scenario, by: files, sample)
        files.end()
        isReached = files.struck != nil
        guard let struck = files.struck else { break }
        var crashes: [MemoryDisk.Crash] = [.kill, .zeroedContent, .emptiedContent]
        for _ in 0..<Effort.number(quick: 1, full: 8) { crashes.append(.luck(seed: random.next())) }
        for crash in [.powerCut] + Effort.sample(of: crashes, 1, for: "\(scenario), \(kind), \(number)") {
          runs += 1
          let complaints = await Inspection(scenario, sample).complaints(about: disk.after(crash))
          guard complaints.isEmpty else {
            let syncs = kind.syncsWhole ? "of the volume" : "of single files"
            Issue.record("with syncs \(syncs), stopped before \(struck), \(crash): \(complaints.joined(separator: "; "))")
            return
          }
        }
      }
    }
    #expect(stops > 2)
    print("crash points: \(scenario): \(stops) stops, \(runs) crashes looked at")
  }

  @Test("keeps completed work if the power fails right afterwards", arguments: CrashScenario.all)
  func durable(scenario: CrashScenario) async throws {
    let plain = try await Self.sample(of: scenario)
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let sample = kind == .linux ? plain.inCatalogue : plain
      let disk = try await Self.base(of: scenario, sample, kind).after(.kill)
      let files = MemoryFiles(disk)
      #expect(await Self.attempt(scenario, by: files, sample) == nil)
      files.end()
      let inspection = Inspection(scenario, sample)
      let done = await inspection.running(on: disk.after(.kill))
      for crash in [MemoryDisk.Crash.powerCut, .zeroedContent, .emptiedContent, .luck(seed: 1), .luck(seed: 2)] {
        #expect(await inspection.running(on: disk.after(crash)) == done, "after \(crash)")
      }
    }
  }

  @Test("fails on a disk that ignores syncs, and these tests detect it")
  func lyingDisk() async throws {
    let sample = try await CrashSample.shared()
    let scenario = try #require(CrashScenario.all.first { $0.description == "update of an unpacked pack, copied" })
    let base = try await Self.base(of: scenario, sample, .linux).remounted(.init(isHonest: false))
    var complaints: [String] = []
    var number = 0
    while complaints.isEmpty {
      let disk = base.after(.kill)
      let files = MemoryFiles(disk, .stopBeforeChange(number))
      _ = await Self.attempt(scenario, by: files, sample)
      files.end()
      guard files.struck != nil else { break }
      complaints = await Inspection(scenario, sample).complaints(about: disk.after(.zeroedContent))
      number += 1
    }
    #expect(!complaints.isEmpty)
  }

  @Test("is in the old or the new state if any single operation fails, and continues to work", arguments: CrashScenario.all)
  func everyFailure(scenario: CrashScenario) async throws {
    let plain = try await Self.sample(of: scenario)
    var failures = 0
    for (sampleNumber, failure) in FileFailure.samples.enumerated() {
      let sample = sampleNumber % 2 == 0 ? plain.inCatalogue : plain
      let base = try await Self.base(of: scenario, sample, .linux)
      let alone = MemoryFiles(base.after(.kill))
      _ = await Self.attempt(scenario, by: alone, sample)
      var calls = Effort.Operations(of: alone.callCount, 3, for: "\(scenario), \(failure.text)")
      var isReached = true
      while let number = calls.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .fail(number, failure))
        let error = await Self.attempt(scenario, by: files, sample)
        isReached = files.struck != nil
        guard let struck = files.struck else { break }
        failures += 1
        if let error { #expect(Self.expected.contains(error.code), "\(struck) fails: \(error.code) \(error)") }
        // The same process continues: what ran before still runs, without any repair.
        var complaints = await Inspection(scenario, sample).complaints(found: disk, by: files)
        files.end()
        complaints += await Inspection(scenario, sample).complaints(about: disk.after(.kill))
        guard complaints.isEmpty else {
          let end = error.map { "\($0.code) \($0)" } ?? "success"
          Issue.record("\(failure.text) at \(struck), which ends in \(end): \(complaints.joined(separator: "; "))")
          return
        }
      }
    }
    print("failure points: \(scenario): \(failures) failures looked at")
  }

  /// The errors that a failing operation may throw. An unreadable file must not be reported as damaged.
  private static let expected: Set<PackError.Code> = [.cannotRead, .cannotWrite, .noSpace, .missingInput]

  @Test("on a full disk the old version still runs, and the error says how many bytes are missing", arguments: CrashSample.ids)
  func fullDisk(id: String) async throws {
    let sample = try await CrashSample.shared()
    let whole = MemoryDisk()
    sample.fetch(to: whole)
    do {
      let store = try await CrashSession(whole, "before").open()
      try await sample.release(1, to: store)
      try await store.adopt(sample.manifest(2))
      // With preservation 1, nothing is purged to make room.
      for id in CrashSample.ids { try await store.setPreservation(1, of: id) }
    }
    // With no space left, the number of missing bytes is the number of bytes needed.
    let none = whole.remounted(.init(capacity: whole.used))
    let refused = try await CrashSession(none, "run").open()
    let first = await failure { () throws(PackError) in try await refused.install(sample.download(id, 2), as: id, taking: .copying) }
    #expect(first?.code == .noSpace)
    let needed = try #require(Self.missingBytes(in: first))
    for missing in [UInt64(1), 4096] {
      let tight = whole.remounted(.init(capacity: whole.used + needed - missing))
      let store = try await CrashSession(tight, "run").open()
      let error = await failure { () throws(PackError) in try await store.install(sample.download(id, 2), as: id, taking: .copying) }
      #expect(error?.code == .noSpace)
      #expect(Self.missingBytes(in: error) == missing, "\(error?.message ?? "none")")
      #expect(try await store.current(id)?.version == 1)
      #expect(tight.tree(below: "/store/staging").isEmpty)
    }
    // The reported number of bytes is enough.
    let enough = whole.remounted(.init(capacity: whole.used + needed))
    try await CrashSession(enough, "run").open().install(sample.download(id, 2), as: id, taking: .copying)
  }

  private static func missingBytes(in error: PackError?) -> UInt64? {
    let front = error?.message.components(separatedBy: " bytes are missing").first
    return front?.components(separatedBy: " ").last.flatMap { UInt64($0) }
  }

  // MARK: Steps

  private static func sample(of scenario: CrashScenario) async throws -> CrashSample {
    let sample = try await CrashSample.shared()
    return scenario.usesDeltas ? sample.withDeltas : sample
  }

  /// Returns the disk at the start of a scenario.
  private static func base(of scenario: CrashScenario, _ sample: CrashSample, _ kind: MemoryDisk.Kind) async throws -> MemoryDisk {
    let disk = MemoryDisk(kind)
    sample.fetch(to: disk)
    let session = CrashSession(disk, "before")
    try await scenario.before(try await session.open(), sample)
    session.files.end()
    let base = disk.after(.zeroedContent)
    scenario.meddling(base)
    sample.fetch(to: base)
    return base
  }

  private static func attempt(_ scenario: CrashScenario, by files: MemoryFiles, _ sample: CrashSample) async -> PackError? {
    await failure { () throws(PackError) in
      let session = CrashSession(files, scenario.isSameProcess ? "before" : "run")
      try await scenario.work(try await session.open(), sample)
    }
  }
}

/// A process with a store open on a disk in memory. All other processes have ended.
struct CrashSession {
  let files: MemoryFiles
  let name: String

  init(_ disk: MemoryDisk, _ name: String) {
    self.init(MemoryFiles(disk), name)
  }

  init(_ files: MemoryFiles, _ name: String) {
    self.files = files
    self.name = name
  }

  private static func keys() throws(PackError) -> KeyRing {
    let bytes = (0..<32).map { UInt8($0) }
    return KeyRing(try PackKey(bytes: bytes.byteSpan))
  }

  func open(freeSpaceMargin: UInt64 = 4 << 20) async throws(PackError) -> AssetStore {
    let own = name
    return try await AssetStore(
      root: "/store", keys: try Self.keys(), trusting: CrashSample.trusted, lowestVersion: 0,
      policy: StorePolicy(trialTimeout: .milliseconds(50), freeSpaceMargin: freeSpaceMargin), files: files, clock: StandingClock(),
      process: StoreProcess(session: own) { $0 == own }, backend: CryptoBackends.standard)
  }
}

/// A clock with a constant time of day, on which waits return at once.
struct StandingClock: DeviceClock {
  var secondsSince1970: Int64 { 1_795_000_000 }
}

/// Inspects a store after a crash.
private struct Inspection {
  private let scenario: CrashScenario
  private let sample: CrashSample

  init(_ scenario: CrashScenario, _ sample: CrashSample) {
    self.scenario = scenario
    self.sample = sample
  }

  /// Returns what is wrong with a store when the next process starts, after its repair, and when the work is done again.
  func complaints(about disk: MemoryDisk) async -> [String] {
    var complaints = await self.complaints(found: disk.after(.kill), by: nil)
    let session = CrashSession(disk, "next")
    do throws(PackError) {
      let store = try await session.open()
      try await store.reconcile()
      complaints += await versions(store, scenario.repaired).map { "repaired, \($0)" }
      complaints += try await leftovers(store, disk)
      let second = try await store.reconcile()
      if !second.isEmpty { complaints.append("a second repair finds \(second)") }
      let third = try await store.reconcile(.thorough)
      if !third.isEmpty { complaints.append("a thorough repair finds \(third)") }
    } catch {
      complaints.append("repair ends in \(error.code) \(error)")
    }
    guard complaints.isEmpty else { return complaints }
    return await self.complaints(doneAgain: disk)
  }

  /// Returns what is wrong with a store after another process has done the work again.
  private func complaints(doneAgain disk: MemoryDisk) async -> [String] {
    sample.fetch(to: disk)
    let session = CrashSession(disk, "again")
    let refusal = await failure { () throws(PackError) in try await scenario.work(try await session.open(), sample) }
    if let refusal, !scenario.refusals.contains(refusal.code) { return ["doing it again ends in \(refusal.code) \(refusal)"] }
    do throws(PackError) {
      let store = try await session.open()
      var complaints = await versions(store, scenario.done)
      try await store.reconcile()
      complaints += try await leftovers(store, disk)
      return complaints.map { "done again, \($0)" }
    } catch {
      return ["inspection after doing it again ends in \(error.code) \(error)"]
    }
  }

  /// Returns the running version of each pack for the process that did the work, and any read errors.
  func running(on disk: MemoryDisk) async -> [String] {
    let session = CrashSession(disk, scenario.isSameProcess ? "before" : "run")
    do throws(PackError) {
      let store = try await session.open()
      var running: [String] = []
      for id in CrashSample.ids {
        let version = try await store.current(id)?.version
        running.append("\(id) \(version.map { "\($0)" } ?? "none")")
        if let complaint = try await self.version(of: id, store, [version]) { running.append(complaint) }
      }
      return running
    } catch {
      return ["\(error.code) \(error)"]
    }
  }

  /// Returns what is wrong before any repair.
  ///
  /// - Parameter files: The files of the process that continues. If nil, a new process inspects the store.
  func complaints(found disk: MemoryDisk, by files: MemoryFiles?) async -> [String] {
    let session = files.map { CrashSession($0, scenario.isSameProcess ? "before" : "run") } ?? CrashSession(disk, "next")
    do throws(PackError) {
      let store = try await session.open()
      var complaints = await versions(store, scenario.found)
      // If a manifest was accepted before, there must be one now.
      if scenario.found.values.allSatisfy({ !$0.contains(nil) }), await store.manifest == nil { complaints.append("there is no manifest") }
      return complaints
    } catch {
      return ["opening ends in \(error.code) \(error)"]
    }
  }

  /// Returns complaints if a running version is not allowed or has wrong content.
  private func versions(_ store: AssetStore, _ allowed: CrashScenario.Versions) async -> [String] {
    var complaints: [String] = []
    for (id, versions) in allowed.sorted(by: { $0.key < $1.key }) {
      do throws(PackError) {
        if let complaint = try await version(of: id, store, versions) { complaints.append(complaint) }
      } catch {
        complaints.append("\(id) cannot be read: \(error.code) \(error)")
      }
    }
    return complaints
  }

  private func version(of id: String, _ store: AssetStore, _ versions: Set<UInt64?>) async throws(PackError) -> String? {
    let current = try await store.current(id)
    guard versions.contains(current?.version) else { return "\(id) \(current.map { "\($0.version)" } ?? "nothing") runs" }
    guard let current else { return nil }
    let opened = try await store.open(id)
    guard opened.installed.version == current.version else { return "\(id) \(opened.installed.version) opens, but \(current.version) runs" }
    guard let tree = sample.trees[id]?[current.version] else { return "\(id) \(current.version) was never made" }
    return try Self.difference(between: opened, tree)
  }

  private static func difference(between opened: OpenedPack, _ tree: SampleTree) throws(PackError) -> String? {
    for (path, file) in tree.files where try opened.read(path) != file.bytes { return "\(path) of \(opened.installed.id) differs" }
    return nil
  }

  /// Returns complaints about leftovers and wrong sizes.
  private func leftovers(_ store: AssetStore, _ disk: MemoryDisk) async throws(PackError) -> [String] {
    var complaints: [String] = []
    let tree = disk.tree(below: "/store")
    for folder in ["staging", "trash", "uses"] {
      let left = tree.keys.filter { $0.hasPrefix("\(folder)/") }
      if !left.isEmpty { complaints.append("left behind: \(left.sorted())") }
    }
    let usage = try await store.usage()
    let known = Set(try await store.installed().map { $0.path.split(separator: "/").last.map(String.init) ?? "" })
    let there = Set(tree.keys.filter { $0.hasPrefix("packs/") }.map { String($0.split(separator: "/")[1]) })
    if known != there { complaints.append("packs contains \(there.sorted()), but \(known.sorted()) is known") }
    let counted = usage.reduce(0) { $0 + $1.sizeOnDevice }
    let taken = disk.used(below: "/store")
    if counted != taken { complaints.append("\(counted) bytes are counted, but \(taken) are used") }
    if usage.contains(where: { $0.kind == .staging || $0.kind == .trash || $0.kind == .unrecorded }) {
      complaints.append("counted: \(usage.map(\.path))")
    }
    return complaints
  }
}
