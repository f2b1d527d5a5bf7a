#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value that many threads share, and the place where they wait for it to change.
///
/// The newer `Mutex` is not available on the oldest systems that the client supports, and has no condition to wait for.
package final class Monitor<State>: @unchecked Sendable {
  @usableFromInline var state: State
  @usableFromInline let lock = MonitorLock()

  package init(_ state: State) {
    self.state = state
  }

  /// Runs `body` alone with the value.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// Does nothing and returns nil where another thread has the value.
  @inlinable
  package func withLockIfFree<Result>(_ body: (inout State) -> Result) -> Result? {
    guard lock.lockIfFree() else { return nil }
    defer { lock.unlock() }
    return body(&state)
  }

  /// Runs `body` alone with the value and wakes all who wait.
  @inlinable
  package func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { wake() }
    return try withLock(body)
  }

  /// Waits until `body` has a result.
  @inlinable
  package func wait<Result>(for body: (inout State) -> Result?) -> Result {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let result = body(&state) { return result }
      lock.wait()
    }
  }

  /// Makes all who wait look again.
  @inlinable
  package func wake() {
    lock.lock()
    lock.wake()
    lock.unlock()
  }
}

/// The lock and the condition of a monitor: apart from its value, so that what is done with the value needs no call through a generic type.
@safe
@usableFromInline
final class MonitorLock: @unchecked Sendable {
  // At stable addresses of their own, as the system asks.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  @usableFromInline
  func lock() {
    unsafe pthread_mutex_lock(mutex)
  }

  @usableFromInline
  func lockIfFree() -> Bool {
    unsafe pthread_mutex_trylock(mutex) == 0
  }

  @usableFromInline
  func unlock() {
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Lets the lock go until somebody wakes all who wait.
  @usableFromInline
  func wait() {
    unsafe pthread_cond_wait(condition, mutex)
  }

  @usableFromInline
  func wake() {
    unsafe pthread_cond_broadcast(condition)
  }
}
