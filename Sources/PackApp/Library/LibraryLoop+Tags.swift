/// The packs that a request by tags is for.
struct TagGoal: Hashable, Sendable {
  let manifestVersion: UInt64
  let packs: [ManifestPack]

  /// Returns whether the packs and their bytes are the same.
  func isSame(as other: TagGoal) -> Bool { packs.map(\.id) == other.packs.map(\.id) && packs.map(\.bytes) == other.packs.map(\.bytes) }
}

extension LibraryLoop {
  // MARK: Finding packs

  /// The maximum number of times that a catalogue is fetched: another manifest may be accepted meanwhile.
  private static let mostRounds = 10

  /// Returns the packs that have any of the tags.
  ///
  /// - Parameter request: The request that fetches what is missing of the manifest's catalogue. If nil, nothing is fetched.
  /// - Returns: Nil if parts of the catalogue are missing.
  func goal(of tags: Set<String>, for request: TagRequest?) async throws(PackError) -> TagGoal? {
    if let request {
      try await persistently(request.waitsForNetwork) { () async throws(PackError) in
        if await delivery.store.manifest == nil { try await fetchManifest() }
      }
    }
    var hasAsked = false
    for _ in 0..<Self.mostRounds {
      let manifest = try await delivery.store.requiredManifest()
      let listing = try await listing(of: manifest)
      if listing.missing.isEmpty {
        if let refusal = listing.refusal { throw refusal }
        // A tag whose packs are all for other devices is valid, but has no packs here.
        try TagCatalog(listing.packs).check(tags)
        let packs = listing.packs.filter { delivery.isOffered($0) && !tags.isDisjoint(with: $0.tags) }
        if !hasAsked, try await begins(oneOf: packs) {
          hasAsked = true
          await askAboutRollouts()
          continue
        }
        return TagGoal(manifestVersion: manifest.version, packs: packs)
      }
      guard let request else { return nil }
      try await persistently(request.waitsForNetwork) { () async throws(PackError) in try await fetchCatalogue() }
    }
    throw PackError(.cannotRead, of: delivery.store.root, "loses the parts of the catalogue that are put there", advice: .tryAgain)
  }

  private func begins(oneOf packs: [ManifestPack]) async throws(PackError) -> Bool {
    for pack in packs where try await begins(pack) { return true }
    return false
  }

  private func fetchCatalogue() async throws(PackError) {
    do throws(PackError) {
      _ = try await fetchShards(for: nil)
    } catch {
      guard [.wrongShard, .limitExceeded].contains(error.code) else { throw error }
      throw PackError(.digestMismatch, error.message, advice: .developer("publish the parts of the catalogue that the manifest names"))
    }
  }

  /// Fetches something again after each failure, with growing delays, if a request is patient. After each third, the manifest is asked first: a newer
  /// release may have replaced what cannot be had.
  private func persistently(_ isPatient: Bool, _ fetch: () async throws(PackError) -> Void) async throws(PackError) {
    var failures = 0
    while true {
      do throws(PackError) {
        if failures > 0, failures % 3 == 0 { try await fetchManifest() }
        return try await fetch()
      } catch {
        guard isPatient, Self.isTemporary(error), !Task.isCancelled else { throw error }
      }
      await pause(seconds: min(1 << UInt64(min(failures, 5)), Self.lookInterval))
      if Task.isCancelled { throw PackError(.cancelled, "the request was cancelled") }
      failures += 1
    }
  }

  private func listing(of manifest: Manifest) async throws(PackError) -> Catalogue.Listing {
    try await delivery.store.listing(of: manifest)
  }

