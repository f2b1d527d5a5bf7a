/// The computation of a ``DeliveryPlan``. The manifest and the records are read pack by pack, and changes are written in batches, so that the memory of
/// a plan is that of its lists.
struct Planning<Failure: Error> {
  private(set) var plan = DeliveryPlan()
  /// The packs whose records somebody else has changed meanwhile.
  private(set) var withdrawn: Set<String> = []

  /// The packs that are offered.
  private let packs: ManifestListing
  private let defaults: ManifestDefaults
  /// The packs of which it is not known yet whether they are offered.
  private let unknown: Set<String>
  /// The packs over which others may be read, by name.
  private let bases: PackBases
  private let facts: DeliveryFacts
  private let policy: DeliveryPolicy
  private let isExpired: Bool
  private let records: PlanRecords<Failure>
  /// The packs that have a record and were not considered yet.
  private var recorded: Set<String>
  private var changes: [DeliveryPlan.Change] = []
  /// The packs on the device that were not considered yet.
  private var installed: Set<String>
  /// The files in the shared directory, and which of them are needed.
  private let files: WaitingFiles
  private var isNeeded: [Bool]
  /// The identifiers of downloads that the manifest offers.
  private var offeredDownloads: Set<String> = []
  private var candidates: [Candidate] = []
  /// The packs that the system is downloading, and those of them that are essential or were requested.
  private var (running, urgentlyRunning) = (0, 0)
  /// The number of bytes that everything in progress will take on the device.
  private var reserved: UInt64 = 0

  /// A pack to be downloaded if there is enough space. It is considered again when its turn comes.
  private struct Candidate {
    let pack: Int32
    let urgency: Int8
  }

  init(
    _ manifest: ManifestListing, _ lookup: CatalogueLookup, _ records: PlanRecords<Failure>, _ files: [WaitingFile], _ facts: DeliveryFacts,
    _ policy: DeliveryPolicy
  ) throws(Failure) {
    packs = manifest.adding(lookup.packs.values.sorted { $0.id.precedes($1.id) })
    defaults = manifest.head.defaults
    unknown = lookup.unknown
    self.facts = facts
    self.policy = policy
    isExpired = facts.time >= manifest.head.expires.secondsSince1970
    self.records = records
    recorded = records.ids
    installed = Set((facts.device ?? []).lazy.filter { !$0.isRejected }.map(\.id))
    let files = WaitingFiles(files)
    self.files = files
    bases = try PackBases(packs, records, files, facts, defaults)
    isNeeded = Array(repeating: false, count: files.files.count)
    plan.allowance = facts.allowance
  }

  mutating func run() throws(Failure) {
    for (index, pack) in packs.enumerated() where facts.isForDevice(pack) {
      let before = recorded.remove(pack.id) == nil ? nil : try records.read(pack.id)
      installed.remove(pack.id)
      try consider(pack, index, before)
    }
    for id in unknown.sorted() { try wait(id) }
    try flush()
    for urgency: Int8 in 0...2 {
      for candidate in candidates where candidate.urgency == urgency {
        let (index, pack) = (Int(candidate.pack), packs[Int(candidate.pack)])
        guard !withdrawn.contains(pack.id) else { continue }
        try consider(pack, index, try records.read(pack.id), isAgain: true)
      }
    }
    candidates = []
    // Packs that are not offered.
    for id in recorded.sorted() { if let before = try records.read(id) { try drop(before) } }
    for id in installed.sorted() { plan.obsolete.append(ObsoletePack(id: id, installed: try held(id))) }
    try flush()
    findStrays()
    plan.withdraw(withdrawn)
  }

  // MARK: A pack that is offered

