/// Four packs, one of which may be in a catalogue, and a sequence of events that happen to them.
struct DeliveryRun {
  private static let ids = ["a", "B", "c", "d"]
  /// The only pack on demand.
  private static let onDemand = "c"
  private let policy = {
    var policy = DeliveryPolicy()
    policy.jitter = 0
    return policy
  }()
  private var time: Int64 = 1_790_000_000
  private var records: [String: PackStatus] = [:]
  private var files: [WaitingFile] = []
  private var device: [DevicePack] = []
  private var manifest: Manifest
  private var hasCatalogue = false
  private var isShardHere = false
  /// Whether each pack has a delta from its previous version.
  private var hasDeltas = false

  init() {
    let expires = ManifestTime(secondsSince1970: 2_000_000_000)
    manifest = Manifest(
      version: 1, issued: nil, expires: expires ?? ManifestTime(secondsSince1970: 0)!, budget: nil,
      packs: Self.ids.enumerated().map { Self.offer($1, version: 1, number: UInt8($0)) })
    for pack in manifest.packs { records[pack.id] = PackStatus(id: pack.id, bytes: PackBytes(pack), at: time) }
  }

  private static func offer(_ id: String, version: UInt64, number: UInt8) -> ManifestPack {
    ManifestPack(
      id: id, version: version, url: "https://cdn.example.com/\(id)", size: 1000 * UInt64(number + 1),
      sha256: [UInt8](repeating: number &+ UInt8(truncatingIfNeeded: version), count: 32),
      contentRoot: root(id, version), contentSize: 2000, installSize: 4096, files: 1, maxFrame: 1024,
      keyID: "e545120e613dd715", delivery: DeliveryClass.allCases[Int(number) % 3], install: number % 2 == 0 ? .packed : .unpacked)
  }

  private static func root(_ id: String, _ version: UInt64) -> [UInt8] {
    Array(id.utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 31)
  }

  /// The delta to a pack from its previous version.
  private func delta(to pack: ManifestPack) -> ManifestDelta {
    ManifestDelta(
      bases: [Self.root(pack.id, pack.version - 1)], size: pack.size / 10,
      sha256: [UInt8](repeating: pack.sha256[0] ^ 0x80, count: 32))
  }

  /// Performs one step: a byte for the pack or another kind of step, one for the event, one for its value.
  mutating func step(_ feed: inout ByteFeed) throws(BrokenPromise) {
    let what = feed.byte()
    switch what {
    case 0xFF: try plan(feed.byte())
    case 0xFE: time += Int64(feed.byte()) * 600
    case 0xFD: time -= Int64(feed.byte()) * 600
    case 0xFC:
      let place = Int(feed.byte()) % manifest.packs.count
      let old = manifest.packs[place]
      // The number comes from the name, not from the position, which changes: two versions of a pack never have the same bytes.
      let number = Self.ids.firstIndex(of: old.id) ?? place
      manifest.packs[place] = Self.offer(old.id, version: old.version + 1, number: UInt8(number))
      manifest.version += 1
    case 0xFB:
      let place = Int(feed.byte()) % Self.ids.count
      if manifest.packs.count > 1 { manifest.packs.removeAll { $0.id == Self.ids[place] } }
    case 0xFA:
      let pack = manifest.packs[Int(feed.byte()) % manifest.packs.count]
      device.removeAll { $0.id == pack.id }
      device.append(
        DevicePack(
          id: pack.id, version: pack.version, sha256: pack.sha256, mode: pack.install, isRejected: feed.byte() & 1 != 0,
          contentRoot: pack.contentRoot))
    case 0xF7:
      hasDeltas = feed.byte() & 1 != 0
    case 0xF9:
      let pack = manifest.packs[Int(feed.byte()) % manifest.packs.count]
      files.append(
        WaitingFile(
          identifier: DownloadIdentifier(id: pack.id, bytes: PackBytes(pack)), size: feed.byte() & 1 == 0 ? pack.size : 1))
    case 0xF8:
      let value = feed.byte()
      (hasCatalogue, isShardHere) = (value & 1 != 0, value & 2 != 0)
    default:
      let id = Self.ids[Int(what) % Self.ids.count]
      guard let record = records[id] else { return }
      try take(event(feed.byte(), feed.byte(), record), record)
    }
  }

