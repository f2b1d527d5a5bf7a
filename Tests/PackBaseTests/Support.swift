import TestSupport

/// Returns the error that `body` throws, or nil.
func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// Returns the system failure that `body` throws, or nil.
func fileFailure(_ body: () throws(FileFailure) -> Void) -> FileFailure? {
  do throws(FileFailure) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// Paths that do not end in a name.
let namelessPaths = ["", "/", "//", ".", "..", "./", "../", "a/.", "a/..", "/.", "a/../"]

extension FaultyFiles {
  /// Whether the fault that was planned for call `number` was reached.
  func reached(_ number: Int) -> Bool { calls.count > number }
}
