#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the interface keeps for each thread that calls it, until the thread ends.
final class ThreadState {
  /// Why the last call of this thread failed; nil if it did not.
  var failure: PackError? { didSet { texts = [:] } }
  /// Whether the thread is inside a callback, where no call may wait for what other threads do.
  var isInCallback = false
  /// The texts of the failure that were handed out.
  private var texts: [String: CText] = [:]

  /// Returns a text of the failure, which is valid until the failure changes.
  func text(_ name: String, _ make: (PackError) -> String?) -> UnsafePointer<CChar>? {
    if let made = texts[name] { return unsafe UnsafePointer(made.start) }
    guard let made = failure.flatMap(make).map(CText.init) else { return nil }
    texts[name] = made
    return unsafe UnsafePointer(made.start)
  }

  /// The state of the calling thread.
  static var current: ThreadState {
    if let known = unsafe pthread_getspecific(key) { return unsafe Unmanaged<ThreadState>.fromOpaque(known).takeUnretainedValue() }
    let made = ThreadState()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
    return made
  }

  private static let key = {
    var key = pthread_key_t()
    #if canImport(Darwin)
      unsafe pthread_key_create(&key) { unsafe Unmanaged<ThreadState>.fromOpaque($0).release() }
    #else
      unsafe pthread_key_create(&key) { unsafe Unmanaged<ThreadState>.fromOpaque($0!).release() }
    #endif
    return key
  }()
}

/// A copy of a text as C has it.
@safe
private final class CText {
  let start: UnsafeMutablePointer<CChar>

  init(_ text: String) { unsafe start = copied(text) }

  deinit { unsafe start.deallocate() }
}

/// Returns a copy of a text, which `packer_free` frees.
package func copied(_ text: String) -> UnsafeMutablePointer<CChar> {
  let bytes = Array(text.utf8)
  let start = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
  for (place, byte) in bytes.enumerated() { unsafe start[place] = CChar(bitPattern: byte) }
  unsafe start[bytes.count] = 0
  return unsafe start
}