  /// - Parameter isAgain: whether the pack is a candidate whose turn has come.
  private mutating func consider(_ pack: ManifestPack, _ index: Int, _ before: PackStatus?, isAgain: Bool = false) throws(Failure) {
    let bytes = PackBytes(pack)
    let versions = try records.versions(pack.id)
    let held = versions.filter { !$0.isRejected }
    if held.contains(where: { $0.isExactly(bytes) }) {
      plan.ready.append(pack.id)
      if let before { try drop(before) }
      return
    }
    var status = before ?? PackStatus(id: pack.id, bytes: bytes, at: facts.time)
    if status.bytes != bytes {
      cancel(status)
      apply(.offered(bytes), to: &status)
    }
    let isRejected = versions.contains { $0.isRejected && $0.sha256 == bytes.sha256 }
    meetLead(of: pack, over: held, &status)
    try chooseFile(of: pack, over: held, &status)
    let hasChosen = status.state.kind == .notLoaded || status.state.kind == .failed
    let hasArrived = try records.hasArrived(status, among: files)
    let identifier = facts.downloads == nil ? nil : status.identifier.description
    if let identifier { offeredDownloads.insert(identifier) }
    let isAsked = facts.asked.contains(pack.id) || bases.asked.contains(pack.id)
    if isAsked, !status.isWanted || status.state.kind == .failed || status.state == .notLoaded(.cancelled) {
      apply(.asked, to: &status)
    }
    if hasArrived { apply(.arrived, to: &status) }
    if !isAgain { meetSystem(identifier, hasArrived, &status) }
    if hasArrived { return try handOver(pack, over: held, before, status) }
    // The app needs the full pack.
    if facts.event == .launch, !status.state.isUnderWay { status.lead = nil }
    if status.state.kind == .failed, secondsLeft(status) == 0 || facts.event.permitsEssential { apply(.retryDue, to: &status) }
    // A download of the full pack that came to nothing: a delta may be offered by now, or its base be there.
    if !hasChosen, status.state.kind == .notLoaded, status.delta == nil { try chooseFile(of: pack, over: held, &status) }
    guard case .notLoaded(let idle) = status.state else { return try place(pack, over: held, before, status) }
    if let reason = reasonToWait(pack, over: held, status, idle, isRejected) { return try postpone(before, status, reason) }
    if isAgain { return try admit(pack, over: held, before, status) }
    let urgency: Int8 = pack.delivery == .essential ? 0 : status.isWanted ? 1 : 2
    candidates.append(Candidate(pack: Int32(index), urgency: urgency))
    try note(before, status)
  }

  /// The content root over which the file of a pack with a base is a delta. Nil for a full pack, or if that is not known.
  private func rootBelow(_ pack: ManifestPack, _ status: PackStatus) -> [UInt8]? {
    guard pack.basePack != nil, let delta = status.delta else { return nil }
    return pack.deltas.first { $0.sha256 == delta.sha256 && $0.size == delta.size }?.bases.first
  }

  private func secondsLeft(_ status: PackStatus) -> UInt64 {
    let longest = facts.awaited.contains(status.id) ? policy.longestAwaitedDelaySeconds : .max
    return status.secondsLeft(at: facts.time, atMost: longest)
  }

  /// Corrects the status by the system's list of downloads.
  private mutating func meetSystem(_ identifier: String?, _ hasArrived: Bool, _ status: inout PackStatus) {
    guard let downloads = facts.downloads, let identifier else {
      if status.state.isUnderWay, isOlder(status, than: policy.silentSeconds) { apply(.forgotten, to: &status) }
      return
    }
    let isThere = downloads.contains(identifier)
    if status.state.isUnderWay {
      if !isThere, facts.isListExact || isOlder(status, than: policy.missingSeconds) { apply(.forgotten, to: &status) }
    } else if isThere {
      // The list is a little older than the record: the download may have failed in between.
      if status.state.kind == .failed, let age = status.age(at: facts.time), age < Self.listSeconds { return }
      // A cancelled download stays cancelled, and a file that is here need not be downloaded again.
      let isUseful = status.state.kind == .notLoaded && status.state != .notLoaded(.cancelled) || status.state.kind == .failed
      if isUseful, !hasArrived { apply(.began, to: &status) } else { plan.cancellations.append(identifier) }
    }
  }

  /// Ends a download that is not needed any more.
  private mutating func cancel(_ status: PackStatus) {
    if status.state.isUnderWay, !files.contain(status) { plan.cancellations.append(status.identifier.description) }
  }

  /// The number of seconds that pass at most between the system's list and the records.
  private static var listSeconds: UInt64 { 5 }

  /// Returns whether a state is at least this old. Also true if the clock was set back, because the age is unknown then.
  private func isOlder(_ status: PackStatus, than seconds: UInt32) -> Bool {
    status.age(at: facts.time).map { $0 >= UInt64(seconds) } ?? true
  }

