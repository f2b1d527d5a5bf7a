/// Measures the space that a store takes on the device, and removes versions if it is too much.
struct StoreSpace {
  private let directory: StoreDirectory
  private let manifests: StoreManifests

  init(_ directory: StoreDirectory, _ manifests: StoreManifests) {
    self.directory = directory
    self.manifests = manifests
  }

  /// The number of additional bytes that an installation needs.
  struct Needs {
    /// The number of additional bytes on the volume.
    let volume: UInt64
    /// The number of additional bytes in the store, which count towards the quota.
    let store: UInt64
  }

  // MARK: Room

  /// Makes room. If there is not enough, purges versions that may be purged, but purges none if that would not be enough.
  ///
  /// - Parameters:
  ///   - needs: The number of bytes needed.
  ///   - subject: What the room is for, as an error names it.
  ///   - ids: The packs that the room is for. Their running versions stay.
  ///   - tell: Receives what was removed, even if it was not enough.
  /// - Throws: ``PackError/Code/noSpace`` or ``PackError/Code/quotaExceeded``, with the number of missing bytes.
  func makeRoom(for needs: Needs, of subject: String, sparing ids: Set<String>, tell: ([StoreEvent]) -> Void) throws(PackError) {
    var missing = try shortage(needs)
    guard missing.volume > 0 || missing.quota > 0 else { return }
    _ = sweep()
    missing = try shortage(needs)
    var events: [StoreEvent] = []
    let wanted = missing.largest
    if wanted > 0, let candidates = try candidates(freeing: wanted, sparing: ids) {
      let report = try purge(candidates, toFree: wanted)
      events = report.removed.map { .purged($0.pack, reason: $0.reason) }
      tell(events)
      missing = try shortage(needs)
    }
    // Another process may have used the freed space.
    let outcome = events.isEmpty ? [] : ["installed versions were removed to make room, but that was not enough"]
    if let error = lack(missing, needs, subject, outcome) { throw error }
  }

  /// Checks whether there is room, or would be after a purge. Removes no installed version.
  ///
  /// - Returns: The number of bytes that are missing, and the error that reports it. Nil if there is room.
  func lack(for needs: Needs, of subject: String, sparing ids: Set<String>) throws(PackError) -> (missing: UInt64, error: PackError)? {
    var missing = try shortage(needs)
    guard missing.largest > 0 else { return nil }
    _ = sweep()
    missing = try shortage(needs)
    guard missing.largest > 0, try candidates(freeing: missing.largest, sparing: ids) == nil,
      let error = lack(missing, needs, subject)
    else { return nil }
    return (missing.largest, error)
  }

  private func lack(_ missing: Shortage, _ needs: Needs, _ subject: String, _ outcome: [String] = []) -> PackError? {
    if missing.volume > 0 {
      let margin = directory.policy.freeSpaceMargin
      let besides = margin > 0 ? " plus \(margin) bytes that must stay free" : ""
      return PackError(
        .noSpace, of: subject,
        "needs \(needs.volume) bytes on the volume of \(directory.root)\(besides); \(missing.volume) bytes are missing",
        details: outcome, advice: .freeSpace(bytes: missing.volume))
    }
    return missing.quota > 0 ? overQuota(needs, subject, missing: missing.quota, outcome) : nil
  }

  /// Frees at least this many bytes. Removes no installed version if that is not possible.
  ///
  /// - Returns: What was removed, and the number of bytes that could not be freed.
  func purgeIfEnough(toFree bytes: UInt64) throws(PackError) -> (PurgeReport, [StoreEvent]) {
    let wanted = bytes.less(sweep())
    guard let candidates = try candidates(freeing: wanted) else {
      var free: UInt64 = 0
      for candidate in try self.candidates() { free = free.adding(try size(of: candidate)) }
      return (PurgeReport(removed: [], freed: 0, missing: wanted.less(free)), [])
    }
    let report = try purge(candidates, toFree: wanted)
    return (report, report.removed.map { .purged($0.pack, reason: $0.reason) })
  }

  /// Checks the quota again, under the store's lock, because other processes may have installed packs since room was made.
  ///
  /// - Throws: ``PackError/Code/quotaExceeded``
  func checkQuota(for needs: Needs, of id: String) throws(PackError) {
    guard let quota = directory.policy.quota else { return }
    var sum = try ownRecords()
    for record in try directory.records() {
      for content in record.contents { sum = sum.adding(content.sizeOnDevice) }
    }
    let missing = sum.adding(needs.store).less(quota)
    if missing > 0 { throw overQuota(needs, "pack '\(id)'", missing: missing) }
  }

