import PackFormat

/// Answers the requests of a web view out of packs, each named by the host of the address.
///
/// Everything that is told is told on the main actor; everything that is read is read on other threads. At most four pieces are read or handed
/// on at a time, however many requests there are, and one of each request, which then waits behind the others: a film does not hold up the images of a page.
/// Memory: four readers, each with a frame, 128 KiB for its block and 128 KiB of segments, and four pieces of at most a frame.
@MainActor
package final class SchemeServer<Receiver: SchemeReceiver> {
  /// A pack that is open, or about to be.
  private final class Opening {
    var responder: PackResponder?
    var waiting: [SchemeTask<Receiver>] = []
  }

  private let open: @Sendable (_ id: String) async throws(PackError) -> PackResponder
  private var packs: [String: Opening] = [:]
  private var tasks: [ObjectIdentifier: SchemeTask<Receiver>] = [:]
  private var queue: [SchemeTask<Receiver>] = []
  private var running = 0

  /// As many as a pack keeps readers for.
  package static var mostSteps: Int { 4 }

  /// - Parameter open: opens a pack. Called once for each name, until it is forgotten; after an error again.
  package init(open: @escaping @Sendable (_ id: String) async throws(PackError) -> PackResponder) {
    self.open = open
  }

  /// The requests that wait for something.
  package var taskCount: Int { tasks.count }

  /// Begins to answer a request.
  ///
  /// - Parameters:
  ///   - key: what names the request when it is stopped: the web view's own object.
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

  /// Ends a request: its receiver hears nothing from now on.
  package func stop(_ key: ObjectIdentifier) {
    tasks[key]?.stop()
  }

  /// Lets go of a pack, so that the next request for it opens what is there then. Requests under way go on with what they have.
  package func forget(_ id: String) {
    packs[id] = nil
  }

  private func schedule(_ task: SchemeTask<Receiver>, _ responder: PackResponder) {
    task.answer(from: responder)
    queue.append(task)
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
        if task.isActive { queue.append(task) }
        runSteps()
      }
    }
  }
}