  /// Throws if a new manifest changed which packs or bytes the tags belong to.
  ///
  /// - Parameter request: The request that fetches what is missing of the new manifest's catalogue. If nil, a manifest of which something is missing counts
  ///   as changed.
  /// - Throws: ``PackError/Code/manifestChanged``
  func check(_ goal: TagGoal, of tags: Set<String>, for request: TagRequest? = nil) async throws(PackError) {
    let manifest = try await delivery.store.requiredManifest()
    // Whether a candidate is offered depends on the time, too.
    guard manifest.version != goal.manifestVersion || goal.packs.contains(where: \.isCandidate) else { return }
    // Another one may be accepted meanwhile.
    var version = manifest.version
    do throws(PackError) {
      if let now = try await self.goal(of: tags, for: request) {
        if now.isSame(as: goal) { return }
        version = now.manifestVersion
      }
    } catch {
      // Without the catalogue it is not known whether anything changed.
      if request != nil, error.code != .unknownTag { throw error }
    }
    let names = tags.sorted().map { "'\(printable($0.utf8))'" }.joined(separator: ", ")
    throw PackError(
      .manifestChanged, "manifest version \(version) was accepted during the request for \(names), and changes its packs",
      advice: .tryAgain)
  }

  // MARK: Bringing packs

  /// Downloads and installs packs, and marks them as in use.
  ///
  /// - Parameter isPlaying: Whether those of which no version is here are opened as soon as they can be read while they arrive.
  /// - Returns: The marks of those that are installed, and those that arrive, by their names.
  func install(
    _ missing: [ManifestPack], of goal: TagGoal, for request: TagRequest, _ number: Int, isPlaying: Bool
  ) async throws(PackError) -> (marks: [String: UseMark], arriving: [String: OpenedPack]) {
    let store = delivery.store
    try await store.checkInstallable()
    let deltas = try await store.deltas(to: missing)
    let meter = request.meter
    meter.need(missing.map { ($0, deltas[$0.id]?.size ?? $0.size) })
    let listening = steps.handle { meter.take($0) }
    for pack in missing { if let step = received(pack.id) { meter.take(step) } }
    defer { withExtendedLifetime(listening) {} }
    try await checkRoom(for: missing, deltas)
    var marks: [String: UseMark] = [:]
    var arriving: [String: OpenedPack] = [:]
    let tags = request.tags
    let isPatient = request.waitsForNetwork
    var played: Set<String> = []
    if isPlaying {
      for pack in missing where try await store.installed(pack.id).allSatisfy({ $0.state == .failed }) { played.insert(pack.id) }
    }
    try await whilePlaying(played) { (_) async throws(PackError) in
      try await wait(for: missing.map(\.id), as: number, of: request, isPlaying: isPlaying) { () async throws(PackError) in
        try await check(goal, of: tags, for: request)
        for id in arriving.keys { if let failure = failures[id] { throw failure } }
        let open = missing.filter { marks[$0.id] == nil && arriving[$0.id] == nil }
        let holding = try await store.hold(open)
        if let failure = holding.failure { throw failure }
        for (id, mark) in holding.marks {
          marks[id] = mark
          meter.installed(id)
        }
        for pack in open where holding.marks[pack.id] == nil {
          if played.contains(pack.id), try await openArriving(pack.id), let pack = opened.withLock({ $0[pack.id] }) {
            arriving[pack.installed.id] = pack
            continue
          }
          if let failure = failure(of: pack.id, in: number, isPatient: isPatient) { throw failure }
        }
        return marks.count + arriving.count == missing.count
      }
    }
    return (marks, arriving)
  }

  /// Throws before anything is downloaded if there is no room for the packs that are not on their way, even after a purge. Purges nothing: that happens
  /// when the files arrive.
  private func checkRoom(for packs: [ManifestPack], _ deltas: [String: ManifestDelta]) async throws(PackError) {
    let defaults = try await delivery.store.requiredManifest().defaults
    var fresh: [ManifestPack] = []
    for pack in packs where try await !isComing(pack) { fresh.append(deltas[pack.id].map { pack.fetched(as: $0, defaults) } ?? pack) }
    guard !fresh.isEmpty, var lack = try await delivery.store.lack(for: fresh) else { return }
    if try await freeParts(except: Set(packs.map(\.id))) {
      guard let still = try await delivery.store.lack(for: fresh) else { return }
      lack = still
    }
    notices.tell(LowSpace(packs: fresh.map(\.id), missing: lack.missing, removed: []))
    throw lack.error
  }
}
