import TestSupport
import Testing

/// A model of a device with an app, its extension, the system's downloads, a store, and a publisher, in which anything may happen at any time.
///
/// It knows the truth: what was published, what the system has, and what the store contains. The shared state under test knows only what it was
/// given.
struct DeliveryWorld {
  var random: SeededGenerator
  let clock = TestClock()
  private(set) var disk: MemoryDisk
  private(set) var published: Manifest
  /// Whether packs on demand are published in a catalogue, which the extension does not read.
  let hasCatalogue: Bool
  /// The releases by their versions: the manifest as it is served.
  private var served: [UInt64: Manifest] = [:]
  /// All packs of the releases by their versions.
  private var offered: [UInt64: [ManifestPack]] = [:]
  /// The versions of each pack that were ever published.
  private var history: [String: [UInt64]] = [:]
  /// The packs that were ever the base of each pack.
  private var everBases: [String: Set<String>] = [:]
  /// The number of shards of the next catalogue, which never falls.
  private var shardCount = 1
  /// The shards on the server, by their file names.
  private var shards: [String: [UInt8]] = [:]
  /// The downloads that the system has, with the bytes they are for.
  private var downloads: [String: (id: String, bytes: PackBytes)] = [:]
  private var device: [DevicePack] = [] { didSet { disk.hold(device) } }
  /// What the store has moved to its place, without a record of it, because its process ended. The next start of the app records it.
  private var taken: [DevicePack] = []
  private var lastPlan = DeliveryPlan()
  /// On-demand packs that the app has ever requested.
  private var asked: Set<String> = []
  /// The packs that were the base of a requested pack in some release, and may have been requested for that.
  private var bases: Set<String> = []
  /// The number of times that each thing happened.
  private(set) var counts: [String: Int] = [:]
  private(set) var edges: Set<DeliveryEdge> = []
  private var fileNumber = 0

  private static let ids = ["a", "B", "c", "d", "e", "F", "g", "h", "i", "j", "K", "l"]

  init(_ random: SeededGenerator, hasCatalogue: Bool = false) {
    self.random = random
    self.hasCatalogue = hasCatalogue
    disk = MemoryDisk(random.seed % 2 == 0 ? .linux : .apple)
    published = manifest()
    for _ in 0..<6 { publish() }
  }

  // MARK: Chance

