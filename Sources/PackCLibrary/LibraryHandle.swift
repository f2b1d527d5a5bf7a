import Foundation

/// Gets an event as JSON.
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
            events.tell(event)
          case .list: events.tell(LibraryText.Event("list"))
          }
        }
      },
      Task {
        for await notice in notices {
          var event = LibraryText.Event("lowSpace")
          (event.packs, event.size) = (notice.packs, notice.missing)
          events.tell(event)
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
        events.tell(event)
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
    events.close()
  }
}

/// The function of the app that gets events, and its answers.
@safe
final class Events: Sendable {
  private let callback: Callback<EventFunction>?
  private let questions = Monitor<(next: UInt64, open: [UInt64: CheckedContinuation<Bool, Never>], isClosed: Bool)>((1, [:], false))

  init(_ callback: Callback<EventFunction>?) { unsafe self.callback = callback }

  func tell(_ event: LibraryText.Event) {
    guard let callback = unsafe callback, let json = try? LibraryText.json(event) else { return }
    let text = unsafe copied(json)
    defer { unsafe text.deallocate() }
    unsafe callback.run { unsafe $0($1, text) }
  }

  /// Asks the app about downloads. Without a function there is no answer, and nothing is downloaded.
  func ask(_ question: DownloadQuestion) async -> Bool {
    guard unsafe callback != nil else { return false }
    return await withCheckedContinuation { continuation in
      let number = questions.withLock { questions -> UInt64? in
        guard !questions.isClosed else { return nil }
        defer { questions.next += 1 }
        questions.open[questions.next] = continuation
        return questions.next
      }
      guard let number else { return continuation.resume(returning: false) }
      var event = LibraryText.Event("consent")
      (event.question, event.packs, event.size) = (number, question.packs, question.size)
      tell(event)
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
    state.withLock { $0.task = task }
  }

  /// Waits for the end.
  ///
  /// - Parameter milliseconds: how long at most; for ever if it is below 0.
  /// - Returns: whether it ended.
  func wait(_ milliseconds: Int64) throws(PackError) -> Bool {
    if milliseconds != 0 { try checkMayWait() }
    let start = ContinuousClock.now
    let time = Duration.milliseconds(milliseconds)
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