  private func overQuota(_ needs: Needs, _ subject: String, missing: UInt64, _ outcome: [String] = []) -> PackError {
    PackError(
      .quotaExceeded, of: subject,
      "needs \(needs.store) bytes, and the quota of the store is \(directory.policy.quota ?? 0) bytes; \(missing) bytes are missing",
      details: outcome, advice: .makeRoom(bytes: missing))
  }

  /// The number of missing bytes.
  struct Shortage {
    /// The number of bytes missing on the volume.
    let volume: UInt64
    /// The number of bytes by which the store would exceed its quota.
    let quota: UInt64

    /// The number of bytes to free so that both are enough.
    var largest: UInt64 { max(volume, quota) }
  }

  func shortage(_ needs: Needs) throws(PackError) -> Shortage {
    var volume: UInt64 = 0
    if needs.volume > 0 {
      let available = try writing(directory.root, directory.files.availableSpace(at: directory.handle))
      volume = needs.volume.adding(directory.policy.freeSpaceMargin).less(available)
    }
    guard let quota = directory.policy.quota else { return Shortage(volume: volume, quota: 0) }
    return Shortage(volume: volume, quota: try taken().adding(needs.store).less(quota))
  }

  /// Returns the number of bytes that the store takes. For installed content, uses the recorded sizes.
  private func taken() throws(PackError) -> UInt64 {
    var known: [String: UInt64] = [:]
    for record in try directory.records() {
      for content in record.contents { known[record.itemName(content)] = content.sizeOnDevice }
    }
    var sum = try ownRecords()
    for item in try directory.names(in: .packs) {
      if let size = known[item] { sum = sum.adding(size) } else { sum = sum.adding(try size(directory.place(item))) }
    }
    for part in [StoreDirectory.Part.staging, .trash] {
      for name in try directory.names(in: part) { sum = sum.adding(try size("\(part.rawValue)/\(name)")) }
    }
    return sum
  }

  private func size(_ name: String) throws(PackError) -> UInt64 { try directory.sizeOnDevice(name) }

  /// Returns the number of bytes of everything except the contents of `packs`, `staging` and `trash`.
  private func ownRecords() throws(PackError) -> UInt64 {
    let names = try reading(directory.root, directory.files.names(in: directory.handle))
    var sum = try reading(directory.root, directory.files.status(of: directory.handle).allocatedSize)
    let content: Set = [StoreDirectory.Part.packs.rawValue, StoreDirectory.Part.staging.rawValue, StoreDirectory.Part.trash.rawValue]
    for name in names where name.isUTF8 {
      sum = sum.adding(content.contains(name.text) ? try directory.status(name.text)?.allocatedSize ?? 0 : try size(name.text))
    }
    return sum
  }

  // MARK: Purging

  /// A version that may be removed.
  struct Candidate {
    let record: PackRecord
    let content: PackRecord.Content
    /// Versions with a lower rank are removed first.
    let rank: Int
    let preservation: UInt64
    let reason: String
  }

  func purge(toFree bytes: UInt64) throws(PackError) -> (PurgeReport, [StoreEvent]) {
    let swept = sweep()
    let report = try purge(candidates(), toFree: bytes.less(swept))
    return (
      PurgeReport(removed: report.removed, freed: report.freed.adding(swept), missing: report.missing),
      report.removed.map { .purged($0.pack, reason: $0.reason) }
    )
  }

  private func purge(_ candidates: [Candidate], toFree bytes: UInt64) throws(PackError) -> PurgeReport {
    var removed: [PurgeReport.Removal] = []
    var gone: [String: Set<PackRecord.Bytes>] = [:]
    var freed: UInt64 = 0
    for candidate in candidates where freed < bytes {
      let id = candidate.record.id
      // Content that the system has removed already frees nothing, even if the record lists its size.
      let size = try size(of: candidate, without: gone[id] ?? [])
      let pack = try directory.change(id) { (record) throws(PackError) -> InstalledPack? in
        // Other tasks and processes may have changed the record since the candidate was chosen.
        guard let content = record.content(candidate.content.bytes),
          record.state(of: content) == candidate.record.state(of: candidate.content),
          record.trial == candidate.record.trial, record.preservation == candidate.record.preservation,
          try !StoreDirectory.isUsed(content, of: record, in: directory.usedItems())
        else { return nil }
        let pack = directory.installed(content, of: record)
        let wasCurrent = record.current == content.bytes
        record.forget(content.bytes)
        // The version before a candidate stays for this.
        if wasCurrent, content.isCandidate { record.fallBack() }
        if wasCurrent, record.current == nil { record.purged = content.bytes }
        return pack
      }
      guard let pack else { continue }
      gone[id, default: []].insert(candidate.content.bytes)
      removed.append(PurgeReport.Removal(pack: pack, reason: candidate.reason))
      freed = freed.adding(size)
    }
    return PurgeReport(removed: removed, freed: freed, missing: bytes.less(freed))
  }

