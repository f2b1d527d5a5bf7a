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
  defer {
    for index in unsafe pointers.indices { unsafe free(pointers[index]) }
  }
  return unsafe lend(&pointers, body)
}

/// Lends C strings that stay where they are as such a list, and closes it with a null.
func lend<Result>(
  _ pointers: inout [UnsafeMutablePointer<CChar>?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  unsafe pointers.append(nil)
  return unsafe pointers.withUnsafeBufferPointer { pointers in
    // The buffer holds at least the closing null.
    guard let base = pointers.baseAddress else { preconditionFailure("an empty list of arguments") }
    return unsafe body(base)
  }
}
