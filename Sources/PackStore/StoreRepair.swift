/// Repairs a store. It may be interrupted after any step, and the next run continues from there.
///
/// It reads without the lock. Before it changes anything, it checks again under the lock, because other processes may have changed the store.
struct StoreRepair {
  private let directory: StoreDirectory
  private let manifests: StoreManifests
  private let depth: ReconcileDepth
  private let pool: WorkerPool
  private let trials: StoreTrials
  private let contents: ContentCheck
  private let log = Log()

  private final class Log {
    var findings: [StoreFinding] = []
    var events: [StoreEvent] = []
  }

  init(_ directory: StoreDirectory, _ manifests: StoreManifests, depth: ReconcileDepth, pool: WorkerPool) {
    self.directory = directory
    self.manifests = manifests
    self.depth = depth
    self.pool = pool
    trials = StoreTrials(directory)
    contents = ContentCheck(directory: directory, pool: pool)
  }

  func run() throws(PackError) -> ([StoreFinding], [StoreEvent]) {
    try directory.makeParts(removesOthers: true)
    try sweep()
    try checkManifest()
    manifests.freeShards()
    let items = try itemsByPack()
    var seen: Set<String> = []
    for name in try directory.names(in: .state).sorted() {
      try pool.checkpoint()
      guard let id = PackName(fileName: name)?.text else {
        removeForeign("\(StoreDirectory.Part.state.rawValue)/\(name)")
        continue
      }
      seen.insert(id)
      try check(id, items[id] ?? [])
    }
    for (id, names) in items.sorted(by: { $0.key < $1.key }) where !seen.contains(id) {
      try pool.checkpoint()
      try check(id, names)
    }
    return (log.findings, log.events + log.findings.map { .found($0) })
  }

  private func found(_ kind: StoreFinding.Kind, _ pack: String?, _ text: String, isRepaired: Bool = true) {
    log.findings.append(StoreFinding(kind: kind, pack: pack, text: text, isRepaired: isRepaired))
  }

  // MARK: Leftovers

  /// Removes what processes that have ended left in `staging`, `trash` and `uses`.
  private func sweep() throws(PackError) {
    for name in try directory.names(in: .staging).sorted() where !directory.isLiving(name) {
      let isGone = directory.remove("\(StoreDirectory.Part.staging.rawValue)/\(name)")
      found(
        .unfinished, nil,
        "an installation or a change was interrupted; its 'staging/\(printable(name.utf8))' was \(isGone ? "" : "not ")removed",
        isRepaired: isGone)
    }
    for name in try directory.names(in: .trash).sorted() {
      // If a running process is removing it, removing it here too is harmless, and there is nothing to report.
      let isLiving = directory.isLiving(name)
      let isGone = directory.remove("\(StoreDirectory.Part.trash.rawValue)/\(name)")
      if !isLiving {
        found(
          .halfRemoved, nil, "a removal was interrupted; its 'trash/\(printable(name.utf8))' was \(isGone ? "" : "not ")removed",
          isRepaired: isGone)
      }
    }
    for name in try directory.names(in: .uses).sorted() {
      let session = UseLedger.parts(ofName: name)?.session
      if let session, session == directory.process.session || directory.process.isAlive(session) { continue }
      let isGone = directory.remove("\(StoreDirectory.Part.uses.rawValue)/\(name)")
      found(
        .staleUse, nil, "a process ended with '\(printable(name.utf8))' open; its mark was \(isGone ? "" : "not ")removed",
        isRepaired: isGone)
    }
  }

  private func removeForeign(_ name: String) {
    let isGone = directory.remove(name)
    found(.foreign, nil, "'\(printable(name.utf8))' does not belong in a store; it was \(isGone ? "" : "not ")removed", isRepaired: isGone)
  }

  private func itemsByPack() throws(PackError) -> [String: [String]] {
    var items: [String: [String]] = [:]
    for name in try directory.names(in: .packs).sorted() {
      if let item = ItemName(name) {
        items[item.id, default: []].append(name)
      } else {
        removeForeign(directory.place(name))
      }
    }
    return items
  }

  // MARK: Manifest

  /// Removes a record of keys documents that cannot be read. One that does not belong to the embedded document is kept: the next release of the app
  /// may embed another one.
  private func checkKeys() throws(PackError) {
    guard try manifests.areKeysDamaged() else { return }
    try directory.withLock { () throws(PackError) in
      if try manifests.areKeysDamaged() { manifests.discardKeys() }
    }
    found(.keysDamaged, nil, "the record of keys documents was damaged and was removed; they come again with the next manifest")
  }

