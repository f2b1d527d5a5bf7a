/// Answers the requests of a web view from packs. The host of the address is the name of the pack.
///
/// All callbacks are made on the main actor; all reading runs on other threads. At most four pieces are read or passed on at a time, whatever the
/// number of requests. After each piece, a request waits behind the others, so a video does not delay the images of a page. Memory: what ``Pack``
/// keeps and takes for four concurrent operations, and four pieces of at most one frame.
@MainActor
package final class SchemeServer<Receiver: SchemeReceiver> {
  /// A pack that is open or is being opened.
  private final class Opening {
    var responder: PackResponder?
    var waiting: [SchemeTask<Receiver>] = []
  }

  private let open: @Sendable (_ id: String) async throws(PackError) -> PackResponder
  private var packs: [String: Opening] = [:]
  private var tasks: [ObjectIdentifier: SchemeTask<Receiver>] = [:]
  private var queue: [SchemeTask<Receiver>] = []
  private var running = 0

  /// The maximum number of concurrent steps: any pack keeps as many readers.
  package static var mostSteps: Int { 4 }

  /// - Parameter open: opens a pack. Called once for each name until the name is forgotten, and again after an error.
  package init(open: @escaping @Sendable (_ id: String) async throws(PackError) -> PackResponder) {
    self.open = open
  }

  /// The number of requests in progress.
  package var taskCount: Int { tasks.count }

  /// Starts to answer a request.
  ///
  /// - Parameters:
  ///   - key: identifies the request when it is stopped: the web view's own object.
  ///   - id: the name of the pack.
  package func start(_ receiver: Receiver, key: ObjectIdentifier, pack id: String, _ request: PackRequest) {
    let task = SchemeTask(receiver, request) { [weak self] in self?.tasks[key] = nil }
    tasks[key] = task
    if let opening = packs[id] {
      if let responder = opening.responder { schedule(task, responder) } else { opening.waiting.append(task) }
      return
    }
    let opening = Opening()
    opening.waiting = [task]
    packs[id] = opening
    Task {
      do throws(PackError) {
        let responder = try await open(id)
        opening.responder = responder
        for task in opening.waiting { schedule(task, responder) }
      } catch {
        if packs[id] === opening { packs[id] = nil }
        for task in opening.waiting { task.fail(error) }
      }
      opening.waiting = []
    }
  }

  /// Stops a request: its receiver gets no more calls.
  package func stop(_ key: ObjectIdentifier) {
    tasks[key]?.stop()
  }

  /// Closes a pack: the next request for it opens the version that is current then. Requests in progress continue with the version they have.
  package func forget(_ id: String) {
    packs[id] = nil
  }

  private func schedule(_ task: SchemeTask<Receiver>, _ responder: PackResponder) {
    task.answer(from: responder)
    schedule(task)
  }

  private func schedule(_ task: SchemeTask<Receiver>) {
    if task.isActive { queue.append(task) }
    runSteps()
  }

  private func runSteps() {
    while running < Self.mostSteps, !queue.isEmpty {
      let task = queue.removeFirst()
      guard task.isActive else { continue }
      running += 1
      Task {
        await task.step()
        running -= 1
        if task.park({ [weak self] in self?.schedule(task) }) { runSteps() } else { schedule(task) }
      }
    }
  }
}