  /// Returns the first candidates that together free enough bytes. Returns nil if all candidates would not free enough.
  private func candidates(freeing bytes: UInt64, sparing ids: Set<String> = []) throws(PackError) -> [Candidate]? {
    var chosen: [Candidate] = []
    var gone: [String: Set<PackRecord.Bytes>] = [:]
    var sum: UInt64 = 0
    for candidate in try candidates(sparing: ids) where sum < bytes {
      sum = sum.adding(try size(of: candidate, without: gone[candidate.record.id] ?? []))
      gone[candidate.record.id, default: []].insert(candidate.content.bytes)
      chosen.append(candidate)
    }
    return sum >= bytes ? chosen : nil
  }

  /// Returns the number of bytes that removing a candidate frees now: 0 if it no longer exists.
  ///
  /// - Parameter gone: the versions of the pack that are removed before.
  private func size(of candidate: Candidate, without gone: Set<PackRecord.Bytes> = []) throws(PackError) -> UInt64 {
    let name = directory.place(candidate.record.itemName(candidate.content))
    guard try directory.status(name) != nil else { return 0 }
    return try size(name).less(candidate.record.sharedSize(candidate.content, without: gone))
  }

  /// Returns all versions that may be removed, in the order of removal.
  private func candidates(sparing ids: Set<String> = []) throws(PackError) -> [Candidate] {
    // An expired manifest does not decide which packs are obsolete.
    let manifest = try manifests.usable()
    let records = try directory.records()
    let device = directory.device.withLock { $0 }
    let recorded = Set(records.map(\.id))
    let lookup: CatalogueLookup =
      if let manifest { try manifests.lookUp(recorded, in: manifest.manifest) } else { CatalogueLookup() }
    let tellsObsolete = manifest.map { !manifests.isExpired($0) } ?? false
    let used = try directory.usedItems()
    let priorities = try StorePreservation(directory).priorities()
    var candidates: [Candidate] = []
    for record in records {
      let entry = lookup.packs[record.id].flatMap { device.accepts($0) ? $0 : nil }
      let isUnknown = lookup.unknown.contains(record.id)
      let isObsolete = tellsObsolete && entry == nil && !isUnknown
      // The tags of a pack whose shard is missing may have priorities, so it stays.
      let preservation =
        record.preservation ?? (isUnknown && !priorities.isEmpty ? 1_000_000 : nil) ?? entry?.tags.compactMap { priorities[$0] }.max()
        ?? Self.preservation(isObsolete ? nil : entry?.delivery ?? record.delivery, isObsolete: isObsolete)
      for content in record.contents where !StoreDirectory.isUsed(content, of: record, in: used) {
        let state = record.state(of: content)
        let isRunning = state == .current || state == .trial || state == .fallback
        // As long as a candidate runs, the version that it would be withdrawn to stays.
        let isWayBack = record.running?.isCandidate == true && content.bytes == record.wayBack?.bytes
        if state == .trial || state == .fallback || isWayBack || (isRunning && ids.contains(record.id)) { continue }
        let candidate: (rank: Int, reason: String)? =
          switch state {
          case .failed: (0, "it failed")
          case _ where isObsolete: preservation < 1_000_000 ? (1, "the manifest no longer names the pack") : nil
          case .sealed where entry != nil && entry?.bytes != content.bytes: (2, "the manifest names another version")
          case .kept: (2, "it is an earlier version")
          case .installed where entry != nil && entry?.bytes != content.bytes: (2, "the manifest names another version")
          default:
            preservation < 1_000_000 ? (3, "its preservation is \(Self.text(ofMillionths: preservation)), and space was short") : nil
          }
        if let candidate {
          candidates.append(
            Candidate(record: record, content: content, rank: candidate.rank, preservation: preservation, reason: candidate.reason))
        }
      }
    }
    return candidates.sorted { left, right in
      (left.rank, left.preservation, left.record.lastUse, left.record.id, left.content.bytes.version)
        < (right.rank, right.preservation, right.record.lastUse, right.record.id, right.content.bytes.version)
    }
  }