  /// Adds a pack to its list.
  private mutating func place(
    _ pack: ManifestPack, over held: [DevicePack], _ before: PackStatus?, _ status: PackStatus
  ) throws(Failure) {
    switch status.state {
    case .scheduled, .loading, .paused:
      reserve(pack, over: held)
      plan.underWay.append(pack.id)
      running += 1
      if pack.delivery == .essential || status.isWanted { urgentlyRunning += 1 }
    case .failed(let reason):
      plan.postponed.append(Postponement(id: pack.id, reason: .failed(reason, secondsLeft: secondsLeft(status))))
    case .notLoaded:
      // Placed by its reason.
      break
    }
    try note(before, status)
  }

  /// Adds a pack to those whose file is to be installed.
  private mutating func handOver(
    _ pack: ManifestPack, over held: [DevicePack], _ before: PackStatus?, _ status: PackStatus
  ) throws(Failure) {
    if let place = files.place(of: status.identifier) { isNeeded[place] = true }
    plan.leads.removeAll { $0.download.id == pack.id }
    reserve(pack, over: held)
    let root = rootBelow(pack, status)
    if let base = pack.basePack, let root, bases.comes(root, below: pack), !bases.roots(below: pack).contains(root) {
      return try postpone(before, status, .base(base))
    }
    if isExpired { return try postpone(before, status, .manifestExpired) }
    plan.handOver.append(HandOver(id: pack.id, bytes: status.file, mode: mode(of: pack, over: held)))
    try note(before, status)
  }

  private func reasonToWait(
    _ pack: ManifestPack, over held: [DevicePack], _ status: PackStatus, _ idle: IdleReason, _ isRejected: Bool
  ) -> Postponement.Reason? {
    if isRejected { return .failed(.rejected, secondsLeft: nil) }
    // What is on the device is kept up to date.
    if pack.delivery == .onDemand, !status.isWanted, held.isEmpty { return .notAsked }
    if idle == .cancelled, !(pack.delivery == .essential && facts.event.permitsEssential) { return .cancelled }
    if idle.waitsForLaunch, facts.allowance != nil { return .beforeLaunch(idle) }
    return isExpired ? .manifestExpired : nil
  }

  /// Returns how to install a pack. A pack that is installed packed stays packed: someone chose to save space, or reads it in place.
  private func mode(of pack: ManifestPack, over held: [DevicePack]) -> InstallMode {
    held.contains { $0.mode == .packed } ? .packed : pack.install
  }

  private func sizeOnDevice(_ pack: ManifestPack, over held: [DevicePack]) -> UInt64 {
    mode(of: pack, over: held) == .packed ? pack.size.adding(4095) / 4096 * 4096 : pack.installSize
  }

  private mutating func reserve(_ pack: ManifestPack, over held: [DevicePack]) {
    reserved = reserved.adding(sizeOnDevice(pack, over: held))
  }

  /// Adds a pack to the downloads if there is enough space.
  private mutating func admit(
    _ pack: ManifestPack, over held: [DevicePack], _ before: PackStatus?, _ status: PackStatus
  ) throws(Failure) {
    var status = status
    // Of a pack with a lead, only that is.
    let isEssential = status.lead != nil && facts.event.permitsEssential || isEssential(pack)
    let isUrgent = pack.delivery == .essential || status.isWanted
    guard isEssential || max(plan.downloads.count, isUrgent ? urgentlyRunning : running) < policy.largestBatch else {
      return try postpone(before, status, .batch(status.file))
    }
    if let free = facts.freeSpace {
      // A pack is unpacked, or made of a delta, while its file is still there.
      let beside = mode(of: pack, over: held) == .unpacked || status.file != status.bytes ? status.file.size : 0
      let needed = reserved.adding(sizeOnDevice(pack, over: held)).adding(beside)
      guard needed <= free else { return try postpone(before, status, .space(needed: needed, free: free)) }
    }
    if var allowance = plan.allowance {
      let left = isEssential ? allowance.essential : allowance.other
      guard allowance.take(status.file.size, isEssential: isEssential) else {
        return try postpone(before, status, .allowance(size: status.file.size, left: left))
      }
      plan.allowance = allowance
    }
    reserve(pack, over: held)
    let wasBarred = status.state == .notLoaded(.background) || status.state == .notLoaded(.foreground)
    running += 1
    if isUrgent { urgentlyRunning += 1 }
    apply(.scheduled(isEssential: isEssential), to: &status)
    plan.downloads.append(
      PlannedDownload(
        id: pack.id, bytes: status.file, url: url(of: pack, status),
        isDelta: status.delta != nil, fallback: status.fallback, isEssential: isEssential,
        priority: pack.delivery == .essential ? 1 : status.isWanted ? PlannedDownload.wantedPriority : 0.5,
        startsInForeground: facts.event == .launch && (pack.delivery == .essential || status.isWanted || wasBarred),
        lead: status.file == status.bytes ? PackLeadFile(of: pack, defaults) : nil))
    try note(before, status)
  }

