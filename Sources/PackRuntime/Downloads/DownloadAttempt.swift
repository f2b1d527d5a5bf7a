/// The queue's control over a running attempt.
final class AttemptControl: Sendable {
  /// The reason to stop an attempt.
  enum Reason: Sendable {
    /// It makes room for another one, or the request was paused or cancelled.
    case yielded
    /// The system no longer has the download.
    case forgotten
  }

  private struct State {
    var reason: Reason?
    var name: DownloadID?
    var identifier: String?
    var handedOver: String?
    var sink: DownloadSink?
    var missedLooks = 0
  }

  let rank: RequestRank
  private let state = Monitor(State())
  private let ends: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  init(rank: RequestRank) {
    self.rank = rank
    (ends, end) = AsyncStream.makeStream()
  }

  /// Makes the attempt end soon. Only the first reason counts.
  func stop(_ reason: Reason) {
    state.withLock { $0.reason = $0.reason ?? reason }
    end.finish()
  }

  var reason: Reason? { state.withLock { $0.reason } }

  /// Returns when the attempt must stop, or when its task is cancelled.
  func stopped() async {
    for await _ in ends {}
  }

  /// Sets the destination of the bytes.
  func use(_ sink: DownloadSink) {
    state.withLock { $0.sink = sink }
  }

  /// Records that the transport now has the download.
  func began(_ identifier: String) {
    state.withLock {
      $0.identifier = identifier
      $0.handedOver = identifier
    }
  }

  /// Records that the transport no longer has the download.
  func ended() {
    state.withLock { $0.identifier = nil }
  }

  /// The request's identity, once known.
  var name: DownloadID? { state.withLock { $0.name } }

  func call(_ name: DownloadID) {
    state.withLock { $0.name = name }
  }

  /// The transport's identifier of the download, while the transport has it.
  var identifier: String? { state.withLock { $0.identifier } }

  /// The identifier under which the download was handed to the transport. A system service may continue a download that no task waits for.
  var handedOver: String? { state.withLock { $0.handedOver } }

  /// The number of bytes on the device.
  var received: UInt64 { state.withLock { $0.sink }?.offset ?? 0 }

  /// Records whether the transport still has the download. Stops the attempt if it is missing for the second time; once is not enough, because the
  /// download may have started or ended since the transport was asked.
  func look(_ known: Set<String>) {
    let isForgotten = state.withLock { state in
      guard let identifier = state.identifier, !known.contains(identifier) else {
        state.missedLooks = 0
        return false
      }
      state.missedLooks += 1
      return state.missedLooks > 1
    }
    if isForgotten { stop(.forgotten) }
  }
}

/// One attempt at one request: from the bytes already on disk to a complete and checked file that is not yet in its place.
struct DownloadAttempt: Sendable {
  /// The result of an attempt.
  enum Outcome: Sendable {
    /// The file is complete and correct. `isInPlace` if an earlier process had already moved it to its place.
    case checked(name: DownloadID, size: UInt64, isInPlace: Bool)
    /// The attempt failed. `isResumed` if it started with bytes of earlier attempts, which may have been wrong. `isFurther` if it added bytes to
    /// them.
    case failed(TransferFailure, isResumed: Bool, isFurther: Bool)
    case stopped(AttemptControl.Reason)
  }

  private struct Start: Sendable {
    var request: DownloadRequest
    var name: DownloadID
    var offset: UInt64
    var tag: String?
    /// Whether nothing needs to be downloaded.
    var isComplete = false
    var isInPlace = false
  }

  let place: RequestPlace
  let control: AttemptControl
  let ledger: DownloadLedger
  let transport: any Transport
  let policy: QueuePolicy
  let clock: any DeviceClock
  let backend: any CryptoBackend
  let hub: EventHub<DownloadEvent>

  private var names: DownloadNames { DownloadNames(place) }
  private var files: any FileSystem { ledger.files }
  private var directory: OpenFile { ledger.directory }

  func run() async -> Outcome {
    var resumedAt: UInt64 = 0
    do throws(TransferFailure) {
      let start = try await blocking { (pool) throws(TransferFailure) in try prepare(pool) }
      if let reason = control.reason { return .stopped(reason) }
      if !start.isComplete {
        resumedAt = start.offset
        let sink = sink(start)
        let identifier = start.request.extensionID ?? start.name.description
        let request = TransferRequest(
          identifier: identifier, url: start.request.url, size: start.request.size, priority: control.rank.priority,
          isEssential: start.request.isEssential)
        control.use(sink)
        hub.tell(.began(start.name, offset: start.offset))
        let isStopped = try await transfer(request, into: sink)
        sink.close()
        if isStopped { return .stopped(control.reason ?? .yielded) }
        hub.tell(.progress(start.name, received: sink.offset, size: start.request.size))
        try await blocking { (pool) throws(TransferFailure) in try check(start.request, pool) }
      }
      return .checked(name: start.name, size: start.request.size, isInPlace: start.isInPlace)
    } catch {
      // Without earlier bytes, an attempt that breaks off may have got no further than the attempts before it.
      return .failed(error, isResumed: resumedAt > 0, isFurther: resumedAt > 0 && control.received > resumedAt)
    }
  }

