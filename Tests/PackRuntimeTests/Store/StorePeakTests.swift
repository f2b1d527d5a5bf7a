import Foundation
import TestSupport
import Testing

/// A device that follows a random history of releases. It measures its store and the files that wait before each file operation that frees space.
private final class Following: Sendable {
  let stage: StoreStage
  let policy: StorePolicy
  private let most = Monitor<UInt64>(0)
  private let entries = Monitor<[[UInt8]: ManifestPack]>([:])

  init(_ policy: StorePolicy) throws {
    stage = try StoreStage()
    self.policy = policy
    try FileManager.default.createDirectory(atPath: waiting, withIntermediateDirectories: true)
  }

  private var waiting: String { stage.directory("waiting") }

  /// The size of a tree in blocks of 4 KiB, with one for each directory.
  private static func size(of path: String) -> UInt64 {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else { return (UInt64(status.st_size) + 4095) / 4096 * 4096 }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.reduce(4096) { $0 + size(of: "\(path)/\($1)") }
  }

  func measure() {
    // The directory of the waiting files is not the store's.
    let size = Self.size(of: stage.root) + Self.size(of: waiting) - 4096
    most.withLock { $0 = max($0, size) }
  }

  /// Opens the store as a new process.
  func start(_ session: Int) async throws -> AssetStore {
    stage.end("\(session - 1)")
    let files = FaultyFiles { [weak self] call in
      if call.operation == .remove || call.operation == .rename { self?.measure() }
      return nil
    }
    let store = try await stage.open(as: "\(session)", policy, files: files)
    try await store.reconcile()
    return store
  }

  /// What is on the device, by pack. Packs that were purged while they were current have a record without content.
  func installed(in store: AssetStore) async throws -> [String: [ManifestPack]] {
    let recorded = try FileManager.default.contentsOfDirectory(atPath: stage.directory("store/state")).compactMap {
      PackName(fileName: $0)?.text
    }
    var result = Dictionary(uniqueKeysWithValues: recorded.map { ($0, [ManifestPack]()) })
    for pack in try await store.installed() {
      result[pack.id, default: []].append(try #require(entries.withLock { $0[pack.sha256] }))
    }
    return result
  }

  /// Downloads everything, then accepts the manifest, then installs in the order, and only then activates the packs that are opened.
  ///
  /// - Returns: The most that was on the device.
  func update(_ store: AssetStore, to offers: [StoreStage.Offer], _ manifest: SignedManifest, order: [String], opened: [String: Bool])
    async throws -> UInt64
  {
    entries.withLock { entries in for offer in offers { entries[offer.entry.sha256] = offer.entry } }
    most.withLock { $0 = 0 }
    for offer in offers where order.contains(offer.entry.id) {
      try FileManager.default.copyItem(atPath: offer.path, toPath: "\(waiting)/\(offer.entry.id)")
    }
    measure()
    let plan = try await store.adopt(manifest)
    #expect(plan.downloads.map(\.id).sorted() == order.sorted())
    for id in order { try await store.install("\(waiting)/\(id)", as: id) }
    measure()
    for id in order {
      guard let onTrial = opened[id] else { continue }
      let token = try await store.activate(id, onTrial: onTrial)
      if onTrial { try await store.confirm(token) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: waiting).isEmpty)
    return most.withLock { $0 }
  }
}

/// A random history of releases.
private struct History {
  var random: SeededGenerator
  let stage: StoreStage
  /// The packs that exist, with their versions.
  private(set) var offers: [StoreStage.Offer] = []
  private var versions: [String: UInt64] = [:]

  init(_ random: SeededGenerator, _ stage: StoreStage) {
    self.random = random
    self.stage = stage
  }

  private mutating func offer(_ id: String) async throws -> StoreStage.Offer {
    versions[id, default: 0] += 1
    var offer = try await stage.offer(
      id, versions[id] ?? 1, size: Int.random(in: 0...60_000, using: &random), salt: random.next() % 100_000,
      delivery: DeliveryClass.allCases.randomElement(using: &random) ?? .prefetch,
      install: InstallMode.allCases.randomElement(using: &random) ?? .packed)
    // Four or five of these make every manifest three blocks.
    offer.entry.description = String(repeating: "d", count: 1850)
    return offer
  }

