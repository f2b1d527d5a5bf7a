/// The packs over which other packs are deltas, and which of those are worth waiting for.
struct PackBases {
  /// The packs that are requested because they, and a delta over them, take fewer bytes than another requested pack.
  private(set) var asked: Set<String> = []
  /// The content roots of bases that are not there yet, by the names of packs that are downloaded as deltas over them meanwhile.
  private(set) var awaited: [String: [UInt8]] = [:]
  /// The content roots of the bases that are downloaded, or will be, by their names.
  private var coming: [String: [UInt8]] = [:]
  /// The content roots of the bases that are on the device, by their names.
  private var held: [String: [[UInt8]]] = [:]

  /// - Parameters:
  ///   - packs: The packs that are offered.
  ///   - records: The records before the plan, and what is on the device.
  ///   - files: The files in the shared directory.
  init<Failure: Error>(
    _ packs: ManifestListing, _ records: PlanRecords<Failure>, _ files: WaitingFiles, _ facts: DeliveryFacts, _ defaults: ManifestDefaults
  ) throws(Failure) {
    func read(_ id: String) throws(Failure) -> PackStatus? { records.ids.contains(id) ? try records.read(id) : nil }
    func cost(of base: ManifestPack) throws(Failure) -> UInt64? {
      let bytes = PackBytes(base)
      let record = try read(base.id).flatMap { $0.bytes == bytes ? $0 : nil }
      let hasArrived = try records.hasArrived(record ?? PackStatus(id: base.id, bytes: bytes, at: facts.time), among: files)
      return Self.cost(of: base, record, hasArrived: hasArrived, try records.versions(base.id), facts)
    }
    var names: Set<String> = []
    for pack in packs { if let base = pack.basePack { names.insert(base) } }
    guard !names.isEmpty else { return }
    var offered: [String: Int] = [:]
    for (index, pack) in packs.enumerated() where names.contains(pack.id) && offered[pack.id] == nil && facts.isForDevice(pack) {
      offered[pack.id] = index
      if try cost(of: pack) == 0 { coming[pack.id] = pack.contentRoot }
    }
    for id in names { held[id] = Self.roots(of: try records.versions(id)) }
    for pack in packs where pack.basePack != nil && facts.isForDevice(pack) {
      guard let base = pack.basePack.flatMap({ offered[$0] }).map({ packs[$0] }), !roots(below: pack).contains(base.contentRoot) else {
        continue
      }
      let any = try read(pack.id)
      let record = any.flatMap { $0.bytes == PackBytes(pack) ? $0 : nil }
      let versions = try records.versions(pack.id)
      if facts.isWhole(pack, over: versions.filter({ !$0.isRejected }), defaults) { continue }
      // What has begun depends on nothing either, nor does what came to nothing as a delta.
      if let record {
        guard record.state.kind == .notLoaded, record.fallback == nil, try !records.hasArrived(record, among: files) else { continue }
      }
      guard !versions.contains(where: { $0.isExactly(PackBytes(pack)) }), Self.isWanted(pack, any, versions, facts),
        let cost = try cost(of: base)
      else { continue }
      // A delta over a version of the pack itself is not put off.
      let own = Self.roots(of: versions)
      guard pack.cheapestDelta(over: Set(own + roots(below: pack))) == nil,
        let delta = pack.cheapestDelta(over: [base.contentRoot]), delta.size.adding(cost) < pack.size
      else { continue }
      awaited[pack.id] = base.contentRoot
      if cost > 0 {
        asked.insert(base.id)
        coming[base.id] = base.contentRoot
      }
    }
  }

  /// Whether the base of a pack has this content, and is downloaded or will be.
  func comes(_ root: [UInt8], below pack: ManifestPack) -> Bool { pack.basePack.flatMap { coming[$0] } == root }

  /// The content roots on the device over which a pack may be a delta, besides its own.
  func roots(below pack: ManifestPack) -> [[UInt8]] { pack.basePack.flatMap { held[$0] } ?? [] }

  /// Returns the content roots of the versions of a pack that are on the device.
  private static func roots(of versions: [DevicePack]) -> [[UInt8]] { versions.filter { !$0.isRejected }.compactMap(\.contentRoot) }

  /// Whether a pack comes without being the base of another one.
  private static func isWanted(_ pack: ManifestPack, _ record: PackStatus?, _ versions: [DevicePack], _ facts: DeliveryFacts) -> Bool {
    pack.delivery != .onDemand || record?.isWanted == true || facts.asked.contains(pack.id) || versions.contains { !$0.isRejected }
  }

  /// Returns the bytes to download for a base that would not come otherwise; nil if it does not come.
  ///
  /// - Parameter record: the record of the bytes that are offered.
  private static func cost(
    of base: ManifestPack, _ record: PackStatus?, hasArrived: Bool, _ versions: [DevicePack], _ facts: DeliveryFacts
  ) -> UInt64? {
    // It is there, or rejected.
    if versions.contains(where: { $0.sha256 == base.sha256 }) { return nil }
    if hasArrived { return 0 }
    let cost = isWanted(base, record, versions, facts) ? 0 : base.size
    guard let record else { return cost }
    switch record.state {
    case .scheduled, .loading, .paused: return 0
    case .failed, .notLoaded(.cancelled): return nil
    case .notLoaded: return record.attempts == 0 ? cost : nil
    }
  }
}