  private func event(_ kind: UInt8, _ value: UInt8, _ record: PackStatus) -> PackEvent {
    func one<Value>(_ values: [Value]) -> Value { values[Int(value) % values.count] }
    return switch PackEvent.Kind.allCases[Int(kind) % PackEvent.Kind.allCases.count] {
    case .offered:
      .offered(value & 1 == 0 ? record.bytes : PackBytes(version: UInt64(value), size: 9, sha256: Array(repeating: value, count: 32)))
    case .asked: .asked
    case .scheduled: .scheduled(isEssential: value & 1 != 0)
    case .began: .began
    case .paused: .paused(one(PauseReason.allCases))
    case .arrived: .arrived
    case .demoted: .demoted
    case .turnedAway: .turnedAway(one(IdleReason.allCases))
    case .downloadFailed: .downloadFailed(one(FailureReason.allCases))
    case .forgotten: .forgotten
    case .cancelled: .cancelled
    case .installFailed: .installFailed(one(FailureReason.allCases))
    case .retryDue: .retryDue
    }
  }

  /// Applies an event, and checks that it changes the state as in the table of edges, and nothing else.
  private mutating func take(_ event: PackEvent, _ record: PackStatus) throws(BrokenPromise) {
    let edge = DeliveryEdge.all.first { $0.from == record.state.kind && $0.event == event.kind }
    guard let next = record.after(event, at: time, policy: policy) else {
      return try hold(edge == nil, "\(event.kind) is ignored in \(record.state), but has an edge")
    }
    try hold(edge?.to == next.state.kind, "\(event.kind) leads from \(record.state) to \(next.state)")
    try hold(next.id == record.id, "a record belongs to another pack")
    if case .offered = event {} else { try hold(next.bytes == record.bytes, "\(event.kind) changes the bytes of the record") }
    try check(next)
    records[record.id] = next
  }

  private func check(_ status: PackStatus) throws(BrokenPromise) {
    try hold(!status.state.waysOut.isEmpty, "nothing leads out of \(status.state)")
    try hold(DeliveryState(status.state.description) == status.state, "\(status.state) differs after it was written and read")
    try hold(status.delaySeconds <= policy.longestDelaySeconds, "a delay of \(status.delaySeconds) seconds")
    try hold(status.secondsLeft(at: time) <= UInt64(status.delaySeconds), "more seconds are left than the delay")
    let again = try required("reading a record that was written") { () throws(PackError) in
      try PackStatus(reading: status.record, of: status.id)
    }
    try hold(again == status, "a record differs after it was written and read")
  }

  /// Returns the manifest without the pack in its catalogue, and what the device knows of this.
  private func sources(_ asked: Set<String>) -> (root: Manifest, lookup: CatalogueLookup) {
    var root = manifest
    if hasDeltas {
      for index in root.packs.indices where root.packs[index].version > 1 { root.packs[index].deltas = [delta(to: root.packs[index])] }
    }
    guard hasCatalogue else { return (root, CatalogueLookup()) }
    let listed = root.packs.filter { $0.id == Self.onDemand }
    root.packs.removeAll { $0.id == Self.onDemand }
    root.catalogue = [
      Shard(size: 300, contentSize: 500, maxCount: 1, sha256: [UInt8](repeating: UInt8(truncatingIfNeeded: manifest.version), count: 32))
    ]
    let isWanted =
      records[Self.onDemand] != nil || asked.contains(Self.onDemand) || device.contains { $0.id == Self.onDemand }
      || files.contains { $0.identifier.id == Self.onDemand }
    guard isWanted else { return (root, CatalogueLookup()) }
    // As in an extension.
    var lookup = CatalogueLookup()
    if isShardHere { for pack in listed { lookup.packs[pack.id] = pack } } else { lookup.unknown = [Self.onDemand] }
    return (root, lookup)
  }

