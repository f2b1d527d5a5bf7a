import Foundation
import TestSupport
import Testing

@testable import PackStore

/// The oracle: two operations at the same time end as one after the other, and what they did is on the disk when they return.
@Suite("Two processes with one store", .serialized, .bounded)
struct StoreInterleavingTests {
  /// Something that a process does with a store.
  struct Operation: Sendable, CustomTestStringConvertible {
    typealias Work = @Sendable (AssetStore, MemoryFiles, CrashSample) async throws(PackError) -> Void

    let testDescription: String
    /// Whether it chooses what it changes before it takes the lock, so that it may do less than it would do alone.
    var isModest = false
    /// Whether the manifests offer deltas.
    var usesDeltas = false
    let work: Work

    var ownsFile: Bool { testDescription == "install, moved" }
    var changesFile: Bool { testDescription == "a download that changes" }
  }

  private static func change(_ name: String, isModest: Bool = false, _ work: @escaping Operation.Work) -> Operation {
    Operation(testDescription: name, isModest: isModest, work: work)
  }

  static let operations: [Operation] = [
    change("install, moved") { (store, _, sample) throws(PackError) in
      try await store.install(sample.download(CrashSample.packed, 3), as: CrashSample.packed, taking: .moving)
    },
    change("install, copied") { (store, _, sample) throws(PackError) in
      try await store.install(sample.download(CrashSample.packed, 3), as: CrashSample.packed, taking: .copying)
    },
    change("activation") { (store, _, _) throws(PackError) in
      try await store.activate(CrashSample.packed, version: 2, onTrial: false)
    },
    change("trial and confirmation") { (store, _, _) throws(PackError) in
      try await store.confirm(try await store.activate(CrashSample.unpacked, version: 2))
    },
    change("rollback") { (store, _, _) throws(PackError) in try await store.rollback(CrashSample.packed, reason: "a test") },
    change("preservation") { (store, _, _) throws(PackError) in try await store.setPreservation(0.3, of: CrashSample.packed) },
    change("preservation, with a lock file that is removed") { (store, files, _) throws(PackError) in
      await WorkerPool.settled { files.removeFreeLock("/store/lock") }
      try await store.setPreservation(0.3, of: CrashSample.packed)
    },
    change("opening and closing", isModest: true) { (store, _, _) throws(PackError) in
      let opened = Monitor<[OpenedPack]>([])
      func open(_ id: String) async throws(PackError) {
        let pack = try await store.open(id)
        opened.withLock { $0.append(pack) }
      }
      for id in CrashSample.ids { try await open(id) }
      // Closing removes a file, and waits for its turn like every file operation, so it needs a thread of its own.
      await WorkerPool.settled { opened.withLock { $0 = [] } }
    },
    change("removal", isModest: true) { (store, _, _) throws(PackError) in try await store.remove(CrashSample.packed) },
    change("purge", isModest: true) { (store, _, _) throws(PackError) in _ = try await store.purge(toFree: 1) },
    change("repair", isModest: true) { (store, _, _) throws(PackError) in try await store.reconcile(.thorough) },
    Operation(testDescription: "install of a delta, packed", usesDeltas: true) { (store, _, sample) throws(PackError) in
      try await store.install(sample.deltaDownload(CrashSample.packed, 2), as: CrashSample.packed, taking: .copying)
    },
    Operation(testDescription: "install of a delta, unpacked", usesDeltas: true) { (store, _, sample) throws(PackError) in
      try await store.install(sample.deltaDownload(CrashSample.unpacked, 2), as: CrashSample.unpacked, taking: .moving)
    },
    change("a manifest") { (store, _, sample) throws(PackError) in try await sample.adopt(3, by: store) },
    change("a download that changes", isModest: true) { (_, files, sample) throws(PackError) in
      // Another process of the app writes to a file that it has handed over.
      await WorkerPool.settled {
        guard let file = try? files.open(sample.download(CrashSample.packed, 3), .writeUnlinked, in: nil) else { return }
        let zeros = [UInt8](repeating: 0, count: 4)
        for offset in stride(from: 100, to: 400, by: 100) { try? files.writeAll(file, at: UInt64(offset), zeros.byteSpan) }
      }
    },
  ]