  private mutating func postpone(_ before: PackStatus?, _ status: PackStatus, _ reason: Postponement.Reason) throws(Failure) {
    plan.postponed.append(Postponement(id: status.id, reason: reason))
    try note(before, status)
  }

  /// Whether all of a pack is an essential download now.
  private func isEssential(_ pack: ManifestPack) -> Bool {
    pack.delivery == .essential && facts.event.permitsEssential && PackLeadFile(of: pack, defaults) == nil
  }

  private func url(of pack: ManifestPack, _ status: PackStatus) -> String {
    if status.lead != nil, let lead = PackLeadFile(of: pack, defaults) { return lead.url }
    return status.delta.flatMap { _ in defaults.url(pack.id, status.file.sha256) } ?? pack.url
  }

  // MARK: Leads

  /// Decides whether the lead of a pack is fetched, and finds one that is here.
  ///
  /// The lead is all that an app needs of an essential pack at its first launch, and the only essential download of it.
  private mutating func meetLead(of pack: ManifestPack, over held: [DevicePack], _ status: inout PackStatus) {
    guard let lead = PackLeadFile(of: pack, defaults), held.isEmpty else { return dropLead(&status) }
    let (bytes, identifier) = (lead.bytes(of: pack), DownloadIdentifier(id: pack.id, bytes: lead.bytes(of: pack)))
    let place = files.place(of: identifier).flatMap { files.files[$0].size == bytes.size ? $0 : nil }
    if let place {
      // The app takes what it has, and removes it after that.
      if facts.event != .launch { isNeeded[place] = true } else { arrived(identifier, pack) }
    }
    let isLate = facts.event == .launch && facts.asked.contains(pack.id)
    if place != nil || isLate || status.lead.map({ $0 != bytes }) ?? false { dropLead(&status) }
    let isIdle = status.state.kind == .notLoaded || status.state.kind == .failed
    guard place == nil, isIdle, pack.delivery == .essential, facts.event.permitsEssential, !files.contain(status) else { return }
    (status.lead, status.delta) = (bytes, nil)
  }

  private mutating func arrived(_ file: DownloadIdentifier, _ pack: ManifestPack) {
    guard let download = PlannedDownload(arriving: pack, defaults), !plan.leads.contains(where: { $0.file == file }) else { return }
    plan.leads.append(DeliveryPlan.ArrivedLead(file: file, download: download))
  }

  /// Goes on with the full pack.
  private mutating func dropLead(_ status: inout PackStatus) {
    guard status.lead != nil else { return }
    cancel(status)
    apply(.forgotten, to: &status)
    status.lead = nil
  }

  // MARK: Deltas

  /// Chooses the file that brings a pack: the delta that takes the fewest bytes, or the full pack. A download in progress keeps its file while the manifest
  /// offers it.
  private mutating func chooseFile(of pack: ManifestPack, over held: [DevicePack], _ status: inout PackStatus) throws(Failure) {
    guard status.fallback == nil, status.lead == nil else { return }
    if let delta = status.delta {
      let isOffered = pack.deltas.contains { $0.sha256 == delta.sha256 && $0.size == delta.size }
      if isOffered, status.state.isUnderWay { return }
      if isOffered, try records.hasArrived(status, among: files) { return }
      cancel(status)
      apply(.forgotten, to: &status)
      status.delta = nil
    }
    guard status.state.kind == .notLoaded || status.state.kind == .failed, try !records.hasArrived(status, among: files) else { return }
    if facts.isWhole(pack, over: held, defaults) { return }
    let roots = (held.map(\.contentRoot) + [bases.awaited[pack.id]]).compactMap(\.self) + bases.roots(below: pack)
    status.delta = pack.cheapestDelta(over: Set(roots)).map { PackBytes(version: pack.version, size: $0.size, sha256: $0.sha256) }
  }