  /// Removes, changes and adds packs.
  mutating func next() async throws {
    if offers.count > 4, Bool.random(using: &random) { offers.remove(at: Int.random(in: offers.indices, using: &random)) }
    for index in offers.indices where Int.random(in: 0..<3, using: &random) > 0 { offers[index] = try await offer(offers[index].entry.id) }
    let names = ["a", "b", "c", "d", "e", "f"].filter { name in !offers.contains { $0.entry.id == name } }.shuffled(using: &random)
    let count = max(4 - offers.count, Int.random(in: 0...(5 - min(5, offers.count)), using: &random))
    for name in names.prefix(count) { offers.append(try await offer(name)) }
  }
}

@Suite("The most space that a store takes", .bounded)
struct StorePeakTests {
  private struct Run {
    let history: Int
    var isPurged = false
    var isWorst = true
  }

  /// Follows a history, and calls `check` for each release with what the store held at its worst moment.
  private func follow(
    _ run: Run, keepVersions: Int? = nil, _ check: (_ held: UInt64, _ figure: StorePeak, _ foretold: StorePeak?) -> Void
  ) async throws {
    let seed = SeededGenerator(for: "release history \(run.history)").seed
    var random = SeededGenerator(seed: seed &+ UInt64(run.history))
    let policy = StorePolicy(keepVersions: keepVersions ?? Int.random(in: 1...3, using: &random), freeSpaceMargin: 0)
    let device = try Following(policy)
    var history = History(SeededGenerator(seed: random.next()), device.stage)
    // Whether a pack is put on trial when it is opened. Packs that are not here are never opened.
    var opened: [String: Bool] = [:]
    for id in ["a", "b", "c", "d", "e", "f"] where Int.random(in: 0..<4, using: &random) > 0 { opened[id] = Bool.random(using: &random) }
    let tidies = Bool.random(using: &random)
    var earlier: [[ManifestPack]] = []
    for release in 1...5 {
      try await history.next()
      let packs = history.offers.map(\.entry)
      let manifest = try device.stage.manifest(UInt64(release), history.offers)
      #expect((8193...12288).contains(manifest.bytes.count))
      let store = try await device.start(release)
      let installed = try await device.installed(in: store)
      let size = UInt64(manifest.bytes.count)
      let figure = StorePeak(updatingTo: packs, installed: installed, manifestSize: size)
      let foretold = tidies && !run.isPurged ? StorePeak(updatingTo: packs, after: earlier, policy: policy, manifestSize: size) : nil
      let order = run.isWorst ? figure.order : figure.order.shuffled(using: &random)
      let held = try await device.update(store, to: history.offers, manifest, order: order, opened: opened)
      check(held, figure, foretold)
      if tidies {
        for id in Set(installed.keys).subtracting(packs.map(\.id)) {
          try await store.remove(id)
        }
      }
      if run.isPurged {
        try await store.purge(toFree: UInt64.random(in: 0...100_000, using: &random))
      }
      earlier.append(packs)
    }
  }

