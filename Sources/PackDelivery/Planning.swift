import PackFormat
import PackManifest

/// The making of a ``DeliveryPlan``.
struct Planning {
  private(set) var plan = DeliveryPlan()

  private let manifest: Manifest
  private let facts: DeliveryFacts
  private let policy: DeliveryPolicy
  private let isExpired: Bool
  private var records: [String: PackStatus] = [:]
  private var device: [String: [DevicePack]] = [:]
  private var files: [String: WaitingFile] = [:]
  /// Identifiers of files that somebody waits for.
  private var neededFiles: Set<String> = []
  /// Identifiers that belong to what the manifest offers.
  private var offeredDownloads: Set<String> = []
  private var candidates: [Candidate] = []
  /// What all that is under way will take on the device, in bytes.
  private var reserved: UInt64 = 0

  /// A pack that may be downloaded, if there is room for it.
  private struct Candidate {
    let pack: Int
    let before: PackStatus?
    let status: PackStatus
    let urgency: Int
  }

  init(_ manifest: Manifest, _ records: [PackStatus], _ files: [WaitingFile], _ facts: DeliveryFacts, _ policy: DeliveryPolicy) {
    self.manifest = manifest
    self.facts = facts
    self.policy = policy
    isExpired = facts.time >= manifest.expires.secondsSince1970
    self.records.reserveCapacity(records.count)
    for record in records { self.records[record.id] = record }
    for pack in facts.device ?? [] { device[pack.id, default: []].append(pack) }
    for file in files { self.files[file.identifier.description] = file }
    plan.allowance = facts.allowance
  }

  mutating func run() {
    for (index, pack) in manifest.packs.enumerated() where facts.isForDevice(pack) { consider(pack, index) }
    for urgency in 0...2 {
      for candidate in candidates where candidate.urgency == urgency { admit(candidate) }
    }
    candidates = []
    let gone = Set(records.keys).union(device.filter { !$0.value.allSatisfy(\.isRejected) }.keys)
    for id in gone.sorted() { retire(id) }
    findStrays()
  }

  // MARK: A pack that is offered

  private mutating func consider(_ pack: ManifestPack, _ index: Int) {
    let bytes = PackBytes(pack)
    let before = records.removeValue(forKey: pack.id)
    let held = device.removeValue(forKey: pack.id) ?? []
    var status = before ?? PackStatus(id: pack.id, bytes: bytes, at: facts.time)
    if status.bytes != bytes || status.state == .obsolete {
      if status.state.isUnderWay { plan.cancellations.append(status.identifier.description) }
      apply(.offered(bytes), to: &status)
    }
    let identifier = files.isEmpty && facts.downloads == nil ? nil : DownloadIdentifier(id: pack.id, bytes: bytes).description
    if let identifier, facts.downloads != nil { offeredDownloads.insert(identifier) }
    // An installation of older bytes is let finish.
    guard status.bytes == bytes else {
      neededFiles.insert(status.identifier.description)
      plan.installing.append(pack.id)
      return note(before, status)
    }
    let isRejected = held.contains { $0.isRejected && $0.sha256 == bytes.sha256 }
    meetDevice(held.filter { !$0.isRejected }, &status)
    meetFile(identifier, &status)
    if facts.asked.contains(pack.id), !status.isWanted || status.state.kind == .failed || status.state == .notLoaded(.cancelled) {
      apply(.asked, to: &status)
    }
    meetSystem(identifier, &status)
    if case .failed(let reason) = status.state, isDue(status, reason, isRejected) { apply(.retryDue, to: &status) }
    place(pack, index, before, status, isRejected: isRejected)
  }

  /// Whether a failed pack is tried again now.
  private func isDue(_ status: PackStatus, _ reason: FailureReason, _ isRejected: Bool) -> Bool {
    let hasWaited = status.secondsLeft(at: facts.time) == 0
    if reason.isWorthRetrying { return hasWaited || facts.event.permitsEssential }
    // A store that was emptied knows nothing against these bytes any more.
    return facts.device != nil && !isRejected && hasWaited
  }

