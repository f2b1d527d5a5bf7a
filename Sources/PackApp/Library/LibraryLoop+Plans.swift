extension LibraryLoop {
  func take(_ notice: ServiceNotice) async {
    guard (try? await locks.lock("plan")) != nil else { return }
    await notice.record()
    locks.unlock("plan")
    for event in notice.events { await take(event) }
  }

  func take(_ event: ServiceEvent) async {
    switch event {
    case .changed:
      try? await bring()
    case .playable(let id):
      await noteArrival(of: id)
    case .progress(let id, let received, let size):
      steps.tell(.received(id, received, size: size))
      let isResumed = retrying.remove(id) != nil
      let now = PackBytesReceived(received: received, size: size)
      // A system sends many of these. A report reads the record, because the event may come after the installation.
      if !isResumed, let told = progress[id], now.fraction < 1, abs(now.fraction - told.fraction) < Self.progressStep { return }
      progress[id] = now
      await report(id)
    case .retrying(let id):
      retrying.insert(id)
      await report(id)
    case .failed(let id, let error):
      progress[id] = nil
      waiters.note(error, of: id)
      if !Self.isTemporary(error) { failures[id] = error }
      retrying.insert(id)
      try? await bring()
      await report(id)
    case .noSpace(let id, let needed, let free):
      progress[id] = nil
      if waiters.contains(id) { await makeRoom(for: id, needed: needed, free: free) }
      try? await bring()
      await report(id)
    case .network(let isAvailable):
      guard hasNetwork != isAvailable else { return }
      hasNetwork = isAvailable
      for id in waiters.packs { await report(id) }
      if isAvailable, fetchFailures > 0 {
        fetchFailures = 0
        fetchShardsLater(isAtOnce: true)
      }
    }
  }

  /// Frees space for the download of a pack that somebody waits for, and requests it again; or ends the wait if not enough can be freed.
  func makeRoom(for id: String, needed: UInt64, free: UInt64) async {
    do throws(PackError) {
      // It may be there by now.
      let free = await service.availableSpace() ?? free
      if free < needed, try await !freeParts() {
        let missing = needed.less(free)
        // Space was freed before, but it did not help: the store is on another volume, or another process used the space.
        if let known = freed[id], free <= known { throw told(id, missing: missing) }
        freed[id] = free
        let report = try await delivery.store.purgeIfEnough(toFree: missing)
        guard report.missing == 0 else { throw told(id, missing: report.missing) }
        notices.tell(LowSpace(packs: [id], missing: 0, removed: report.removed.map(\.pack)))
      }
      requested.insert(id)
    } catch {
      failures[id] = error
    }
  }

  /// Removes the parts of downloads that no call waits for and that are not played, except some. Of packs that the manifest requires, what is read at the
  /// launch stays.
  ///
  /// - Returns: Whether there were any.
  func freeParts(except ids: Set<String> = []) async throws(PackError) -> Bool {
    // What is being removed must not be handed over again.
    try await locks.lock("plan")
    defer { locks.unlock("plan") }
    let manifest = try await delivery.store.offered(by: try await delivery.store.requiredManifest())
    let required = manifest.packs.filter { $0.delivery != .onDemand && delivery.isOffered($0) }
    return try await service.freeSpace(
      keeping: awaited.union(ids), launchesOf: required.compactMap { PlannedDownload(arriving: $0, manifest.defaults) })
  }

  func told(_ id: String, missing: UInt64) -> PackError {
    notices.tell(LowSpace(packs: [id], missing: missing, removed: []))
    return TransferFailure.noSpace(of: id, missing: missing)
  }

  /// Whether a later attempt may succeed without anybody doing something about it.
  static func isTemporary(_ error: PackError) -> Bool {
    [.offline, .downloadFailed, .digestMismatch, .wrongPack, .truncated, .storeBusy, .stateBusy].contains(error.code)
  }

  /// Whether a later attempt to install may succeed: also if the file was not the one in the manifest or is gone, because it is downloaded again, or if it
  /// arrived once more meanwhile.
  static func isRetried(_ error: PackError) -> Bool {
    isTemporary(error) || isAboutBytes(error) || [.missingInput, .sourceChanged].contains(error.code)
  }

  /// The packs that somebody waits for, or reads while they arrive.
  private var awaited: Set<String> { waiters.packs.union(playing) }

  /// Plans, installs the files that wait, and hands over the rest. One plan at a time.
  ///
  /// - Throws: The reason why it could not be completed. If it may be gone later, another plan follows while somebody waits.
  func bring() async throws(PackError) {
    try await locks.lock("plan")
    defer { locks.unlock("plan") }
    // Only once for each request: a plan with the name of a pack ends the wait after its last failure.
    let now = requested
    requested = []
    do throws(PackError) {
      try await plan(asked: now)
    } catch {
      requested.formUnion(now.intersection(awaited).filter { failures[$0] == nil })
      if !awaited.isEmpty {
        // Cancelled was the call that made the plan; the others still wait.
        if !isStopped, Self.isTemporary(error) || error.code == .cancelled {
          planAgain(after: 1)
        } else {
          for id in waiters.packs { failures[id] = error }
          for id in waiters.packs { await report(id) }
        }
      }
      throw error
    }
  }

  func makePlan(asked: Set<String>) async throws(PackError) -> DeliveryPlan {
    try await locks.lock("records")
    defer { locks.unlock("records") }
    guard !isStopped else { throw Self.closed }
    return try await delivery.plan(
      asked: asked, awaited: awaited, downloads: await service.underWay(), isListExact: service.isListExact)
  }

  func plan(asked now: Set<String>) async throws(PackError) {
    guard await delivery.store.manifest != nil else { return }
    let asked = waiters.packs
    var plan = try await makePlan(asked: now)
    // First, because an installation may take long.
    let kept = try await delivery.takeLeads(of: plan, by: service)
    var tried: Set<String> = []
    while try await installBundled(&plan, &tried) { plan = try await makePlan(asked: now) }
    undecided = Set(plan.undecided)
    if !undecided.isEmpty { fetchShardsLater() }
    askAbout(&plan)
    for download in plan.downloads { progress[download.id] = nil }
    for file in plan.handOver { changes.tell(.pack(file.id, .installing)) }
    let installations = try await delivery.install(plan) { [steps] id, progress in steps.tell(.installing(id, progress)) }
    for installation in installations { note(installation) }
    let handed = plan.downloads.map(\.id)
    for (index, id) in handed.enumerated() { if let priority = waiters.priority(of: id) { plan.downloads[index].priority = priority } }
    // Others may use the directories by now.
    guard !isStopped else { throw Self.closed }
    await arrive(plan.downloads)
    try await service.hand(plan, asked: asked)
    // What cannot be removed now is in the next plan.
    plan.orphans.removeAll(where: kept.contains)
    _ = try? await delivery.tidy(plan)
    var delay: UInt64?
    for postponement in plan.postponed {
      let id = postponement.id
      let cause = plan.cause(of: postponement)
      if case .failed(_, secondsLeft: let seconds?) = cause { delay = min(delay ?? seconds, seconds) }
      guard asked.contains(id) else { continue }
      switch cause {
      case .failed(_, secondsLeft: _?): retrying.insert(id)
      case .failed(let reason, secondsLeft: nil):
        failures[id] = PackError(.versionFailed, "pack '\(id)' failed on this device: \(reason.text)", advice: .publishNewVersion)
      case .space(let needed, let free):
        failures[id] = PackError(
          .noSpace, "pack '\(id)' needs \(needed) bytes, but \(free) are free", advice: .freeSpace(bytes: needed.less(free)))
      case .manifestExpired:
        failures[id] = PackError(.manifestExpired, "the manifest has expired", advice: .renewManifest)
      case .notAsked where failures[id] == nil:
        // Its record was lost, or the system removed the pack right after its installation.
        requested.insert(id)
        delay = min(delay ?? 1, 1)
      case .notAsked, .cancelled, .beforeLaunch, .allowance, .batch, .base: break
      }
    }
    if await delivery.store.manifest?.manifest.catalogue.isEmpty == false {
      // Only a shard that has arrived says that there is no such pack.
      for id in asked {
        do throws(PackError) {
          try await check(id)
        } catch {
          if !Self.isTemporary(error), error.code != .cancelled { failures[id] = error }
        }
      }
    }
    // A file that did not match was discarded, and is planned again.
    if installations.contains(where: { $0.installed == nil && failures[$0.id] == nil }) { delay = min(delay ?? 1, 1) }
    // What was waiting for its base can be installed now.
    let installed = Set(installations.filter { $0.installed != nil }.map(\.id))
    if plan.postponed.contains(where: { if case .base(let id) = $0.reason { installed.contains(id) } else { false } }) { delay = 0 }
    playing.subtract(plan.ready)
    if !playing.isEmpty {
      let played = playing
      let found = try await delivery.lookup(played)
      // Another one may have begun to be played meanwhile.
      playing.subtract(played.subtracting(found.packs.keys).subtracting(found.unknown))
    }
    askForOpenersLater()
    // A download that the system lost sends no event: while somebody waits, it is looked for.
    if !awaited.isEmpty { delay = min(delay ?? Self.lookInterval, Self.lookInterval) }
    if let delay { planAgain(after: delay) }
    for id in Set(installations.map(\.id)).union(asked).union(plan.underWay).union(handed) { await report(id) }
  }

  func note(_ installation: AppDelivery.Installation) {
    let id = installation.id
    progress[id] = nil
    if !installation.removed.isEmpty { notices.tell(LowSpace(packs: [id], missing: 0, removed: installation.removed)) }
    guard let failure = installation.failure else {
      playing.remove(id)
      return
    }
    waiters.note(Self.isAboutBytes(failure) ? TransferFailure.wrongDigest.error(of: id) : failure, of: id)
    // A delta that cannot be used is followed by the full pack.
    if !Self.isRetried(failure), installation.status?.fallback == nil { failures[id] = failure }
    if case .freeSpace(let bytes?) = failure.advice { notices.tell(LowSpace(packs: [id], missing: bytes, removed: [])) }
  }

  /// Installs the packs that a plan would download and that the app contains. Removes those from the plan that cannot be installed.
  ///
  /// - Parameter tried: Those that were installed for an earlier batch. One of them is missing again if another needed its space.
  /// - Returns: Whether a pack was installed, so that the plan is out of date.
  func installBundled(_ plan: inout DeliveryPlan, _ tried: inout Set<String>) async throws(PackError) -> Bool {
    guard let bundled else { return false }
    let names = plan.downloads.map(\.id).filter { !foreign.contains($0) && !tried.contains($0) }
    var isChanged = false
    let entries = try await delivery.lookup(Set(names)).packs
    for pack in names.compactMap({ entries[$0] }) where bundled.contains(pack) {
      changes.tell(.pack(pack.id, .installing))
      do throws(PackError) {
        guard try await bundled.install(pack, in: delivery.store) else {
          foreign.insert(pack.id)
          continue
        }
        tried.insert(pack.id)
        isChanged = true
      } catch {
        guard error.code != .cancelled else { throw error }
        guard !Self.isTemporary(error) else { continue }
        // The same bytes from the server would not help.
        failures[pack.id] = error
        plan.downloads.removeAll { $0.id == pack.id }
      }
      await report(pack.id)
    }
    return isChanged
  }

  func planAgain(after seconds: UInt64) {
    guard !isStopped else { return }
    retry?.cancel()
    retry = Task { [weak self, sleep] in
      await sleep(max(1, seconds))
      guard !Task.isCancelled else { return }
      await self?.planNow()
    }
  }

  func planNow() async {
    // The task that calls this must not be cancelled by the next delay.
    retry = nil
    try? await bring()
  }

  /// The smallest change of a download's progress that is reported.
  static let progressStep = 0.005
  /// The number of seconds between plans while somebody waits.
  static let lookInterval: UInt64 = 30
}
