import Dispatch
import Foundation
import TestSupport

@testable import PackApp

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The system's side of one background session, which outlives the processes of the app. It does what Apple documents:
///
/// - Tasks go on without a process. What a process misses is delivered when the next one connects, then that all events were delivered. A task is in the
///   list until its end was delivered.
/// - Callbacks come one at a time, and not on the main thread. Tasks end in no order that could be known.
/// - A file is removed when the callback with it returns. Error pages are files too.
/// - A cancelled task completes with an error. A user who ends the app ends all tasks; their errors come with the next start.
/// - A process that does not run, or is suspended, hears of no progress.
/// - A task without a network that its request may use waits. No callback says so; another interface of the system does.
final class FakeSystem: @unchecked Sendable {
  /// What a response is for a task.
  typealias Fetch = @Sendable (URLRequest) -> FakeServer.Answer?

  private struct State {
    var tasks: [Int: FakeTask] = [:]
    /// The tasks that did not get their answer yet.
    var waiting: [Int] = []
    /// Those that ended without a process that heard of it.
    var unheard: [Int: FakeTask] = [:]
    /// Those that were cancelled.
    var cancelled: Set<Int> = []
    /// Those whose server does not answer.
    var stalled: Set<Int> = []
    var number = 0
    var process = 0
    var listener: (any BackgroundSessionListener)?
    var missed: [@Sendable (any BackgroundSessionListener) -> Void] = []
    var isHeld = false
    var network = NetworkPath()
    var isSilent = false
    var mostTasks = 0
    var starts: [(label: String, priority: Float, service: URLRequest.NetworkServiceType)] = []
    var random: SeededGenerator
  }

  private let state: Monitor<State>
  private let queue = DispatchQueue(label: "session")
  private let place: String
  private let files: any FileSystem
  private let fetch: Fetch

  /// - Parameters:
  ///   - place: The directory of the system's temporary files.
  ///   - random: The order in which tasks end.
  init(in place: String, files: any FileSystem = SystemFiles(), random: SeededGenerator, fetch: @escaping Fetch) {
    (self.place, self.files, self.fetch) = (place, files, fetch)
    state = Monitor(State(random: random))
  }

  /// The session for a new process. The one before it must have ended.
  func session() -> any BackgroundSession {
    state.withLock { state in
      state.process += 1
      return Session(system: self, process: state.process)
    }
  }

  // MARK: What the test does

  /// Ends the process, or suspends it: nothing is delivered any more.
  func endProcess() {
    state.withLock { state in
      state.listener = nil
      state.process += 1
    }
  }

  /// Ends the process and its tasks, as a user does who swipes the app away.
  func endByUser() {
    endProcess()
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { end(task, FakeSystem.cancelled(reason: 0)) }
    settle()
  }

  /// Ends all tasks for a reason of the system. The process stays.
  func endTasks(_ error: NSError) {
    for task in state.withLock({ Array($0.tasks.values) }) { end(task, error) }
    settle()
  }

  static func cancelled(reason: Int? = nil) -> NSError {
    NSError(
      domain: NSURLErrorDomain, code: NSURLErrorCancelled, userInfo: reason.map { [NSURLErrorBackgroundTaskCancelledReasonKey: $0] } ?? [:])
  }

  /// Lets tasks wait, or go on.
  func hold(_ isHeld: Bool) {
    let count = state.withLock { state in
      state.isHeld = isHeld
      return isHeld ? 0 : state.waiting.count
    }
    for _ in 0..<count { queue.async { [self] in step() } }
  }

  /// Changes the network of the device.
  func setNetwork(_ path: NetworkPath) {
    let (count, listener) = state.withLock { state in
      state.network = path
      return (state.waiting.count, state.listener)
    }
    queue.async { listener?.network(is: path) }
    for _ in 0..<count { queue.async { [self] in step() } }
  }

  /// Lets the process hear of no progress.
  func silence() { state.withLock { $0.isSilent = true } }

