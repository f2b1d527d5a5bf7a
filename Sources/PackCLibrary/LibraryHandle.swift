import Foundation

/// Gets an event as JSON, which is valid until it returns.
public typealias EventFunction = @convention(c) (_ context: UnsafeMutableRawPointer?, _ json: UnsafePointer<CChar>) -> Void

/// An open library that C has a handle of, with what it began.
final class LibraryHandle: Closable {
  let library: PackLibrary
  private let events: Events
  private let state = Monitor(State())

  private struct State {
    var isClosed = false
    var tasks: [Task<Void, Never>] = []
    var requests: [ObjectIdentifier: RequestHandle] = [:]
  }

  init(_ options: LibraryOptions, keys: some KeyProvider, events: Events) async throws(PackError) {
    if options.consentAbove != nil, unsafe events.callback == nil {
      throw PackError(.usage, "'consentAbove' needs a function that gets the question")
    }
    let settings = options.settings { await events.ask($0) }
    let manifest = try options.manifest.map { (text) throws(PackError) in
      guard let address = URL(string: text) else { throw PackError(.usage, "'\(text)' is no address of a manifest") }
      return address
    }
    switch (options.directory, options.group) {
    case (let directory?, nil):
      guard let manifest else { throw PackError(.usage, "there is no 'manifest' in the options") }
      library = try await PackLibrary(
        directory: URL(fileURLWithPath: directory, isDirectory: true), manifest: manifest, trusting: options.trusting, keys: keys,
        options: settings)
    case (nil, let group?):
      #if canImport(BackgroundAssets)
        library = try await PackLibrary(group: group, manifest: manifest, trusting: options.trusting, keys: keys, options: settings)
      #else
        throw PackError(.unsupported, "there are no app groups on this system: '\(group)'")
      #endif
    default: throw PackError(.usage, "the options need either a 'directory' or a 'group'")
    }
    self.events = events
    let (changes, notices) = (library.changes(), library.lowSpace())
    let tasks = [
      Task {
        for await change in changes {
          switch change {
          case .pack(let id, let status):
            var event = LibraryText.Event("status")
            (event.pack, event.state) = (id, LibraryText.Status(status))
            await events.tell(event)
          case .list: await events.tell(LibraryText.Event("list"))
          }
        }
      },
      Task {
        for await notice in notices {
          var event = LibraryText.Event("lowSpace")
          (event.packs, event.size) = (notice.packs, notice.missing)
          await events.tell(event)
        }
      },
    ]
    state.withLock { $0.tasks = tasks }
  }

  static func of(_ handle: UInt64) throws(PackError) -> LibraryHandle { try Handles.all.object(handle, "library") }

  /// Begins work that goes on after the call.
  ///
  /// - Returns: the handle of the request.
  func begin(_ work: @escaping @Sendable (_ handle: UInt64, PackLibrary) async throws(PackError) -> TagAccess?) -> UInt64 {
    let request = RequestHandle()
    let handle = Handles.all.add(request)
    let isClosed = state.withLock { state in
      if !state.isClosed { state.requests[ObjectIdentifier(request)] = request }
      return state.isClosed
    }
    request.begin { [library] () async throws(PackError) in
      try await work(handle, library)
    } end: { [weak self] in
      _ = self?.state.withLock { $0.requests.removeValue(forKey: ObjectIdentifier(request)) }
    }
    if isClosed { request.close() }
    return handle
  }

  /// Tells the progress of a request until the stream ends.
  func tellProgress(of request: UInt64, _ progress: AsyncStream<TagProgress>) -> Task<Void, Never> {
    Task { [events] in
      for await progress in progress {
        var event = LibraryText.Event("progress")
        (event.request, event.fraction) = (String(request), progress.fraction)
        await events.tell(event)
      }
    }
  }

  func answer(_ question: UInt64, _ answer: Bool) throws(PackError) { try events.answer(question, answer) }

  func close() {
    let (tasks, requests) = state.withLock { state in
      state.isClosed = true
      return (state.tasks, Array(state.requests.values))
    }
    for task in tasks { task.cancel() }
    for request in requests { request.close() }
    events.gate.close()
    let end = Task { [library, events] in
      // First, so that a question without an answer is not taken for one that was answered with no.
      await library.stop()
      events.close()
    }
    // A callback would wait for itself.
    guard (try? waiting { () async throws(PackError) in await end.value }) != nil else { return }
    events.gate.waitUntilEmpty()
  }
}

/// What the calls of an app's functions go through, of which none begins after the library was closed.
final class Gate: Sendable {
  private let state = Monitor((count: 0, isClosed: false))

  /// Runs a call. Returns nil if the gate is closed.
  func pass<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
    guard
      state.withLock({ state in
        if !state.isClosed { state.count += 1 }
        return !state.isClosed
      })
    else { return nil }
    defer { state.update { $0.count -= 1 } }
    return try body()
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Waits for the end of the calls.
  func waitUntilEmpty() { state.wait { $0.count == 0 ? () : nil } }
}