  private func checkManifest() throws(PackError) {
    try checkKeys()
    var isDamaged = false
    do throws(PackError) {
      _ = try manifests.verified()
    } catch {
      guard !StoreManifests.isOutside(error) else { throw error }
      // An undamaged manifest without a trusted signature is kept: the next release of the app may trust its key again.
      isDamaged = error.code == .damagedManifest || error.code == .damagedStore
      found(
        .manifestUnusable, nil, "\(error.message); installed packs stay\(isDamaged ? ", and the file was removed" : "")",
        isRepaired: isDamaged)
    }
    var isForgotten = false
    do throws(PackError) {
      if try manifests.memory() == nil { isForgotten = try manifests.usable() != nil }
    } catch {
      guard error.code == .damagedStore else { throw error }
      isForgotten = true
    }
    guard isDamaged || isForgotten else { return }
    let isRebuilt = try directory.withLock { () throws(PackError) in
      if isDamaged { manifests.discard(memory: false) }
      guard isForgotten else { return false }
      if try manifests.rebuildMemory() { return true }
      manifests.discard(memory: true)
      return false
    }
    if isForgotten {
      found(
        .memoryDamaged, nil,
        isRebuilt
          ? "the memory of accepted manifests was lost; it was rebuilt from the manifest"
          : "the memory of accepted manifests was lost, and there is no usable manifest to rebuild it from")
    }
  }

  // MARK: One pack

  private func check(_ id: String, _ items: [String]) throws(PackError) {
    let record: PackRecord?
    do throws(PackError) {
      record = try directory.record(id)
    } catch {
      guard error.code == .damagedStore else { throw error }
      return try rebuild(id, items, because: error)
    }
    var named = record?.itemNames ?? []
    if let record, try needsChange(record) {
      try settle(id)
      named = try directory.record(id)?.itemNames ?? []
    }
    for item in items where !named.contains(item) { try takeIn(item) }
  }

  /// Returns whether a record needs a change, checked without the lock.
  private func needsChange(_ record: PackRecord) throws(PackError) -> Bool {
    var copy = record
    if copy.judgeTrial(by: directory.process.session, starts: directory.policy.trialStarts, isAlive: directory.process.isAlive) != nil {
      return true
    }
    if record.isEmpty { return true }
    if !record.surplus(keeping: directory.policy.keepVersions).isEmpty { return true }
    for content in record.contents where try contents.fault(of: content, in: record, depth) != nil { return true }
    return false
  }

  /// Updates a record to match the content on the disk.
  private func settle(_ id: String) throws(PackError) {
    // The thorough check runs without the lock: installed content does not change in place.
    var faults: [PackRecord.Bytes: (fault: ContentCheck.Fault?, inode: UInt64?)] = [:]
    if depth == .thorough, let record = try directory.record(id) {
      for content in record.contents {
        let inode = try directory.status(directory.place(record.itemName(content)))?.inode
        faults[content.bytes] = (try contents.fault(of: content, in: record, depth), inode)
      }
    }
    let before = log.findings.count
    do throws(PackError) {
      try directory.change(id) { (record) throws(PackError) in
        var lost: [(content: PackRecord.Content, fault: ContentCheck.Fault)] = []
        for content in record.contents {
          // Another process may have installed the same version again since the thorough check.
          let inode = try directory.status(directory.place(record.itemName(content)))?.inode
          let fault: ContentCheck.Fault?
          if let known = faults[content.bytes], known.inode == inode {
            fault = known.fault
          } else {
            fault = try contents.fault(of: content, in: record, .quick)
          }
          if let fault { lost.append((content, fault)) }
        }
        drop(lost, from: &record)
        let trial = record.trial
        let events = trials.judge(&record)
        tell(events, id)
        if let now = record.trial, now != trial {
          found(
            .trialContinues, id,
            "version \(now.bytes.version) of pack '\(id)' was on trial when its process ended; this is start \(now.starts) of \(directory.policy.trialStarts)"
          )
        }
        let surplus = try trials.dropSurplus(of: &record)
        for case .purged(let pack, let reason) in surplus {
          found(.surplus, id, "version \(pack.version) of pack '\(id)' was removed: \(reason)")
        }
        log.events += events + surplus
      }
    } catch {
      log.findings.removeSubrange(before...)
      throw error
    }
  }

  /// Removes versions from a record.
  private func drop(_ lost: [(content: PackRecord.Content, fault: ContentCheck.Fault)], from record: inout PackRecord) {
    let current = record.current
    for (content, _) in lost { record.forget(content.bytes) }
    if let current, record.current == nil {
      record.fallBack()
      if record.current == nil { record.purged = current }
    }
    for (content, fault) in lost { tell(fault, of: content, record.id, wasCurrent: content.bytes == current, now: record) }
  }

