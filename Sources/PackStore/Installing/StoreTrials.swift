/// Decides which version of a pack runs: activation, trial, confirmation, rollback.
struct StoreTrials {
  private let directory: StoreDirectory

  init(_ directory: StoreDirectory) {
    self.directory = directory
  }

  func activate(
    _ id: String, version: UInt64?, onTrial: Bool, offered: ManifestPack?
  ) throws(PackError) -> (BootToken, [StoreEvent]) {
    try directory.change(id) { (record) throws(PackError) in
      var events = judge(&record)
      if let offered, !offered.isCandidate { record.setCandidate(offered.bytes, false) }
      let content = try record.choose(version, offered)
      // A candidate that the device no longer takes did not fail: the version before it is proven.
      let isWithdrawal =
        record.running?.isCandidate == true && content.isProven && !content.isCandidate
        && (version == nil || content.bytes == offered?.bytes)
      guard try directory.isPresent(content, of: record) else {
        throw PackError(
          .notInstalled, "version \(content.bytes.version) of pack '\(id)' was removed from the device",
          advice: .reconcileStore)
      }
      if let trial = record.trial {
        guard isWithdrawal || directory.process.isOwn(trial.session) || !directory.process.isAlive(trial.session) else {
          throw PackError(.inUse, "another process has version \(trial.bytes.version) of pack '\(id)' on trial")
        }
        // The same trial continues, so that a second call does not give the version more time.
        if trial.bytes == content.bytes, onTrial { return (record.token(trial.bytes, nonce: trial.nonce), events) }
      }
      let nonce = newNonce()
      if content.bytes == record.current, let confirmed = record.confirmed {
        record.trial = nil
        return (record.token(content.bytes, nonce: confirmed), events)
      }
      if onTrial, !isWithdrawal, content.bytes != record.current {
        // What is on trial falls back to what runs, which must not be a candidate that was withdrawn.
        if let offered, let running = record.running, running.isCandidate, running.bytes != offered.bytes, let way = record.wayBack {
          record.settle(on: way.bytes, nonce: newNonce())
        }
        record.trial = PackRecord.Trial(bytes: content.bytes, nonce: nonce, session: directory.process.session, starts: 1)
        events.append(.activated(directory.installed(content, of: record)))
      } else {
        record.settle(on: content.bytes, nonce: nonce)
        events += try dropSurplus(of: &record)
        if let content = record.content(content.bytes) { events.append(.confirmed(directory.installed(content, of: record))) }
      }
      return (record.token(content.bytes, nonce: nonce), events)
    }
  }

  func confirm(_ token: BootToken) throws(PackError) -> [StoreEvent] {
    try directory.change(token.id) { (record) throws(PackError) in
      if record.isConfirmed(token) { return [] }
      guard let trial = record.trial, record.token(trial.bytes, nonce: trial.nonce) == token, let content = record.content(trial.bytes)
      else {
        throw PackError(.staleConfirmation, record.staleness(of: token).message)
      }
      record.settle(on: content.bytes, nonce: token.nonce)
      var events = try dropSurplus(of: &record)
      if let content = record.content(trial.bytes) { events.insert(.confirmed(directory.installed(content, of: record)), at: 0) }
      return events
    }
  }

  /// The state of a trial.
  enum Standing: Hashable, Sendable {
    case underWay
    case confirmed
    case timedOut
  }

  /// Returns the state of a trial. Ends the trial if its time is over.
  ///
  /// - Throws: ``PackError/Code/notConfirmed`` if the version failed, ``PackError/Code/staleConfirmation`` if the trial ended for another reason.
  func look(at token: BootToken, isOver: Bool, limit: UInt64) throws(PackError) -> (Standing, [StoreEvent]) {
    func outcome(_ record: PackRecord) throws(PackError) -> Bool {
      if record.isConfirmed(token) { return true }
      if let trial = record.trial, record.token(trial.bytes, nonce: trial.nonce) == token { return false }
      throw record.staleness(of: token)
    }
    let record = try directory.record(token.id) ?? PackRecord(id: token.id)
    if try outcome(record) { return (.confirmed, []) }
    guard isOver else { return (.underWay, []) }
    let reason = RollbackReason.timeout(milliseconds: limit / 1000)
    let events = try directory.change(token.id) { (record) throws(PackError) -> [StoreEvent]? in
      // The trial may have been confirmed while this call waited for the lock.
      if try outcome(record) { return nil }
      return try fall(&record, reason: reason)
    }
    return (events == nil ? .confirmed : .timedOut, events ?? [])
  }