  /// Gives the tasks up whose server does not answer, as the system does when the time for the resource is over.
  func expire() {
    for task in state.withLock({ state in state.stalled.compactMap { state.tasks[$0] } }) {
      end(task, NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut))
    }
  }

  /// Returns when everything that was going on has been delivered, or missed.
  func settle() { while state.withLock({ !$0.isHeld && !ready($0).isEmpty }) || isBusy { usleep(500) } }

  /// The positions of the waiting tasks that have a network.
  private func ready(_ state: State) -> [Int] {
    state.waiting.indices.filter { state.tasks[state.waiting[$0]].map { state.network.carries($0.request) } ?? true }
  }

  private var isBusy: Bool {
    let before = state.withLock { $0.number }
    queue.sync {}
    return state.withLock { $0.number != before }
  }

  /// The largest number of tasks at the same time.
  var mostTasks: Int { state.withLock { $0.mostTasks } }
  /// The tasks that have not ended, and were not cancelled.
  var running: [FakeTask] { state.withLock { state in state.tasks.values.filter { !state.cancelled.contains($0.taskIdentifier) } } }
  /// The tasks that were started, in order.
  var starts: [(label: String, priority: Float, service: URLRequest.NetworkServiceType)] { state.withLock { $0.starts } }

  // MARK: Tasks

  private func start(_ request: URLRequest, _ label: String, _ priority: Float, by process: Int) -> FakeTask {
    let task = state.withLock { state in
      state.number += 1
      let task = FakeTask(state.number, label, request, priority) { [weak self] task in
        self?.state.withLock { state in
          state.waiting.removeAll { $0 == task.taskIdentifier }
          state.cancelled.insert(task.taskIdentifier)
        }
        self?.end(task, Self.cancelled())
      }
      // A process that has ended starts nothing.
      guard process == state.process else { return task }
      state.tasks[state.number] = task
      state.waiting.append(state.number)
      state.mostTasks = max(state.mostTasks, state.tasks.count { !state.cancelled.contains($0.key) })
      state.starts.append((label, priority, request.networkServiceType))
      return task
    }
    queue.async { [self] in step() }
    return task
  }

  /// Lets one of the tasks have its answer.
  private func step() {
    let task = state.withLock { state -> FakeTask? in
      let ready = ready(state)
      guard !state.isHeld, let position = ready.randomElement(using: &state.random) else { return nil }
      return state.tasks[state.waiting.remove(at: position)]
    }
    guard let task else { return }
    guard let answer = fetch(task.request) else {
      state.withLock { _ = $0.stalled.insert(task.taskIdentifier) }
      return
    }
    task.set(answer.response, received: answer.cut ?? answer.body.count)
    let half = Int64((answer.cut ?? answer.body.count) / 2)
    if !state.withLock(\.isSilent) { deliver(isProgress: true) { $0.task(task, received: half, expected: Int64(answer.body.count)) } }
    if answer.isStuck {
      state.withLock { _ = $0.stalled.insert(task.taskIdentifier) }
      return
    }
    // The process may have cancelled it.
    guard isThere(task) else { return }
    if answer.cut != nil { return complete(task, NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost)) }
    let path = "\(place)/CFNetworkDownload_\(task.taskIdentifier).tmp"
    do throws(FileFailure) {
      try files.writeAll(try files.open(path, .create(mode: 0o644), in: nil), at: 0, answer.body.byteSpan)
    } catch {
      return complete(task, NSError(domain: NSPOSIXErrorDomain, code: Int(error.number)))
    }
    deliver { [files] in
      $0.task(task, finished: path)
      try? files.remove(path, .file, in: nil)
    }
    complete(task, nil)
  }

  private func isThere(_ task: FakeTask) -> Bool { state.withLock { $0.tasks[task.taskIdentifier] != nil } }

  private func end(_ task: FakeTask, _ error: NSError) { queue.async { [self] in complete(task, error) } }

  private func complete(_ task: FakeTask, _ error: NSError?) {
    let number = task.taskIdentifier
    let isFirst = state.withLock { state in
      state.waiting.removeAll { $0 == number }
      state.stalled.remove(number)
      guard state.tasks.removeValue(forKey: number) != nil else { return false }
      state.unheard[number] = task
      return true
    }
    guard isFirst else { return }
    deliver { [state] in
      state.withLock { $0.unheard[number] = nil }
      $0.task(task, completed: error)
    }
  }

  /// Delivers an event, or keeps it for the next process.
  private func deliver(isProgress: Bool = false, _ event: @escaping @Sendable (any BackgroundSessionListener) -> Void) {
    let listener = state.withLock { state in
      if state.listener == nil, !isProgress { state.missed.append(event) }
      return state.listener
    }
    if let listener { event(listener) }
  }

  private func connect(_ listener: any BackgroundSessionListener, by process: Int) {
    queue.async { [self] in
      listener.network(is: state.withLock { $0.network })
      var hasMissed = false
      while let event = state.withLock({ state in
        if process == state.process { state.listener = listener }
        return process == state.process && !state.missed.isEmpty ? state.missed.removeFirst() : nil
      }) {
        hasMissed = true
        event(listener)
      }
      if hasMissed { listener.deliveredEvents() }
    }
  }

  private struct Session: BackgroundSession {
    let system: FakeSystem
    let process: Int

    func connect(_ listener: any BackgroundSessionListener) { system.connect(listener, by: process) }
    func tasks() async -> [any BackgroundSessionTask] { system.state.withLock { Array($0.tasks.values) + Array($0.unheard.values) } }
    func start(_ request: URLRequest, label: String, size: UInt64, priority: Float) -> any BackgroundSessionTask {
      system.start(request, label, priority, by: process)
    }
  }
}

/// A task of the fake system.
final class FakeTask: BackgroundSessionTask {
  let taskIdentifier: Int
  let taskDescription: String?
  let request: URLRequest
  private let state: Monitor<(response: URLResponse?, received: Int, priority: Float)>
  private let onCancel: @Sendable (FakeTask) -> Void

  init(_ number: Int, _ label: String, _ request: URLRequest, _ priority: Float, onCancel: @escaping @Sendable (FakeTask) -> Void) {
    (taskIdentifier, taskDescription, self.request, self.onCancel) = (number, label, request, onCancel)
    state = Monitor((nil, 0, priority))
  }

  var originalRequest: URLRequest? { request }
  var response: URLResponse? { state.withLock { $0.response } }
  var priority: Float {
    get { state.withLock { $0.priority } }
    set { state.withLock { $0.priority = newValue } }
  }

  var countOfBytesReceived: Int64 { Int64(state.withLock { $0.received }) }

  func set(_ response: URLResponse, received: Int) {
    state.withLock { ($0.response, $0.received) = (response, received) }
  }

  func cancel() { onCancel(self) }
}