  /// How two operations ended.
  struct Outcome: Hashable, Sendable {
    var failures: [PackError.Code?]
    var records: [String]
  }

  @Test("lose no update, and keep it if the power fails", arguments: operations)
  func everySwitch(first: Operation) async throws {
    let plain = try await CrashSample.shared()
    var runs = 0
    var points = 0
    let number = Self.operations.firstIndex { $0.testDescription == first.testDescription } ?? 0
    /// Whether this is the order in which two operations are tried. Unless everything is, only one of their two orders is.
    func isTried(_ other: Int) -> Bool {
      guard !Effort.isFull, number != other else { return true }
      return ((number + other + Int(SeededGenerator.run % 2)) % 2 == 0) == (number < other)
    }
    // A file that is moved belongs to the store, so nobody else may write to it any more.
    for (other, second) in Self.operations.enumerated()
    where isTried(other) && !(first.ownsFile && second.changesFile || first.changesFile && second.ownsFile) {
      // Each kind of disk is used for half of the pairs, and each place in which a manifest lists a pack.
      let listing = first.usesDeltas || second.usesDeltas ? plain.withDeltas : plain
      let sample = other % 4 < 2 ? listing : listing.inCatalogue
      let base = try await Self.base(sample, other % 2 == 0 ? .linux : .apple)
      let start = try Snapshot(base, sample)
      let apart = [try await Self.run([first], on: base, sample), try await Self.run([second], on: base, sample)]
      let orders = [
        try await Self.run([first, second], on: base, sample),
        Self.reversed(try await Self.run([second, first], on: base, sample)),
      ]
      let pair = "\(first.testDescription), \(second.testDescription)"
      var random = SeededGenerator(seed: SeededGenerator.run &+ UInt64(other))
      // Run one after the other, the first one shows how many operations it has.
      let inTurn = Interleaving(first: .max)
      _ = try await Self.run(first, second, inTurn, on: base.after(.kill), sample)
      points += inTurn.counts[0]
      var operations = Effort.Operations(of: inTurn.counts[0], 3, for: pair)
      var isReached = true
      while let point = operations.next(isReached: isReached) {
        isReached = false
        for back in [nil, Int.random(in: 0..<120, using: &random)] {
          let disk = base.after(.kill)
          let switches = Interleaving(first: point, second: back)
          let failures = try await Self.run(first, second, switches, on: disk, sample)
          isReached = isReached || switches.counts[0] > point
          runs += 1
          let place =
            "\(first.testDescription) until operation \(point), \(second.testDescription) until \(back.map(String.init) ?? "its end")"
          let left = try Snapshot(disk, sample)
          let outcome = Outcome(failures: failures, records: left.lines)
          if !Self.isAllowed(outcome, orders, apart, start, first, second) {
            Issue.record("\(place): \(failures) \(left.lines), but expected \(orders.map { "\($0.failures) \($0.records)" })")
            return
          }
          if !left.complaints.isEmpty || !left.leftovers.isEmpty {
            Issue.record("\(place): \(left.complaints) \(left.leftovers)")
            return
          }
          for crash in [MemoryDisk.Crash.powerCut, .zeroedContent] {
            let after = try Snapshot(disk.after(crash), sample)
            guard after.lines == left.lines, after.complaints.isEmpty else {
              Issue.record("\(place), then \(crash): \(after.lines) \(after.complaints), before \(left.lines)")
              return
            }
          }
        }
      }
    }
    #expect(points > 10)
    print("interleaving: \(first.testDescription) with \(Self.operations.count) operations: \(points) switch points, \(runs) runs")
  }

