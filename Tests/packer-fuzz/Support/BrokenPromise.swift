/// The error that a promise does not hold for an input.
package struct BrokenPromise: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Throws a broken promise if `condition` is false.
func hold(_ condition: Bool, _ broken: @autoclosure () -> String) throws(BrokenPromise) {
  guard condition else { throw BrokenPromise(broken()) }
}

/// Returns the result of a parser, or nil if it refuses the input.
///
/// An internal error is a broken promise: untrusted bytes must not cause one.
func accepted<Value: ~Copyable>(_ body: () throws(PackError) -> Value) throws(BrokenPromise) -> Value? {
  do throws(PackError) {
    return try body()
  } catch {
    try checkRefusal(error)
    return nil
  }
}

/// Returns whether a parser accepts an input.
func isAccepted(_ body: () throws(PackError) -> Void) throws(BrokenPromise) -> Bool {
  try accepted { () throws(PackError) -> Bool in
    try body()
    return true
  } ?? false
}

/// Returns the result of an operation that must succeed, because an earlier one did.
func required<Value: ~Copyable>(_ what: String, _ body: () throws(PackError) -> Value) throws(BrokenPromise) -> Value {
  do throws(PackError) {
    return try body()
  } catch {
    throw BrokenPromise("\(what): \(error)")
  }
}

/// Checks that an error is not an internal one, and that its texts are single lines without control characters.
func checkRefusal(_ error: PackError) throws(BrokenPromise) {
  try hold(error.code != .internalError, "the input caused an internal error: \(error)")
  for text in [error.message, error.subject ?? "none"] + error.details {
    try hold(
      !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
      "a message is not a printable line: \(text.debugDescription)")
  }
}
