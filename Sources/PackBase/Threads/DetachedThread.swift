#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A detached thread of the system. Only this type makes threads.
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
  /// - Returns: whether the system started a thread. If not, nothing was done.
  package func start() -> Bool {
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
  return nil
}