  /// Makes a plan with the facts in a byte, and applies its changes to the records.
  private mutating func plan(_ facts: UInt8) throws(BrokenPromise) {
    let event = DeliveryEvent.allCases[Int(facts) % DeliveryEvent.allCases.count]
    let allowance = facts & 0x10 == 0 ? nil : Allowance(essential: 2500, other: 2500)
    let free: UInt64? = facts & 0x20 == 0 ? nil : 5000
    let asked: Set<String> = facts & 0x08 == 0 ? [] : [Self.ids[Int(facts) % 4]]
    let (root, lookup) = sources(asked)
    let plan = DeliveryPlan(
      for: root, lookup, records: records.values.sorted { $0.id < $1.id }, files: files,
      facts: DeliveryFacts(
        event, at: time, device: facts & 0x40 == 0 ? nil : device, downloads: facts & 0x80 == 0 ? nil : [], asked: asked,
        allowance: event.permitsEssential ? allowance : nil, freeSpace: free),
      policy: policy)
    let offered = root.packs + lookup.packs.values
    let lists = [
      plan.downloads.map(\.id), plan.underWay, plan.handOver.map(\.id), plan.ready, plan.postponed.map(\.id),
    ]
    let named = lists.flatMap { $0 }
    try hold(named.count == Set(named).count, "a plan names a pack twice: \(named.sorted())")
    try hold(Set(named).isSuperset(of: offered.map(\.id)), "a plan leaves out a pack: \(named.sorted())")
    try hold(Set(plan.undecided) == lookup.unknown, "packs whose shards are missing: \(plan.undecided)")
    try hold(lookup.unknown.isDisjoint(with: named + plan.obsolete.map(\.id)), "a plan decides about a pack whose shard is missing")
    try hold(event.permitsEssential || !plan.downloads.contains { $0.isEssential }, "an essential download outside of an installation")
    for download in plan.downloads {
      let pack = offered.first { $0.id == download.id }
      let delta = pack?.deltas.first
      let file =
        download.isDelta ? delta.map { PackBytes(version: pack?.version ?? 0, size: $0.size, sha256: $0.sha256) } : pack.map(PackBytes.init)
      try hold(file == download.bytes, "a download that the manifest does not offer")
      guard download.isDelta, facts & 0x40 != 0 else { continue }
      try hold(
        device.contains { $0.id == download.id && !$0.isRejected && $0.contentRoot == delta?.bases[0] },
        "a delta is planned without its base")
    }
    if event.permitsEssential, let allowance {
      for (isEssential, most) in [(true, allowance.essential), (false, allowance.other)] {
        let sum = plan.downloads.filter { $0.isEssential == isEssential }.reduce(0) { $0 + $1.bytes.size }
        try hold(sum <= most, "downloads of \(sum) bytes, but \(most) are allowed")
      }
    }
    for change in plan.changes {
      try hold(change.before == records[change.id], "a plan changes a record that is out of date")
      if lookup.unknown.contains(change.id), let before = change.before {
        try hold(change.after?.bytes == before.bytes, "a plan changes the bytes of a pack whose shard is missing")
      }
      records[change.id] = change.after
      if let after = change.after { try check(after) }
    }
    for download in plan.downloads {
      try hold(
        records[download.id]?.state == .scheduled, "a download is planned in \(records[download.id].map { "\($0.state)" } ?? "no state")")
    }
  }

  /// Checks that from any state, after enough time, every offered pack is on the device.
  mutating func settle() throws(BrokenPromise) {
    device = []
    files = []
    isShardHere = true
    for _ in 0..<12 {
      time += 2 * Int64(policy.longestDelaySeconds)
      try planAll()
      for (id, record) in records.sorted(by: { $0.key < $1.key }) {
        switch record.state {
        case .scheduled, .loading, .paused: try take(.arrived, record)
        case .notLoaded(.arrived):
          records[id] = nil
          let bytes = record.bytes
          device.append(
            DevicePack(id: id, version: bytes.version, sha256: bytes.sha256, mode: .packed, contentRoot: Self.root(id, bytes.version)))
        default: break
        }
      }
    }
    for pack in manifest.packs {
      // Two versions may have the same digest here, and the store has each of them apart.
      let isHere = device.contains { $0.id == pack.id && $0.version == pack.version && $0.sha256 == pack.sha256 }
      try hold(isHere, "pack \(pack.id) is stuck in \(records[pack.id].map { "\($0.state)" } ?? "no state")")
    }
  }

  private mutating func planAll() throws(BrokenPromise) {
    var waiting: [WaitingFile] = []
    for record in records.values {
      if record.state == .notLoaded(.arrived) { waiting.append(WaitingFile(identifier: record.identifier, size: record.file.size)) }
    }
    let (root, lookup) = sources(Set(Self.ids))
    let plan = DeliveryPlan(
      for: root, lookup, records: records.values.sorted { $0.id < $1.id },
      files: waiting.sorted { $0.identifier.description < $1.identifier.description },
      facts: DeliveryFacts(.launch, at: time, device: device, downloads: nil, asked: Set(Self.ids)), policy: policy)
    for change in plan.changes {
      records[change.id] = change.after
      if let after = change.after { try check(after) }
    }
  }
}
