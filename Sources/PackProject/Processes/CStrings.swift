#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lends texts as the null-terminated array of C strings that the system's calls for starting programs take.
package func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe texts.map { unsafe strdup($0) }
  defer {
    for index in unsafe pointers.indices { unsafe free(pointers[index]) }
  }
  return unsafe lend(&pointers, body)
}

/// Lends C strings as such an array without copying them. Appends the terminating null.
func lend<Result>(
  _ pointers: inout [UnsafeMutablePointer<CChar>?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  unsafe pointers.append(nil)
  return unsafe pointers.withUnsafeBufferPointer { pointers in
    // The buffer contains at least the terminating null.
    guard let base = pointers.baseAddress else { preconditionFailure("an empty list of arguments") }
    return unsafe body(base)
  }
}
