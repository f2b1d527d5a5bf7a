import PackFormat

/// A promise that does not hold for some input.
package struct BrokenPromise: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Reports a broken promise where `condition` does not hold.
func hold(_ condition: Bool, _ broken: @autoclosure () -> String) throws(BrokenPromise) {
  guard condition else { throw BrokenPromise(broken()) }
}

/// What a parser makes of an input, or nil where it refuses it.
///
/// A refusal that blames the code itself is a broken promise: a stranger's bytes must not get that far.
func accepted<Value: ~Copyable>(_ body: () throws(PackError) -> Value) throws(BrokenPromise) -> Value? {
  do throws(PackError) {
    return try body()
  } catch {
    try checkRefusal(error)
    return nil
  }
}

/// Whether a parser takes an input.
func isAccepted(_ body: () throws(PackError) -> Void) throws(BrokenPromise) -> Bool {
  try accepted { () throws(PackError) -> Bool in
    try body()
    return true
  } ?? false
}

/// What has to succeed, because something before it did.
func required<Value: ~Copyable>(_ what: String, _ body: () throws(PackError) -> Value) throws(BrokenPromise) -> Value {
  do throws(PackError) {
    return try body()
  } catch {
    throw BrokenPromise("\(what): \(error)")
  }
}

/// Refusals blame the input, in one line that a terminal can show.
func checkRefusal(_ error: PackError) throws(BrokenPromise) {
  try hold(error.code != .internalError, "the code is blamed for its input: \(error)")
  for text in [error.message, error.subject ?? "none"] + error.details {
    try hold(
      !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
      "a message is no line: \(text.debugDescription)")
  }
}