  private mutating func chance(_ one: UInt64, in all: UInt64) -> Bool { random.next() % all < one }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(random.next() % UInt64(elements.count))]
  }

  private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

  // MARK: Processes

  /// Runs `body` in a process that may end at any of its file operations, or find the lock held. Its errors are those that a caller would get.
  ///
  /// - Returns: whether it ran to completion.
  @discardableResult
  private mutating func process(_ body: (inout DeliveryWorld, SharedState, MemoryFiles) throws(PackError) -> Void) -> Bool {
    let plan: MemoryFiles.Plan = chance(1, in: 8) ? .stopBeforeChange(Int(random.next() % 24)) : .nothing
    let files = MemoryFiles(disk, plan)
    var blocker: (files: MemoryFiles, lock: OpenFile)?
    if chance(1, in: 25) {
      let other = MemoryFiles(disk)
      if let lock = try? other.open("/group/lock", .readUnlinked, in: nil), (try? other.tryLock(lock)) == true { blocker = (other, lock) }
    }
    var ended = true
    do throws(PackError) {
      let state = try SharedState.sample(files, clock)
      try body(&self, state, files)
    } catch {
      ended = false
      count(files.struck != nil ? "crash" : "error \(error.code)")
      let isExpected =
        files.struck != nil || error.code == .damagedState || blocker != nil && error.code == .stateBusy
      if !isExpected { Issue.record("\(error) of a process that was not disturbed") }
    }
    blocker?.files.end()
    withExtendedLifetime(blocker?.lock) {}
    files.end()
    return ended && files.struck == nil
  }

  // MARK: The publisher

  private mutating func publish() {
    count("publish")
    var packs = published.packs
    for _ in 0...Int(random.next() % 2) {
      switch random.next() % 5 {
      case 0, 1:
        let id = Self.ids[Int(random.next() % UInt64(Self.ids.count))]
        guard !packs.contains(where: { $0.id == id }) else { continue }
        // Packs return with a higher version than before.
        var pack = offer(
          id, published.version + 1, size: 10 + random.next() % 50, pick(DeliveryClass.allCases)!, pick(InstallMode.allCases)!)
        if chance(1, in: 3) { pack.basePack = pick(packs.filter { $0.basePack == nil }.map(\.id)) }
        packs.append(pack)
      case 2:
        guard !packs.isEmpty else { continue }
        packs.remove(at: Int(random.next() % UInt64(packs.count)))
      default:
        guard !packs.isEmpty else { continue }
        let index = Int(random.next() % UInt64(packs.count))
        let base = packs[index].basePack
        packs[index] = offer(
          packs[index].id, published.version + 1, size: 10 + random.next() % 50, packs[index].delivery, packs[index].install)
        packs[index].basePack = base
      }
    }
    let version = published.version + 1
    for pack in packs where history[pack.id]?.last != pack.version { history[pack.id, default: []].append(pack.version) }
    for index in packs.indices { packs[index].deltas = deltas(to: packs[index], among: packs) }
    published = manifest(packs, version: version, expires: 250_000_000_000)
    published.defaults.baseURL = "https://cdn.example.com/"
    offered[version] = packs
    for pack in packs { if let base = pack.basePack { everBases[pack.id, default: []].insert(base) } }
    if shardCount < 8, chance(1, in: 20) { shardCount *= 2 }
    guard hasCatalogue, let release = try? published.withCatalogue(of: shardCount) else {
      served[version] = published
      return
    }
    served[version] = release.manifest
    for file in release.files { shards[file.shard.fileName] = file.bytes }
  }

  /// Makes deltas to a pack from versions before it, and from its base: from most, but not from all.
  private mutating func deltas(to pack: ManifestPack, among packs: [ManifestPack]) -> [ManifestDelta] {
    var made: [ManifestDelta] = []
    if let base = packs.first(where: { $0.id == pack.basePack }), chance(4, in: 5) {
      let sha256 = digest("delta \(pack.id) over \(base.id) \(base.version)", pack.version)
      made.append(ManifestDelta(bases: [base.contentRoot], size: 1 + UInt64(sha256[3]) % 12, sha256: sha256))
    }
    for version in history[pack.id, default: []].dropLast().suffix(5) where chance(3, in: 4) {
      made.append(delta(from: version, to: pack))
    }
    return made.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
  }

  /// Returns the deltas to a pack in a release.
  private func deltas(to id: String, in version: UInt64) -> [ManifestDelta] {
    offered[version]?.first { $0.id == id }?.deltas ?? []
  }

  /// Returns a delta, which is the same whenever it is listed. Some are larger than the pack itself, and are not to be taken.
  private func delta(from version: UInt64, to pack: ManifestPack) -> ManifestDelta {
    let sha256 = digest("delta \(pack.id) \(version)", pack.version)
    let most = sha256[4] & 1 == 0 ? 6 : pack.size + 4
    return ManifestDelta(bases: [digest("root \(pack.id)", version)], size: 1 + UInt64(sha256[3]) % most, sha256: sha256)
  }

  /// Returns the delta that the file of an installation is, and the pack that it makes; nil for a full pack.
  private func delta(_ file: HandOver) -> (delta: ManifestDelta, pack: ManifestPack)? {
    // The version of a pack is that of the first release with it. Its entries in later ones may have other deltas.
    var release = file.bytes.version
    while let pack = offered[release]?.first(where: { $0.id == file.id && $0.version == file.bytes.version }) {
      if let delta = pack.deltas.first(where: { $0.sha256 == file.bytes.sha256 }) { return (delta, pack) }
      release += 1
    }
    return nil
  }

  /// Returns the version of a pack on the device, or of the base of its entry, over which a delta can be applied.
  private func base(_ id: String, of delta: ManifestDelta) -> DevicePack? {
    let bases = everBases[id, default: []].union([id])
    return device.first { bases.contains($0.id) && !$0.isRejected && $0.contentRoot == delta.bases[0] }
  }

  /// Whether the file of an installation is the one that was published.
  private func isIntact(_ path: String, of file: HandOver) -> Bool { disk.bytes(of: path) == Self.content(file.bytes) }

  private var document: [UInt8] {
    get throws(PackError) { try SignedManifest(signed: served[published.version]!.signedBytes(), signatures: []).bytes }
  }

  private static let check: ExtensionDelivery.Check = { (_) throws(PackError) in }

  private static func catalogue(_ files: MemoryFiles) -> Catalogue {
    Catalogue("/catalogue", files: files, backend: CryptoBackends.standard)
  }

  /// Returns the search of an app, which reads the catalogue.
  private static func search(_ catalogue: Catalogue, _ manifest: Manifest) -> SharedState.Search {
    { (ids) throws(PackError) in try catalogue.lookUp(ids, in: manifest) }
  }

  /// Fetches the missing shards, as an app does before it plans: maybe not all of them, and maybe another file.
  private mutating func fetch(of manifest: Manifest, to catalogue: Catalogue) throws(PackError) {
    for number in try catalogue.missing(of: manifest) where chance(2, in: 3) {
      guard let right = shards[manifest.catalogue[number].fileName] else { continue }
      var bytes = right
      if chance(1, in: 8), let other = pick(served[2 + random.next() % published.version]?.catalogue ?? []) {
        bytes = shards[other.fileName] ?? right
      }
      do throws(PackError) {
        try catalogue.keep(bytes, number, of: manifest)
        count("fetched shard")
      } catch {
        guard error.code == .wrongShard, bytes != right else { throw error }
        count("swapped shard")
      }
    }
  }

  // MARK: Planning

  /// Returns the manifest that the device has: a new one, or the last one if it is offline.
  private mutating func currentManifest(_ state: SharedState) throws(PackError) -> Manifest? {
    if chance(1, in: 6) {
      count("offline")
      return try? state.lastManifest(Self.check)
    }
    return try state.accept(document, verify: Self.check)
  }

  private mutating func plan(isApp: Bool) {
    let event: DeliveryEvent = isApp ? .launch : pick([.install, .update, .periodic, .periodic])!
    let knowsDevice = isApp && chance(9, in: 10)
    let knowsSystem = chance(2, in: 3)
    let wanted = isApp && chance(1, in: 3) ? pick(published.packs.map(\.id)).map { Set([$0]) } ?? [] : []
    asked.formUnion(wanted)
    let allowance =
      event.permitsEssential && chance(1, in: 2) ? Allowance(essential: random.next() % 200, other: random.next() % 200) : nil
    let freeSpace = chance(1, in: 4) ? random.next() % 100_000 : nil
    if isApp { reconcile() }
    process { (world, state, files) throws(PackError) in
      guard let manifest = try world.currentManifest(state) else { return }
      let catalogue = Self.catalogue(files)
      if isApp { try world.fetch(of: manifest, to: catalogue) }
      let before = world.records()
      let planned = try state.plan(
        for: manifest,
        facts: DeliveryFacts(
          event, at: world.clock.secondsSince1970, device: knowsDevice ? world.device : nil,
          downloads: knowsSystem ? Set(world.downloads.keys) : nil, asked: wanted, allowance: allowance, freeSpace: freeSpace),
        search: isApp ? Self.search(catalogue, manifest) : nil)
      world.check(planned.plan, of: manifest, before, event, isApp: isApp)
      world.count("plan \(event)")
      world.lastPlan = planned.plan
      for download in planned.plan.downloads {
        if download.isDelta { world.count("delta planned") }
        world.hand(download.id, download.bytes)
      }
      if isApp || world.chance(1, in: 2) {
        for identifier in planned.plan.cancellations { world.downloads[identifier] = nil }
      }
      if isApp, world.chance(1, in: 3) { try state.discard(planned.plan.orphans) }
      if isApp, world.chance(1, in: 3) { try catalogue.free(for: manifest) }
    }
  }

  /// Hands a download to the system, which has only one for each identifier.
  private mutating func hand(_ id: String, _ bytes: PackBytes) {
    // A process that ends here has recorded a download that it never handed over.
    if chance(1, in: 20) { return count("not handed over") }
    downloads[DownloadIdentifier(id: id, bytes: bytes).description] = (id, bytes)
  }

  private mutating func check(
    _ plan: DeliveryPlan, of manifest: Manifest, _ before: [String: PackStatus], _ event: DeliveryEvent, isApp: Bool = true
  ) {
    let packs = offered[manifest.version] ?? []
    let inCatalogue = Set(packs.map(\.id)).subtracting(manifest.packs.map(\.id))
    for pack in packs {
      let found = lists(of: pack.id, in: plan)
      if inCatalogue.contains(pack.id), found.isEmpty { continue }
      #expect(found.count == 1 && found != ["obsolete"], "\(pack.id) is in \(found)")
      #expect(isApp || !inCatalogue.contains(pack.id), "an extension decides about \(pack.id)")
    }
    #expect(plan.undecided.allSatisfy { id in !manifest.packs.contains { $0.id == id } && lists(of: id, in: plan).isEmpty })
    // What is on the device is kept up to date, also if it came while it was no pack on demand.
    let held = Set(device.filter { !$0.isRejected }.map(\.id))
    bases.formUnion(packs.filter { $0.delivery != .onDemand || asked.contains($0.id) || held.contains($0.id) }.compactMap(\.basePack))
    for download in plan.downloads {
      let pack = packs.first { $0.id == download.id }
      if download.isDelta {
        let delta = pack?.deltas.first { $0.sha256 == download.bytes.sha256 && $0.size == download.bytes.size }
        #expect(delta != nil && download.bytes.size < pack?.size ?? 0 && download.fallback == nil, "\(download.id): no such delta")
        #expect(download.url == (manifest.defaults.baseURL ?? "") + ManifestPack.publishedName(download.id, download.bytes.sha256))
        if let delta {
          // Its base is there, or another pack that is downloaded, too. A download that is repeated keeps the delta that was chosen before.
          let comes = packs.contains { $0.id == pack?.basePack && $0.contentRoot == delta.bases[0] && !lists(of: $0.id, in: plan).isEmpty }
          let isRepeated = before[download.id]?.file == download.bytes
          #expect(comes || isRepeated || base(download.id, of: delta) != nil, "\(download.id): a delta without its base")
        }
      } else {
        #expect(pack.map(PackBytes.init) == download.bytes)
      }
      #expect(!device.contains { $0.id == download.id && $0.sha256 == pack?.sha256 }, "\(download.id) is there")
      #expect(
        before[download.id]?.state != .notLoaded(.arrived) || !taken.contains { $0.id == download.id && $0.sha256 == pack?.sha256 },
        "\(download.id) is being moved into the store")
      #expect(!download.isEssential || event.permitsEssential && pack?.delivery == .essential)
      #expect(
        pack?.delivery != .onDemand || asked.union(held).union(bases).contains(download.id), "\(download.id) was never requested")
    }
  }

  /// Checks that no full pack is downloaded in place of a delta without a reason that is told.
  private func checkFallbacks(of plan: DeliveryPlan, _ remark: String) {
    for download in plan.downloads where !download.isDelta {
      let isNeedless = deltas(to: download.id, in: published.version).contains {
        $0.size < download.bytes.size && base(download.id, of: $0) != nil
      }
      #expect(!isNeedless || download.fallback != nil, "\(remark): \(download.id) comes as a full pack, and nobody is told why")
    }
  }

  // MARK: The system

  private mutating func note(_ event: PackEvent, _ identifier: String) {
    process { (_, state, _) throws(PackError) in try state.note(event, ofDownload: identifier) }
  }

  private mutating func deliver() {
    guard let identifier = pick(downloads.keys.sorted()), let download = downloads[identifier] else { return }
    downloads[identifier] = nil
    fileNumber += 1
    let path = "/system/\(fileNumber)"
    let isDamaged = chance(1, in: 8)
    let size = Int(download.bytes.size) + (chance(1, in: 12) ? 1 : 0)
    var content = Self.content(download.bytes)
    content += [UInt8](repeating: 0, count: size - content.count)
    if isDamaged { content[content.count / 2] ^= 1 }
    disk.write(content, to: path)
    if chance(1, in: 20) {
      count("never delivered")
    } else {
      count("delivered")
      process { (_, state, _) throws(PackError) in _ = try state.park(path, asDownload: identifier) }
    }
    // The system removes a file that was not moved.
    disk.remove(path)
  }

  /// Returns the content of a valid file with these bytes.
  private static func content(_ bytes: PackBytes) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(bytes.sha256[0]) << 8 | UInt64(bytes.sha256[1]))
    return random.bytes(Int(bytes.size))
  }

  private mutating func fail() {
    guard let identifier = pick(downloads.keys.sorted()), let download = downloads[identifier] else { return }
    let failure: DownloadFailure =
      chance(1, in: 2)
      ? .backgroundAssets(code: pick([0, 50, 55, 56, 101, 102, 103, 109, 111, 112, 202, 203, 206])!)
      : pick([.offline, .timeout, .http(status: 500), .noSpace, .other])!
    downloads[identifier] = nil
    count("failed")
    process { (world, state, _) throws(PackError) in
      if try state.downloadFailed(.download(identifier: identifier), failure) == .handOverAsNonEssential {
        world.count("demoted")
        world.hand(download.id, download.bytes)
      }
    }
  }

  // MARK: The app

  private mutating func install() {
    guard let file = pick(lastPlan.handOver) else { return }
    let isPutOff = chance(1, in: 8)
    let isRejected = chance(1, in: 40)
    let (diesInStore, diesAfterStore) = (chance(1, in: 12), chance(1, in: 12))
    let hasDamagedBase = chance(1, in: 10)
    process { (world, state, files) throws(PackError) in
      guard let path = try state.path(of: file) else { return }
      if isPutOff {
        try state.finishInstall(file, .putOff)
        return
      }
      guard world.isIntact(path, of: file) else {
        world.count("wrong bytes")
        try state.finishInstall(file, .failed(.wrongBytes))
        return
      }
      guard let made = world.made(by: file, isRejected: isRejected), !hasDamagedBase || world.delta(file) == nil else {
        world.count("fell back")
        try state.finishInstall(file, .failed(.base))
        return
      }
      if world.rejects(made) {
        try state.finishInstall(file, .failed(.rejected))
        return
      }
      world.disk.remove(path)
      if diesInStore, !isRejected, file.mode == .packed, world.delta(file) == nil {
        world.count("taken")
        world.taken.append(made)
        world.disk.write([1], to: Self.place(made))
        return
      }
      world.device.removeAll { $0.id == file.id && ($0.isRejected || $0.sha256 == made.sha256) }
      world.device.append(made)
      world.count("installed")
      if let (delta, _) = world.delta(file) {
        world.count(world.base(file.id, of: delta)?.id == file.id ? "installed by delta" : "installed over another pack")
      }
      if diesAfterStore { return }
      try state.finishInstall(file, isRejected ? .failed(.rejected) : .installed)
    }
  }

  /// Returns where the store has the file of a full pack that is installed packed.
  private static func place(_ pack: DevicePack) -> String {
    "/store/packs/" + ItemName(id: pack.id, version: pack.version, sha256: pack.sha256, mode: .packed).text
  }

  /// What the store does when the app starts.
  private mutating func reconcile() {
    for pack in taken {
      disk.remove(Self.place(pack))
      device.removeAll { $0.id == pack.id && ($0.isRejected || $0.sha256 == pack.sha256) }
      device.append(pack)
    }
    taken = []
  }

  /// Returns what the device has when a file is installed. Nil if it is a delta whose base is not there.
  private func made(by file: HandOver, isRejected: Bool = false) -> DevicePack? {
    guard let (delta, pack) = delta(file) else {
      return DevicePack(
        id: file.id, version: file.bytes.version, sha256: file.bytes.sha256, mode: file.mode, isRejected: isRejected,
        contentRoot: digest("root \(file.id)", file.bytes.version))
    }
    guard base(file.id, of: delta) != nil else { return nil }
    return DevicePack(
      id: file.id, version: pack.version, sha256: pack.sha256, mode: file.mode, isRejected: isRejected, contentRoot: pack.contentRoot)
  }

  /// Returns whether the store had these bytes and rejects them now.
  private func rejects(_ made: DevicePack) -> Bool {
    device.contains { $0.id == made.id && $0.sha256 == made.sha256 && $0.isRejected }
  }

  private mutating func purge() {
    count("purge")
    switch random.next() % (hasCatalogue ? 5 : 3) {
    case 3: if let name = pick(disk.tree(below: "/catalogue").keys.sorted()) { disk.remove("/catalogue/\(name)") }
    case 4:
      guard let name = pick(disk.tree(below: "/catalogue").keys.sorted()), var bytes = disk.bytes(of: "/catalogue/\(name)"),
        !bytes.isEmpty
      else { return }
      bytes[bytes.count / 2] ^= 4
      disk.write(bytes, to: "/catalogue/\(name)")
    case 0: if let index = device.indices.randomElement(using: &random) { device.remove(at: index) }
    case 1:
      if let name = pick(disk.tree(below: "/group").keys.filter { $0.hasPrefix("incoming/") }.sorted()) { disk.remove("/group/\(name)") }
    default: if chance(1, in: 30) { disk.remove("/group") }
    }
  }

  private mutating func damage() {
    guard let name = pick(disk.tree(below: "/group/packs").keys.sorted()), var bytes = disk.bytes(of: "/group/packs/\(name)"),
      !bytes.isEmpty
    else {
      return
    }
    count("damage")
    switch random.next() % 3 {
    case 0: bytes = []
    case 1: bytes[Int(random.next() % UInt64(bytes.count))] ^= 4
    default: bytes = [UInt8](repeating: 0, count: bytes.count)
    }
    disk.write(bytes, to: "/group/packs/\(name)")
  }

  private mutating func cutPower() {
    count("power cut")
    let crash: MemoryDisk.Crash = pick([.powerCut, .zeroedContent, .emptiedContent, .luck(seed: random.next())])!
    disk = disk.after(crash)
  }

  // MARK: One event

  mutating func step() {
    let before = records()
    switch random.next() % 100 {
    case 0..<12: plan(isApp: false)
    case 12..<27: plan(isApp: true)
    case 27..<38: deliver()
    case 38..<43: fail()
    case 43..<53: if let identifier = pick(downloads.keys.sorted()) { note(.began, identifier) }
    case 53..<57: if let identifier = pick(downloads.keys.sorted()) { note(.paused(pick(PauseReason.allCases)!), identifier) }
    case 57..<71: install()
    case 71..<84: publish()
    case 84..<86: if let identifier = pick(downloads.keys.sorted()) { downloads[identifier] = nil }
    case 86..<88:
      if let id = pick(Self.ids) {
        process { (world, state, _) throws(PackError) in
          if let identifier = try state.cancel(id) { world.downloads[identifier.description] = nil }
        }
      }
    case 88..<93: purge()
    case 93: damage()
    case 94: cutPower()
    case 95..<98: clock.advance(Int64(random.next() % 200_000))
    case 98: clock.advance(-Int64(random.next() % 200_000))
    default:
      if let gone = pick(lastPlan.obsolete) { device.removeAll { $0.id == gone.id } }
    }
    observe(before)
  }

  private func records() -> [String: PackStatus] {
    guard let content = try? SharedState.sample(MemoryFiles(disk), clock).content() else { return [:] }
    return Dictionary(uniqueKeysWithValues: content.records.map { ($0.id, $0) })
  }

  /// Records which transitions the records took.
  private mutating func observe(_ before: [String: PackStatus]) {
    for (id, after) in records() {
      guard let before = before[id], before.state.kind != after.state.kind else { continue }
      edges.formUnion(DeliveryEdge.all.filter { $0.from == before.state.kind && $0.to == after.state.kind })
    }
  }

  // MARK: Settling

  /// Stops all faults. Within a few starts of the app, every pack that should be on the device is, and nothing else is in progress.
  mutating func settle(_ remark: String) throws {
    counts["settled", default: 0] += 1
    reconcile()
    var plan = DeliveryPlan()
    let wanted = records().values.filter(\.isWanted).map(\.id)
    for _ in 0..<10 {
      clock.advance(200_000)
      let files = MemoryFiles(disk)
      let state = try SharedState.sample(files, clock)
      let manifest = try state.accept(document, verify: Self.check)
      let catalogue = Self.catalogue(files)
      for number in try catalogue.missing(of: manifest) {
        try catalogue.keep(try #require(shards[manifest.catalogue[number].fileName]), number, of: manifest)
      }
      let search = Self.search(catalogue, manifest)
      func facts() -> DeliveryFacts {
        DeliveryFacts(.launch, at: clock.secondsSince1970, device: device, downloads: Set(downloads.keys))
      }
      let before = records()
      plan = try state.plan(for: manifest, facts: facts(), search: search).plan
      self.check(plan, of: manifest, before, .launch)
      checkFallbacks(of: plan, remark)
      for identifier in plan.cancellations { downloads[identifier] = nil }
      for download in plan.downloads { downloads[download.identifier.description] = (download.id, download.bytes) }
      for (identifier, download) in downloads {
        disk.write(Self.content(download.bytes), to: "/system/good")
        _ = try state.park("/system/good", asDownload: identifier)
        disk.remove("/system/good")
      }
      downloads = [:]
      plan = try state.plan(for: manifest, facts: facts(), search: search).plan
      for download in plan.downloads { downloads[download.identifier.description] = (download.id, download.bytes) }
      for file in plan.handOver {
        let path = try #require(try state.path(of: file), "\(remark)")
        guard isIntact(path, of: file) else {
          try state.finishInstall(file, .failed(.wrongBytes))
          continue
        }
        let hasDamagedBase = delta(file) != nil && chance(1, in: 6)
        if hasDamagedBase { count("fell back") }
        guard !hasDamagedBase, let made = made(by: file) else {
          try state.finishInstall(file, .failed(.base))
          continue
        }
        if rejects(made) {
          try state.finishInstall(file, .failed(.rejected))
          continue
        }
        disk.remove(path)
        if let (delta, _) = delta(file) {
          count(base(file.id, of: delta)?.id == file.id ? "settled by delta" : "settled over another pack")
        }
        device.append(made)
        try state.finishInstall(file, .installed)
      }
      for gone in plan.obsolete {
        device.removeAll { $0.id == gone.id }
      }
      try state.discard(plan.orphans)
      plan = try state.plan(for: manifest, facts: facts(), search: search).plan
    }
    #expect(plan.undecided.isEmpty, "\(remark): nothing is decided about \(plan.undecided)")
    #expect(plan.downloads.isEmpty && plan.underWay.isEmpty && plan.handOver.isEmpty, "\(remark): stuck")
    #expect(plan.obsolete.isEmpty && plan.orphans.isEmpty && plan.cancellations.isEmpty, "\(remark): left over")
    for pack in published.packs {
      let held = device.first { $0.id == pack.id && $0.sha256 == pack.sha256 }
      switch plan.reason(of: pack.id) {
      case nil where served[published.version]!.packs.allSatisfy({ $0.id != pack.id }) && !plan.ready.contains(pack.id):
        #expect(held?.isRejected != false && !wanted.contains(pack.id), "\(remark): \(pack.id) is lost")
      case nil: #expect(plan.ready.contains(pack.id) && held?.isRejected == false, "\(remark): \(pack.id) is lost")
      case .notAsked: #expect(pack.delivery == .onDemand, "\(remark): \(pack.id) is not downloaded")
      case .cancelled: break
      case .failed(.rejected, secondsLeft: nil): #expect(held?.isRejected == true, "\(remark): \(pack.id) was never tried")
      case let reason?: Issue.record("\(remark): \(pack.id) waits forever: \(reason)")
      }
    }
    let state = try SharedState.sample(MemoryFiles(disk), clock)
    #expect(try state.content().files.isEmpty, "\(remark): files are left over")
    let manifest = served[published.version]!
    try Self.catalogue(MemoryFiles(disk)).free(for: manifest)
    let named = manifest.catalogue.enumerated().map { "\($0)-\(manifest.catalogue.count)-\($1.sha256.prefix(8).hex).shard" }
    #expect(Set(disk.tree(below: "/catalogue").keys) == Set(named), "\(remark): shards are left over")
    // Replaced by a disk without deleted files, so that a long walk does not grow.
    let fresh = MemoryDisk(disk.kind)
    for (name, content) in disk.tree(below: "/") { if let content { fresh.write(content, to: "/\(name)") } }
    disk = fresh
    lastPlan = DeliveryPlan()
  }
}

extension DeliveryPlan {
  /// Creates an empty plan.
  init() {
    self.init(for: manifest(), records: [], facts: DeliveryFacts(.periodic, at: now))
  }
}