  /// Believes the store rather than the record, where there is one to ask: what was purged is not ready, whatever the record says.
  private func meetDevice(_ held: [DevicePack], _ status: inout PackStatus) {
    guard facts.device != nil else { return }
    if let exact = held.first(where: { $0.sha256 == status.bytes.sha256 && $0.version == status.bytes.version }) {
      if status.state != .ready { apply(.found(exact.mode), to: &status) }
      status.mode = exact.mode
      return
    }
    if status.state == .ready { apply(.purged, to: &status) }
    status.mode = held.contains { $0.mode == .packed } ? .packed : held.first?.mode
  }

  /// A file that is here, whoever forgot to say so, and one that is not any more.
  private func meetFile(_ identifier: String?, _ status: inout PackStatus) {
    let isHere = identifier.flatMap { files[$0] }.map { $0.size == status.bytes.size } ?? false
    if isHere {
      apply(.arrived, to: &status)
    } else if status.state == .toBeTransferred {
      apply(.purged, to: &status)
    }
  }

  /// What the system has, or has lost.
  private mutating func meetSystem(_ identifier: String?, _ status: inout PackStatus) {
    guard let downloads = facts.downloads, let identifier else {
      if status.state.isUnderWay, isOlder(status, than: policy.silentSeconds) { apply(.forgotten, to: &status) }
      return
    }
    let isThere = downloads.contains(identifier)
    if status.state.isUnderWay {
      if !isThere, isOlder(status, than: policy.missingSeconds) { apply(.forgotten, to: &status) }
    } else if isThere {
      // What was cancelled stays so, and what is here needs not come again.
      let isUseful = status.state.kind == .notLoaded && status.state != .notLoaded(.cancelled) || status.state.kind == .failed
      if isUseful { apply(.began, to: &status) } else { plan.cancellations.append(identifier) }
    }
  }

  /// Whether a state is older than so many seconds; also where the clock was put back, since nobody knows then.
  private func isOlder(_ status: PackStatus, than seconds: UInt32) -> Bool {
    status.age(at: facts.time).map { $0 >= UInt64(seconds) } ?? true
  }

  /// Puts a pack into its list.
  private mutating func place(_ pack: ManifestPack, _ index: Int, _ before: PackStatus?, _ status: PackStatus, isRejected: Bool) {
    switch status.state {
    case .ready:
      plan.ready.append(pack.id)
    case .scheduled, .loading, .paused:
      reserve(pack, status)
      plan.underWay.append(pack.id)
    case .toBeTransferred:
      neededFiles.insert(status.identifier.description)
      reserve(pack, status)
      if isExpired {
        plan.postponed.append(Postponement(id: pack.id, reason: .manifestExpired))
      } else {
        plan.handOver.append(HandOver(id: pack.id, bytes: status.bytes, mode: mode(of: pack, status)))
      }
    case .installing:
      neededFiles.insert(status.identifier.description)
      reserve(pack, status)
      plan.installing.append(pack.id)
    case .failed(let reason):
      let left = reason.isWorthRetrying ? status.secondsLeft(at: facts.time) : nil
      plan.postponed.append(Postponement(id: pack.id, reason: .failed(reason, secondsLeft: left)))
    case .notLoaded(let idle):
      guard let reason = reasonToWait(pack, status, idle, isRejected) else {
        let urgency = pack.delivery == .essential ? 0 : status.isWanted ? 1 : 2
        return candidates.append(Candidate(pack: index, before: before, status: status, urgency: urgency))
      }
      plan.postponed.append(Postponement(id: pack.id, reason: reason))
    case .obsolete:
      // Offered packs have left this state.
      break
    }
    note(before, status)
  }

  private func reasonToWait(
    _ pack: ManifestPack, _ status: PackStatus, _ idle: IdleReason, _ isRejected: Bool
  ) -> Postponement.Reason? {
    if isRejected { return .failed(.rejected, secondsLeft: nil) }
    if pack.delivery == .onDemand, !status.isWanted { return .notAsked }
    if idle == .cancelled, !(pack.delivery == .essential && facts.event.permitsEssential) { return .cancelled }
    if idle.waitsForLaunch, facts.allowance != nil { return .beforeLaunch(idle) }
    return isExpired ? .manifestExpired : nil
  }

  /// What the device holds packed stays packed: somebody chose to save the room, or reads it in place.
  private func mode(of pack: ManifestPack, _ status: PackStatus) -> InstallMode {
    status.mode == .packed ? .packed : pack.install
  }

