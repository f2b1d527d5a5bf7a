#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lends texts as the list of C strings, with a null at its end, that the system's calls for starting programs take.
package func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe texts.map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  defer {
    for index in unsafe pointers.indices { unsafe free(pointers[index]) }
  }
  return unsafe pointers.withUnsafeBufferPointer { pointers in
    // The buffer holds at least the closing null.
    guard let base = pointers.baseAddress else { preconditionFailure("an empty list of arguments") }
    return unsafe body(base)
  }
}