  @Test("lose no update if the lock file is removed between its opening and its locking")
  func removedLock() async throws {
    let sample = try await CrashSample.shared()
    let base = try await Self.base(sample, .linux)
    let first = try #require(Self.operations.first { $0.testDescription == "activation" })
    let second = try #require(Self.operations.first { $0.testDescription == "preservation, with a lock file that is removed" })
    let expected = try await Self.run([first, second], on: base, sample)
    var runs = 0
    // The first operations of each process are those around its lock.
    for point in 0..<10 {
      for back in Effort.sample(of: 0..<24, 5, for: "a removed lock file, \(point)") {
        let disk = base.after(.kill)
        let failures = try await Self.run(first, second, Interleaving(first: point, second: back), on: disk, sample)
        let left = try Snapshot(disk, sample)
        #expect(failures == expected.failures && left.lines == expected.records, "until operation \(point), and until \(back)")
        runs += 1
      }
    }
    print("interleaving: a removed lock file: \(runs) pairs of switch points")
  }

  @Test("an installation that fails leaves the file where it was, and nothing in the store", arguments: [Taking.moving, .copying])
  func everyFailure(taking: Taking) async throws {
    let sample = try await CrashSample.shared()
    let base = try await Self.base(sample, .linux)
    let start = try Snapshot(base, sample)
    let download = sample.download(CrashSample.packed, 3)
    var number = 0
    var failures = 0
    while true {
      let disk = base.after(.kill)
      let opened = Monitor(false)
      let first = Monitor(0)
      // Only calls after the store was opened are counted.
      let files = MemoryFiles(
        disk,
        .failing(.inputOutput) { [number] call in
          guard opened.withLock({ $0 }) else { return false }
          return first.withLock { count in
            defer { count += 1 }
            return count == number
          }
        })
      let store = try await Self.open(files, "process-0")
      opened.withLock { $0 = true }
      let error = await failure { () async throws(PackError) in try await store.install(download, as: CrashSample.packed, taking: taking) }
      guard files.struck != nil else { break }
      number += 1
      let left = try Snapshot(disk, sample)
      guard error != nil else { continue }
      failures += 1
      let isInstalled = left.lines != start.lines
      #expect(left.complaints.isEmpty, "failure \(number): \(left.complaints)")
      // A version that the installation replaced may stay until the next repair.
      let newcomers = left.leftovers.filter { $0.hasPrefix("packs/\(CrashSample.packed)@3") }
      #expect(newcomers.isEmpty, "failure \(number): no record names \(newcomers)")
      #expect(isInstalled || disk.bytes(of: download) == sample.packs[CrashSample.packed]?[3], "failure \(number): the file is gone")
    }
    #expect(failures > 20)
  }

