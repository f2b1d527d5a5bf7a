import TestSupport
import Testing

@testable import PackStore

/// A device that follows the releases in its own way.
private struct UpdateWalk {
  /// What happened, for the report of all histories.
  struct Counts {
    var (deltas, fulls, crashes, damages, rollbacks) = (0, 0, 0, 0, 0)

    mutating func add(_ other: Counts) {
      deltas += other.deltas
      fulls += other.fulls
      crashes += other.crashes
      damages += other.damages
      rollbacks += other.rollbacks
    }
  }

  private let chain: UpdateChain
  private let mode: InstallMode
  private var random: SeededGenerator
  private var disk: MemoryDisk
  private var files: MemoryFiles
  private var store: AssetStore
  private var session = 0
  /// The newest release that the device knows.
  private var newest: UInt64 = 0
  /// Whether something was damaged or lost since the last repair, so that a delta may have no base.
  private var isDamaged = false
  /// Versions that were rolled back, and are not installed again.
  private var failed: Set<UInt64> = []
  private(set) var counts = Counts()
  private(set) var complaints: [String] = []
  private var steps: [String] = []

  init(_ chain: UpdateChain, seed: UInt64) async throws {
    self.chain = chain
    random = SeededGenerator(seed: seed)
    mode = random.next() % 4 == 0 ? .unpacked : .packed
    disk = MemoryDisk(random.next() % 2 == 0 ? .linux : .apple)
    files = MemoryFiles(disk)
    store = try await CrashSession(files, "0").open()
  }

  /// Follows releases until the last one runs.
  mutating func run() async throws {
    while newest < UpdateChain.count, complaints.isEmpty {
      newest = min(UpdateChain.count, newest + 1 + random.next() % 4)
      steps.append("release \(newest)")
      let isCrashed = random.next() % 4 == 0
      try await step(crashing: isCrashed)
      if isCrashed { try await restart() }
      try await check()
      if random.next() % 3 == 0 { try await disturb() }
      if random.next() % 4 == 0 {
        steps.append("restart")
        try await restart()
        try await check()
      }
    }
    // What was interrupted or damaged before is made good now.
    isDamaged = true
    try await restart()
    try await update()
    try await check()
    let version = try await store.current(UpdateChain.id)?.version
    if version != newest { complain("version \(version ?? 0) runs at the end") }
  }

  private mutating func complain(_ text: String) { complaints.append("\(text), after: \(steps.joined(separator: ", "))") }

  // MARK: Steps