  // MARK: Packs whose shard is not here

  /// Keeps everything of a pack, and records whether it is requested.
  private mutating func wait(_ id: String) throws(Failure) {
    let before = recorded.remove(id) == nil ? nil : try records.read(id)
    installed.remove(id)
    for place in files.places(of: id) { isNeeded[place] = true }
    plan.undecided.append(id)
    let held = try held(id)
    if let before, held.contains(where: { $0.isExactly(before.bytes) }) { return try drop(before) }
    // What is on the device is kept up to date without a request.
    let isAsked = facts.asked.contains(id)
    guard var status = before ?? (isAsked && held.isEmpty ? PackStatus(id: id, bytes: .unknown, at: facts.time) : nil) else { return }
    let identifier = status.identifier.description
    offeredDownloads.insert(identifier)
    if isAsked, !status.isWanted || status.state.kind == .failed { apply(.asked, to: &status) }
    if try !records.hasArrived(status, among: files) { meetSystem(identifier, false, &status) }
    try note(before, status)
  }

  // MARK: Packs that need no record

  /// Removes the record of a pack that is on the device, or is not offered.
  private mutating func drop(_ before: PackStatus) throws(Failure) {
    cancel(before)
    try change(before.id, before, nil)
  }

  /// Returns the versions of a pack on the device that were not rejected.
  private func held(_ id: String) throws(Failure) -> [DevicePack] { try records.versions(id).filter { !$0.isRejected } }

  /// Finds downloads and files that are no longer needed.
  private mutating func findStrays() {
    if let downloads = facts.downloads {
      // Downloads with other names belong to other code.
      plan.cancellations += downloads.filter { !offeredDownloads.contains($0) && DownloadIdentifier($0) != nil }
    }
    // If a cancelled download is still in the system and wanted again, the system continues it.
    if !plan.cancellations.isEmpty {
      let wanted = Set(plan.downloads.map(\.identifier.description))
      plan.cancellations = Set(plan.cancellations).subtracting(wanted).sorted()
    }
    plan.orphans = files.files.indices.filter { !isNeeded[$0] }.map { files.files[$0].identifier.description }
  }

  // MARK: Records

  private func apply(_ event: PackEvent, to status: inout PackStatus) {
    if let next = status.after(event, at: facts.time, policy: policy) { status = next }
  }

  private mutating func note(_ before: PackStatus?, _ after: PackStatus) throws(Failure) {
    // A pack with nothing to remember needs no record.
    let isBlank = before == nil && after.state == .notLoaded(.new) && !after.isWanted
    if before != after, !isBlank { try change(after.id, before, after) }
  }

  private mutating func change(_ id: String, _ before: PackStatus?, _ after: PackStatus?) throws(Failure) {
    changes.append(DeliveryPlan.Change(id: id, before: before, after: after))
    if changes.count == records.batch { try flush() }
  }

  private mutating func flush() throws(Failure) {
    guard !changes.isEmpty else { return }
    withdrawn.formUnion(try records.write(changes))
    changes.removeAll(keepingCapacity: true)
  }
}

/// The records that a plan reads and changes.
struct PlanRecords<Failure: Error> {
  /// The packs that have a record.
  let ids: Set<String>
  /// The number of changes that are written at once.
  let batch: Int
  /// Reads the record of a pack as it is now.
  let read: (String) throws(Failure) -> PackStatus?
  /// Returns the versions of a pack on the device, and those that the store rejects.
  let versions: (String) throws(Failure) -> [DevicePack]
  /// Whether the store has moved a file to its place.
  let hasTaken: (DownloadIdentifier) throws(Failure) -> Bool
  /// Writes changes, and returns the packs whose records somebody else has changed meanwhile.
  let write: ([DeliveryPlan.Change]) throws(Failure) -> Set<String>
}

extension PlanRecords {
  /// Whether the file that a status is about waits in the shared directory, or the store is just taking it.
  func hasArrived(_ status: PackStatus, among files: WaitingFiles) throws(Failure) -> Bool {
    if files.contain(status) { return true }
    return status.state == .notLoaded(.arrived) ? try hasTaken(status.identifier) : false
  }
}