  /// - Returns: whether the control stopped the transfer.
  private func transfer(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) -> Bool {
    let result = await withTaskGroup(of: Result<Void, TransferFailure>?.self) { [transport, control] tasks in
      tasks.addTask {
        // On a busy machine, the task may be delayed before and after the transfer. The transport does not have the download then and must not be
        // asked about it.
        control.began(request.identifier)
        defer { control.ended() }
        do throws(TransferFailure) {
          try await transport.download(request, into: sink)
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      tasks.addTask {
        await control.stopped()
        return nil
      }
      let first = await tasks.next() ?? nil
      // After this, the stopped transfer cannot write while the next attempt does.
      if first == nil { sink.close() }
      tasks.cancelAll()
      await tasks.waitForAll()
      return first
    }
    guard let result else {
      // The task that waits for the control also ends when the queue ends.
      if control.reason == nil { throw .cancelled }
      return true
    }
    if control.reason != nil, case .failure = result { return true }
    try result.get()
    return false
  }

  private func sink(_ start: Start) -> DownloadSink {
    let (name, size, hub) = (start.name, start.request.size, hub)
    return DownloadSink(
      size: size, offset: start.offset, validator: start.tag, names: names, in: directory, files: files, clock: clock,
      interval: policy.progressInterval
    ) { received in
      hub.tell(.progress(name, received: received, size: size))
    }
  }

  /// Finds the bytes already on disk, and removes those that cannot belong to the file.
  private func prepare(_ pool: WorkerPool) throws(TransferFailure) -> Start {
    let request: DownloadRequest
    do throws(PackError) {
      request = try ledger.request(at: place)
    } catch {
      throw error.code == .damagedQueue ? .other : .cannotWrite
    }
    guard let group = ledger.name(of: place.group) else { throw .cancelled }
    var start = Start(request: request, name: DownloadID(group: group, id: request.id), offset: 0)
    control.call(start.name)
    if let size = try size(of: names.whole) {
      // The file was renamed, but the process ended before that was recorded.
      if size == request.size, try isRight(names.whole, request, pool) {
        (start.isComplete, start.isInPlace) = (true, true)
        return start
      }
      try remove(names.whole)
    }
    if let size = try size(of: names.part) {
      if size == request.size, try isRight(names.part, request, pool) {
        start.isComplete = true
        return start
      }
      if size >= request.size {
        try removePart()
      } else {
        start.offset = size
        start.tag = (try? files.contents(of: "\(ledger.path)/\(names.tag)", limit: DownloadNames.longestTag))
          .flatMap(DownloadNames.entityTag)
      }
    }
    let (needed, overflow) = (request.size - start.offset).addingReportingOverflow(policy.freeSpaceMargin)
    let free = (try? files.availableSpace(at: directory)) ?? .max
    guard !overflow, needed <= free else { throw .noSpace(needed: overflow ? .max : needed, free: free) }
    return start
  }

  /// Checks the size and digest of the downloaded file.
  private func check(_ request: DownloadRequest, _ pool: WorkerPool) throws(TransferFailure) {
    let size = try size(of: names.part) ?? 0
    // An incomplete file is kept: the next attempt continues there.
    guard size >= request.size else { throw .wrongSize(size) }
    if size == request.size, try isRight(names.part, request, pool) { return }
    try removePart()
    throw size == request.size ? .wrongDigest : .wrongSize(size)
  }

  private func isRight(_ name: String, _ request: DownloadRequest, _ pool: WorkerPool) throws(TransferFailure) -> Bool {
    do throws(PackError) {
      let file = try reading(name, files.open(name, .readUnlinked, in: directory))
      let digest = try backend.makeDigest()
      try files.forEachPiece(of: file, 0..<request.size, atOnce: 128 << 10, name: name, checkpoint: pool.checkpoint) {
        (piece, _) throws(PackError) in try digest.update(piece)
      }
      return try digest.finish() == request.sha256
    } catch {
      throw error.code == .cancelled ? .cancelled : .cannotWrite
    }
  }

  private func size(of name: String) throws(TransferFailure) -> UInt64? {
    do throws(FileFailure) {
      return try ifPresent(files.status(of: name, in: directory, following: .asThemselves).size)
    } catch {
      throw .cannotWrite
    }
  }

  private func removePart() throws(TransferFailure) {
    try remove(names.part)
    try remove(names.tag)
  }

  private func remove(_ name: String) throws(TransferFailure) {
    do throws(PackError) {
      try ledger.removeFile(name)
    } catch {
      throw .cannotWrite
    }
  }

  /// Runs code that blocks for the disk on a separate thread.
  private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable (WorkerPool) throws(TransferFailure) -> Value
  ) async throws(TransferFailure) -> Value {
    let result: Result<Value, TransferFailure>
    do throws(PackError) {
      result = try await WorkerPool.value { (pool) throws(PackError) in
        do throws(TransferFailure) {
          return .success(try body(pool))
        } catch {
          return .failure(error)
        }
      }
    } catch {
      throw error.code == .cancelled ? .cancelled : .other
    }
    return try result.get()
  }
}
