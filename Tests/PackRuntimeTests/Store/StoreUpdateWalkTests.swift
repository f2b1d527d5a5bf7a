import TestSupport
import Testing

@testable import PackStore

/// Twenty releases of one pack, and the deltas between them.
private struct UpdateChain: Sendable {
  struct Release: Sendable {
    let tree: SampleTree
    let pack: [UInt8]
    let entry: ManifestPack
    let manifest: SignedManifest
  }

  static let id = DeltaStage.id
  static let count: UInt64 = 20

  /// By version, from 1.
  let releases: [UInt64: Release]
  /// By SHA-256.
  let deltas: [[UInt8]: [UInt8]]

  private static let made = Task { try await UpdateChain() }

  static func shared() async throws -> UpdateChain { try await made.value }

  func release(_ version: UInt64) -> Release {
    guard let release = releases[version] else { preconditionFailure("there is no release \(version)") }
    return release
  }

  private init() async throws {
    let directory = try TemporaryDirectory()
    var trees: [UInt64: SampleTree] = [:]
    var opened: [UInt64: Pack] = [:]
    var random = SeededGenerator(seed: 20)
    for version in 1...Self.count {
      trees[version] = Self.tree(after: trees[version - 1], earlier: trees[version > 3 ? version - 3 : 0], version, &random)
      try trees[version]?.write(to: "\(version)", in: directory)
      var job = PackJob(source: directory("\(version)"), output: directory("\(version).pack"), name: try PackName(Self.id))
      (job.packVersion, job.settings.segmentSize, job.jobs, job.files) = (version, 4096, 1, FaultyFiles())
      _ = try await job.run(key: try knownKey())
      opened[version] = try open(directory("\(version).pack"))
    }
    var (deltas, releases): ([[UInt8]: [UInt8]], [UInt64: Release]) = ([:], [:])
    for (version, pack) in opened.sorted(by: { $0.key < $1.key }) {
      func offer(_ old: UInt64, _ new: UInt64) async throws -> ManifestDelta? {
        guard let base = opened[old], let target = opened[new] else { return nil }
        let name = "\(old)-\(new).delta"
        if directory.bytes(of: name) == nil {
          var job = DeltaJob(from: base, to: target, output: directory(name))
          (job.jobs, job.files, job.mode) = (1, FaultyFiles(), .packed)
          _ = try await job.run(key: try knownKey())
        }
        let bytes = directory.bytes(of: name) ?? []
        let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan)
        deltas[digest] = bytes
        return ManifestDelta(
          bases: [base.contentRoot], target: new == version ? nil : target.contentRoot, size: UInt64(bytes.count), sha256: digest)
      }
      var offers: [ManifestDelta] = []
      // From the last releases, and from earlier ones through the last one.
      for pair in [(1, 0), (2, 0), (4, 0), (8, 0), (2, 1), (3, 1), (6, 4)] as [(UInt64, UInt64)] where version > pair.0 {
        if let made = try await offer(version - pair.0, version - pair.1), !offers.contains(made) { offers.append(made) }
      }
      releases[version] = try Self.release(pack, trees[version], offers, directory.bytes(of: "\(version).pack") ?? [])
    }
    (self.deltas, self.releases) = (deltas, releases)
  }

  /// Changes one file, and sometimes renames, adds or removes one. Every fifth release is the same as an earlier one.
  private static func tree(
    after last: SampleTree?, earlier: SampleTree?, _ version: UInt64, _ random: inout SeededGenerator
  ) -> SampleTree {
    if version % 5 == 0, let earlier { return earlier }
    guard var tree = last else {
      return SampleTree(
        [
          "index.html": .init(Array("<title>1</title>".utf8)), "run": .init([1], isExecutable: true), "empty.txt": .init([]),
          "a/large.bin": .init(random.bytes(3000)), "a/same.bin": .init(random.bytes(900)), "b/other.bin": .init(random.bytes(500)),
        ], emptyDirectories: ["saves"])
    }
    tree.files["index.html"] = .init(Array("<title>\(version)</title>".utf8))
    tree.files["a/large.bin"]?.bytes[Int(version) * 100] ^= 0x55
    switch version % 4 {
    case 0: tree.files["b/other-\(version).bin"] = tree.files.removeValue(forKey: "a/same.bin") ?? .init(random.bytes(700))
    case 1: tree.files["new-\(version).bin"] = .init(random.bytes(400))
    case 2: tree.files["a/same.bin"] = tree.files["b/other.bin"]
    default: tree.files.removeValue(forKey: tree.files.keys.sorted().last { $0.hasPrefix("new-") } ?? "")
    }
    return tree
  }

  private static func release(_ pack: Pack, _ tree: SampleTree?, _ offers: [ManifestDelta], _ bytes: [UInt8]) throws -> Release {
    let entry = DeltaStage.entry(try DeltaStage.entry(of: pack, bytes, .packed), offers)
    guard let tree else { preconditionFailure("there is no tree \(pack.header.packVersion)") }
    return Release(tree: tree, pack: bytes, entry: entry, manifest: try DeltaStage.release(of: entry))
  }
}