  @Test(
    "the store holds exactly the computed bytes at its worst moment, in a random history", arguments: 1...Effort.number(quick: 4, full: 40))
  func equal(history: Int) async throws {
    var releases = 0
    try await follow(Run(history: history, isPurged: history % 3 == 0)) { held, figure, foretold in
      releases += 1
      #expect(held == figure.total, "release \(releases): \(figure)")
      if let foretold { #expect(held == foretold.total, "release \(releases): \(foretold)") }
    }
    #expect(releases == 5)
  }

  @Test("another order of installation takes no more, in a random history", arguments: 41...Effort.number(quick: 42, full: 60))
  func otherOrders(history: Int) async throws {
    try await follow(Run(history: history, isPurged: history % 2 == 0, isWorst: false)) { held, figure, _ in
      #expect(held <= figure.total)
    }
  }

  @Test(
    "the figure of a release is what a store takes that updates all packs, all of the same size, with the usual policy",
    arguments: InstallMode.allCases)
  func updatingAll(install: InstallMode) async throws {
    let device = try Following(StorePolicy(freeSpaceMargin: 0))
    var held: UInt64 = 0
    var figure: UInt64 = 0
    for release in 1...4 as ClosedRange<UInt64> {
      var offers: [StoreStage.Offer] = []
      for (id, size) in [("a", 30_000), ("b", 9_000), ("c", 100)] {
        offers.append(try await device.stage.offer(id, release, size: size, salt: release, install: install))
      }
      let manifest = try device.stage.manifest(release, offers)
      let store = try await device.start(Int(release))
      let packs = offers.map(\.entry)
      let order = StorePeak(updatingAll: packs, policy: StorePolicy(), manifestSize: 0).order
      held = try await device.update(store, to: offers, manifest, order: order, opened: ["a": true, "b": false])
      let peak = StorePeak(updatingAll: packs, policy: StorePolicy(), manifestSize: UInt64(manifest.bytes.count))
      figure = peak.total
      // The first two releases have fewer versions before them.
      #expect(release > 2 ? held == figure : held < figure, "release \(release): \(held), \(peak)")
    }
    #expect(figure > 0)
  }

  @Test(
    "a candidate of another size takes exactly the computed bytes, beside the version before it, which stays; so does the one after it",
    arguments: [1, 2, 3], [5_000, 60_000])
  func candidate(keepVersions: Int, size: Int) async throws {
    let device = try Following(StorePolicy(keepVersions: keepVersions, freeSpaceMargin: 0))
    let stable = try await device.stage.offer("core", 1, size: 30_000)
    let first = try device.stage.manifest(1, [stable])
    _ = try await device.update(try await device.start(1), to: [stable], first, order: ["core"], opened: ["core": false])
    // Two rollouts, of which the first became the stable version.
    var before = stable
    for version in [2, 3] as [UInt64] {
      let candidate = try await device.stage.offer("core", version, size: version == 2 ? size : 20_000)
      let manifest = try device.stage.manifest(version, [device.stage.entry(before, offering: candidate)], [StoreStage.rollout])
      let store = try await device.start(Int(version))
      store.choose(by: RolloutChoice(installation: Array(0..<32)))
      let installed = try await device.installed(in: store)
      let figure = StorePeak(updatingTo: [candidate.entry], installed: installed, manifestSize: UInt64(manifest.bytes.count))
      let held = try await device.update(store, to: [candidate], manifest, order: ["core"], opened: ["core": true])
      #expect(held == figure.total, "\(version): \(figure)")
      #expect(try await store.current("core")?.version == version)
      #expect(try await store.installed("core").contains { $0.version == before.entry.version }, "the way back stays")
      before = candidate
    }
  }

  @Test("a pack that is never opened does not keep more versions than a pack that is")
  func neverOpened() async throws {
    let stage = try StoreStage()
    let store = try await stage.open()
    for version in 1...5 as ClosedRange<UInt64> {
      let offer = try await stage.offer("core", version)
      try await store.adopt(stage.manifest(version, [offer]))
      try await store.install(offer.path, as: "core")
    }
    #expect(try await store.installed().map(\.version) == [3, 4, 5])
    try await store.reconcile()
    #expect(try await store.installed().map(\.version) == [4, 5])
  }

  @Test("a version that waits is replaced before its successor is unpacked, but not one that runs or is open")
  func replaced() async throws {
    let stage = try StoreStage()
    let (store, _, second) = try await stage.updatable()
    try await store.install(second.path, as: "core")
    let third = try await stage.offer("core", 3)
    try await store.adopt(stage.manifest(3, [third]))
    try await store.install(third.path, as: "core")
    #expect(try await store.installed().map(\.version) == [1, 3])
    try await store.activate("core", onTrial: false)
    let opened = try await store.open("core")
    for version in 4...6 as ClosedRange<UInt64> {
      let offer = try await stage.offer("core", version)
      try await store.adopt(stage.manifest(version, [offer]))
      try await store.install(offer.path, as: "core")
    }
    #expect(try await store.installed().map(\.version) == [1, 3, 6])
    #expect(opened.installed.version == 3)
  }

  @Test("a version that waits stays if the file of its successor is refused")
  func refused() async throws {
    let stage = try StoreStage()
    let (store, _, second) = try await stage.updatable()
    try await store.install(second.path, as: "core")
    let third = try await stage.offer("core", 3)
    try await store.adopt(stage.manifest(3, [third]))
    var bytes = try #require(stage.directory.bytes(of: "core-3-0.pack"))
    bytes[bytes.count - 1] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: third.path))
    #expect(await failure { () async throws(PackError) in try await store.install(third.path, as: "core") } != nil)
    #expect(try await store.installed().map(\.version) == [1, 2])
  }
}
