extension LibraryLoop {
  func ensure(_ ids: [String]) async throws(PackError) {
    var missing: [String] = []
    for id in ids where try await !isUsable(id) { missing.append(id) }
    for id in missing { try await check(id) }
    guard !missing.isEmpty else { return }
    try await wait(for: missing) { () async throws(PackError) in
      // Each once, because that it is ready is told, and what is told is looked at again.
      for id in missing where try await settled(id) { missing.removeAll { $0 == id } }
      return missing.isEmpty
    }
  }

  /// Waits for packs until a condition holds, which is looked at after each change of one of them and of the manifest. What they need is planned and
  /// handed over meanwhile.
  ///
  /// - Parameters:
  ///   - number: One of ``Waiters/number()``.
  ///   - request: The request by tags that waits. Its priority may change meanwhile.
  ///   - isPlaying: Whether the condition may hold before the packs are here as a whole.
  func wait(
    for ids: [String], as number: Int = Waiters.number(), of request: TagRequest? = nil, isPlaying: Bool = false,
    until isDone: () async throws(PackError) -> Bool
  ) async throws(PackError) {
    let underWay = Set((await service.underWay() ?? []).compactMap { DownloadIdentifier($0)?.id })
    waiters.begin(number, for: Set(ids), priority: request?.priority, underWay: underWay)
    for id in ids {
      failures[id] = nil
      freed[id] = nil
      retrying.remove(id)
      requested.insert(id)
    }
    do throws(PackError) {
      // For downloads that another request began.
      for id in ids { await applyPriority(of: id) }
      // Not awaited, so that this call can be cancelled while another pack is being installed. Its result comes as a change.
      try await waitForChanges(
        of: ids, isPlaying: isPlaying, beginning: { Task { [weak self] in try? await self?.bring() } }, until: isDone)
    } catch {
      await end(number, ids)
      throw error
    }
    await end(number, ids)
  }

  private func end(_ number: Int, _ ids: [String]) async {
    waiters.end(number)
    // The others may be less urgent.
    for id in ids { await applyPriority(of: id) }
  }

  /// Returns whether the pack can be used now. Throws the error that waiting does not help against.
  func settled(_ id: String) async throws(PackError) -> Bool {
    if try await isUsable(id) {
      await report(id)
      return true
    }
    if let failure = failures[id] { throw failure }
    return false
  }

  /// Does what ``use(_:)`` does, as far as that is possible now: what another process or a suspension holds up is tried again.
  func isUsable(_ id: String) async throws(PackError) -> Bool {
    do throws(PackError) {
      return try await use(id)
    } catch {
      guard [.storeBusy, .stateBusy].contains(error.code) else { throw error }
      return false
    }
  }

  /// Activates the newest installed version of a pack, and opens it.
  ///
  /// - Returns: Whether there is one.
  func use(_ id: String) async throws(PackError) -> Bool {
    try await locks.lock("pack/\(id)")
    defer { locks.unlock("pack/\(id)") }
    let store = delivery.store
    var offered = try? await delivery.lookup([id]).packs[id]
    if let pack = offered, try await begins(pack) {
      await askAboutRollouts()
      offered = try? await delivery.lookup([id]).packs[id]
    }
    guard try await store.leaveCandidate(id) else {
      forget(id)
      return false
    }
    let versions = try await store.installed(id)
    if let offered, let newest = versions.first(where: { $0.sha256 == offered.sha256 }), newest.state == .installed {
      do throws(PackError) {
        // Activated only after it was opened: if the process ended while the key is fetched, a trial would count as a crash.
        let pack = try await store.open(id, activating: newest.version, onTrial: !confirmsVersions)
        opened.withLock { $0[id] = pack }
        return true
      } catch {
        if Self.isAboutBytes(error) {
          try await store.activate(id, version: newest.version)
          _ = try await store.rollback(id, reason: RollbackReason.unreadable("\(error.code)"))
        } else {
          // It may open later: the key may be missing. Until then the version before it is used.
          guard error.code != .cancelled, try await store.current(id) != nil else { throw error }
        }
      }
    }
    guard let current = try await store.current(id) else {
      forget(id)
      return false
    }
    if opened.withLock({ $0[id]?.installed.sha256 }) != current.sha256 {
      do throws(PackError) {
        try await open(id)
      } catch {
        guard Self.isAboutBytes(error) else { throw error }
        guard try await store.rollback(id, reason: RollbackReason.unreadable("\(error.code)")) != nil else { throw error }
        try await open(id)
      }
    }
    // A trial that began in a process that did not confirm it.
    if confirmsVersions, let token = try await store.trial(of: id) { try await store.confirm(token) }
    return true
  }

