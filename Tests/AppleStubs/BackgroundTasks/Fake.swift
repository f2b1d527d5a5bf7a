import Dispatch
import Foundation

/// The scheduler's rules for tasks that go on in the background: an identifier is permitted by Info.plist and registered once, before its request; the
/// handler runs on a queue of the system.
public final class FakeScheduler: @unchecked Sendable {
  @_spi(Fake) public static let shared = FakeScheduler()

  private let lock = NSLock()
  private var permitted: String?
  private var isBusy = false
  private var handlers: [String: (BGTask) -> Void] = [:]
  private var tasks: [BGContinuedProcessingTask] = []

  /// Begins anew: with a permitted identifier that ends in `*`, or none, and whether the system refuses to begin at once.
  @_spi(Fake) public func reset(permitting identifier: String?, isBusy: Bool = false) {
    lock.withLock { (permitted, self.isBusy, tasks) = (identifier, isBusy, []) }
  }

  /// The progress of the last task that was begun, and whether it was completed.
  @_spi(Fake) public var last: (title: String, subtitle: String, done: Double, isCompleted: Bool?)? {
    lock.withLock { tasks.last.map { ($0.title, $0.subtitle, $0.progress.fractionCompleted, $0.isCompleted) } }
  }

  /// Does what the system does when the user stops the last task.
  @_spi(Fake) public func expire() {
    let handler = lock.withLock { tasks.last?.expirationHandler }
    guard let handler else { fatalError("there is no task, or it has no expiration handler") }
    handler()
  }

  func register(_ identifier: String, _ handler: @escaping (BGTask) -> Void) -> Bool {
    lock.withLock {
      precondition(handlers[identifier] == nil, "the identifier was registered before")
      guard let permitted, identifier.hasPrefix(permitted.dropLast()) else { return false }
      handlers[identifier] = handler
      return true
    }
  }

  func submit(_ request: BGTaskRequest) throws {
    guard let request = request as? BGContinuedProcessingTaskRequest else { fatalError("another kind of task") }
    let (handler, isBusy) = lock.withLock { (handlers[request.identifier], self.isBusy) }
    guard let handler else { fatalError("no launch handler registered for task with identifier \(request.identifier)") }
    if isBusy, request.strategy == .fail { throw CocoaError(.featureUnsupported) }
    let task = BGContinuedProcessingTask(request)
    lock.withLock { tasks.append(task) }
    nonisolated(unsafe) let given = (task, handler)
    DispatchQueue.global().async { unsafe given.1(given.0) }
  }
}
