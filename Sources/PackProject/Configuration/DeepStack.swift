import PackWork

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread for work that calls itself often.
///
/// libyaml ends at 1 000 values inside each other, and Yams calls itself for each of them: that takes some 3 MB where nothing is optimized. The threads of Apple's
/// pools have half a megabyte, and what a document says must not decide whether that is enough.
enum DeepStack {
  /// The room of the thread, in bytes. What is not used is never touched.
  private static let size = 16 << 20

  /// Runs `body` on a thread of its own, and waits for its end.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Monitor<Value?>(nil)
    let work = DeepWork {
      let value = body()
      result.withLock { $0 = value }
    }
    let box = unsafe Unmanaged.passRetained(work).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setstacksize(&attributes, size)
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = unsafe pthread_create(&thread, &attributes, { unsafe runWork($0) }, box)
    #else
      var thread = pthread_t()
      let status = unsafe pthread_create(&thread, &attributes, { unsafe runWork($0!) }, box)
    #endif
    unsafe pthread_attr_destroy(&attributes)
    if status == 0 {
      #if canImport(Darwin)
        if let thread = unsafe thread { unsafe pthread_join(thread, nil) }
      #else
        pthread_join(thread, nil)
      #endif
    } else {
      // The system gives no more threads; this one has to do.
      unsafe runWork(box)
    }
    guard let value = result.withLock({ $0 }) else { preconditionFailure("a thread that has ended has done its work") }
    return value
  }
}

private final class DeepWork: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}

@discardableResult
private func runWork(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  unsafe Unmanaged<DeepWork>.fromOpaque(box).takeRetainedValue().body()
  return nil
}
