#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread of the system that nobody waits for. The only place that makes one.
package final class DetachedThread: Sendable {
  private let work: Monitor<(@Sendable () -> Void)?>
  private let completion: @Sendable () -> Void

  /// - Parameters:
  ///   - work: what the thread does.
  ///   - completion: what it says afterwards. What the work holds is let go before that: the process may end then, and an output that this
  ///     thread held on to would leave its temporary file.
  package init(work: @escaping @Sendable () -> Void, completion: @escaping @Sendable () -> Void = {}) {
    self.work = Monitor(work)
    self.completion = completion
  }

  /// Starts the thread.
  ///
  /// - Returns: whether the system gave one; if it did not, nothing was done.
  package func start() -> Bool {
    let box = unsafe Unmanaged.passRetained(self)
    // Made without an owner. To give it up afterwards is a trap: glibc looks at the thread once more when it has let it go, and by then it may have
    // ended and its memory be gone (glibc bug 19951; seen with 2.36).
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
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

  /// Does the work on the thread of the caller.
  package func run() {
    runWork()
    completion()
  }

  /// A function of its own, at the end of which nothing holds the work any more.
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