  @Test("a store whose manifest was accepted never goes back to an older one, at whatever operation it is stopped")
  func noRollback() async throws {
    let sample = try await CrashSample.shared()
    let base = MemoryDisk()
    do {
      let store = try await CrashSession(base, "before").open()
      try await store.adopt(sample.manifest(1))
    }
    var number = 0
    var isReached = true
    while isReached {
      let disk = base.after(.kill)
      let files = MemoryFiles(disk, .stopBeforeChange(number))
      _ = await failure { () async throws(PackError) in
        try await CrashSession(files, "run").open().adopt(sample.manifest(2))
      }
      isReached = files.struck != nil
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent] {
        let store = try await CrashSession(disk.after(crash), "next").open()
        guard await store.manifest?.manifest.version == 2 else { continue }
        let error = await failure { () async throws(PackError) in try await store.adopt(sample.manifest(1)) }
        #expect(error?.code == .manifestRollback, "stopped before change \(number), \(crash)")
      }
      number += 1
    }
    #expect(number > 8)
  }

  private static func reversed(_ outcome: Outcome) -> Outcome {
    Outcome(failures: outcome.failures.reversed(), records: outcome.records)
  }

  private static func isAllowed(
    _ outcome: Outcome, _ orders: [Outcome], _ apart: [Outcome], _ start: Snapshot, _ first: Operation, _ second: Operation
  ) -> Bool {
    if orders.contains(outcome) { return true }
    // One of them was refused because of what the other one was doing. Then only the other one has an effect.
    let refusals: Set<PackError.Code?> = [
      .inUse, .storeBusy, .sourceChanged, .digestMismatch, .missingInput, .authenticationFailed, .wrongPack,
      .wrongBase,
    ]
    for (refused, other) in [(0, 1), (1, 0)]
    where refusals.contains(outcome.failures[refused]) && outcome.failures[refused] != nil
      && outcome.failures[other] == apart[other].failures[0]
    {
      // An installation removes versions that it makes superfluous before it begins.
      if essentials(outcome) == essentials(apart[other]) { return true }
    }
    guard first.isModest || second.isModest else { return false }
    // Which of the versions that do not run are removed may differ. Everything else must be as after both, or as after the one that is not modest.
    let modest = [first.isModest, second.isModest]
    if orders.contains(where: { $0.failures == outcome.failures && essentials($0) == essentials(outcome) }) { return true }
    return [(0, 1), (1, 0)].contains { less, other in
      modest[less] && outcome.failures[other] == apart[other].failures[0] && essentials(outcome) == essentials(apart[other])
    }
  }

  private static func essentials(_ outcome: Outcome) -> [String] {
    outcome.records.filter { line in !["is installed", "is kept, proven", "is failed, proven", "is failed"].contains { line.hasSuffix($0) }
    }
  }

  // MARK: Steps

  /// Returns a disk on which version 1 of each pack runs, version 2 is installed, and version 3 was downloaded but is not synced yet.
  private static func base(_ sample: CrashSample, _ kind: MemoryDisk.Kind) async throws -> MemoryDisk {
    let disk = MemoryDisk(kind)
    sample.fetch(to: disk)
    let session = CrashSession(disk, "before")
    do {
      let store = try await session.open()
      try await sample.release(1, to: store)
      try await sample.deliver(2, to: store)
      try await sample.adopt(3, by: store)
    }
    let files = MemoryFiles(disk)
    for id in CrashSample.ids {
      let name = sample.download(id, 3)
      let bytes = try #require(sample.packs[id]?[3])
      try files.remove(name, .file, in: nil)
      try files.writeAll(files.open(name, .create(mode: 0o644), in: nil), at: 0, bytes.byteSpan)
    }
    session.files.end()
    return disk.after(.kill)
  }

  /// Runs operations one after the other, each in its own process.
  private static func run(_ operations: [Operation], on base: MemoryDisk, _ sample: CrashSample) async throws -> Outcome {
    let disk = base.after(.kill)
    var failures: [PackError.Code?] = []
    for operation in operations {
      let files = MemoryFiles(disk)
      let store = try await open(files, "process-\(failures.count)")
      failures.append(await failure { () async throws(PackError) in try await operation.work(store, files, sample) }?.code)
    }
    return Outcome(failures: failures, records: try Snapshot(disk, sample).lines)
  }

  /// Runs two operations at the same time, each in its own process.
  private static func run(
    _ first: Operation, _ second: Operation, _ switches: Interleaving, on disk: MemoryDisk, _ sample: CrashSample
  ) async throws -> [PackError.Code?] {
    let gate = Monitor<Interleaving?>(nil)
    let files = [0, 1].map { process in MemoryFiles(disk, before: { gate.withLock { $0 }?.step(process) }) }
    let stores = [
      try await open(files[0], "process-0", SwitchingClock(gate, 0)), try await open(files[1], "process-1", SwitchingClock(gate, 1)),
    ]
    gate.withLock { $0 = switches }
    let failures = await withTaskGroup(of: (Int, PackError.Code?).self) { group in
      for (process, operation) in [first, second].enumerated() {
        group.addTask {
          let error = await failure { () async throws(PackError) in try await operation.work(stores[process], files[process], sample) }
          switches.end(process)
          return (process, error?.code)
        }
      }
      var failures: [PackError.Code?] = [nil, nil]
      for await (process, code) in group { failures[process] = code }
      return failures
    }
    gate.withLock { $0 = nil }
    return failures
  }

  private static func open(_ files: MemoryFiles, _ session: String, _ clock: any DeviceClock = StandingClock()) async throws -> AssetStore {
    let bytes = (0..<32).map { UInt8($0) }
    return try await AssetStore(
      root: "/store", keys: KeyRing(try PackKey(bytes: bytes.byteSpan)), trusting: CrashSample.trusted, lowestVersion: 0,
      policy: StorePolicy(), files: files, clock: clock,
      // The process that prepared the disk has ended; the other two are running.
      process: StoreProcess(session: session) { $0.hasPrefix("process-") }, backend: CryptoBackends.standard)
  }
}

