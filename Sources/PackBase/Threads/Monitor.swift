#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value that threads share, with a condition to wait for its changes.
///
/// `Mutex` is not available on the oldest systems that the client supports, and has no condition variable.
package final class Monitor<State>: @unchecked Sendable {
  @usableFromInline var state: State
  @usableFromInline let lock = MonitorLock()

  package init(_ state: State) {
    self.state = state
  }

  /// Runs `body` with exclusive access to the value.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// Does the same, but returns nil at once if another thread has the lock.
  @inlinable
  package func withLockIfFree<Result>(_ body: (inout State) -> Result) -> Result? {
    guard lock.lockIfFree() else { return nil }
    defer { lock.unlock() }
    return body(&state)
  }

  /// Runs `body` with exclusive access to the value, and wakes all waiting threads.
  @inlinable
  package func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { wake() }
    return try withLock(body)
  }

  /// Waits until `body` returns a result.
  @inlinable
  package func wait<Result>(for body: (inout State) -> Result?) -> Result {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let result = body(&state) { return result }
      lock.wait()
    }
  }

  /// Wakes all waiting threads, which check their condition again.
  @inlinable
  package func wake() {
    lock.lock()
    lock.wake()
    lock.unlock()
  }
}

extension Monitor<Int> {
  /// Counts on, and returns the number before; nil if it has reached `end`. Workers share their work by it.
  package func count(below end: Int) -> Int? {
    withLock { number in
      defer { number += 1 }
      return number < end ? number : nil
    }
  }
}

/// The lock and the condition of a monitor, separate from its value so that locking needs no call through a generic type.
@safe
@usableFromInline
final class MonitorLock: @unchecked Sendable {
  // At stable addresses, as pthreads require.
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

  /// Releases the lock until another thread calls ``wake()``, and then takes it again.
  @usableFromInline
  func wait() {
    unsafe pthread_cond_wait(condition, mutex)
  }

  @usableFromInline
  func wake() {
    unsafe pthread_cond_broadcast(condition)
  }
}
