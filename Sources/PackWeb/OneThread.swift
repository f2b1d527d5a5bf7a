// The parts of the system that reading uses on other platforms. Here there is one thread, and no file.

/// A value that one thread has to itself.
package final class Monitor<State>: @unchecked Sendable {
  private var state: State

  init(_ state: State) {
    self.state = state
  }

  func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result { try body(&state) }
}

/// A task that is never cancelled.
package final class WorkerPool: Sendable {
  package func checkpoint() throws(PackError) {}
}

/// A pack at the host: its size, and the bytes of its start that the host has brought.
package final class OpenFile: @unchecked Sendable {
  let size: UInt64
  private var start: [UInt8] = []
  /// The number of bytes from the start that are needed.
  private(set) var wanted = 0

  init(size: UInt64) {
    self.size = size
  }

  /// Takes the first bytes of the pack.
  func take(_ bytes: [UInt8]) { if bytes.count > start.count { start = bytes } }

  fileprivate func read(_ offset: Int, into target: inout MutableSpan<UInt8>) throws(PackError) {
    wanted = offset + target.count
    guard wanted <= start.count else { throw .unread }
    let start = start
    copy(start.byteSpan.extracting(offset..<wanted), to: &target)
  }
}

/// Reads the start of a pack.
package protocol FileSystem: AnyObject, Sendable {}

final class HostFiles: FileSystem {}

package struct FileStatus {
  let size: UInt64
}

extension FileSystem {
  func openFile(_ path: String) throws(PackError) -> (OpenFile, FileStatus) { throw PackError(.internalError, "there are no files here") }

  func readExactly(_ file: OpenFile, at offset: UInt64, into target: inout MutableSpan<UInt8>, name: String) throws(PackError) {
    try file.read(Int(offset), into: &target)
  }
}
