extension LibraryLoop {
  /// Fetches the shards that a plan or a list lacks, in the background, until none is missing. A failure is followed by another attempt, with growing
  /// delays. After each third, the manifest is asked first: a newer release may have replaced it.
  ///
  /// - Parameter isAtOnce: Whether a delay is cut short, as it is for a pack that no attempt was for.
  func fetchShardsLater(isAtOnce: Bool = false) {
    guard !isStopped else { return }
    if fetching != nil {
      guard let fetched else {
        isFetchedAgain = true
        return
      }
      let isNew = isListed && !fetched.isListed || !undecided.union(waiters.packs).isSubset(of: fetched.ids)
      guard isAtOnce || isNew else { return }
      fetching?.cancel()
      self.fetched = nil
    }
    fetching = Task { [weak self, sleep] in
      while let seconds = await self?.fetchNext() {
        if seconds > 0 { await sleep(seconds) }
        if Task.isCancelled { return }
      }
    }
  }

  /// - Returns: The number of seconds after which the next attempt follows. Nil if there is nothing to fetch.
  func fetchNext() async -> UInt64? {
    fetched = nil
    isFetchedAgain = false
    do throws(PackError) {
      if fetchFailures > 0, fetchFailures % 3 == 0 { _ = try await adoptPublished() }
      let isChanged = try await fetchShards()
      fetchFailures = 0
      guard isChanged else {
        // Others were wanted meanwhile.
        if isFetchedAgain { return 0 }
        if !Task.isCancelled { fetching = nil }
        return nil
      }
      try? await bring()
      return 0
    } catch {
      // Another attempt has taken its place.
      guard error.code != .cancelled else { return nil }
      // Others may have arrived.
      try? await bring()
      let awaited = undecided.intersection(waiters.packs)
      fetched = (undecided.union(waiters.packs), isListed)
      guard Self.isTemporary(error) || [.wrongShard, .limitExceeded].contains(error.code) else {
        for id in awaited { failures[id] = error }
        for id in awaited { await report(id) }
        if !Task.isCancelled { fetching = nil }
        return nil
      }
      fetchFailures += 1
      retrying.formUnion(awaited)
      for id in awaited { await report(id) }
      return min(1 << UInt64(min(fetchFailures, 12) - 1), awaited.isEmpty ? 3600 : Self.lookInterval)
    }
  }

  /// Fetches the shards that are missing now.
  ///
  /// - Returns: Whether there were any.
  func fetchShards() async throws(PackError) -> Bool { try await fetchShards(for: isListed ? nil : undecided.union(waiters.packs)) }

  /// Fetches the shards that are missing to find some packs, or all of them.
  func fetchShards(for ids: Set<String>?) async throws(PackError) -> Bool {
    // One call at a time, so that each shard is fetched once.
    try await locks.lock("shards")
    defer { locks.unlock("shards") }
    let hasArrived = Monitor(false)
    // Also if another one cannot be had.
    defer { if hasArrived.withLock({ $0 }) { changes.tell(.list) } }
    return try await delivery.fetchShards(for: ids) { [bundled, source] (shard, address) async throws(PackError) in
      if let bytes = bundled?.file(of: shard), (try? ShardFile.check(bytes.byteSpan, as: shard, backend: CryptoBackends.standard)) != nil {
        hasArrived.withLock { $0 = true }
        return bytes
      }
      let bytes = try await source(.shard(address: address, size: Int(shard.size)))
      hasArrived.withLock { $0 = true }
      return bytes
    }
  }
}