/// A device that follows the releases in its own way.
private struct UpdateWalk {
  /// What happened, for the report of all histories.
  struct Counts {
    var (deltas, hops, fulls, crashes, damages, rewritings, rollbacks) = (0, 0, 0, 0, 0, 0, 0)

    mutating func add(_ other: Counts) {
      deltas += other.deltas
      hops += other.hops
      fulls += other.fulls
      crashes += other.crashes
      damages += other.damages
      rewritings += other.rewritings
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
    let routes = try await store.routes(to: [release.entry], hops: random.next() % 2 == 0 ? 1 : 2, mode: mode)
    if let route = routes[UpdateChain.id] {
      do throws(PackError) {
        try await install(route.deltas)
        counts.deltas += 1
        if route.deltas.count == 2 { counts.hops += 1 }
        return try await activate()
      } catch {
        guard files.struck == nil else { throw error }
        steps.append("\(error.code.rawValue)")
        // A delta that is offered can be installed, if nothing is wrong with what it is read over.
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

  private mutating func install(_ deltas: [ManifestDelta]) async throws(PackError) {
    var paths: [String] = []
    for (number, delta) in deltas.enumerated() {
      let path = "/download/\(number).delta"
      disk.write(chain.deltas[delta.sha256] ?? [], to: path)
      paths.append(path)
    }
    steps.append("\(deltas.count) deltas")
    let taking = random.next() % 2 == 0 ? Taking.moving : .copying
    _ = try await store.install(deltas: paths, as: UpdateChain.id, by: deltas, taking: taking, mode: mode)
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
    switch random.next() % 6 {
    case 0, 1:
      steps.append("rewriting")
      let report = try await store.compact()
      counts.rewritings += report.rewritten.count
      // A file that is damaged cannot be rewritten.
      if !isDamaged, let failure = report.failures.first { complain("not rewritten: \(failure.error)") }
      try await check()
    case 2:
      steps.append("purge")
      _ = try await store.purge(toFree: 1)
      try await check()
    case 3:
      steps.append("removal")
      _ = try await store.remove(UpdateChain.id)
    default:
      let own = disk.tree(below: "/store").filter { $0.value != nil }.keys.filter { $0.hasPrefix("packs/") || $0.hasPrefix("digests/") }
        .sorted()
      guard !own.isEmpty else { return }
      let name = own[Int(random.next() % UInt64(own.count))]
      guard var bytes = disk.bytes(of: "/store/\(name)"), !bytes.isEmpty else { return }
      counts.damages += 1
      // Digests that are lost or damaged must make no difference.
      if name.hasPrefix("packs/") { isDamaged = true }
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
      "histories: \(Self.devices) devices, \(counts.deltas) updates by deltas (\(counts.hops) by two), \(counts.fulls) by full packs, "
        + "\(counts.crashes) stops, \(counts.damages) damages, \(counts.rewritings) rewritings, \(counts.rollbacks) rollbacks")
    #expect(counts.deltas > counts.fulls / 3 && counts.hops > 0 && counts.crashes > 0)
  }
}
