/// The loop behind a library of asset packs that the system manages: it asks for them, follows all their downloads, and opens packs in place.
///
/// The system neither encrypts nor checks the files, and merges all asset packs into one directory. So opening checks that the file is the requested
/// pack, and everything is authenticated when it is read. Nothing is recorded: what is here and what is on its way is the system's to say.
actor AssetPackLoop: LibraryBackEnd {
  typealias Status = PackLibrary.Status

  nonisolated let changes = EventHub<LibraryLoop.Change>(bufferedCount: 256)
  nonisolated let notices = EventHub<LowSpace>(bufferedCount: 64)
  nonisolated let opened = Monitor<[String: OpenedPack]>([:])
  nonisolated let exports: FileExports

  private let system: any AssetPackSystem
  private let keys: any KeyProvider
  /// The entries of the manifest in the app, which has names for people.
  private let named: [String: ManifestPack]
  private let openFiles: FileBudget
  let logger: (any PackLogger)?
  /// Waits before another attempt.
  private let sleep: @Sendable (_ seconds: UInt64) async -> Void

  /// The asset packs that the server has, as far as the system knows. Nil before the first answer.
  private var listed: [String: AssetPackEntry]?
  /// The number of calls that wait for each pack.
  private var waiting: [String: Int] = [:]
  /// The packs that the system was asked for and that have neither arrived nor failed.
  private var bringing: Set<String> = []
  /// The parts of downloads that are here, and how to cancel them.
  private var transfers: [String: (fraction: Double, cancel: @Sendable () -> Void)] = [:]
  /// The errors that end the waiting for a pack.
  private var failures: [String: PackError] = [:]
  /// The packs whose last attempt failed.
  private var retrying: Set<String> = []
  /// The packs that were cancelled or removed, until somebody wants them again. Whatever of them arrives meanwhile is removed.
  private var unwanted: Set<String> = []
  /// The versions of open packs that arrived after they were opened.
  private var newer: [String: UInt64] = [:]
  private var hasNetwork = true
  private var isStopped = false
  private var running: Task<Void, Never>?
  private var listing: Task<Void, Never>?

  init(
    _ system: any AssetPackSystem, keys: any KeyProvider, exports: FileExports, named: [ManifestPack], openFiles: Int,
    logger: (any PackLogger)?, sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void
  ) {
    self.system = system
    self.keys = keys
    self.exports = exports
    self.named = Dictionary(named.map { ($0.id, $0) }) { first, _ in first }
    self.openFiles = FileBudget(limit: openFiles)
    self.logger = logger
    self.sleep = sleep
  }

  /// Follows the downloads from now on, and asks for the list until there is one.
  func start() {
    let updates = system.updates()
    running = Task { [weak self] in
      for await update in updates { await self?.take(update) }
    }
    listing = Task { [weak self, sleep] in
      var delay: UInt64 = 1
      while await self?.hasList() == false {
        await sleep(delay)
        delay = min(2 * delay, Self.longestDelay)
        if Task.isCancelled { return }
      }
    }
  }

  func stop() {
    isStopped = true
    running?.cancel()
    listing?.cancel()
    opened.withLock { $0 = [:] }
  }

  // MARK: The list

  private func list(isFresh: Bool = false) async throws(PackError) -> [String: AssetPackEntry] {
    if let listed, !isFresh { return listed }
    let list = Dictionary(try await system.list().map { ($0.id, $0) }) { first, _ in first }
    listed = list
    return list
  }

  func offers() async -> PackLibrary.Offers {
    guard let entries = try? await list() else { return PackLibrary.Offers(packs: [], isComplete: false) }
    var offers: [PackLibrary.Offer] = []
    for entry in entries.values.sorted(by: { $0.id < $1.id }) where entry.isForDevice {
      let pack = named[entry.id]
      offers.append(
        PackLibrary.Offer(
          id: entry.id, name: pack.map(\.name).flatMap { $0.isEmpty ? nil : $0 } ?? entry.id, description: pack?.description ?? "",
          downloadSize: entry.downloadSize, installSize: pack?.size ?? entry.downloadSize, status: await status(of: entry.id)))
    }
    return PackLibrary.Offers(packs: offers, isComplete: true)
  }

  /// Asks for the list. Returns whether there is one.
  private func hasList() async -> Bool {
    guard (try? await list()) != nil else { return false }
    changes.tell(.list)
    return true
  }

  func refresh() async throws(PackError) -> Bool {
    let before = try? await list()
    let (updating, removed) = try await system.checkForUpdates()
    let after = try await list(isFresh: true)
    for id in removed { forget(id) }
    changes.tell(.list)
    return before != after || !updating.isEmpty || !removed.isEmpty
  }

  /// The system updates packs by itself: what it did meanwhile is told.
  func resume() { changes.tell(.list) }

  func setLanguages(_ languages: [String]?) async throws(PackError) {
    try await system.setLanguage(languages?.first)
    _ = try await list(isFresh: true)
    changes.tell(.list)
  }

  // MARK: Making packs usable

  func play(_ id: String) async throws(PackError) { try await ensure([id]) }

  func ensure(_ ids: [String]) async throws(PackError) {
    var missing: [String] = []
    for id in ids where try await !use(id) { missing.append(id) }
    guard !missing.isEmpty else { return }
    try await check(missing)
    for id in missing {
      failures[id] = nil
      unwanted.remove(id)
      waiting[id, default: 0] += 1
    }
    do throws(PackError) {
      try await waitForChanges(
        of: missing, beginning: { for id in missing { begin(id) } },
        until: { () async throws(PackError) in
          var isDone = true
          for id in missing where try await !settled(id) { isDone = false }
          return isDone
        })
    } catch {
      for id in missing where leave(id) { await report(id) }
      throw error
    }
    for id in missing { leave(id) }
  }

  /// Ends the waiting of a call for a pack. Returns whether it was the last one.
  @discardableResult
  private func leave(_ id: String) -> Bool {
    waiting[id, default: 1] -= 1
    guard waiting[id] == 0 else { return false }
    waiting[id] = nil
    retrying.remove(id)
    return true
  }

  /// Throws if the server has no such asset packs, as far as the system knows.
  private func check(_ ids: [String]) async throws(PackError) {
    var entries = try await list()
    if !ids.allSatisfy({ entries[$0] != nil }) { entries = try await list(isFresh: true) }
    guard let id = ids.first(where: { entries[$0] == nil }) else { return }
    throw Self.unknown(id)
  }

  static func unknown(_ id: String) -> PackError {
    PackError(
      .unknownPack, "the system has no asset pack '\(printable(id.utf8))'",
      advice: .developer("upload it, and check that its assetPackID is this name"))
  }

  /// Returns whether the pack can be used now. Throws the error that waiting does not help against.
  private func settled(_ id: String) async throws(PackError) -> Bool {
    if try await use(id) { return true }
    if let failure = failures[id] { throw failure }
    return false
  }

  /// Opens the version of a pack that is on the device. It stays readable while it is open, even if the system updates or removes it.
  ///
  /// - Returns: Whether there is one.
  private func use(_ id: String) async throws(PackError) -> Bool {
    let name = try PackName(id)
    let flags = await system.status(of: id)
    guard flags.isHere else {
      forget(id)
      return false
    }
    let version = version(of: id, flags)
    do throws(PackError) {
      let pack = try await Pack.open(try system.path(of: AssetPackFile.name(of: id)), keys: keys)
      try pack.source.checkName(name)
      try pack.join(openFiles)
      let result = OpenedPack(pack, id: id, version: version)
      opened.withLock { $0[id] = result }
    } catch {
      // Removed since.
      guard await system.status(of: id).isHere else {
        forget(id)
        return false
      }
      logger.record(.error, .background, "asset pack cannot be opened", .error(error, pack: id))
      guard error.code == .missingInput else { throw error }
      throw PackError(
        .missingInput, "asset pack '\(id)' has no file '\(AssetPackFile.name(of: id))'",
        advice: .developer("make the asset pack with the packaging manifest of the release"))
    }
    newer[id] = nil
    return true
  }

  private func forget(_ id: String) {
    opened.withLock { $0[id] = nil }
    newer[id] = nil
  }

  /// Asks the system for a pack that it was not asked for yet: again and again while somebody waits and trying again may help.
  private func begin(_ id: String) {
    guard bringing.insert(id).inserted else { return }
    // Not part of the call, which may be cancelled while the download goes on.
    Task { [weak self, system, sleep] in
      var delay: UInt64 = 1
      while true {
        var failure: PackError?
        do throws(PackError) {
          try await system.bring(id)
        } catch {
          failure = error
        }
        guard await self?.settle(id, failure) == false else { return }
        await sleep(delay)
        delay = min(2 * delay, Self.longestDelay)
        guard await self?.isStillWanted(id) == true else { return }
      }
    }
  }

  private func isStillWanted(_ id: String) -> Bool {
    if waiting[id] != nil, !isStopped { return true }
    bringing.remove(id)
    return false
  }

  /// Takes the system's answer for a pack. Returns whether it is not asked for again.
  private func settle(_ id: String, _ error: PackError?) async -> Bool {
    if let error {
      if error.code != .cancelled { logger.record(.error, .background, "asset pack failed", .error(error, pack: id)) }
      if error.code == .offline { hasNetwork = false }
    }
    // Not here without an error: it was removed as soon as it came. It may be wanted again, and so may a download that was cancelled.
    let isHere = await system.status(of: id).isHere
    let isTemporary = error.map { [.offline, .downloadFailed, .cancelled].contains($0.code) } ?? !isHere
    if isTemporary, waiting[id] != nil, failures[id] == nil {
      retrying.insert(id)
      await report(id)
      return false
    }
    if let error {
      failures[id] = failures[id] ?? error
      if error.code == .noSpace, let size = listed?[id]?.downloadSize {
        notices.tell(LowSpace(packs: [id], missing: size, removed: []))
      }
    }
    retrying.remove(id)
    bringing.remove(id)
    await report(id)
    return true
  }

  func cancel(_ id: String) async throws(PackError) {
    if await !system.status(of: id).isHere {
      unwanted.insert(id)
      failures[id] = PackError(.cancelled, "the download of pack '\(printable(id.utf8))' was cancelled")
    }
    transfers.removeValue(forKey: id)?.cancel()
    await report(id)
  }

  func remove(_ id: String) async throws(PackError) {
    forget(id)
    transfers.removeValue(forKey: id)?.cancel()
    try await system.remove(id)
    unwanted.insert(id)
    failures[id] = waiting[id] == nil ? nil : PackError(.cancelled, "pack '\(printable(id.utf8))' was removed")
    await report(id)
  }

  // MARK: Events

  private func take(_ update: AssetPackUpdate) async {
    switch update {
    case .began(let id):
      hasNetwork = true
      retrying.remove(id)
      await report(id)
    case .paused(let id):
      transfers[id] = nil
      await report(id)
    case .progress(let id, let fraction, let cancel):
      guard !unwanted.contains(id) else { return cancel() }
      hasNetwork = true
      retrying.remove(id)
      if let known = transfers[id], fraction < 1, abs(fraction - known.fraction) < Self.progressStep {
        // The older function may be that of an earlier download.
        transfers[id] = (known.fraction, cancel)
        return
      }
      transfers[id] = (fraction, cancel)
      await report(id)
    case .finished(let entry):
      transfers[entry.id] = nil
      if listed?[entry.id] != nil { listed?[entry.id] = entry }
      if unwanted.contains(entry.id) {
        // The system did not cancel it, or began it by itself.
        try? await system.remove(entry.id)
      } else {
        failures[entry.id] = nil
        // It may have been opened before this was told.
        if let open = opened.withLock({ $0[entry.id] }), open.installed.version != entry.version { newer[entry.id] = entry.version }
      }
      await report(entry.id)
    case .failed(let id, let error):
      transfers[id] = nil
      if error.code == .offline { hasNetwork = false }
      await report(id)
    }
  }

  /// The smallest change of a download's progress that is reported.
  private static let progressStep = 0.005
  /// The largest number of seconds before another attempt.
  private static let longestDelay: UInt64 = 30

  // MARK: Status

  func status(of id: String) async -> Status {
    let flags = await system.status(of: id)
    if flags.isHere { return .ready(version: version(of: id, flags), update: update(of: id, flags)) }
    if let failure = failures[id] { return .failed(failure) }
    if let transfer = transfers[id] { return .downloading(received: received(id, transfer.fraction), of: size(of: id)) }
    return flags.contains(.downloading) || waiting[id] != nil ? .waiting(reason(of: id)) : .absent
  }

  private func update(of id: String, _ flags: AssetPackStatus) -> PackLibrary.Update? {
    if let version = newer[id] { return .installed(version: version) }
    if let transfer = transfers[id] { return .downloading(received: received(id, transfer.fraction), of: size(of: id)) }
    return flags.isDisjoint(with: [.downloading, .updateAvailable]) ? nil : .waiting(reason(of: id))
  }

  /// Returns the version on the device, or 0 if the system does not say: of a version that is out of date, it names only the newer one.
  private func version(of id: String, _ flags: AssetPackStatus) -> UInt64 {
    flags.isDisjoint(with: [.outOfDate, .updateAvailable, .obsolete]) ? listed?[id]?.version ?? 0 : 0
  }

  private func size(of id: String) -> UInt64 { listed?[id]?.downloadSize ?? 0 }

  private func received(_ id: String, _ fraction: Double) -> UInt64 { UInt64(Double(size(of: id)) * min(1, max(0, fraction))) }

  private func reason(of id: String) -> PackLibrary.WaitReason { !hasNetwork ? .network : retrying.contains(id) ? .retry : .turn }
}
