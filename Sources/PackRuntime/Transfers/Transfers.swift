/// Downloads files, several at a time, the most urgent first.
///
/// It keeps no list on the disk: what is wanted, and what failed how often, is in the records of ``SharedState``. Only the parts of files that are not
/// complete are here, so that a later attempt, also of another process, continues where the last one ended. A failed download is reported and
/// forgotten; the plan that follows its delay hands it over again.
///
/// One process at a time uses a directory, from the initializer until ``close()``. The lock is a file lock, so the directory must not be in the
/// container of an app group: iOS ends a suspended app that holds one there.
///
/// Memory: some hundred bytes for each download, and what the transport needs for those that run.
public actor Transfers {
  /// What happens, in order, for one listener. Progress is reported at most once per ``TransferPolicy/progressInterval`` and file.
  public nonisolated let events: AsyncStream<TransferEvent>

  private let report: AsyncStream<TransferEvent>.Continuation
  /// The directory.
  package nonisolated let place: TransferPlace
  private let transport: any Transport
  private let policy: TransferPolicy
  private let clock: any DeviceClock
  private let logger: (any PackLogger)?

  private var entries: [String: Entry] = [:]
  /// The last attempt of each download, which the next one waits for.
  private var attempts: [String: Task<Void, Never>] = [:]
  private var count: UInt64 = 0
  private var isClosed = false
  /// Whether the last attempt found no network. Then one download is tried at a time.
  private var isOffline = false
  /// The packs that are read while they arrive, by their downloads, also between two attempts.
  private nonisolated let arrivals = Monitor<[String: ArrivingPack]>([:])
  /// The downloads whose servers send whole files only.
  private var wholeOnly: Set<String> = []
  /// Held while a part is looked at or removed, by download.
  private let parts = KeyedLock<String>()

  private struct Entry {
    var download: PlannedDownload
    var priority: Double
    /// The order of arrival. A download that is added again is another one.
    let number: UInt64
    var phase = Phase.waiting

    enum Phase {
      case waiting
      /// `makesRoom` once it was told to stop for an urgent one.
      case running(makesRoom: Bool)
      /// Reported, but not settled.
      case ended(isComplete: Bool)
    }

    var isWaiting: Bool { if case .waiting = phase { true } else { false } }
    var isUrgent: Bool { priority >= 1 }

    func precedes(_ other: Entry) -> Bool { (other.priority, number) < (priority, other.number) }
  }

  /// Opens a directory for parts of files. Creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - directory: Its parent must exist. On the volume of the shared state, so that a complete file is moved there by a rename.
  ///   - transport: Downloads the files.
  ///   - logger: Receives failures. Identifiers are public in logs.
  /// - Throws: ``PackError/Code/downloadsBusy`` if another process uses the directory, ``PackError/Code/notDownloads`` if it is something else, or an
  ///   error of the file system.
  public init(
    directory: String, transport: any Transport, policy: TransferPolicy = TransferPolicy(), logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    try await self.init(
      directory: directory, transport: transport, policy: policy, files: SystemFiles(), clock: SystemClock(), logger: logger)
  }

  package init(
    directory: String, transport: any Transport, policy: TransferPolicy = TransferPolicy(), files: any FileSystem,
    clock: any DeviceClock, logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    place = try await WorkerPool.settled { () throws(PackError) in
      try TransferPlace(directory, timeout: policy.lockTimeout, clock: clock, files: files)
    }
    self.transport = transport
    self.policy = policy
    self.clock = clock
    self.logger = logger
    (events, report) = AsyncStream.makeStream(of: TransferEvent.self)
  }

  /// Ends all downloads, keeps their parts, and lets another process use the directory. Nothing is downloaded after this, except by a transport whose
  /// downloads outlive the process.
  public func close() async {
    isClosed = true
    let running = attempts.values
    for attempt in running { attempt.cancel() }
    for attempt in running { await attempt.value }
    entries = [:]
    await transport.close()
    for pack in arrivals.withLock({ $0.values }) { pack.stop(PackError(.cancelled, "the library was closed")) }
    arrivals.withLock { $0 = [:] }
    place.release()
    report.finish()
  }

  // MARK: What is wanted

  /// The identifiers of the downloads that wait, run, or ended without being settled.
  public var identifiers: Set<String> { Set(entries.keys) }

  /// Adds downloads. One that is here keeps its place; while it waits, the new address counts.
  public func add(_ downloads: [PlannedDownload]) {
    for download in downloads {
      let identifier = download.identifier.description
      if let entry = entries[identifier] {
        if entry.isWaiting { entries[identifier]?.download = download }
        continue
      }
      count += 1
      entries[identifier] = Entry(download: download, priority: download.priority, number: count)
    }
    launch()
  }

  /// Ends a download and removes its part. It is not reported.
  public func cancel(_ identifier: String) async {
    entries[identifier] = nil
    let attempt = attempts[identifier]
    attempt?.cancel()
    launch()
    await attempt?.value
    guard entries[identifier] == nil else { return }
    await transport.end(identifier)
    guard entries[identifier] == nil else { return }
    await removePart(identifier, as: "the download of pack '\(DownloadIdentifier(identifier)?.id ?? identifier)' was cancelled")
  }

  /// Ends the downloads that are not complete, except some, and removes their parts.
  ///
  /// - Returns: Their identifiers.
  func cancelAll(except isKept: (_ identifier: String) -> Bool) async -> [String] {
    var ended: [String] = []
    for (identifier, entry) in entries where !isKept(identifier) {
      if case .ended(isComplete: true) = entry.phase { continue }
      await cancel(identifier)
      ended.append(identifier)
    }
    return ended
  }

  /// Ends the download of a pack and removes what is here of it, except what is read at its launch, if that is here.
  ///
  /// - Returns: Whether something was removed. Nil if its launch is not here, or there is no space to copy that. Not while a download may be added.
  func shorten(_ download: PlannedDownload) async -> Bool? {
    let identifier = download.identifier.description
    if case .ended(isComplete: true) = entries[identifier]?.phase { return nil }
    guard let pack = await arrive(download), pack.isPlayable else { return nil }
    entries[identifier] = nil
    let attempt = attempts[identifier]
    attempt?.cancel()
    launch()
    await attempt?.value
    // It arrived, or somebody wants it.
    guard entries[identifier] == nil, !pack.isComplete else { return false }
    await transport.end(identifier)
    guard (try? await parts.lock(identifier)) != nil else { return nil }
    defer { parts.unlock(identifier) }
    guard entries[identifier] == nil else { return false }
    // Who reads it has the file that goes.
    forget(identifier, as: PackError(.cancelled, "pack '\(download.id)' was removed to free space"))
    return try? await WorkerPool.settled { [place] () throws(PackError) in try pack.shorten(in: place) }
  }

  /// Changes the priority of a download, from 0 to 1. With priority 1, it takes the place of a less urgent one, which continues later.
  public func setPriority(_ priority: Double, of identifier: String) async {
    guard let entry = entries[identifier], entry.priority != priority else { return }
    entries[identifier]?.priority = priority
    if case .running = entry.phase { await transport.setPriority(priority, of: identifier) }
    launch()
  }

  /// Removes a download that was reported as finished or failed, once that is recorded. Until then it counts as running.
  public func settle(_ identifier: String) async {
    guard case .ended = entries[identifier]?.phase else { return }
    entries[identifier] = nil
    launch()
  }

  /// Removes parts that no download here is for, and that no later one can use. Ends downloads that go on for them.
  ///
  /// - Parameter isUseful: Whether a later download may continue a part.
  /// - Returns: Whether something was removed.
  @discardableResult
  func removeParts(unless isUseful: @escaping @Sendable (DownloadIdentifier) throws(PackError) -> Bool) async throws(PackError) -> Bool {
    let lasting = await transport.lasting()
    let present = identifiers
    let useless = try await WorkerPool.settled { [place] () throws(PackError) in
      var useless: [String] = []
      for identifier in try place.parts().union(lasting) where !present.contains(identifier) {
        if let identifier = DownloadIdentifier(identifier), try isUseful(identifier) { continue }
        useless.append(identifier)
      }
      return useless
    }
    for identifier in useless where lasting.contains(identifier) { await transport.end(identifier) }
    let unwanted = useless.filter { entries[$0] == nil }
    for identifier in unwanted {
      await removePart(identifier, as: "pack '\(DownloadIdentifier(identifier)?.id ?? identifier)' is not downloaded any more")
    }
    return !useless.isEmpty
  }

  /// Returns the bytes that are available on the volume of the directory.
  package func availableSpace() async throws(PackError) -> UInt64 {
    try await WorkerPool.settled { [place] () throws(PackError) in try reading(place.path, place.files.availableSpace(at: place.handle)) }
  }

  // MARK: Packs that are read while they arrive

  /// Returns the pack of a download that is read while it arrives; nil if it is not.
  nonisolated func arriving(_ identifier: String) -> ArrivingPack? { arrivals.withLock { $0[identifier] } }

  /// Lets a pack be read while it arrives, from now on. What an earlier attempt or process has brought of it is here at once.
  ///
  /// - Returns: Nil if it has no lead, its server sends whole files only, or it is here as a whole.
  package func arrive(_ download: PlannedDownload) async -> ArrivingPack? {
    let identifier = download.identifier.description
    guard (try? await parts.lock(identifier)) != nil else { return nil }
    defer { parts.unlock(identifier) }
    if case .ended(isComplete: true) = entries[identifier]?.phase { return nil }
    let isNew = arriving(identifier) == nil
    guard let pack = arriving(for: download) else { return nil }
    if isNew, case .running = entries[identifier]?.phase {
      // The attempt for the whole file ends, and one that takes what it has brought follows.
      attempts[identifier]?.cancel()
    } else if !pack.hasLeaves {
      await WorkerPool.settled { [place] in pack.recall(from: place) }
    }
    return pack
  }

  /// Takes what the lead of a pack has of it, so that the pack can be read without a network. Segments with other bytes are not taken. The file stays.
  ///
  /// - Parameter lead: Its path.
  /// - Returns: Whether it is not needed any more. It is if it could not be taken now: without space, or while the pack is downloaded.
  func take(lead: String, of download: PlannedDownload) async -> Bool {
    let identifier = download.identifier.description
    guard !isClosed else { return false }
    guard entries[identifier] == nil, attempts[identifier] == nil else { return arriving(identifier)?.isPlayable ?? false }
    guard let pack = await arrive(download), !pack.isPlayable else { return true }
    guard (try? await parts.lock(identifier)) != nil else { return false }
    defer { parts.unlock(identifier) }
    do throws(PackError) {
      try await WorkerPool.settled { [place] () throws(PackError) in try pack.take(leadAt: lead, in: place) }
      return true
    } catch {
      logger.record(.error, .downloads, "lead not taken", .error(error))
      // It is downloaded like any other.
      if !pack.hasLeaves { forget(identifier, as: error) }
      return error.code == .digestMismatch
    }
  }

  private func arriving(for download: PlannedDownload) -> ArrivingPack? {
    let identifier = download.identifier.description
    guard !isClosed, let lead = download.lead, !wholeOnly.contains(identifier) else { return nil }
    if let known = arriving(identifier) { return known }
    // One that fits no lead is downloaded as a whole.
    let path = place.path(TransferPlace.part(identifier))
    let pack = try? ArrivingPack(download, lead, at: path, policy: policy, clock: clock) { [report] in report.yield(.playable(identifier)) }
    arrivals.withLock { $0[identifier] = pack }
    return pack
  }

  /// Removes what is here of a file, which does not arrive any more.
  private func removePart(_ identifier: String, as reason: String) async {
    // What is being removed is not to be found. A task that was cancelled does not wait.
    let isLocked = (try? await parts.lock(identifier)) != nil
    defer { if isLocked { parts.unlock(identifier) } }
    forget(identifier, as: PackError(.cancelled, reason))
    await WorkerPool.settled { [place] in place.removePart(identifier) }
  }

  private func forget(_ identifier: String, as error: PackError) {
    arrivals.withLock { $0.removeValue(forKey: identifier) }?.stop(error)
  }

  private func giveUpPieces(of identifier: String) {
    wholeOnly.insert(identifier)
    forget(identifier, as: PackError(.downloadFailed, "its server sends whole files only"))
  }

  // MARK: Attempts

  private func launch() {
    let limit = isOffline ? 1 : policy.concurrentDownloads
    while !isClosed, let next = entries.filter({ $1.isWaiting }).min(by: { $0.value.precedes($1.value) }) {
      guard entries.values.count(where: { !$0.isWaiting }) < limit else { return makeRoom(for: next.value) }
      start(next.key, next.value)
    }
  }

  /// Stops a less urgent download to make room for an urgent one.
  private func makeRoom(for entry: Entry) {
    guard entry.isUrgent, !isOffline else { return }
    let running = entries.compactMap { identifier, entry -> (String, Entry, Bool)? in
      if case .running(let makesRoom) = entry.phase { (identifier, entry, makesRoom) } else { nil }
    }
    guard !running.contains(where: \.2), let last = running.max(by: { $0.1.precedes($1.1) }), !last.1.isUrgent else { return }
    entries[last.0]?.phase = .running(makesRoom: true)
    attempts[last.0]?.cancel()
  }

  private func start(_ identifier: String, _ entry: Entry) {
    entries[identifier]?.phase = .running(makesRoom: false)
    let attempt = TransferAttempt(
      download: entry.download, priority: entry.priority, place: place, transport: transport, policy: policy, clock: clock, report: report)
    let earlier = attempts[identifier]
    // What was read while it arrived has holes, which only pieces fill.
    let isInPieces = arriving(identifier) != nil || (entry.download.lead != nil && place.hasMap(identifier))
    let pieces = (isInPieces ? arriving(for: entry.download) : nil).map { ArrivingAttempt($0, attempt) }
    attempts[identifier] = Task { [weak self] in
      await earlier?.value
      if let pieces {
        if let outcome = await pieces.run() { return await self?.end(identifier, entry.number, outcome) ?? () }
        await self?.giveUpPieces(of: identifier)
      }
      let outcome = await attempt.run()
      await self?.end(identifier, entry.number, outcome)
    }
  }

  private func end(_ identifier: String, _ number: UInt64, _ outcome: TransferAttempt.Outcome) {
    defer { launch() }
    guard let entry = entries[identifier], entry.number == number else {
      if entries[identifier] == nil { attempts[identifier] = nil }
      return
    }
    attempts[identifier] = nil
    switch outcome {
    case .stopped: entries[identifier]?.phase = .waiting
    case .complete(let path):
      setOffline(false)
      arrivals.withLock { $0[identifier] = nil }
      tell(.finished(identifier, path: path))
    case .failed(.offline, _):
      setOffline(true)
      // The others would only find the same.
      for (identifier, entry) in entries where entry.isWaiting || entry.number == number {
        tell(.failed(identifier, .offline, hasGrown: false))
      }
    case .failed(let failure, let hasGrown):
      setOffline(false)
      tell(.failed(identifier, failure, hasGrown: hasGrown))
    }
  }

  /// Reports the end of a download.
  private func tell(_ event: TransferEvent) {
    guard let identifier = event.identifier else { return }
    let isComplete = if case .finished = event { true } else { false }
    entries[identifier]?.phase = .ended(isComplete: isComplete)
    log(event)
    report.yield(event)
  }

  private func setOffline(_ isOffline: Bool) {
    guard self.isOffline != isOffline else { return }
    self.isOffline = isOffline
    let event: TransferEvent = isOffline ? .offline : .online
    log(event)
    report.yield(event)
  }

  private func log(_ event: TransferEvent) {
    if let logger, let event = event.logEvent { logger.log(event) }
  }
}

/// How downloads share the device.
public struct TransferPolicy: Hashable, Sendable {
  /// The maximum number of concurrent downloads.
  public var concurrentDownloads = 20
  /// The number of bytes that a download leaves free on the volume.
  public var freeSpaceMargin: UInt64 = 20 << 20
  /// The minimum time between two progress events of one download.
  public var progressInterval: Duration = .milliseconds(200)
  /// The time without any bytes after which a pack that is read while it arrives counts as stalled.
  public var stallTime: Duration = .seconds(3)
  /// The time without any bytes after which reading what has not arrived fails.
  public var patience: Duration = .seconds(30)
  /// The most bytes that are fetched at once of a pack that is read while it arrives. They are in memory, twice.
  package var largestPiece: UInt64 = 4 << 20
  /// The number of bytes after which it is noted what has arrived of a pack that is read meanwhile. After a crash, about as many are fetched again.
  package var unnotedSize: UInt64 = 4 << 20
  /// The time for which the initializer of ``Transfers`` waits if another process uses the directory.
  public var lockTimeout: Duration = .seconds(5)

  /// Creates the default policy.
  public init() {}
}
