import PackFiles
import PackRuntime

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes a key is read into: one buffer that never moves, so that wiping it leaves no copy behind.
struct SecretInput: ~Copyable {
  private var buffer: [UInt8]
  private var count = 0

  /// The most bytes that are read. A key text is 78; the rest is room for white space.
  static let limit = 4096

  init() {
    // One more than the limit, so that a longer input shows.
    buffer = [UInt8](repeating: 0, count: Self.limit + 1)
  }

  mutating func wipe() {
    PackRuntime.wipe(&buffer)
  }

  /// Reads until the input ends or is longer than any key. Waits where the writer of a pipe takes its time.
  mutating func readToEnd(of file: OpenFile, files: any FileSystem) throws(FileFailure) {
    while count < buffer.count {
      let start = count
      do throws(FileFailure) {
        var span = buffer.mutableSpan
        let read = try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileFailure) -> Int in
          try unsafe files.read(file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        if read == 0 { return }
        count += read
      } catch {
        if error.isInterruption { continue }
        guard error.number == EAGAIN else { throw error }
        // Files are opened without waiting for the other end of a pipe, and so its bytes have to be waited for here.
        var wait = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      }
    }
  }

  /// Refuses what is too long for a key.
  func checkLength(of origin: String) throws(PackError) {
    guard count <= Self.limit else {
      throw PackError(.malformedKey, "\(origin) is more than \(Self.limit) bytes, and a key text is 78")
    }
  }

  /// The key that was read, with the place it came from in errors.
  func key(from origin: String) throws(PackError) -> PackKey {
    try checkLength(of: origin)
    return try KeyReference.key(buffer.span.extracting(0..<count), from: origin)
  }
}

/// Whether an open file is a terminal.
func isTerminal(_ file: OpenFile) -> Bool {
  isatty(file.descriptor) == 1
}