  func rollback(_ id: String, reason: String) throws(PackError) -> (InstalledPack?, [StoreEvent]) {
    try directory.change(id) { (record) throws(PackError) in
      guard record.running != nil else {
        throw PackError(.notInstalled, "no version of pack '\(id)' runs", advice: .activate)
      }
      let events = try fall(&record, reason: reason)
      return (record.running.map { directory.installed($0, of: record) }, events)
    }
  }

  /// Records the running version as failed, and removes failed versions that are not in use.
  private func fall(_ record: inout PackRecord, reason: String) throws(PackError) -> [StoreEvent] {
    guard let running = record.running else { return [] }
    record.fail(running.bytes, reason: reason)
    var events = try dropSurplus(of: &record)
    events.insert(rolledBack(record, from: running.bytes.version, reason: reason), at: 0)
    return events
  }

  private func rolledBack(_ record: PackRecord, from version: UInt64, reason: String) -> StoreEvent {
    .rolledBack(id: record.id, from: version, current: record.running.map { directory.installed($0, of: record) }, reason: reason)
  }

  /// Returns a record in which a trial whose process has ended is decided. Writes nothing.
  func judged(_ record: PackRecord) -> PackRecord {
    var record = record
    _ = judge(&record)
    return record
  }

  /// Decides a trial whose process has ended.
  func judge(_ record: inout PackRecord) -> [StoreEvent] {
    let verdict = record.judgeTrial(by: directory.process.session, starts: directory.policy.trialStarts, isAlive: directory.process.isAlive)
    guard case .failed(let version) = verdict else { return [] }
    return [rolledBack(record, from: version, reason: record.failures.last?.reason ?? "")]
  }

  /// Removes the versions of a pack that are no longer needed when a newer one is installed, so that they and the newer one are never on the device together.
  ///
  /// - Parameter isSealed: Whether the newer one cannot be opened yet.
  func makeWay(for successor: PackRecord.Bytes, isSealed: Bool = false, of id: String) throws(PackError) -> [StoreEvent] {
    guard try hasSurplus(before: successor, isSealed: isSealed, of: id) else { return [] }
    return try directory.change(id) { (record) throws(PackError) in try dropSurplus(of: &record, before: successor, isSealed: isSealed) }
  }

  /// Whether versions of a pack are no longer needed when a newer one is installed.
  func hasSurplus(before successor: PackRecord.Bytes, isSealed: Bool = false, of id: String) throws(PackError) -> Bool {
    try directory.record(id)?.surplus(keeping: directory.policy.keepVersions, before: successor, isSealed: isSealed).isEmpty == false
  }

  /// Removes failed versions, and versions beyond the number to keep, from a record, unless they are in use.
  func dropSurplus(
    of record: inout PackRecord, before successor: PackRecord.Bytes? = nil, isSealed: Bool = false
  ) throws(PackError) -> [StoreEvent] {
    let surplus = record.surplus(keeping: directory.policy.keepVersions, before: successor, isSealed: isSealed)
    guard !surplus.isEmpty else { return [] }
    let used = try directory.usedItems()
    var events: [StoreEvent] = []
    for content in surplus where !StoreDirectory.isUsed(content, of: record, in: used) {
      let reason = record.hasFailed(content.bytes) ? "it failed" : "newer versions are kept"
      events.append(.purged(directory.installed(content, of: record), reason: reason))
      record.forget(content.bytes)
    }
    return events
  }

  /// A version in use.
  struct Use {
    let installed: InstalledPack
    /// Keeps it in use.
    let mark: UseMark
    let events: [StoreEvent]
    /// The opener of an edition that has a key of its own.
    let opener: [UInt8]?
  }