  /// Closes a pack, unless it is read while it arrives: then it is in no store yet.
  private func forget(_ id: String) { opened.withLock { if $0[id]?.pack?.source.isArriving != true { $0[id] = nil } } }

  /// Whether an error says that the bytes on the device are not those of the publisher. Any other error may be gone the next time.
  static func isAboutBytes(_ error: PackError) -> Bool {
    [.failed(.wrongBytes), .failed(.wrongSize)].contains(AppDelivery.outcome(of: error))
  }

  func open(_ id: String) async throws(PackError) {
    let pack = try await delivery.store.open(id)
    opened.withLock { $0[id] = pack }
  }

  func reject(_ id: String, reason: String) async throws(PackError) -> UInt64? {
    try await locks.lock("pack/\(id)")
    opened.withLock { $0[id] = nil }
    let left: InstalledPack?
    do throws(PackError) {
      left = try await delivery.store.rollback(id, reason: reason)
      if left != nil { try await open(id) }
    } catch {
      locks.unlock("pack/\(id)")
      throw error
    }
    locks.unlock("pack/\(id)")
    await report(id)
    return left?.version
  }

  func cancel(_ id: String) async throws(PackError) {
    try await cancel(id, as: "the download of pack '\(printable(id.utf8))' was cancelled")
  }

  /// - Parameter message: What a call that waits for the pack says.
  func cancel(_ id: String, as message: String) async throws(PackError) {
    requested.remove(id)
    failures[id] = PackError(.cancelled, message)
    await report(id)
    // A plan may be about to start the download.
    try await locks.lock("plan")
    defer { locks.unlock("plan") }
    // Somebody may have asked for it after this call.
    guard failures[id] != nil || !waiters.contains(id) else { return }
    try await service.cancel(id)
    held.removeAll { $0.id == id }
    playing.remove(id)
    progress[id] = nil
    await report(id)
  }

  func remove(_ id: String) async throws(PackError) {
    try await locks.lock("plan")
    do throws(PackError) {
      opened.withLock { $0[id] = nil }
      playing.remove(id)
      try await delivery.store.remove(id)
      if await delivery.store.manifest != nil {
        // A plan schedules the pack again, as after the system freed space; so it is cancelled before anything downloads it.
        var plan = try await makePlan(asked: [])
        try await service.cancel(id)
        plan.downloads.removeAll { $0.id == id }
        askAbout(&plan)
        try await service.hand(plan, asked: [])
      }
    } catch {
      locks.unlock("plan")
      throw error
    }
    locks.unlock("plan")
    progress[id] = nil
    failures[id] = !waiters.contains(id) ? nil : PackError(.cancelled, "pack '\(printable(id.utf8))' was removed")
    await report(id)
  }

  /// Returns the error that ends the wait of a call for a pack now; nil if it may still come.
  ///
  /// - Parameter isPatient: Whether the wait goes on without a network, and after any number of failures.
  func failure(of id: String, in number: Int, isPatient: Bool) -> PackError? {
    if let failure = failures[id] { return failure }
    guard !isPatient, let trouble = waiters.trouble(of: id, in: number),
      trouble.count >= (trouble.last.code == .offline ? 1 : Self.mostAttempts)
    else { return nil }
    return trouble.last
  }

  /// The number of failed attempts after which a request that is not patient ends.
  static let mostAttempts = 5

  /// Changes the priority of a call that waits for packs.
  func setPriority(_ priority: Double, of number: Int, waitingFor ids: [String]) async {
    waiters.setPriority(priority, of: number)
    for id in ids { await applyPriority(of: id) }
  }

  /// Gives the download of a pack the highest priority of the calls that wait for it.
  private func applyPriority(of id: String) async {
    guard let priority = waiters.priority(of: id), let coming = try? await coming(id), coming.record.state.isUnderWay else { return }
    await service.setPriority(priority, of: coming.record.identifier.description)
  }

  /// Returns how far the download of a pack is; nil if nothing of it has arrived.
  func received(_ id: String) -> Step? { progress[id].map { .received(id, $0.received, size: $0.size) } }

  /// Whether exactly these bytes of a pack are on their way.
  func isComing(_ pack: ManifestPack) async throws(PackError) -> Bool {
    guard let coming = try await coming(pack.id), coming.record.bytes == PackBytes(pack), coming.record.lead == nil else { return false }
    return coming.isComing
  }
}
