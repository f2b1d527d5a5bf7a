#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Downloads files with tasks of the system, which go on while the app is suspended and after its process ended.
///
/// A large file comes in chunks. The first one comes by itself; once the server has shown that it sends ranges, further ones are handed over ahead, so that
/// the system need not start the app for each of them. They arrive in any order. Each is moved into the directory of ``Transfers`` within the callback, and
/// appended to the part as soon as those before it are there.
///
/// Nothing of this is recorded: what is under way is in the descriptions of the tasks, and what is here in the directory. A process that was started for
/// the events of its tasks hands the next chunks over when all events have come. When a plan begins the download again, it finds the tasks and the part.
///
/// A task has no resume data here: the system makes none for a request with a range, and continues a task by itself that lost its connection. Without a
/// network that it may use it waits, for a day. The attempt then fails, so that others hear of it, and the task stays.
final class BackgroundTransport: Transport, BackgroundSessionListener {
  private struct State {
    var place: TransferPlace?
    /// The files that are under way or have begun, by the identifiers of their downloads.
    var files: [String: File] = [:]
    /// The tasks that were cancelled or have failed here, until they complete.
    var dropped: Set<Int> = []
    /// Whether all events have come that earlier processes missed. Before, they may bring what seems to be missing.
    var hasCaughtUp = false
    /// The tasks that completed before those of earlier processes were listed. Nil afterwards.
    var completed: Set<Int>? = []
    var network = NetworkPath()
    /// Whether no task is handed over any more.
    var isClosed = false
  }

  fileprivate struct File {
    var url: URL
    let size: UInt64
    var priority: Float
    /// The bytes that are here.
    var extent = TransferPlace.Extent()
    var pieces: [Int: Piece] = [:]
    /// Whether the server has sent a range that was asked for.
    var sendsRanges = false
    /// The attempt that waits for the file.
    var waiter: AsyncStream<News>.Continuation?
  }

  fileprivate struct Piece {
    let task: any BackgroundSessionTask
    var range: Range<UInt64>
    var received: UInt64 = 0
    /// Whether an earlier process started the task.
    var isFound = false
  }

  fileprivate enum News {
    case received(UInt64, offset: UInt64)
    case failed(TransferFailure)
    case complete
  }

  /// The number of bytes in one request.
  let chunkSize: UInt64
  private let taskCount: Int
  private let session: any BackgroundSession
  private let options: URLSessionTransport.Options
  /// Fetches what somebody waits for: the system's tasks begin when the system likes, and write to files.
  private let pieces: URLSessionTransport
  /// Held while files are moved and chunks are appended, so never on a thread that must not block.
  private let state = Monitor(State())

  /// - Parameter taskCount: The largest number of tasks in the session, as long as no more files are downloaded at the same time.
  init(_ session: any BackgroundSession, options: URLSessionTransport.Options = URLSessionTransport.Options(), taskCount: Int = 20) {
    self.session = session
    self.options = options
    pieces = URLSessionTransport(options: options)
    chunkSize = max(1, options.largestPiece ?? 64 << 20)
    self.taskCount = taskCount
  }

  /// Receives the events of the session from now on, and finds the tasks of earlier processes. Call it once, before the first download.
  ///
  /// - Parameter place: The directory for what arrives.
  func connect(to place: TransferPlace) async {
    state.withLock { $0.place = place }
    session.connect(self)
    let tasks = await session.tasks()
    await settled { state in
      for task in tasks where state.completed?.contains(task.taskIdentifier) == false { Self.adopt(task, &state) }
      state.completed = nil
    }
  }

  // MARK: Attempts

  /// Fetches a range while the app runs.
  func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool {
    try await pieces.bytes(range, of: request, onBytes: onBytes)
  }

