import PackCrypto
import PackFiles
import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes a key is read into: memory that never moves and is wiped when it goes away.
struct SecretInput: ~Copyable {
  private var buffer: SecretBytes
  private var count = 0

  /// The most bytes that are read. A key text is 78; the rest is room for white space.
  static let limit = 4096

  init() {
    // One more than the limit, so that a longer input shows.
    buffer = SecretBytes(count: Self.limit + 1)
  }

  /// A copy of bytes that stay with the caller to wipe.
  init(_ bytes: Span<UInt8>) {
    self.init()
    let kept = bytes.extracting(first: Self.limit + 1)
    count = kept.count
    buffer.withMutableSpan { copy(kept, to: &$0) }
  }

  /// Reads until the input ends or is longer than any key. Waits where the writer of a pipe takes its time.
  mutating func readToEnd(of file: OpenFile, files: any FileSystem) throws(FileFailure) {
    while count <= Self.limit {
      let start = count
      do throws(FileFailure) {
        let read = try buffer.withMutableSpan { (span) throws(FileFailure) -> Int in
          try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileFailure) -> Int in
            try unsafe files.read(file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
          }
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
      throw PackError(.malformedKey, of: origin, "is more than \(Self.limit) bytes, and a key text is 78")
    }
  }

  /// The key that `parse` makes of what was read, with the place it came from in errors.
  func key<Key: ~Copyable>(
    from origin: String, _ parse: (Span<UInt8>) throws(PackError) -> Key
  ) throws(PackError) -> Key {
    try checkLength(of: origin)
    guard count > 0 else { throw PackError(.noKey, of: origin, "is empty, and a key was expected there") }
    let count = count
    do throws(PackError) {
      return try buffer.withSpan { (text) throws(PackError) in try parse(text.extracting(first: count)) }
    } catch {
      throw error.about(origin)
    }
  }
}

/// Whether an open file is a terminal.
func isTerminal(_ file: OpenFile) -> Bool {
  isatty(file.descriptor) == 1
}

/// Has a descriptor not be open in programs that are started from now on.
func closeOnStart(_ descriptor: CInt) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}