/// A clock that lets the other process continue while this one waits for a lock.
private struct SwitchingClock: DeviceClock {
  private let gate: Monitor<Interleaving?>
  private let process: Int

  init(_ gate: Monitor<Interleaving?>, _ process: Int) {
    self.gate = gate
    self.process = process
  }

  var secondsSince1970: Int64 { StandingClock().secondsSince1970 }

  func pause(for duration: Duration) {
    gate.withLock { $0 }?.pause(process)
  }
}

/// What the records of a store say, and whether it is true.
private struct Snapshot {
  private(set) var lines: [String] = []
  private(set) var complaints: [String] = []
  /// Content that no record names. After a crash, the next repair removes it.
  private(set) var leftovers: [String] = []

  init(_ disk: MemoryDisk, _ sample: CrashSample) throws {
    let tree = disk.tree(below: "/store")
    var named: Set<String> = []
    for id in CrashSample.ids {
      guard let bytes = tree["state/\(id)"] ?? nil else { continue }
      let record: PackRecord
      do {
        record = try PackRecord(parsing: bytes, id: id)
      } catch {
        complaints.append("the record of \(id) cannot be read: \(error)")
        continue
      }
      for content in record.contents.sorted(by: { $0.bytes.version < $1.bytes.version }) {
        lines.append("\(id) \(content.bytes.version) is \(record.state(of: content))\(content.isProven ? ", proven" : "")")
        let item = "packs/\(record.itemName(content))"
        named.insert(item)
        let isWhole =
          switch content.mode {
          case .packed where content.rewritten != nil:
            try (tree[item] ?? nil).map { try CryptoBackends.standard.digest(of: $0.byteSpan) } == content.rewritten
          case .packed: tree[item] == .some(sample.packs[id]?[content.bytes.version])
          case .unpacked:
            sample.trees[id]?[content.bytes.version]?.files.allSatisfy { tree["\(item)/\($0.key)"] == .some($0.value.bytes) } ?? false
          }
        if !isWhole { complaints.append("\(item) does not have the bytes that were installed") }
      }
      for failure in record.failures { lines.append("\(id) \(failure.bytes.version) failed") }
      if let purged = record.purged { lines.append("\(id) \(purged.version) was purged") }
      if let preservation = record.preservation { lines.append("\(id) is preserved with \(preservation)") }
      if let trial = record.trial { lines.append("\(id) \(trial.bytes.version) has \(trial.starts) starts") }
    }
    for item in tree.keys where item.hasPrefix("packs/") && item.split(separator: "/").count == 2 && !named.contains(item) {
      leftovers.append(item)
    }
    if let bytes = tree["manifest"] ?? nil {
      let manifest = try SignedManifest(bytes)
      lines.append("manifest \(try Manifest(parsingSigned: manifest.bytes.byteSpan.extracting(manifest.signedBytes)).version)")
    }
    if let bytes = tree["memory"] ?? nil { lines.append("memory \(try ManifestMemory.Accepted(parsing: bytes).version)") }
  }
}
