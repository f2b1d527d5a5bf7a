#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A detached thread of the system. Only this type makes threads.
///
/// On Linux, a thread whose work is done waits for other work if few others do, because a build of ten thousand packs asks for twenty thousand threads.
package final class DetachedThread: Sendable {
  private let work: Monitor<(@Sendable () -> Void)?>
  private let completion: @Sendable () -> Void

  /// - Parameters:
  ///   - work: runs on the thread.
  ///   - completion: runs after the work. Everything that the work holds is released before, because the process may end then, and an output that is
  ///     still held would leave its temporary file.
  package init(work: @escaping @Sendable () -> Void, completion: @escaping @Sendable () -> Void = {}) {
    self.work = Monitor(work)
    self.completion = completion
  }

  /// Starts the thread. On Apple platforms, it has the quality of service of the current task if that is a background task.
  ///
  /// - Returns: whether a thread does the work. If not, the system starts no more, and nothing was done.
  package func start() -> Bool {
    #if !canImport(Darwin)
      if IdleThreads.shared.give(self) { return true }
    #endif
    let box = unsafe Unmanaged.passRetained(self)
    // Detached from the start. `pthread_detach` is unsafe: glibc reads the thread's memory after detaching it, when the thread may have ended and its
    // memory be freed (glibc bug 19951; seen with 2.36).
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      // The system then saves energy and yields to what the user sees.
      if Task.currentPriority <= .background { unsafe pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_BACKGROUND, 0) }
      var thread: pthread_t?
      let status = unsafe pthread_create(&thread, &attributes, { unsafe runThread($0) }, box.toOpaque())
    #else
      var thread = pthread_t()
      let status = unsafe pthread_create(&thread, &attributes, { unsafe runThread($0!) }, box.toOpaque())
    #endif
    unsafe pthread_attr_destroy(&attributes)
    if status != 0 { unsafe box.release() }
    return status == 0
  }

  /// Runs the work on the caller's thread.
  package func run() {
    runWork()
    completion()
  }

  #if !canImport(Darwin)
    /// Lets the calling thread end after its work instead of waiting for other work.
    package static func endCurrent() { IdleThreads.shared.end(pthread_self()) }
  #endif

  /// A separate function, so that nothing holds the work after it returns.
  private func runWork() {
    let taken = work.withLock { work in
      defer { work = nil }
      return work
    }
    taken?()
  }
}

private func runThread(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  unsafe Unmanaged<DetachedThread>.fromOpaque(box).takeRetainedValue().run()
  #if !canImport(Darwin)
    while let next = IdleThreads.shared.wait() { next.run() }
  #endif
  return nil
}

#if !canImport(Darwin)
  /// The threads that wait for work.
  private final class IdleThreads: Sendable {
    static let shared = IdleThreads()
    private static let most = 4

    /// Where each of them waits.
    private let places = Monitor<[Monitor<DetachedThread?>]>([])
    /// Those that do not wait.
    private let ending = Monitor<Set<pthread_t>>([])

    func end(_ thread: pthread_t) { _ = ending.withLock { $0.insert(thread) } }

    /// Gives work to a thread that waits. Returns false if there is none.
    func give(_ work: DetachedThread) -> Bool {
      guard let place = places.withLock({ $0.popLast() }) else { return false }
      place.update { $0 = work }
      return true
    }

    /// Returns the next work for the calling thread, or nil if enough others wait or it is to end.
    func wait() -> DetachedThread? {
      guard ending.withLock({ $0.remove(pthread_self()) }) == nil else { return nil }
      let place = Monitor<DetachedThread?>(nil)
      let waits = places.withLock { places in
        guard places.count < Self.most else { return false }
        places.append(place)
        return true
      }
      return waits ? place.wait { $0 } : nil
    }
  }
#endif
