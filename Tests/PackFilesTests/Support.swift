import PackFiles
import PackFormat
import TestSupport

/// The error that `body` throws, or nil where it throws none.
func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// The failure of the system that `body` throws, or nil where it throws none.
func fileFailure(_ body: () throws(FileFailure) -> Void) -> FileFailure? {
  do throws(FileFailure) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// Paths that end in no name of their own.
let namelessPaths = ["", "/", "//", ".", "..", "./", "../", "a/.", "a/..", "/.", "a/../"]

extension FaultyFiles {
  /// Whether any call came to the fault that was planned for call `number`.
  func reached(_ number: Int) -> Bool { calls.count > number }
}