  /// Waits until all bytes of a file are in its part. If the task is cancelled, the download goes on.
  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    guard let url = URL(string: request.url), SafeAddress.isAllowed(url) else { throw .insecure }
    let (news, waiter) = AsyncStream.makeStream(of: News.self, bufferingPolicy: .bufferingNewest(1))
    await settled { [self] state in
      var file = state.files[request.identifier] ?? File(url: url, size: request.size, priority: Float(request.priority))
      file.url = url
      file.waiter = waiter
      state.files[request.identifier] = file
      Self.setPriority(Float(request.priority), of: request.identifier, &state)
      joinAndProceed(request.identifier, &state)
      Self.checkNetwork(for: request.identifier, &state)
    }
    for await event in news {
      switch event {
      case .received(let received, let offset): sink.note(offset: offset, received: received)
      case .failed(let failure): throw failure
      case .complete: return sink.note(offset: request.size, received: request.size)
      }
    }
    throw .cancelled
  }

  func setPriority(_ priority: Double, of identifier: String) async {
    await settled { state in Self.setPriority(Float(priority), of: identifier, &state) }
  }

  private static func setPriority(_ priority: Float, of identifier: String, _ state: inout State) {
    state.files[identifier]?.priority = priority
    for piece in state.files[identifier]?.pieces.values ?? [:].values where piece.task.priority != priority {
      piece.task.priority = priority
    }
  }

  func end(_ identifier: String) async {
    await settled { state in
      Self.drop(identifier, &state) { _ in true }
      state.files.removeValue(forKey: identifier)?.waiter?.finish()
    }
  }

  /// Hands over no further tasks. What those of before bring is still moved into the directory, for the next library.
  func close() async {
    await settled { $0.isClosed = true }
  }

  func lasting() async -> Set<String> {
    await settled { state in Set(state.files.filter { !$0.value.pieces.isEmpty }.keys) }
  }

  private func settled<Value: Sendable>(_ body: @escaping @Sendable (inout State) -> Value) async -> Value {
    await WorkerPool.settled { [state] in state.withLock(body) }
  }

  // MARK: Tasks

  /// Finds the file of a task, which may be one of an earlier process.
  ///
  /// - Returns: The label of the task. Nil if it is of no use here.
  @discardableResult
  private static func adopt(_ task: any BackgroundSessionTask, _ state: inout State) -> PieceLabel? {
    let number = task.taskIdentifier
    guard let label = PieceLabel(task.taskDescription), let url = task.originalRequest?.url, !state.dropped.contains(number) else {
      return nil
    }
    var file = state.files[label.identifier] ?? File(url: url, size: label.size, priority: task.priority)
    guard file.size == label.size else { return nil }
    if file.pieces[number] == nil {
      file.pieces[number] = Piece(task: task, range: label.range, received: UInt64(max(0, task.countOfBytesReceived)), isFound: true)
    }
    state.files[label.identifier] = file
    return label
  }

  /// Ends tasks of a file. What they still bring is ignored.
  private static func drop(_ identifier: String, _ state: inout State, _ isMeant: (Int) -> Bool) {
    for (number, piece) in state.files[identifier]?.pieces ?? [:] where isMeant(number) {
      state.dropped.insert(number)
      state.files[identifier]?.pieces[number] = nil
      piece.task.cancel()
    }
  }

  /// Reports the failure of a task to the attempt, if there is one. Another attempt begins what is missing.
  private static func fail(_ number: Int, of identifier: String, _ failure: TransferFailure, _ state: inout State) {
    // The connection of one task, or the device, says nothing about the others. An answer of the server does.
    let isOfServer =
      switch failure {
      case .offline, .unreachable, .timedOut, .noSpace, .cannotWrite, .endedBySystem, .cancelled, .other: false
      case .insecure, .status, .redirect, .malformedResponse, .wrongSize, .wrongDigest: true
      }
    drop(identifier, &state) { isOfServer || $0 == number }
    let waiter = state.files[identifier]?.waiter
    state.files[identifier]?.waiter = nil
    if state.files[identifier]?.pieces.isEmpty == true { state.files[identifier] = nil }
    waiter?.yield(.failed(failure))
    waiter?.finish()
  }

  /// Appends the chunks that continue the part, and hands over the next tasks; or reports the file if it is complete.
  private func joinAndProceed(_ identifier: String, _ state: inout State) {
    guard let place = state.place, !state.isClosed, var file = state.files[identifier] else { return }
    do throws(FileFailure) {
      file.extent = try place.join(identifier)
    } catch {
      return Self.fail(-1, of: identifier, place.failure(error, missing: file.size.less(file.extent.offset)), &state)
    }
    state.files[identifier] = file
    guard file.extent.offset < file.size else {
      Self.drop(identifier, &state) { _ in true }
      state.files[identifier] = nil
      file.waiter?.yield(.complete)
      file.waiter?.finish()
      return
    }
    handOver(identifier, place, &state)
    tell(identifier, state)
  }

  private func handOver(_ identifier: String, _ place: TransferPlace, _ state: inout State) {
    guard let file = state.files[identifier] else { return }
    let validator = file.extent.offset > 0 ? place.validator(identifier) : nil
    for range in file.missing(chunkSize) {
      let isFirst = state.files[identifier]?.pieces.isEmpty ?? true
      let count = state.files.values.reduce(0) { $0 + $1.pieces.count }
      // Before the first chunk is here, there is no validator for others.
      guard isFirst || file.sendsRanges && file.extent.offset > 0 && count < taskCount else { return }
      if count >= taskCount { Self.makeRoom(&state) }
      var message = options.message(for: file.url, range == 0..<file.size ? nil : range, validator: validator)
      // What is only prefetched waits for a good moment. The configuration has one answer for all tasks.
      if file.priority < 0.75 { message.networkServiceType = .background }
      let label = PieceLabel(identifier: identifier, range: range, size: file.size)
      let task = session.start(message, label: label.text, size: range.upperBound - range.lowerBound, priority: file.priority)
      state.files[identifier]?.pieces[task.taskIdentifier] = Piece(task: task, range: range)
    }
  }

  /// Ends the task that is the farthest ahead and has brought nothing yet, for a file that has no task.
  private static func makeRoom(_ state: inout State) {
    let spare = state.files.filter { $0.value.pieces.count > 1 }.flatMap { identifier, file in
      // While the app is suspended, no progress is reported.
      file.pieces.filter { $0.value.task.countOfBytesReceived <= 0 }.map { (identifier, number: $0.key, start: $0.value.range.lowerBound) }
    }
    guard let (identifier, number, _) = spare.max(by: { $0.start < $1.start }) else { return }
    drop(identifier, &state) { $0 == number }
  }

  private func tell(_ identifier: String, _ state: State) {
    guard let file = state.files[identifier] else { return }
    let received = file.pieces.values.reduce(file.extent.size) { $0.adding($1.received) }
    file.waiter?.yield(.received(min(received, file.size), offset: file.extent.offset))
  }

  /// Reports to the attempt for a file that none of its tasks has a network. They stay, and begin when there is one.
  private static func checkNetwork(for identifier: String, _ state: inout State) {
    guard let pieces = state.files[identifier]?.pieces.values, !pieces.isEmpty,
      !pieces.contains(where: { $0.task.originalRequest.map(state.network.carries) ?? true })
    else { return }
    fail(-1, of: identifier, .offline, &state)
  }

  // MARK: Events of the session

  func network(is path: NetworkPath) {
    state.withLock { state in
      state.network = path
      for identifier in state.files.keys { Self.checkNetwork(for: identifier, &state) }
    }
  }

  func task(_ task: any BackgroundSessionTask, received: Int64, expected: Int64) {
    state.withLock { state in
      let number = task.taskIdentifier
      guard let label = Self.adopt(task, &state), let file = state.files[label.identifier] else { return }
      state.files[label.identifier]?.pieces[number]?.received = UInt64(max(0, received))
      // A server that changed the file, or has no ranges, sends all of it. The other tasks would only bring the same.
      if expected > 0, expected != label.range.count, (task.response as? HTTPURLResponse)?.statusCode == 200 {
        guard UInt64(expected) == file.size else {
          return Self.fail(number, of: label.identifier, .wrongSize(UInt64(expected)), &state)
        }
        Self.drop(label.identifier, &state) { $0 != number }
        state.files[label.identifier]?.pieces[number]?.range = 0..<file.size
      }
      tell(label.identifier, state)
    }
  }

  func task(_ task: any BackgroundSessionTask, finished path: String) {
    state.withLock { state in
      guard let place = state.place, let label = Self.adopt(task, &state) else { return }
      do throws(TransferFailure) {
        try take(path, task, label, place, &state)
      } catch {
        Self.fail(task.taskIdentifier, of: label.identifier, error, &state)
      }
    }
  }

  func task(_ task: any BackgroundSessionTask, completed error: (any Error)?) {
    state.withLock { state in
      let number = task.taskIdentifier
      state.completed?.insert(number)
      guard state.dropped.remove(number) == nil, let label = PieceLabel(task.taskDescription), let file = state.files[label.identifier],
        let piece = file.pieces[number]
      else { return }
      if let error {
        let missing = file.size.less(file.extent.size)
        let failure = TransferFailure(endOf: error) { state.place?.failure(.fullDisk, missing: missing) ?? .cannotWrite }
        // The end of a task that an earlier process cancelled says nothing about the file.
        if let failure, failure != .cancelled || !piece.isFound {
          return Self.fail(number, of: label.identifier, failure == .cancelled ? .other : failure, &state)
        }
      }
      state.files[label.identifier]?.pieces[number] = nil
      if file.waiter != nil || state.hasCaughtUp { joinAndProceed(label.identifier, &state) }
    }
  }

  func deliveredEvents() {
    state.withLock { state in
      state.hasCaughtUp = true
      for (identifier, file) in state.files where file.waiter == nil { joinAndProceed(identifier, &state) }
    }
  }

  /// Checks a response, and moves its file into the directory.
  private func take(
    _ path: String, _ task: any BackgroundSessionTask, _ label: PieceLabel, _ place: TransferPlace, _ state: inout State
  ) throws(TransferFailure) {
    let identifier = label.identifier
    // The system follows redirects of background tasks without asking.
    guard let response = task.response as? HTTPURLResponse else { throw .malformedResponse }
    guard let url = response.url, SafeAddress.isAllowed(url) else { throw .redirect }
    func onDisk<Result>(_ body: () throws(FileFailure) -> Result) throws(TransferFailure) -> Result {
      do throws(FileFailure) {
        return try body()
      } catch {
        throw place.failure(error, missing: label.size)
      }
    }
    let size = try onDisk { () throws(FileFailure) in try place.size(of: path) ?? 0 }
    switch response.statusCode {
    case 200:
      guard response.isUnencoded else { throw .malformedResponse }
      guard size == label.size else { throw .wrongSize(size) }
      Self.drop(identifier, &state) { $0 != task.taskIdentifier }
      try onDisk { () throws(FileFailure) in try place.take(path, as: identifier, at: 0, validator: response.validator) }
    case 206:
      let range = ContentRange(response.value(forHTTPHeaderField: "Content-Range"))
      guard response.isUnencoded, let range, range.start == label.range.lowerBound, range.end < label.range.upperBound,
        size == range.end - range.start + 1
      else { throw .malformedResponse }
      if let total = range.total, total != label.size { throw .wrongSize(total) }
      let asked = task.originalRequest?.value(forHTTPHeaderField: "If-Range")
      if let asked, let validator = response.validator, validator != asked {
        // A server that does not know the condition sent bytes of another file.
        place.removePart(identifier)
        throw .malformedResponse
      }
      state.files[identifier]?.sendsRanges = true
      let here = try onDisk { () throws(FileFailure) in try place.extent(of: identifier).offset }
      // Bytes for a part that was replaced meanwhile are left to the system.
      guard range.start == 0 ? here == 0 : asked == (here > 0 ? place.validator(identifier) : nil) else { return }
      try onDisk { () throws(FileFailure) in
        try place.take(path, as: identifier, at: range.start, validator: range.start == 0 ? response.validator : nil)
      }
    case 416:
      // The part cannot be a part of the file on the server.
      place.removePart(identifier)
      throw .status(416, retryAfter: nil)
    default:
      throw response.failure
    }
  }
}