  private func tell(_ fault: ContentCheck.Fault, of content: PackRecord.Content, _ id: String, wasCurrent: Bool, now record: PackRecord) {
    var end = ""
    if wasCurrent {
      end = record.current.map { "; version \($0.version) runs now" } ?? "; install it again"
    }
    switch fault {
    case .missing: found(.missing, id, "version \(content.bytes.version) of pack '\(id)' is no longer on the device\(end)")
    case .damaged(let what): found(.damaged, id, "version \(content.bytes.version) of pack '\(id)' \(what); it was removed\(end)")
    }
  }

  private func tell(_ events: [StoreEvent], _ id: String) {
    for case .rolledBack(_, let version, let current, let reason) in events {
      let end = current.map { "version \($0.version) runs again" } ?? "no version is left to run"
      found(.crashedTrial, id, "version \(version) of pack '\(id)' was on trial: \(reason); \(end)")
    }
  }

  // MARK: Content without a record

  /// Identifies content that no record names, by reading all of its bytes. Returns nil if the content is not to be kept.
  ///
  /// - Throws: ``PackError/Code/catalogueNotAvailable`` if that depends on an entry in a shard that is missing or cannot be used.
  /// - Parameter isLenient: Whether a pack file that the manifest does not name is kept if its header and digest match its name.
  private func identity(of name: String, isLenient: Bool) throws(PackError) -> (content: PackRecord.Content, delivery: DeliveryClass?)? {
    guard let item = ItemName(name), let status = try directory.status(directory.place(name)) else { return nil }
    let manifest = try manifests.usable()?.manifest
    let lookup: CatalogueLookup = if let manifest { try manifests.catalogue.lookUp([item.id], in: manifest) } else { CatalogueLookup() }
    if let manifest, !lookup.unknown.isEmpty, item.mode == .unpacked || item.isRewritten || !isLenient {
      throw .missing(lookup.missing, of: manifest, for: "pack '\(item.id)'")
    }
    let editions = lookup.packs[item.id]?.editions(manifest?.defaults ?? ManifestDefaults()) ?? []
    let entry = editions.first { $0.version == item.version && $0.sha256.prefix(8).hex == item.digits }
    let size = try directory.sizeOnDevice(directory.place(name))
    switch item.mode {
    case .packed where item.isRewritten:
      // The content root is compared whenever it is opened.
      guard status.kind == .file, let entry, let sha256 = try contents.sha256(ofFile: directory.place(name)), item.isOwn(sha256) else {
        return nil
      }
      var content = PackRecord.Content(
        bytes: entry.bytes, mode: .packed, size: status.size, sizeOnDevice: size, contentRoot: entry.contentRoot, isProven: false)
      content.rewritten = sha256
      content.isCandidate = entry.isCandidate
      return (content, entry.delivery)
    case .packed:
      guard status.kind == .file, entry != nil || isLenient, let sha256 = try contents.sha256(ofFile: directory.place(name)),
        entry.map({ $0.sha256 == sha256 }) ?? (sha256.prefix(8).hex == item.digits && isNamed(item))
      else { return nil }
      var content = PackRecord.Content(
        bytes: PackRecord.Bytes(version: item.version, sha256: sha256), mode: .packed, size: status.size, sizeOnDevice: size,
        contentRoot: entry?.contentRoot, isProven: false)
      // Its opener is asked for again.
      content.sealedBy = entry?.opener?.sha256
      content.isCandidate = entry?.isCandidate ?? false
      return (content, entry?.delivery)
    case .unpacked:
      guard status.kind == .directory, let entry, try contents.root(of: directory.place(name)) == entry.contentRoot else { return nil }
      var content = PackRecord.Content(
        bytes: entry.bytes, mode: .unpacked, size: entry.contentSize, sizeOnDevice: size, contentRoot: entry.contentRoot, isProven: false)
      content.isCandidate = entry.isCandidate
      return (content, entry.delivery)
    }
  }

  /// Returns a version that was unpacked without the files that versions in a record have, too: they count there.
  private func counted(_ content: PackRecord.Content, in record: PackRecord) throws(PackError) -> PackRecord.Content {
    guard content.mode == .unpacked else { return content }
    var content = content
    var shared = try linkedFiles(content, of: record)
    for other in record.contents where other.mode == .unpacked && !shared.isEmpty {
      let common = try linkedFiles(other, of: record).intersection(shared)
      guard !common.isEmpty else { continue }
      shared.subtract(common)
      content.links.append(PackRecord.Link(bytes: other.bytes, size: common.reduce(0) { $0.adding($1.size) }))
    }
    content.sizeOnDevice = content.sizeOnDevice.less(content.links.reduce(0) { $0.adding($1.size) })
    return content
  }