/// The keys of an app, for as long as its library is open.
struct GatedKeys: KeyProvider {
  let keys: AskedKeys
  let gate: Gate

  func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    // A function of the app may wait for a user, whom the other tasks need not wait for.
    let ring = try await WorkerPool.settled { [keys, gate] () throws(PackError) in
      try gate.pass { () throws(PackError) in try keys.ring(for: request) }
    }
    guard let ring else { throw PackError(.cancelled, "the library was closed") }
    return try ring.key(for: request)
  }
}

/// The function of the app that gets events, and its answers.
@safe
final class Events: Sendable {
  let callback: Callback<EventFunction>?
  let gate = Gate()
  private let lock = KeyedLock<String>()
  private let questions = Monitor<(next: UInt64, open: [UInt64: CheckedContinuation<Bool, Never>], isClosed: Bool)>((1, [:], false))

  init(_ callback: Callback<EventFunction>?) { unsafe self.callback = callback }

  /// Tells an event after those that were told before.
  func tell(_ event: LibraryText.Event) async {
    guard let callback = unsafe callback, let json = try? LibraryText.json(event), (try? await lock.lock("events")) != nil else { return }
    defer { lock.unlock("events") }
    await WorkerPool.settled { [gate] in
      _ = gate.pass {
        let text = unsafe copied(json)
        defer { unsafe text.deallocate() }
        unsafe callback.run { unsafe $0($1, text) }
      }
    }
  }

  /// Asks the app about downloads.
  func ask(_ question: DownloadQuestion) async -> Bool {
    await withCheckedContinuation { continuation in
      let number = questions.withLock { questions -> UInt64? in
        guard !questions.isClosed else { return nil }
        defer { questions.next += 1 }
        questions.open[questions.next] = continuation
        return questions.next
      }
      guard let number else { return continuation.resume(returning: false) }
      var event = LibraryText.Event("consent")
      (event.question, event.packs, event.size) = (number, question.packs, question.size)
      Task { [event] in await tell(event) }
    }
  }

  func answer(_ question: UInt64, _ answer: Bool) throws(PackError) {
    guard let continuation = questions.withLock({ $0.open.removeValue(forKey: question) }) else {
      throw PackError(.usage, "question \(question) was answered, or never asked")
    }
    continuation.resume(returning: answer)
  }

  /// Answers what is open with no.
  func close() {
    let open = questions.withLock { questions in
      questions.isClosed = true
      defer { questions.open = [:] }
      return questions.open.values
    }
    for continuation in open { continuation.resume(returning: false) }
  }
}

/// Work that was begun. It ends when it is done, or when its handle is closed.
final class RequestHandle: Closable {
  private struct State {
    var task: Task<Void, Never>?
    var end: Result<TagAccess?, PackError>?
    var isClosed = false
  }

  private let state = Monitor(State())

  static func of(_ handle: UInt64) throws(PackError) -> RequestHandle { try Handles.all.object(handle, "request") }

  func begin(_ work: @escaping @Sendable () async throws(PackError) -> TagAccess?, end: @escaping @Sendable () -> Void) {
    let task = Task { [state] in
      let result: Result<TagAccess?, PackError>
      do throws(PackError) { result = .success(try await work()) } catch { result = .failure(error) }
      // Before anybody hears of the end, who may close the library then.
      end()
      let isClosed = state.update { state in
        state.end = result
        return state.isClosed
      }
      if isClosed, case .success(let access) = result { access?.end() }
    }
    let isClosed = state.withLock { state in
      state.task = task
      return state.isClosed
    }
    if isClosed { task.cancel() }
  }

  /// Waits for the end.
  ///
  /// - Parameter milliseconds: how long at most; for ever if it is below 0.
  /// - Returns: whether it ended.
  func wait(_ milliseconds: Int64) throws(PackError) -> Bool {
    if milliseconds != 0 { try checkMayWait() }
    let start = ContinuousClock.now
    // A century, which is as good as for ever, but can be added to a clock.
    let time = Duration.milliseconds(min(milliseconds, 100 * 366 * 86_400_000))
    var waking: Task<Void, Never>?
    if milliseconds > 0 {
      waking = Task { [state] in
        try? await Task.sleep(for: time)
        state.wake()
      }
    }
    defer { waking?.cancel() }
    let end = state.wait { state -> Result<TagAccess?, PackError>?? in
      if let end = state.end { return .some(end) }
      return milliseconds >= 0 && ContinuousClock.now - start >= time ? .some(nil) : nil
    }
    _ = try end?.get()
    return end != nil
  }

  func close() {
    let (task, end) = state.withLock { state in
      state.isClosed = true
      return (state.task, state.end)
    }
    task?.cancel()
    if case .success(let access) = end { access?.end() }
  }
}