  /// Updates, and stops the process at any file operation if that is asked for.
  private mutating func step(crashing isCrashed: Bool) async throws {
    guard isCrashed else { return try await update() }
    let place = Int(random.next() % 120)
    steps.append("stop at \(place)")
    files.end()
    files = MemoryFiles(disk, .stopBeforeChange(place))
    session += 1
    do {
      store = try await CrashSession(files, "\(session)").open()
      try await update()
    } catch {
      guard files.struck != nil else { throw error }
    }
    if files.struck != nil { counts.crashes += 1 }
    files.end()
    let seed = random.next()
    disk = disk.after([.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: seed)][Int(seed % 5)])
  }

  /// Starts the app again, which repairs the store.
  private mutating func restart() async throws {
    files.end()
    files = MemoryFiles(disk)
    session += 1
    store = try await CrashSession(files, "\(session)").open()
    try await store.reconcile(isDamaged ? .thorough : .quick)
    isDamaged = false
  }

  /// Brings the newest release to the device in the cheapest way.
  private mutating func update() async throws {
    let release = chain.release(newest)
    try await store.adopt(release.manifest)
    if try await store.current(UpdateChain.id)?.version == newest { return }
    let mode = random.next() % 8 == 0 ? otherMode : mode
    if let delta = try await store.deltas(to: [release.entry])[UpdateChain.id] {
      do throws(PackError) {
        try await install(delta, as: mode)
        counts.deltas += 1
        return try await activate()
      } catch {
        guard files.struck == nil else { throw error }
        steps.append("\(error.code.rawValue)")
        // A delta that is offered can be installed, if nothing is wrong with what it is applied to.
        guard isDamaged, error.code == .wrongBase else {
          complain("a delta was refused: \(error)")
          return
        }
      }
    }
    disk.write(release.pack, to: "/download/new.pack")
    _ = try await store.install("/download/new.pack", as: UpdateChain.id, mode: mode)
    counts.fulls += 1
    try await activate()
  }

  private var otherMode: InstallMode { mode == .packed ? .unpacked : .packed }

  private mutating func install(_ delta: ManifestDelta, as mode: InstallMode) async throws(PackError) {
    disk.write(chain.deltas[delta.sha256] ?? [], to: "/download/new.delta")
    steps.append("delta, \(mode.rawValue)")
    let taking = random.next() % 2 == 0 ? Taking.moving : .copying
    _ = try await store.install("/download/new.delta", as: UpdateChain.id, taking: taking, mode: mode)
  }

  /// Lets the new version run: at once, or on a trial that it passes or fails.
  private mutating func activate() async throws(PackError) {
    let chance = random.next() % 6
    // A trial that is interrupted fails, and the last release is to run at the end.
    let isOnTrial = chance < 3 && newest < UpdateChain.count
    let token = try await store.activate(UpdateChain.id, onTrial: isOnTrial)
    guard isOnTrial else { return }
    if chance == 0 {
      steps.append("rollback of \(newest)")
      counts.rollbacks += 1
      failed.insert(newest)
      _ = try await store.rollback(UpdateChain.id, reason: "a test")
    } else {
      try await store.confirm(token)
    }
  }

  /// Does something else that happens to devices.
  private mutating func disturb() async throws {
    switch random.next() % 4 {
    case 0:
      steps.append("purge")
      _ = try await store.purge(toFree: 1)
      try await check()
    case 1:
      steps.append("removal")
      _ = try await store.remove(UpdateChain.id)
    default:
      let own = disk.tree(below: "/store").filter { $0.value != nil }.keys.filter { $0.hasPrefix("packs/") }.sorted()
      guard !own.isEmpty else { return }
      let name = own[Int(random.next() % UInt64(own.count))]
      guard var bytes = disk.bytes(of: "/store/\(name)"), !bytes.isEmpty else { return }
      counts.damages += 1
      isDamaged = true
      if random.next() % 2 == 0 {
        steps.append("loss of \(name)")
        disk.remove("/store/\(name)")
      } else {
        steps.append("damage to \(name)")
        bytes[Int(random.next() % UInt64(bytes.count))] ^= 1
        disk.write(bytes, to: "/store/\(name)")
      }
      if random.next() % 2 == 0 {
        steps.append("restart")
        try await restart()
        try await check()
      }
    }
  }

  // MARK: Checks

  /// Checks that what runs is whole: the files, and the content root of the full pack.
  private mutating func check() async throws {
    guard !isDamaged, let current = try await store.current(UpdateChain.id) else { return }
    let release = chain.release(current.version)
    do throws(PackError) {
      let opened = try await store.open(UpdateChain.id)
      if let pack = opened.pack, pack.contentRoot != release.entry.contentRoot { complain("version \(current.version) has another root") }
      if opened.installed.version != current.version { complain("version \(opened.installed.version) was opened") }
      for (path, file) in release.tree.files where try opened.read(path) != file.bytes {
        complain("'\(path)' of version \(current.version) differs")
      }
      if failed.contains(current.version) { complain("version \(current.version) runs, which was rolled back") }
    } catch {
      complain("version \(current.version) cannot be opened: \(error)")
    }
  }
}

@Suite("Devices that follow twenty releases", .bounded)
struct StoreUpdateWalkTests {
  /// The devices of each part: 10 000 in all if everything is tried.
  private static let devices: UInt64 = Effort.number(quick: 20, full: 1250)
  private static let parts: Range<UInt64> = 0..<Effort.number(quick: 1, full: 8)

  @Test("end with the last one, whole, whatever happened to them on the way", arguments: parts)
  func histories(part: UInt64) async throws {
    let chain = try await UpdateChain.shared()
    let first = SeededGenerator(for: "histories of devices").seed &+ part * Self.devices
    var counts = UpdateWalk.Counts()
    for number in 0..<Self.devices {
      var walk = try await UpdateWalk(chain, seed: first &+ number)
      try await walk.run()
      #expect(walk.complaints == [], "PACKER_TEST_SEED=\(first &+ number) shows it first")
      counts.add(walk.counts)
      guard walk.complaints.isEmpty else { break }
    }
    print(
      "histories: \(Self.devices) devices, \(counts.deltas) updates by deltas, \(counts.fulls) by full packs, "
        + "\(counts.crashes) stops, \(counts.damages) damages, \(counts.rollbacks) rollbacks")
    #expect(counts.deltas > counts.fulls / 3 && counts.crashes > 0)
  }
}
