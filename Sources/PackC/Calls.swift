#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs the body of a function of the interface. An error becomes the thread's last one, and its status is returned.
package func call(_ body: () throws(PackError) -> Void) -> PackerStatus {
  let thread = ThreadState.current
  if thread.failure != nil { thread.failure = nil }
  do throws(PackError) {
    try body()
    return .done
  } catch {
    thread.failure = error
    return PackerStatus(error.code)
  }
}

/// Runs the body of a function that may find that something still runs. Here, because only this module knows the numbers of the statuses.
///
/// - Parameter body: Returns whether it is over.
package func callForEnd(_ body: () throws(PackError) -> Bool) -> PackerStatus {
  var isOver = true
  let status = call { () throws(PackError) in isOver = try body() }
  return isOver ? status : .running
}

/// Runs asynchronous work while the calling thread waits for it.
///
/// - Throws: ``PackError/Code/usage`` in a callback, whose thread the work may need.
package func waiting<Result: Sendable>(
  for work: @escaping @Sendable () async throws(PackError) -> Result
) throws(PackError) -> Result {
  try checkMayWait()
  let end = Monitor<Swift.Result<Result, PackError>?>(nil)
  Task {
    do throws(PackError) {
      let result = try await work()
      end.update { $0 = .success(result) }
    } catch {
      end.update { $0 = .failure(error) }
    }
  }
  return try end.wait { $0 }.get()
}

/// Throws if the calling thread is inside a callback.
package func checkMayWait() throws(PackError) {
  guard !ThreadState.current.isInCallback else {
    throw PackError(
      .usage, "this function waits for other threads, and may not be called in a callback", advice: .developer("call it later"))
  }
}

/// A function of the caller, and what it gets first. The caller says that both may be used by any thread.
@safe
package struct Callback<Function>: @unchecked Sendable {
  private let function: Function
  private let context: UnsafeMutableRawPointer?
  #if !canImport(Darwin)
    /// The thread that gave the function, and the signals that it blocks.
    private let caller = pthread_self()
    private let signals: sigset_t
  #endif

  /// Throws if there is no function.
  package init(_ function: Function?, _ context: UnsafeMutableRawPointer?, _ name: String) throws(PackError) {
    guard let function else { throw .missing(name) }
    self.function = function
    unsafe self.context = context
    #if !canImport(Darwin)
      var signals = sigset_t()
      unsafe pthread_sigmask(SIG_SETMASK, nil, &signals)
      self.signals = signals
    #endif
  }

  /// Calls the function.
  package func run<Result>(_ body: (Function, UnsafeMutableRawPointer?) -> Result) -> Result {
    let thread = ThreadState.current
    #if !canImport(Darwin)
      // A runtime that is called on a thread knows it until its end, and may stop it by a signal or wait for its end, as Mono does. But Dispatch blocks all
      // signals of its threads, and so of those that they start.
      if pthread_equal(pthread_self(), caller) == 0 {
        var signals = signals
        unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
        DetachedThread.endCurrent()
      }
    #endif
    let wasInCallback = thread.isInCallback
    thread.isInCallback = true
    defer { thread.isInCallback = wasInCallback }
    // The callback may call functions, which have errors of their own.
    let failure = thread.failure
    defer { thread.failure = failure }
    return unsafe body(function, context)
  }
}

/// Returns a text that C gave.
///
/// - Throws: ``PackError/Code/usage`` if there is none, or if it is not UTF-8.
package func text(_ start: UnsafePointer<CChar>?, _ name: String) throws(PackError) -> String {
  guard let start = unsafe start else { throw .missing(name) }
  let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
  guard let text = unsafe String(validUTF8: bytes) else { throw PackError(.usage, "'\(name)' is not UTF-8") }
  return text
}

/// Returns the place where a result goes.
///
/// - Throws: ``PackError/Code/usage`` if the caller gave none.
package func place<Value>(_ place: UnsafeMutablePointer<Value>?, _ name: String) throws(PackError) -> UnsafeMutablePointer<Value> {
  guard let place = unsafe place else { throw .missing(name) }
  return unsafe place
}

extension PackError {
  static func missing(_ name: String) -> PackError { PackError(.usage, "'\(name)' is a null pointer") }
}
