/// A persistent queue of files to download. Requests and their states are on disk, so nothing is lost and nothing is downloaded twice if the process
/// ends at any moment.
///
/// A request takes 12 bytes of memory, or 20 with an extension id; 100 000 requests take less than 6 MB. When ``submit(_:group:)`` returns, the
/// requests are on disk, in batches that are never rewritten. The state of each request is a record of 16 bytes beside them. Progress is only
/// reported, not written.
///
/// Nothing is downloaded before ``run(until:)``. When a file is complete on disk, its size and SHA-256 are checked, and then it is renamed to its
/// final name. Its path is reported only after that. Each group has its own directory, which is deleted when the group is removed.
///
/// Only one process can have a queue open at a time, from its creation until ``close()``; it holds a file lock. The system may terminate a suspended
/// app that holds a lock in a directory shared with other processes. So close a queue in such a directory before the app is suspended.
public actor DownloadQueue {
  private let ledger: DownloadLedger
  private let transport: any Transport
  private let policy: QueuePolicy
  private let files: any FileSystem
  private let backend: any CryptoBackend
  private let clock: any DeviceClock
  /// A slow listener can fall behind by half a megabyte of events.
  package nonisolated let hub = EventHub<DownloadEvent>(bufferedCount: 4096)
  /// Logs the queue's events. Nil without a logger.
  private let logging: EventHub<DownloadEvent>.Handling?
  private var random: any RandomNumberGenerator & Sendable

  private var lock: OpenFile?
  private var isRunning = false
  private var bell: AsyncStream<Void>.Continuation?
  private var attempts: [RequestPlace: AttemptControl] = [:]
  /// The requests that wait for their next attempt, and the times they wait for.
  private var retries: [(due: Duration, place: RequestPlace)] = []
  /// The checked files to be moved into place.
  private var unsettled: [Checked] = []
  private var settlingCount = 0
  private var tidyingCount = 0
  /// The number of attempts since the network was lost.
  private var offlineFailures = 0
  /// The number of server failures since the last file arrived.
  private var outageFailures = 0
  private var offlineUntil: Duration?
  /// Whether listeners were informed that there is no network.
  private var isOfflineTold = false
  /// The continuations of calls that wait for attempts to end.
  private var endings: [CheckedContinuation<Void, Never>] = []
  private var isSubmitting = false
  private var submitters: [CheckedContinuation<Void, Never>] = []

  private struct Checked: Sendable {
    let place: RequestPlace
    let name: DownloadID
    let size: UInt64
    let isInPlace: Bool
  }

  private enum Message: Sendable {
    /// Something may have changed.
    case woken
    case timer
    case ended(RequestPlace, DownloadAttempt.Outcome)
    case settled
    case tidied
    case reconciled
  }

  /// The condition under which ``run(until:)`` returns.
  public enum RunEnd: Sendable {
    /// Return when the task is cancelled.
    case cancelled
    /// Return when no request can continue by itself, or when the task is cancelled.
    case idle
  }

  /// The time for which a request waits for free space.
  private static let lowSpaceDelay: Duration = .seconds(30)

  // MARK: Opening

  /// Opens a queue. Creates one if the directory is empty or does not exist.
  ///
  /// - Parameters:
  ///   - root: the directory. Its parent must exist.
  ///   - transport: downloads the files.
  ///   - policy: the limits and retry rules of the queue.
  ///   - logger: receives failures and retries. The ids of requests and groups are public in logs.
  /// - Throws: ``PackError/Code/queueBusy``, ``PackError/Code/notAQueue``, or an error of the file system.
  public init(
    root: String, transport: any Transport, policy: QueuePolicy = QueuePolicy(), logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    try await self.init(root: root, transport: transport, policy: policy, files: SystemFiles(), logger: logger)
  }

  /// - Parameter random: the source of the random part of retry delays.
  package init(
    root: String, transport: any Transport, policy: QueuePolicy = QueuePolicy(), files: any FileSystem, backend: (any CryptoBackend)? = nil,
    clock: any DeviceClock = SystemClock(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    guard (1...QueuePolicy.largestBatch).contains(policy.batchSize), policy.concurrentDownloads > 0, policy.retry.attempts > 0,
      policy.largestRetryCount > 0
    else {
      throw PackError(
        .usage, "a queue's policy must allow batches of 1 to \(QueuePolicy.largestBatch), and at least 1 download, attempt and retry")
    }
    let backend = backend ?? CryptoBackends.standard
    let (directory, ledger) = try await WorkerPool.value { (_) throws(PackError) in
      let directory = try QueueDirectory(root, timeout: policy.lockTimeout, clock: clock, files: files)
      return (directory, try DownloadLedger(path: directory.path, directory: directory.groups, files: files, backend: backend))
    }
    lock = directory.lock
    self.ledger = ledger
    self.transport = transport
    self.policy = policy
    self.files = files
    self.backend = backend
    self.clock = clock
    self.random = random
    let hub = self.hub
    logging = logger.map { logger in hub.handle { if let event = $0.logEvent { logger.log(event) } } }
    for line in ledger.damage { logger.record(.error, .downloads, "queue was damaged", [.private("part", line)]) }
  }

  /// Closes the queue, so that another process can open it. The task of ``run(until:)`` must have ended. Do not call anything else after this.
  public func close() {
    lock = nil
  }

  /// The parts of the queue that could not be read when it was opened, one line each. Their requests must be submitted again. Usually empty.
  public nonisolated var damage: [String] { ledger.damage }

  /// The highest number of batches that were in memory at the same time.
  var largestBatchCount: Int { ledger.largestCacheCount }

  /// Returns a stream of all events from now on. A listener that falls 4096 events behind loses the oldest ones; ``status(of:)`` returns the current
  /// state.
  public nonisolated func events() -> AsyncStream<DownloadEvent> { hub.listen() }

  // MARK: Submitting

  /// Adds requests to a group and returns when all of them are on disk.
  ///
  /// The requests are read in order and written in batches, so a lazy sequence never needs memory for all of them. Requests that the group already
  /// has are skipped. So an interrupted submission can be repeated unchanged.
  ///
  /// - Parameter group: the id of the group, 1 to 256 bytes. The first request creates the group.
  /// - Throws: ``PackError/Code/usage`` for an invalid request, ``PackError/Code/requestExists``, or an error of the file system. Batches that were
  ///   already written stay.
  public func submit(_ requests: some Sequence<DownloadRequest>, group: String) async throws(PackError) {
    try DownloadRequest.check(id: group, "the id of a group")
    await beginSubmission()
    defer { endSubmission() }
    var batch: [DownloadRequest] = []
    for request in requests {
      try request.check()
      batch.append(request)
      guard batch.count == policy.batchSize else { continue }
      try await write(batch, group)
      batch.removeAll(keepingCapacity: true)
    }
    if !batch.isEmpty { try await write(batch, group) }
  }

  private func write(_ batch: [DownloadRequest], _ group: String) async throws(PackError) {
    try await blocking { [ledger] () throws(PackError) in try ledger.add(batch, to: group) }
    ring()
  }

  /// Waits for other submissions, because a submission numbers its batches.
  private func beginSubmission() async {
    if isSubmitting {
      await withCheckedContinuation { submitters.append($0) }
    } else {
      isSubmitting = true
    }
    ledger.setCacheLimit(1)
  }

  private func endSubmission() {
    if submitters.isEmpty {
      isSubmitting = false
      ledger.setCacheLimit(2)
    } else {
      submitters.removeFirst().resume()
    }
  }

  // MARK: Status

  /// The ids of the groups, oldest first.
  public var groups: [String] { ledger.groups }

  /// Returns the status of a group.
  public func status(ofGroup group: String) throws(PackError) -> DownloadGroupStatus { try ledger.status(of: group) }

  /// Returns the status of a request.
  public func status(of id: DownloadID) async throws(PackError) -> DownloadStatus {
    let place = try await place(of: id)
    let (request, failure) = try await blocking { [ledger] () throws(PackError) in
      (try ledger.request(at: place), try ledger.failure(at: place))
    }
    return try status(place, request, failure)
  }

  private func status(_ place: RequestPlace, _ request: DownloadRequest, _ failure: TransferFailure?) throws(PackError) -> DownloadStatus {
    guard let slot = ledger.slot(place) else { throw PackError(.noSuchRequest, "the group was removed") }
    let state: DownloadState =
      switch slot.state {
      case _ where ledger.isCancelled(place.group) && slot.state != .finished && slot.state != .failed: .cancelled
      case .waiting: .waiting
      case .running: .running(received: attempts[place]?.received ?? 0)
      case .retrying: .retrying(failure ?? .other)
      case .paused: .paused
      case .finished: .finished
      case .failed: .failed(failure ?? .other)
      case .cancelled: .cancelled
      }
    return DownloadStatus(request: request, state: state, priority: slot.rank.priority, failures: Int(slot.failures))
  }

  /// Returns the request with this extension id, as used by a downloader extension or the system's download service. Returns nil if there is none.
  public func request(forExtensionID extensionID: String) async throws(PackError) -> DownloadID? {
    try await blocking { [ledger] () throws(PackError) in
      guard let place = try ledger.place(ofExtensionID: extensionID), let group = ledger.name(of: place.group) else { return nil }
      return DownloadID(group: group, id: try ledger.request(at: place).id)
    }
  }

  /// Returns the path of a finished file. Returns nil if the request is not finished or the file was moved away.
  public func file(of id: DownloadID) async throws(PackError) -> String? {
    let place = try await place(of: id)
    guard ledger.slot(place)?.state == .finished else { return nil }
    return try await blocking { [ledger] () throws(PackError) in
      let name = DownloadNames(place).whole
      guard (try? ledger.files.status(of: name, in: ledger.directory, following: .asThemselves))?.kind == .file else { return nil }
      return "\(ledger.path)/\(name)"
    }
  }

  /// Returns the ids of the finished requests of a group, in the order of submission. An app should go through them when it starts, because it may
  /// have ended before it received their events.
  public func finished(inGroup group: String) async throws(PackError) -> [String] { try await requests([.finished], inGroup: group) }

  /// Returns the ids of the requests of a group that are neither finished nor cancelled, failed ones included.
  package func unfinished(inGroup group: String) async throws(PackError) -> [String] {
    guard !ledger.isCancelled(try ledger.number(of: group)) else { return [] }
    return try await requests([.waiting, .running, .retrying, .paused, .failed], inGroup: group)
  }

  private func requests(_ states: [JournalRecord.State], inGroup group: String) async throws(PackError) -> [String] {
    let number = try ledger.number(of: group)
    return try await blocking { [ledger] () throws(PackError) in
      var ids: [String] = []
      for state in states {
        for place in ledger.places(state, in: number) { ids.append(try ledger.request(at: place).id) }
      }
      return ids
    }
  }

  // MARK: Changing requests

  /// Pauses a group. Running downloads stop soon and continue from the same place later.
  public func pause(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .paused)
    stopAttempts(of: number)
    try await sync(number)
  }

  /// Resumes a group.
  public func resume(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .active)
    ring()
    try await sync(number)
  }

  /// Cancels all unfinished requests of a group and removes their partial files. Finished files stay.
  public func cancel(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .cancelled)
    stopAttempts(of: number)
    try await sync(number)
    await waitForAttempts(of: number)
    try await blocking { [ledger] () throws(PackError) in try ledger.removeParts(of: number) }
  }

  /// Removes a group with all its files. Running downloads are stopped first.
  public func remove(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .cancelled)
    stopAttempts(of: number)
    await waitForAttempts(of: number)
    retries.removeAll { $0.place.group == number }
    try await blocking { [ledger] () throws(PackError) in try ledger.remove(group: number) }
  }

  /// Pauses a request that is not finished. A running download stops soon and continues from the same place later.
  public func pause(_ id: DownloadID) async throws(PackError) {
    try await change(id, from: [.waiting, .running, .retrying], to: .paused)
  }

  /// Resumes a paused request.
  public func resume(_ id: DownloadID) async throws(PackError) {
    try await change(id, from: [.paused], to: .waiting)
    ring()
  }

  /// Cancels a request that is not finished and removes its partial file.
  public func cancel(_ id: DownloadID) async throws(PackError) {
    let place = try await change(id, from: [.waiting, .running, .retrying, .paused, .failed], to: .cancelled)
    guard attempts[place] == nil, ledger.slot(place)?.state == .cancelled else { return }
    try await blocking { [ledger] () throws(PackError) in
      let names = DownloadNames(place)
      try ledger.removeFile(names.part)
      try ledger.removeFile(names.tag)
    }
  }

  /// Retries a request that failed or was cancelled, or one that is finished but whose file is gone.
  public func retry(_ id: DownloadID) async throws(PackError) {
    let hasFile = try await file(of: id) != nil
    try await change(id, from: hasFile ? [.failed, .cancelled] : [.failed, .cancelled, .finished], to: .waiting, failures: 0)
    ring()
  }

  /// Removes the file of a finished request when it is no longer needed. The request stays finished.
  public func discard(_ id: DownloadID) async throws(PackError) {
    let place = try await place(of: id)
    guard ledger.slot(place)?.state == .finished else { return }
    try await blocking { [ledger] () throws(PackError) in
      try ledger.removeFile(DownloadNames(place).whole)
    }
  }

  /// Changes the priority of a request, from 0 to 1, even while it is running. A power failure may undo the change. With priority 1, the request
  /// takes the place of a less urgent running one, which continues later.
  public func setPriority(_ priority: Double, of id: DownloadID) async throws(PackError) {
    try DownloadRequest.check(priority: priority)
    let place = try await place(of: id)
    guard var rank = ledger.slot(place)?.rank else { return }
    rank.set(priority: priority)
    try ledger.set(place, rank: rank)
    if let identifier = attempts[place]?.identifier { await transport.setPriority(priority, of: identifier) }
    ring()
  }

  /// Ends all waits, for example because the network is back or space was freed.
  public func tryNow() {
    offlineUntil = nil
    let now = clock.now
    for index in retries.indices { retries[index].due = now }
    ring()
  }

  /// Ends the wait of a request and tries the network at once if it was offline. If there is still no network, this is reported again.
  package func tryNow(_ id: DownloadID) async throws(PackError) {
    let place = try await place(of: id)
    let now = clock.now
    for index in retries.indices where retries[index].place == place { retries[index].due = now }
    offlineUntil = nil
    isOfflineTold = false
    ring()
  }

  /// Returns the bytes that are available on the volume of the queue.
  package func availableSpace() async throws(PackError) -> UInt64 {
    try await blocking { [ledger] () throws(PackError) in
      return try reading(ledger.path, ledger.files.availableSpace(at: ledger.directory))
    }
  }

  @discardableResult
  private func change(
    _ id: DownloadID, from old: Set<JournalRecord.State>, to new: JournalRecord.State, failures: UInt8? = nil
  ) async throws(PackError) -> RequestPlace {
    let place = try await place(of: id)
    guard let slot = ledger.slot(place), old.contains(slot.state) else { return place }
    try ledger.set(place, to: new, failures: failures)
    retries.removeAll { $0.place == place }
    if new != .waiting { attempts[place]?.stop(.yielded) }
    try await sync(place.group)
    return place
  }

  /// Syncs a decision of the caller to disk before the call returns.
  private func sync(_ group: UInt32) async throws(PackError) {
    try await blocking { [ledger] () throws(PackError) in try ledger.sync(group) }
  }

  private func place(of id: DownloadID) async throws(PackError) -> RequestPlace {
    try await blocking { [ledger] () throws(PackError) in try ledger.place(of: id) }
  }

  private nonisolated func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PackError) -> Value
  ) async throws(PackError) -> Value {
    try await WorkerPool.value { (_) throws(PackError) in try body() }
  }

  private func stopAttempts(of group: UInt32) {
    for (place, control) in attempts where place.group == group { control.stop(.yielded) }
  }

  private func waitForAttempts(of group: UInt32) async {
    while attempts.keys.contains(where: { $0.group == group }) || unsettled.contains(where: { $0.place.group == group })
      || settlingCount > 0
      || tidyingCount > 0
    {
      await withCheckedContinuation { endings.append($0) }
    }
  }

  // MARK: Running

  /// Downloads the requests. Returns when nothing is left to do, or when the task is cancelled and everything has been stopped.
  ///
  /// - Throws: ``PackError/Code/usage`` if the queue is already running.
  public func run(until end: RunEnd = .cancelled) async throws(PackError) {
    guard !isRunning else { throw PackError(.usage, "the download queue is already running") }
    isRunning = true
    let (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.bell = bell
    defer {
      self.bell = nil
      isRunning = false
      endWaits()
    }
    await recover()
    await withTaskGroup(of: Message.self) { tasks in
      var alarm: Duration?
      tasks.addTask { await Self.next(rings) }
      addReconciliation(to: &tasks)
      while !Task.isCancelled {
        // The same time for both steps. Otherwise a retry that became due in between would be neither started nor waited for.
        let now = clock.now
        launch(into: &tasks, now)
        settle(into: &tasks)
        setAlarm(&alarm, in: &tasks, now)
        if end == .idle, isIdle { break }
        guard let message = await tasks.next() else { break }
        switch message {
        case .woken:
          tasks.addTask { await Self.next(rings) }
        case .timer:
          alarm = nil
        case .reconciled:
          addReconciliation(to: &tasks)
        default:
          take(message, into: &tasks)
        }
      }
      tasks.cancelAll()
      while let message = await tasks.next() { take(message, into: &tasks, isEnding: true) }
    }
    for checked in unsettled { putBack(checked.place) }
    unsettled = []
  }

  private static func next(_ rings: AsyncStream<Void>) async -> Message {
    for await _ in rings { return .woken }
    return .woken
  }

  /// Makes ``run(until:)`` check for work.
  private func ring() { bell?.yield() }

  private var isIdle: Bool {
    attempts.isEmpty && unsettled.isEmpty && settlingCount == 0 && tidyingCount == 0 && retries.isEmpty && ledger.next() == nil
  }

  /// Finds the requests that were running when the process ended, and the downloads that the transport continues.
  private func recover() async {
    retries = []
    let interrupted = ledger.places(.running)
    for place in interrupted + ledger.places(.retrying) { try? ledger.set(place, to: .waiting, regardless: true) }
    let known = await transport.inFlight() ?? []
    for place in interrupted {
      guard let (name, identifier) = try? await blocking({ [ledger] () throws(PackError) in try Self.name(of: place, in: ledger) }) else {
        continue
      }
      if !known.contains(identifier) { hub.tell(.forgotten(name)) }
    }
    // Requests that were paused or cancelled while the system continued their download.
    for identifier in known {
      guard let place = try? await blocking({ [ledger] () throws(PackError) in try Self.place(of: identifier, in: ledger) }) else {
        continue
      }
      let isWanted = ledger.isActive(place.group) && ledger.slot(place)?.state == .waiting
      if !isWanted { await transport.cancel(identifier) }
    }
  }

  private static func name(of place: RequestPlace, in ledger: DownloadLedger) throws(PackError) -> (DownloadID, String) {
    let request = try ledger.request(at: place)
    let name = DownloadID(group: ledger.name(of: place.group) ?? "", id: request.id)
    return (name, request.extensionID ?? name.description)
  }

  private static func place(of identifier: String, in ledger: DownloadLedger) throws(PackError) -> RequestPlace? {
    if let place = try ledger.place(ofExtensionID: identifier) { return place }
    for group in ledger.groups where identifier.hasPrefix(group + "/") {
      let id = String(identifier.dropFirst(group.count + 1))
      if let place = try? ledger.place(of: DownloadID(group: group, id: id)) { return place }
    }
    return nil
  }

  private func launch(into tasks: inout TaskGroup<Message>, _ now: Duration) {
    for retry in retries where retry.due <= now {
      if ledger.slot(retry.place)?.state == .retrying { try? ledger.set(retry.place, to: .waiting, regardless: true) }
    }
    retries.removeAll { $0.due <= now }
    if let offlineUntil, offlineUntil > now { return }
    let limit = offlineFailures > 0 ? 1 : policy.concurrentDownloads
    while retries.count < policy.largestRetryCount, unsettled.count + settlingCount < policy.concurrentDownloads, let next = ledger.next() {
      guard attempts.count < limit else { return makeRoom(for: next.rank) }
      begin(next.place, next.rank, in: &tasks)
    }
  }

  /// Stops a less urgent download to make room for an urgent one.
  private func makeRoom(for rank: RequestRank) {
    guard rank.isUrgent, offlineFailures == 0, !attempts.values.contains(where: { $0.reason != nil }) else { return }
    let ranks = attempts.compactMap { place, control in ledger.slot(place).map { (control, $0.rank) } }
    guard let (control, lowest) = ranks.min(by: { $0.1 < $1.1 }), !lowest.isUrgent, lowest < rank else { return }
    control.stop(.yielded)
  }

  private func begin(_ place: RequestPlace, _ rank: RequestRank, in tasks: inout TaskGroup<Message>) {
    let control = AttemptControl(rank: rank)
    ledger.setBusy(place, true)
    try? ledger.set(place, to: .running, regardless: true)
    attempts[place] = control
    let attempt = DownloadAttempt(
      place: place, control: control, ledger: ledger, transport: transport, policy: policy, clock: clock, backend: backend, hub: hub)
    tasks.addTask { .ended(place, await attempt.run()) }
  }

  private func setAlarm(_ alarm: inout Duration?, in tasks: inout TaskGroup<Message>, _ now: Duration) {
    var due = retries.map(\.due).min()
    if let offlineUntil, ledger.next() != nil { due = min(due ?? offlineUntil, offlineUntil) }
    // Otherwise only the end of another task can make something due.
    guard let due, due > now, alarm.map({ due < $0 }) ?? true else { return }
    alarm = due
    tasks.addTask { [clock] in
      await clock.sleep(for: due - now)
      return .timer
    }
  }

  private func addReconciliation(to tasks: inout TaskGroup<Message>) {
    tasks.addTask { [clock, policy] in
      await clock.sleep(for: policy.reconcileInterval)
      if !Task.isCancelled { await self.reconcile() }
      return .reconciled
    }
  }

  /// Asks the transport which downloads it still has. A download that is missing twice in a row is given up and retried. A running queue calls this
  /// by itself at intervals.
  public func reconcile() async {
    let controls = attempts
    guard let known = await transport.inFlight() else { return }
    for control in controls.values { control.look(known) }
  }

  private func endWaits() {
    for ending in endings { ending.resume() }
    endings = []
  }

  /// Returns a request to the waiting ones.
  private func putBack(_ place: RequestPlace) {
    if ledger.slot(place)?.state == .running { try? ledger.set(place, to: .waiting, regardless: true) }
    ledger.setBusy(place, false)
  }

  private func take(_ message: Message, into tasks: inout TaskGroup<Message>, isEnding: Bool = false) {
    switch message {
    case .ended(let place, let outcome):
      let control = attempts.removeValue(forKey: place)
      take(outcome, of: place, control, isEnding: isEnding)
      tidy(place, control?.handedOver, into: &tasks)
    case .settled:
      settlingCount = 0
    case .tidied:
      tidyingCount -= 1
    case .woken, .timer, .reconciled:
      break
    }
    endWaits()
  }

  private func take(_ outcome: DownloadAttempt.Outcome, of place: RequestPlace, _ control: AttemptControl?, isEnding: Bool) {
    guard let slot = ledger.slot(place), slot.state == .running, !isEnding else { return putBack(place) }
    switch outcome {
    case .checked(let name, let size, let isInPlace):
      noteNetwork()
      if !isInPlace { outageFailures = 0 }
      unsettled.append(Checked(place: place, name: name, size: size, isInPlace: isInPlace))
    case .stopped(.yielded):
      putBack(place)
    case .stopped(.forgotten):
      if let name = control?.name { hub.tell(.forgotten(name)) }
      fail(place, slot, control?.name, .forgotten)
    case .failed(let failure, let isResumed, let isFurther):
      fail(place, slot, control?.name, failure, isResumed: isResumed, isFurther: isFurther)
    }
  }

  /// More consecutive server failures than this count as an outage. Four requests that fail on their own do not exceed it.
  private var outageLimit: Int { max(policy.concurrentDownloads, 4 * policy.retry.attempts) }

  /// Records that a server answered, so there is a network.
  private func noteNetwork() {
    guard offlineFailures > 0 else { return }
    offlineFailures = 0
    offlineUntil = nil
    isOfflineTold = false
    hub.tell(.online)
  }

  private func fail(
    _ place: RequestPlace, _ slot: DownloadLedger.Slot, _ name: DownloadID?, _ failure: TransferFailure, isResumed: Bool = false,
    isFurther: Bool = false
  ) {
    let now = clock.now
    switch failure {
    case .offline:
      if !isOfflineTold { hub.tell(.offline) }
      isOfflineTold = true
      offlineFailures += 1
      offlineUntil = now + delay(after: offlineFailures)
      return putBack(place)
    case .noSpace(let needed, let free):
      if let name { hub.tell(.lowSpace(name, needed: needed, free: free)) }
      return wait(place, name, failure, slot.failures, Self.lowSpaceDelay)
    default:
      noteNetwork()
    }
    // The wrong bytes of an earlier attempt are discarded now, and this attempt did not cause them.
    let isOwn = !(isResumed && (failure == .wrongDigest || failure == .status(416, retryAfter: nil)))
    if failure.isOfServer { outageFailures = isFurther ? 0 : outageFailures + 1 }
    // An outage of the server does not count against a request. Neither does a connection that breaks off after the file grew.
    let counts = isOwn && !(failure.isOfServer && (isFurther || outageFailures > outageLimit))
    let failures = counts ? max(slot.failures, slot.failures &+ 1) : slot.failures
    if failure.isPermanent || Int(failures) >= policy.retry.attempts || failures == .max {
      try? ledger.set(place, to: .failed, failures: failures, failure: failure, regardless: true)
      ledger.setBusy(place, false)
      // If the disk cannot even provide the request's id, the event has an empty id, so that no listener waits forever.
      if let name = name ?? ledger.name(of: place.group).map({ DownloadID(group: $0, id: "") }) { hub.tell(.failed(name, failure)) }
      return
    }
    var atLeast: Duration?
    if case .status(_, let asked) = failure { atLeast = asked }
    let rounds = max(outageFailures - outageLimit, 0) / max(policy.concurrentDownloads, policy.largestRetryCount)
    wait(place, name, failure, failures, delay(after: max(Int(failures), 1) + rounds, atLeast: atLeast))
  }

  private func wait(_ place: RequestPlace, _ name: DownloadID?, _ failure: TransferFailure, _ failures: UInt8, _ delay: Duration) {
    try? ledger.set(place, to: .retrying, failures: failures, failure: failure, regardless: true)
    ledger.setBusy(place, false)
    retries.append((clock.now + delay, place))
    if let name { hub.tell(.retrying(name, failure, after: delay)) }
  }

  private func delay(after failures: Int, atLeast: Duration? = nil) -> Duration {
    policy.retry.delay(after: failures, atLeast: atLeast, using: &random)
  }

  /// Ends the transport's download of a request that was paused or cancelled meanwhile, and removes what a cancelled attempt left.
  private func tidy(_ place: RequestPlace, _ handedOver: String?, into tasks: inout TaskGroup<Message>) {
    let isCancelled = ledger.slot(place)?.state == .cancelled || ledger.isCancelled(place.group)
    let isPaused = ledger.slot(place)?.state == .paused || !ledger.isActive(place.group)
    guard isCancelled || isPaused && handedOver != nil, !unsettled.contains(where: { $0.place == place }) else { return }
    tidyingCount += 1
    ledger.setBusy(place, true)
    tasks.addTask { [ledger, transport] in
      if let handedOver { await transport.cancel(handedOver) }
      guard isCancelled else {
        ledger.setBusy(place, false)
        return .tidied
      }
      // If this fails, removing the group removes the files.
      try? await self.blocking { () throws(PackError) in
        let names = DownloadNames(place)
        try? ledger.removeFile(names.part)
        try? ledger.removeFile(names.tag)
      }
      ledger.setBusy(place, false)
      return .tidied
    }
  }

  // MARK: Settling

  private func settle(into tasks: inout TaskGroup<Message>) {
    guard settlingCount == 0, !unsettled.isEmpty else { return }
    let items = unsettled
    unsettled = []
    settlingCount = items.count
    tasks.addTask {
      await self.settle(items)
      return .settled
    }
  }

  /// Syncs checked files to disk, renames them to their final names, records this, and only then reports them. Files that arrive in the meantime wait
  /// and are handled together, so that many small files share the waits for the disk.
  private func settle(_ items: [Checked]) async {
    let placed = (try? await blocking { [ledger] () throws(PackError) in Self.move(items, in: ledger) }) ?? []
    var written: [Checked] = []
    var unwanted: [Checked] = []
    for (item, isPlaced) in zip(items, placed + Array(repeating: false, count: items.count - placed.count)) {
      let state = ledger.slot(item.place)?.state
      guard state == .running, !ledger.isCancelled(item.place.group) else {
        // A request that was paused meanwhile (and perhaps resumed) finds its complete file on the next attempt.
        if state == .paused || state == .waiting { putBack(item.place) } else { unwanted.append(item) }
        continue
      }
      if isPlaced, (try? ledger.set(item.place, to: .finished, fileSize: item.size)) != nil {
        written.append(item)
      } else if Task.isCancelled {
        putBack(item.place)
      } else if let slot = ledger.slot(item.place) {
        fail(item.place, slot, item.name, .cannotWrite)
      }
    }
    if !unwanted.isEmpty { await remove(unwanted) }
    let groups = Set(written.map(\.place.group))
    let synced: Set<UInt32>? = try? await blocking { [ledger] () throws(PackError) in
      groups.filter { (try? ledger.sync($0)) != nil }
    }
    for item in written {
      ledger.setBusy(item.place, false)
      // A missing record does no harm, because the file is found in its place. But the app must not move the file away before the record is on disk.
      if synced?.contains(item.place.group) == true {
        hub.tell(.finished(item.name, path: "\(ledger.path)/\(DownloadNames(item.place).whole)"))
      } else {
        try? ledger.set(item.place, to: .waiting, regardless: true)
      }
    }
  }

  /// Removes files that were cancelled after they were checked.
  private func remove(_ items: [Checked]) async {
    try? await blocking { [ledger] () throws(PackError) in
      for names in items.map({ DownloadNames($0.place) }) {
        for name in [names.part, names.tag, names.whole] { try? ledger.removeFile(name) }
      }
    }
    for item in items { putBack(item.place) }
  }

  /// - Returns: for each file, whether it is permanently in its place.
  private static func move(_ items: [Checked], in ledger: DownloadLedger) -> [Bool] {
    let (files, directory) = (ledger.files, ledger.directory)
    var moved = items.map { item -> Bool in
      let names = DownloadNames(item.place)
      do {
        guard !item.isInPlace else {
          try files.sync(try files.open(names.whole, .readUnlinked, in: directory))
          // A process may have ended after the rename but before this.
          try? ledger.removeFile(names.tag)
          return true
        }
        try files.sync(try files.open(names.part, .readUnlinked, in: directory))
        try files.rename(names.part, to: names.whole, in: directory)
        try? ledger.removeFile(names.tag)
        return true
      } catch {
        return false
      }
    }
    for batch in Set(items.map { DownloadNames.batch($0.place.group, $0.place.batch) }) {
      let isSynced = (try? files.sync(try files.open(batch, .directoryUnlinked, in: directory))) != nil
      guard !isSynced else { continue }
      for (index, item) in items.enumerated() where DownloadNames.batch(item.place.group, item.place.batch) == batch {
        moved[index] = false
      }
    }
    return moved
  }
}