  /// Returns the running version of a pack, or an installed version that does not run yet, and a mark that keeps it in use.
  ///
  /// This works on a full disk too: the outcome of a trial or the time of use that cannot be written is determined again the next time.
  ///
  /// - Parameter version: The version. If nil, the running one.
  func use(
    _ id: String, version: UInt64? = nil
  ) throws(PackError) -> Use {
    try directory.withLockIfWritable { () throws(PackError) in
      guard var record = try directory.record(id) else { throw notInstalled(id) }
      let before = record
      let events = judge(&record)
      let now = UInt64(max(0, directory.clock.secondsSince1970))
      if now.less(record.lastUse) >= PackRecord.lastUseGrain || now < record.lastUse { record.lastUse = now }
      let content = version.map { version in record.contents.first { $0.bytes.version == version && !record.hasFailed($0.bytes) } }
      guard let content = content ?? record.running else {
        if let sealed = record.contents.first(where: { $0.isSealed && !record.hasFailed($0.bytes) }) { throw record.sealed(sealed) }
        if record.purged != nil {
          throw PackError(.purged, "pack '\(id)' was removed to free space", advice: .install)
        }
        throw notInstalled(id)
      }
      guard !content.isSealed else { throw record.sealed(content) }
      if record != before { try? directory.write(record) }
      return Use(
        installed: directory.installed(content, of: record),
        mark: directory.uses.open([record.itemName(content)]), events: events, opener: content.opener)
    }
  }

  private func notInstalled(_ id: String) -> PackError {
    PackError(
      .notInstalled, "no version of pack '\(printable(id.utf8))' runs",
      advice: .activate)
  }

  private func newNonce() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }
}

extension PackRecord {
  func token(_ bytes: Bytes, nonce: [UInt8]) -> BootToken {
    BootToken(id: id, version: bytes.version, sha256: bytes.sha256, nonce: nonce)
  }

  /// Returns whether a token confirmed the current version.
  func isConfirmed(_ token: BootToken) -> Bool {
    guard let current, let confirmed else { return false }
    return self.token(current, nonce: confirmed) == token
  }

  /// Returns the error for a token that is not valid any more.
  func staleness(of token: BootToken) -> PackError {
    let bytes = Bytes(version: token.version, sha256: token.sha256)
    if let failure = failures.last(where: { $0.bytes == bytes }) {
      return PackError(.notConfirmed, "version \(token.version) of pack '\(id)' failed: \(failure.reason)")
    }
    return PackError(.staleConfirmation, "the trial of version \(token.version) of pack '\(id)' is no longer in progress")
  }

  /// Returns the error for a version that cannot be opened yet.
  func sealed(_ content: Content) -> PackError {
    PackError(
      .sealed, "version \(content.bytes.version) of pack '\(id)' is on the device, and the file that opens it is not published yet",
      advice: .tryAgain)
  }

  /// Returns the error for bytes that failed on this device, or nil if they did not fail.
  func failure(of bytes: Bytes) -> PackError? {
    failures.last { $0.bytes == bytes }.map { failure in
      PackError(
        .versionFailed, "version \(bytes.version) of pack '\(id)' failed on this device: \(failure.reason)",
        advice: .publishNewVersion)
    }
  }
}

extension PackRecord {
  /// Returns the version to activate.
  ///
  /// - Parameter offered: What the manifest lists for this device. Nil if it lists none, or if the shard is missing: then the newest version is activated,
  ///   because versions never get lower. A candidate goes on then, but does not start.
  package func choose(_ version: UInt64?, _ offered: ManifestPack?) throws(PackError) -> Content {
    let wanted = contents.filter { version == nil || $0.bytes.version == version }
    let all = wanted.filter { !hasFailed($0.bytes) }
    let running = self.running?.bytes
    let sound = all.filter { content in
      guard !content.isSealed else { return false }
      guard content.isCandidate, version == nil, content.bytes != offered?.bytes else { return true }
      return offered == nil && content.bytes == running
    }
    if let content = sound.first(where: { $0.bytes == offered?.bytes }) { return content }
    if let content = sound.max(by: { $0.bytes.version < $1.bytes.version }) { return content }
    if let content = all.first(where: \.isSealed) { throw sealed(content) }
    let what = version.map { "version \($0) of pack '\(id)'" } ?? "pack '\(id)'"
    if let failure = failures.last(where: { version == nil || $0.bytes.version == version }) {
      throw PackError(
        .versionFailed, "version \(failure.bytes.version) of pack '\(id)' failed on this device: \(failure.reason)",
        advice: .publishNewVersion)
    }
    if purged != nil, contents.isEmpty {
      throw PackError(.purged, of: what, "was removed to free space", advice: .install)
    }
    throw PackError(.notInstalled, of: what, "is not installed", advice: .install)
  }
}