  private func sizeOnDevice(_ pack: ManifestPack, _ status: PackStatus) -> UInt64 {
    mode(of: pack, status) == .unpacked ? pack.installSize : pack.size.adding(4095) / 4096 * 4096
  }

  private mutating func reserve(_ pack: ManifestPack, _ status: PackStatus) {
    reserved = reserved.adding(sizeOnDevice(pack, status))
  }

  /// Takes a pack among the downloads, if there is room for it.
  private mutating func admit(_ candidate: Candidate) {
    let pack = manifest.packs[candidate.pack]
    var status = candidate.status
    let isEssential = pack.delivery == .essential && facts.event.permitsEssential
    if let free = facts.freeSpace {
      // A pack is unpacked beside its file.
      let beside = mode(of: pack, status) == .unpacked ? pack.size : 0
      let needed = reserved.adding(sizeOnDevice(pack, status)).adding(beside)
      guard needed <= free else { return postpone(candidate, .space(needed: needed, free: free)) }
    }
    if var allowance = plan.allowance {
      let left = isEssential ? allowance.essential : allowance.other
      guard allowance.take(pack.size, isEssential: isEssential) else {
        return postpone(candidate, .allowance(size: pack.size, left: left))
      }
      plan.allowance = allowance
    }
    reserve(pack, status)
    let wasBarred = status.state == .notLoaded(.background) || status.state == .notLoaded(.foreground)
    apply(.scheduled(isEssential: isEssential), to: &status)
    plan.downloads.append(
      PlannedDownload(
        id: pack.id, bytes: status.bytes, url: pack.url, isEssential: isEssential,
        priority: pack.delivery == .essential ? 1 : status.isWanted ? 0.75 : 0.5,
        startsInForeground: facts.event == .launch && (pack.delivery == .essential || status.isWanted || wasBarred)))
    note(candidate.before, status)
  }

  private mutating func postpone(_ candidate: Candidate, _ reason: Postponement.Reason) {
    plan.postponed.append(Postponement(id: candidate.status.id, reason: reason))
    note(candidate.before, candidate.status)
  }

  // MARK: What is not offered

  private mutating func retire(_ id: String) {
    let before = records[id]
    let held = (device[id] ?? []).filter { !$0.isRejected }
    guard var status = before else {
      return plan.obsolete.append(ObsoletePack(id: id, installed: held))
    }
    if status.state.isUnderWay { plan.cancellations.append(status.identifier.description) }
    apply(.unlisted, to: &status)
    let ownFiles = files.values.filter { $0.identifier.id == id }.map(\.identifier.description)
    neededFiles.formUnion(ownFiles)
    if facts.device != nil, held.isEmpty, ownFiles.isEmpty, status.after(.removed, at: facts.time, policy: policy) == .forgotten {
      return plan.changes.append(DeliveryPlan.Change(id: id, before: before, after: nil))
    }
    plan.obsolete.append(ObsoletePack(id: id, installed: held))
    note(before, status)
  }

  /// Downloads and files of which nobody has any use.
  private mutating func findStrays() {
    if let downloads = facts.downloads {
      // Downloads with other names are somebody else's.
      plan.cancellations += downloads.filter { !offeredDownloads.contains($0) && DownloadIdentifier($0) != nil }
    }
    // One that was cancelled here and is still there, but is wanted again, the system goes on with.
    if !plan.cancellations.isEmpty {
      let wanted = Set(plan.downloads.map(\.identifier.description))
      plan.cancellations = Set(plan.cancellations).subtracting(wanted).sorted()
    }
    plan.orphans = files.filter { !neededFiles.contains($0.key) && !$0.value.isBeingInstalled }.keys.sorted()
  }

  // MARK: Records

  private func apply(_ event: PackEvent, to status: inout PackStatus) {
    if case .became(let next) = status.after(event, at: facts.time, policy: policy) { status = next }
  }

  private mutating func note(_ before: PackStatus?, _ after: PackStatus) {
    guard let before else {
      // A pack about which there is nothing to remember needs no record.
      let isBlank = after.state == .notLoaded(.new) && !after.isWanted
      if !isBlank { plan.changes.append(DeliveryPlan.Change(id: after.id, before: nil, after: after)) }
      return
    }
    if before != after { plan.changes.append(DeliveryPlan.Change(id: after.id, before: before, after: after)) }
  }
}