  /// Returns the default preservation priority of a pack, in millionths.
  static func preservation(_ delivery: DeliveryClass?, isObsolete: Bool) -> UInt64 {
    switch delivery {
    case _ where isObsolete: 0
    case .essential: 1_000_000
    case .prefetch: 600_000
    case .onDemand, nil: 500_000
    }
  }

  private static func text(ofMillionths value: UInt64) -> String {
    guard value < 1_000_000 else { return "1" }
    var digits = String(1_000_000 + value).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return digits.isEmpty ? "0" : "0.\(digits)"
  }

  /// Removes everything in `trash`, and what processes that have ended left in `staging`. Returns the number of bytes freed.
  private func sweep() -> UInt64 {
    var freed: UInt64 = 0
    for part in [StoreDirectory.Part.staging, .trash] {
      for name in (try? directory.names(in: part)) ?? [] where part == .trash || !directory.isLiving(name) {
        let path = "\(part.rawValue)/\(name)"
        let size = (try? size(path)) ?? 0
        if directory.remove(path) { freed = freed.adding(size) }
      }
    }
    return freed
  }

  /// Removes all versions of a pack.
  ///
  /// - Returns: Whether any version was installed.
  static func remove(_ id: String, from directory: StoreDirectory) throws(PackError) -> Bool {
    guard (try? PackName(id)) != nil, try directory.record(id) != nil else { return false }
    return try directory.change(id) { (record) throws(PackError) in
      let used = try directory.usedItems()
      if let content = record.contents.first(where: { StoreDirectory.isUsed($0, of: record, in: used) }) {
        throw PackError(
          .inUse, "version \(content.bytes.version) of pack '\(id)' is in use", advice: .closePack)
      }
      let hadContent = !record.contents.isEmpty
      let failures = record.failures
      record = PackRecord(id: id)
      record.failures = failures
      return hadContent
    }
  }

  // MARK: Usage

  func usage() throws(PackError) -> [StoreUsage] {
    var contents: [String: (record: PackRecord, content: PackRecord.Content)] = [:]
    for record in try directory.records() {
      for content in record.contents { contents[record.itemName(content)] = (record, content) }
    }
    let used = try directory.usedItems()
    var usage: [StoreUsage] = []
    for item in try directory.names(in: .packs).sorted() {
      let name = directory.place(item)
      let known = contents[item]
      // What a version shares with another one counts there.
      let size = try size(name).less(known?.content.links.reduce(0) { $0.adding($1.size) } ?? 0)
      let isUsed = used.contains(item)
      usage.append(
        StoreUsage(
          kind: known == nil ? .unrecorded : .pack, pack: known.map { directory.installed($0.content, of: $0.record) },
          path: directory.path(name),
          sizeOnDevice: size, reason: Self.reason(known?.record, known?.content, isUsed: isUsed)))
    }
    for (part, kind, reason) in [
      (StoreDirectory.Part.staging, StoreUsage.Kind.staging, "is being installed, or was left by a process that ended"),
      (.trash, .trash, "is being removed"),
    ] {
      for name in try directory.names(in: part).sorted() {
        let name = "\(part.rawValue)/\(name)"
        usage.append(StoreUsage(kind: kind, pack: nil, path: directory.path(name), sizeOnDevice: try size(name), reason: reason))
      }
    }
    usage.append(
      StoreUsage(
        kind: .records, pack: nil, path: directory.root, sizeOnDevice: try ownRecords(), reason: "the store's own records and directories"))
    return usage
  }

  private static func reason(_ record: PackRecord?, _ content: PackRecord.Content?, isUsed: Bool) -> String {
    let suffix = isUsed ? ", and is in use" : ""
    guard let record, let content else { return "no record names it\(suffix)" }
    let reason =
      switch record.state(of: content) {
      case .current: "runs"
      case .trial: "is on trial"
      case .fallback: "runs again if the version on trial fails"
      case .kept: "is kept for rollback"
      case .installed: "waits to be activated"
      case .sealed: "waits for the file that opens it"
      case .failed: "failed, will be removed"
      }
    return reason + suffix
  }
}