  private func linkedFiles(_ content: PackRecord.Content, of record: PackRecord) throws(PackError) -> Set<InstalledTree.LinkedFile> {
    let name = directory.place(record.itemName(content))
    let tree = InstalledTree(files: directory.files, backend: directory.backend)
    return try reading(directory.path(name), ifPresent(tree.linkedFiles(of: name, in: directory.handle))) ?? []
  }

  /// Returns whether the header of a pack file has the pack name and version of its file name.
  private func isNamed(_ item: ItemName) -> Bool {
    guard let start = try? PackStart(directory.path(directory.place(item.text)), files: directory.files), let name = try? PackName(item.id)
    else { return false }
    return start.header.packVersion == item.version && (try? PackID.bytes(for: name, backend: directory.backend)) == start.header.packID
  }

  /// Records content that no record names, or removes it.
  private func takeIn(_ name: String) throws(PackError) {
    guard let item = ItemName(name) else { return }
    let known: (content: PackRecord.Content, delivery: DeliveryClass?)?
    do throws(PackError) {
      known = try identity(of: name, isLenient: false)
    } catch {
      guard error.code == .catalogueNotAvailable else { throw error }
      return found(
        .undecided, item.id, "'\(directory.place(name))' is not recorded, and stays until it is known what it is: \(error.message)",
        isRepaired: false)
    }
    var discarded: String?
    let isAdopted = try directory.change(item.id) { (record) throws(PackError) -> Bool? in
      // Another process may have recorded or removed it in the meantime, or have it open.
      guard !record.itemNames.contains(name), try directory.status(directory.place(name)) != nil, try !directory.usedItems().contains(name)
      else {
        return nil
      }
      if let known, !record.hasFailed(known.content.bytes), record.content(known.content.bytes) == nil,
        record.contents.count < PackRecord.contentLimit
      {
        record.contents.append(try counted(known.content, in: record))
        record.delivery = known.delivery ?? record.delivery
        return true
      }
      discarded = directory.discard(directory.place(name))
      return false
    }
    if let discarded { directory.empty([discarded]) }
    switch isAdopted {
    case true:
      found(.adopted, item.id, "version \(item.version) of pack '\(item.id)' was complete but not recorded; it is installed now")
    case false:
      let what =
        item.isRewritten ? "was made by a delta, and is not the version that the manifest names" : "does not match the manifest"
      found(.orphaned, item.id, "'\(directory.place(name))' was not recorded and \(what); it was removed")
    default: break
    }
  }

  /// Rebuilds a record from the content on the disk.
  ///
  /// It is not known which version was the current one. The oldest complete version becomes current, because a newer one may have been on trial.
  /// The others wait to be activated.
  private func rebuild(_ id: String, _ items: [String], because error: PackError) throws(PackError) {
    var known: [(name: String, content: PackRecord.Content, delivery: DeliveryClass?)] = []
    do throws(PackError) {
      for name in items {
        if let (content, delivery) = try identity(of: name, isLenient: true) { known.append((name, content, delivery)) }
      }
    } catch {
      guard error.code == .catalogueNotAvailable else { throw error }
      return found(
        .undecided, id, "the record of pack '\(id)' cannot be read, and is rebuilt when it is known what is installed: \(error.message)",
        isRepaired: false)
    }
    let isRebuilt = try directory.change(id, isMadeAnew: true) { (record) throws(PackError) in
      guard record == PackRecord(id: id) else { return false }
      for (name, content, delivery) in known
      where record.content(content.bytes) == nil && record.contents.count < PackRecord.contentLimit {
        guard try directory.status(directory.place(name)) != nil else { continue }
        record.contents.append(try counted(content, in: record))
        record.delivery = delivery ?? record.delivery
      }
      if let oldest = record.contents.indices.filter({ !record.contents[$0].isSealed }).min(by: {
        record.contents[$0].bytes.version < record.contents[$1].bytes.version
      }) {
        record.contents[oldest].isProven = true
        record.current = record.contents[oldest].bytes
      }
      return true
    }
    if isRebuilt {
      let record = try directory.record(id)
      let versions = record?.contents.map { "\($0.bytes.version)" }.joined(separator: ", ") ?? ""
      let end = versions.isEmpty ? "no version is left" : "installed: \(versions); version \(record?.current?.version ?? 0) runs"
      found(.damagedRecord, id, "the record of pack '\(id)' could not be read and was rebuilt; \(end)")
    }
    let named = try directory.record(id)?.itemNames ?? []
    for item in items where !named.contains(item) { try takeIn(item) }
  }
}
