package import PackCrypto
package import PackFiles
public import PackFormat
package import PackWork

/// Files to download, as many as there are, and how far each has come: kept on the disk, so that nothing is lost and nothing is fetched twice when the
/// process ends at any moment.
///
/// A request takes 12 bytes of memory, 20 with an extension id; 100 000 of them stay within 6 MB. What was submitted is on the disk when ``submit(_:group:)`` returns, in batches
/// that are never written again; how far each request has come is one record of 16 bytes beside them. Progress is told and not written.
///
/// Nothing is downloaded before ``run(until:)``. A finished file was checked, size and SHA-256, as it lies on the disk, and then got its name by a rename; no
/// path is told before. Each group has a directory of its own, and goes with it when it is removed.
///
/// One process has a queue at a time, from its making until ``close()``, and holds a file lock for it. A system that suspends an app may end it when it holds a lock in a
/// directory that is shared with others: close a queue that lies in one before the app is suspended.
public actor DownloadQueue {
  private let ledger: DownloadLedger
  private let transport: any Transport
  private let policy: QueuePolicy
  private let files: any FileSystem
  private let backend: any CryptoBackend
  private let clock: any QueueClock
  /// A slow listener may fall behind by half a megabyte.
  package nonisolated let hub = EventHub<DownloadEvent>(bufferedCount: 4096)
  private var random: any RandomNumberGenerator & Sendable

  private var lock: OpenFile?
  private var isRunning = false
  private var bell: AsyncStream<Void>.Continuation?
  private var attempts: [RequestPlace: AttemptControl] = [:]
  /// What waits for its next attempt, and until when.
  private var retries: [(due: Duration, place: RequestPlace)] = []
  /// What was checked and is to be moved into its place.
  private var unsettled: [Checked] = []
  private var settlingCount = 0
  private var tidyingCount = 0
  /// What has been tried without a network, since there was one.
  private var offlineFailures = 0
  /// The failures of servers since a file arrived.
  private var outageFailures = 0
  private var offlineUntil: Duration?
  /// Whether listeners know that there is no network.
  private var isOfflineTold = false
  /// Who waits for attempts to end.
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

  /// When ``run(until:)`` returns.
  public enum RunEnd: Sendable {
    /// When its task is cancelled.
    case cancelled
    /// When nothing is left that could go on by itself, or its task is cancelled.
    case idle
  }

  /// How long a request waits for space.
  private static let lowSpaceDelay: Duration = .seconds(30)

  // MARK: Making

  /// Opens a queue, or makes one in a directory that is empty or does not exist yet.
  ///
  /// - Parameters:
  ///   - root: the directory. The one above it must exist.
  ///   - transport: what brings the files over.
  ///   - policy: what the queue allows itself.
  /// - Throws: ``PackError/Code/queueBusy``, ``PackError/Code/notAQueue``, or what the disk says.
  public init(root: String, transport: any Transport, policy: QueuePolicy = QueuePolicy()) async throws(PackError) {
    try await self.init(root: root, transport: transport, policy: policy, files: SystemFiles())
  }

  /// - Parameter random: what the waits are taken from.
  package init(
    root: String, transport: any Transport, policy: QueuePolicy = QueuePolicy(), files: any FileSystem, backend: (any CryptoBackend)? = nil,
    clock: any QueueClock = SystemQueueClock(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) async throws(PackError) {
    guard (1...QueuePolicy.largestBatch).contains(policy.batchSize), policy.concurrentDownloads > 0, policy.retry.attempts > 0,
      policy.largestRetryCount > 0
    else {
      throw PackError(
        .usage, "a queue's policy needs batches of 1 to \(QueuePolicy.largestBatch), and at least one download, attempt and retry")
    }
    let backend = backend ?? CryptoBackends.standard
    let deadline = clock.now + policy.lockTimeout
    var taken: OpenFile?
    while taken == nil {
      taken = try await WorkerPool.value { (_) throws(PackError) in try QueueDirectory.lock(root, files: files) }
      guard taken == nil else { break }
      guard clock.now < deadline, !Task.isCancelled else {
        throw PackError(.queueBusy, "another process has the downloads in \(root)", advice: .developer("close the queue there first"))
      }
      await clock.sleep(for: .milliseconds(20))
    }
    guard let taken else { preconditionFailure("the loop ends with the lock") }
    let ledger = try await WorkerPool.value { (_) throws(PackError) in
      let directory = try QueueDirectory(root, lock: taken, files: files)
      return try DownloadLedger(path: directory.path, directory: directory.groups, files: files, backend: backend)
    }
    lock = taken
    self.ledger = ledger
    self.transport = transport
    self.policy = policy
    self.files = files
    self.backend = backend
    self.clock = clock
    self.random = random
  }

  /// Lets another process have the queue. The task of ``run(until:)`` must have ended; nothing else may be called after this.
  public func close() {
    lock = nil
  }

  /// What could not be read when the queue was opened, one line each: requests that must be submitted again. Usually nothing.
  public nonisolated var damage: [String] { ledger.damage }

  /// The most batches of requests that were in memory at a time.
  var largestBatchCount: Int { ledger.largestCacheCount }

  /// Everything that happens from now on. A listener that falls 4096 events behind loses the oldest; ``status(of:)`` knows how things are.
  public nonisolated func events() -> AsyncStream<DownloadEvent> { hub.listen() }

  // MARK: Asking for files

  /// Writes requests down, and returns when all of them are on the disk.
  ///
  /// They are taken in order and written in batches, so a sequence that makes them one by one needs no memory for all. Requests that the group has already are left out: a submission
  /// that was cut short is made again as it was.
  ///
  /// - Parameter group: the id of the group, 1 to 256 bytes. It is made with its first request.
  /// - Throws: ``PackError/Code/usage`` for a request that makes no sense, ``PackError/Code/requestExists``, or what the disk says. The batches
  ///   before stay.
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

  /// One submission at a time, because each numbers its batches.
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

  // MARK: Asking how things are

  /// The ids of the groups, oldest first.
  public var groups: [String] { ledger.groups }

  /// How far a group has come.
  public func status(ofGroup group: String) throws(PackError) -> DownloadGroupStatus { try ledger.status(of: group) }

  /// How far a request has come.
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

  /// The request that a downloader extension, or the system's download service, knows under an id; nil where there is none.
  public func request(forExtensionID extensionID: String) async throws(PackError) -> DownloadID? {
    try await blocking { [ledger] () throws(PackError) in
      guard let place = try ledger.place(ofExtensionID: extensionID), let group = ledger.name(of: place.group) else { return nil }
      return DownloadID(group: group, id: try ledger.request(at: place).id)
    }
  }

  /// The path of a finished file; nil where the request is not finished, or the file was taken away.
  public func file(of id: DownloadID) async throws(PackError) -> String? {
    let place = try await place(of: id)
    guard ledger.slot(place)?.state == .finished else { return nil }
    return try await blocking { [ledger] () throws(PackError) in
      let name = DownloadNames(place).whole
      guard (try? ledger.files.status(of: name, in: ledger.directory, following: .asThemselves))?.kind == .file else { return nil }
      return "\(ledger.path)/\(name)"
    }
  }

  /// The ids of the finished requests of a group, in the order in which they were submitted: what an app goes through when it starts, because it may have ended
  /// before it heard of them.
  public func finished(inGroup group: String) async throws(PackError) -> [String] {
    let number = try ledger.number(of: group)
    return try await blocking { [ledger] () throws(PackError) in
      var ids: [String] = []
      for place in ledger.places(.finished, in: number) { ids.append(try ledger.request(at: place).id) }
      return ids
    }
  }

  // MARK: Changing things

  /// Lets a group rest. What is under way stops soon and goes on from there later.
  public func pause(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .paused)
    stopAttempts(of: number)
    try await sync(number)
  }

  /// Lets a group go on.
  public func resume(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .active)
    ring()
    try await sync(number)
  }

  /// Cancels all of a group that is not finished, and removes what is there of it. Finished files stay.
  public func cancel(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .cancelled)
    stopAttempts(of: number)
    try await sync(number)
    await waitForAttempts(of: number)
    try await blocking { [ledger] () throws(PackError) in try ledger.removeParts(of: number) }
  }

  /// Removes a group with all its files. What is under way is stopped first.
  public func remove(group: String) async throws(PackError) {
    let number = try ledger.number(of: group)
    try ledger.set(group: number, to: .cancelled)
    stopAttempts(of: number)
    await waitForAttempts(of: number)
    retries.removeAll { $0.place.group == number }
    try await blocking { [ledger] () throws(PackError) in try ledger.remove(group: number) }
  }

  /// Lets a request rest that is not finished. What is under way stops soon and goes on from there later.
  public func pause(_ id: DownloadID) async throws(PackError) {
    try await change(id, from: [.waiting, .running, .retrying], to: .paused)
  }

  /// Lets a paused request go on.
  public func resume(_ id: DownloadID) async throws(PackError) {
    try await change(id, from: [.paused], to: .waiting)
    ring()
  }

  /// Cancels a request that is not finished, and removes what is there of it.
  public func cancel(_ id: DownloadID) async throws(PackError) {
    let place = try await change(id, from: [.waiting, .running, .retrying, .paused, .failed], to: .cancelled)
    guard attempts[place] == nil, ledger.slot(place)?.state == .cancelled else { return }
    try await blocking { [ledger] () throws(PackError) in
      let names = DownloadNames(place)
      do throws(FileFailure) {
        try ledger.removeFile(names.part)
        try ledger.removeFile(names.tag)
      } catch {
        throw error.writing(ledger.path)
      }
    }
  }

  /// Tries again what was given up or cancelled, or what is finished and whose file is gone.
  public func retry(_ id: DownloadID) async throws(PackError) {
    let hasFile = try await file(of: id) != nil
    try await change(id, from: hasFile ? [.failed, .cancelled] : [.failed, .cancelled, .finished], to: .waiting, failures: 0)
    ring()
  }

  /// Removes the file of a finished request, for which there is no more use. The request stays finished.
  public func discard(_ id: DownloadID) async throws(PackError) {
    let place = try await place(of: id)
    guard ledger.slot(place)?.state == .finished else { return }
    try await blocking { [ledger] () throws(PackError) in
      do throws(FileFailure) {
        try ledger.removeFile(DownloadNames(place).whole)
      } catch {
        throw error.writing(ledger.path)
      }
    }
  }

  /// Changes how urgent a request is, from 0 to 1, also while it is under way; a power cut may undo it. At 1, it takes the place of one that is less urgent, which goes on later.
  public func setPriority(_ priority: Double, of id: DownloadID) async throws(PackError) {
    try DownloadRequest.check(priority: priority)
    let place = try await place(of: id)
    guard var rank = ledger.slot(place)?.rank else { return }
    rank.set(priority: priority)
    try ledger.set(place, rank: rank)
    if let identifier = attempts[place]?.identifier { await transport.setPriority(priority, of: identifier) }
    ring()
  }

  /// Ends all waits: the network came back, or there is space again.
  public func tryNow() {
    offlineUntil = nil
    let now = clock.now
    for index in retries.indices { retries[index].due = now }
    ring()
  }

  /// Ends the wait of a request, and has the network tried at once where there was none. Whether there still is none is told anew.
  package func tryNow(_ id: DownloadID) async throws(PackError) {
    let place = try await place(of: id)
    let now = clock.now
    for index in retries.indices where retries[index].place == place { retries[index].due = now }
    offlineUntil = nil
    isOfflineTold = false
    ring()
  }

  /// The free bytes on the volume of the queue.
  package func freeSpace() async throws(PackError) -> UInt64 {
    try await blocking { [ledger] () throws(PackError) in
      do throws(FileFailure) {
        return try ledger.files.freeSpace(at: ledger.directory)
      } catch {
        throw error.reading(ledger.path)
      }
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

  /// Brings what somebody decided to the disk before they are told that it is so.
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

  /// Downloads. Returns when its task is cancelled, and has then stopped everything, or when nothing is left to do.
  ///
  /// - Throws: ``PackError/Code/usage`` where the queue runs already.
  public func run(until end: RunEnd = .cancelled) async throws(PackError) {
    guard !isRunning else { throw PackError(.usage, "the download queue runs already") }
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
        // One time for both: what becomes due between two looks would be neither begun nor waited for.
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

  /// Has ``run(until:)`` look again.
  private func ring() { bell?.yield() }

  private var isIdle: Bool {
    attempts.isEmpty && unsettled.isEmpty && settlingCount == 0 && tidyingCount == 0 && retries.isEmpty && ledger.next() == nil
  }

  /// Finds what was under way when the process ended, and what goes on without it.
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
    // What somebody paused or cancelled while the system went on with it.
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

  /// Has a download that is not urgent make room for one that is.
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
    // Nothing is due that only an end of something else could let begin.
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

  /// Asks the transport what it still knows of. What it does not know twice in a row is given up and tried again. A running queue does this by itself from time to time.
  public func reconcile() async {
    let controls = attempts
    guard let known = await transport.inFlight() else { return }
    for control in controls.values { control.look(known) }
  }

  private func endWaits() {
    for ending in endings { ending.resume() }
    endings = []
  }

  /// Gives a request back its turn.
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

  /// The failures in a row that are too many to be those of a few requests: as many as four take that fail by themselves.
  private var outageLimit: Int { max(policy.concurrentDownloads, 4 * policy.retry.attempts) }

  /// Somebody answered, so there is a network.
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
    // Bytes of an earlier attempt that were wrong are gone now, and were not this one's fault.
    let isOwn = !(isResumed && (failure == .wrongDigest || failure == .status(416, retryAfter: nil)))
    if failure.isOfServer { outageFailures = isFurther ? 0 : outageFailures + 1 }
    // Nor is a server that answers nobody the fault of one request, or a connection that breaks off while the file grows.
    let counts = isOwn && !(failure.isOfServer && (isFurther || outageFailures > outageLimit))
    let failures = counts ? max(slot.failures, slot.failures &+ 1) : slot.failures
    if failure.isPermanent || Int(failures) >= policy.retry.attempts || failures == .max {
      try? ledger.set(place, to: .failed, failures: failures, failure: failure, regardless: true)
      ledger.setBusy(place, false)
      // Where the disk would not give even its id: whoever waits for it must not wait for ever.
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

  /// Ends in the transport what somebody paused or cancelled meanwhile, and removes what a cancelled attempt left.
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
      // Where this does not work, the group's end removes it.
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

  /// Brings checked files to the disk, gives them their names, writes that down, and only then tells of them. Those that came in the meantime wait and go
  /// together, so that many small files share the waits for the disk.
  private func settle(_ items: [Checked]) async {
    let placed = (try? await blocking { [ledger] () throws(PackError) in Self.move(items, in: ledger) }) ?? []
    var written: [Checked] = []
    var unwanted: [Checked] = []
    for (item, isPlaced) in zip(items, placed + Array(repeating: false, count: items.count - placed.count)) {
      let state = ledger.slot(item.place)?.state
      guard state == .running, !ledger.isCancelled(item.place.group) else {
        // What was paused, and perhaps resumed, meanwhile is found whole by its next attempt.
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
      // A record that may not have reached the disk does no harm: the file is found in its place. But nobody may take it away before.
      if synced?.contains(item.place.group) == true {
        hub.tell(.finished(item.name, path: "\(ledger.path)/\(DownloadNames(item.place).whole)"))
      } else {
        try? ledger.set(item.place, to: .waiting, regardless: true)
      }
    }
  }

  /// Removes what was cancelled after it was checked.
  private func remove(_ items: [Checked]) async {
    try? await blocking { [ledger] () throws(PackError) in
      for names in items.map({ DownloadNames($0.place) }) {
        for name in [names.part, names.tag, names.whole] { try? ledger.removeFile(name) }
      }
    }
    for item in items { putBack(item.place) }
  }

  /// - Returns: for each, whether it is in its place for good.
  private static func move(_ items: [Checked], in ledger: DownloadLedger) -> [Bool] {
    let (files, directory) = (ledger.files, ledger.directory)
    var moved = items.map { item -> Bool in
      let names = DownloadNames(item.place)
      do {
        guard !item.isInPlace else {
          try files.sync(try files.open(names.whole, .readUnlinked, in: directory))
          // A process may have ended between the file's new name and this.
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