extension BackgroundTransport.File {
  /// The ranges that are neither here nor under way, in order, each of at most `chunkSize` bytes.
  fileprivate func missing(_ chunkSize: UInt64) -> [Range<UInt64>] {
    let covered = ([0..<extent.offset] + extent.chunks + pieces.values.map(\.range)).sorted { $0.lowerBound < $1.lowerBound }
    var missing: [Range<UInt64>] = []
    var start: UInt64 = 0
    for range in covered + [size..<size] {
      while start < range.lowerBound {
        let end = min(range.lowerBound, start.adding(chunkSize))
        missing.append(start..<end)
        start = end
      }
      start = max(start, range.upperBound)
    }
    return missing
  }
}

extension TransferFailure {
  /// Creates the failure for the error of a background task. Nil if the user ended the app, and with it the task.
  ///
  /// - Parameter full: Returns the failure for a full volume.
  init?(endOf error: any Error, full: () -> TransferFailure) {
    let error = error as NSError
    switch error.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int {
    // The values are those of NSURLErrorCancelledReasonUserForceQuitApplication and so on.
    case 0: return nil
    case 1: self = .endedBySystem(.noBackgroundActivity)
    case 2: self = .endedBySystem(.noResources)
    default:
      if Self.isAboutFullVolume(error) {
        self = full()
        return
      }
      self = TransferFailure(error)
    }
  }

  private static func isAboutFullVolume(_ error: NSError, depth: Int = 0) -> Bool {
    if DownloadFailure(domain: error.domain, code: error.code) == .noSpace { return true }
    // Errors are rarely nested deeply.
    guard depth < 8, let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError else { return false }
    return isAboutFullVolume(inner, depth: depth + 1)
  }
}
