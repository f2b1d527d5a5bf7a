extension LibraryLoop {
  func play(_ id: String) async throws(PackError) {
    if try await isUsable(id) { return }
    try await check(id)
    try await whilePlaying([id]) { (isNew) async throws(PackError) in
      // Its download may have begun already.
      if try await openArriving(id) {
        guard isNew else { return }
        // Although no call waits for the rest, it should come.
        requested.insert(id)
        Task { [weak self] in try? await self?.bring() }
        return
      }
      try await wait(for: [id], isPlaying: true) { () async throws(PackError) in
        if try await settled(id) { return true }
        return try await openArriving(id)
      }
    }
  }

  /// Lets packs be played for the time of a call, and those that it opened after it, unless it fails.
  ///
  /// - Parameter body: Gets whether none of them was played before.
  func whilePlaying(_ ids: Set<String>, _ body: (_ isNew: Bool) async throws(PackError) -> Void) async throws(PackError) {
    let new = ids.subtracting(playing)
    playing.formUnion(ids)
    for id in ids { players[id, default: 0] += 1 }
    do throws(PackError) {
      try await body(new == ids)
    } catch {
      for id in ids { leave(id, closing: new.contains(id)) }
      throw error
    }
    for id in ids { leave(id, closing: false) }
  }

  /// - Parameter closing: Whether the pack is closed if no other call plays it.
  private func leave(_ id: String, closing: Bool) {
    players[id, default: 1] -= 1
    guard players[id] == 0 else { return }
    players[id] = nil
    let isOpen = opened.withLock { opened in
      if closing, opened[id]?.pack?.source.isArriving == true { opened[id] = nil }
      return opened[id] != nil
    }
    if !isOpen { playing.remove(id) }
  }

  /// Opens a pack of which enough is here to begin.
  ///
  /// - Returns: Whether it was.
  func openArriving(_ id: String) async throws(PackError) -> Bool {
    guard let coming = try await coming(id), !coming.hasArrived, coming.record.state != .notLoaded(.cancelled),
      let entry = try await delivery.lookup([id]).packs[id], let defaults = await delivery.store.manifest?.manifest.defaults,
      let download = PlannedDownload(arriving: entry, defaults), download.identifier == coming.record.identifier,
      let arriving = await service.arrive(download), arriving.isPlayable
    else { return false }
    try await locks.lock("pack/\(id)")
    defer { locks.unlock("pack/\(id)") }
    let pack: Pack
    do throws(PackError) {
      pack = try await delivery.store.openArriving(arriving.path, of: entry, arrival: arriving)
    } catch {
      // It arrived as a whole, and is being installed.
      if arriving.isComplete, error.code == .missingInput { return false }
      throw error
    }
    // Its part may have been removed to free space, just before it was opened.
    guard arriving.isComplete || service.arriving(download.identifier.description) === arriving else { return false }
    guard playing.contains(id), !isStopped else { return false }
    opened.withLock { $0[id] = OpenedPack(pack, id: id, version: entry.version) }
    return true
  }

  /// Lets those downloads of a plan arrive in pieces whose packs somebody reads meanwhile.
  func arrive(_ downloads: [PlannedDownload]) async {
    for download in downloads where playing.contains(download.id) { _ = await service.arrive(download) }
  }

  /// Tells of a pack that became playable, or of which nothing comes although somebody waits: that is tried again at once.
  func noteArrival(of id: String) async {
    await report(id)
    guard playing.contains(id), case .playable(_, _, _, isStalled: true) = await status(of: id) else { return }
    requested.insert(id)
    try? await bring()
  }

  /// The status of a pack of which enough is here to begin; nil if it is not.
  func playable(_ coming: Coming?) -> Status? {
    guard let coming, let pack = service.arriving(coming.record.identifier.description), pack.isPlayable else { return nil }
    return .playable(version: coming.record.bytes.version, received: pack.received, of: pack.size, isStalled: pack.isStalled)
  }
}
