#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes of a key that is read: memory that never moves and is wiped when it is freed.
struct SecretInput: ~Copyable {
  /// The source of the key as errors name it: a path or a variable.
  let origin: String
  /// A warning about the source, if there is one.
  var warning: KeyWarning?
  private var buffer: SecretBytes
  private var count = 0

  /// The maximum number of bytes. A key text has 78; the rest is for white space.
  static let limit = 4096

  init(from origin: String) {
    self.origin = origin
    // One more than the limit, so that a longer input is detected.
    buffer = SecretBytes(count: Self.limit + 1)
  }

  /// Copies bytes. The caller must wipe the original.
  init(_ bytes: Span<UInt8>, from origin: String) {
    self.init(from: origin)
    let kept = bytes.extracting(first: Self.limit + 1)
    count = kept.count
    buffer.withMutableSpan { copy(kept, to: &$0) }
  }

  /// Reads until the input ends or is longer than any key. Blocks until the writer of a pipe is done.
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
        // Files are opened without waiting for the other end of a pipe, so this has to wait for its bytes.
        var wait = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      }
    }
  }

  /// Reads once. Returns false at the end of the input.
  mutating func readPiece(of file: OpenFile, files: any FileSystem) throws(FileFailure) -> Bool {
    let start = count
    guard start <= Self.limit else { return true }
    let read = try buffer.withMutableSpan { (span) throws(FileFailure) -> Int in
      try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileFailure) -> Int in
        try unsafe files.read(file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
      }
    }
    count += read
    return read > 0
  }

  /// Whether the input is longer than the limit.
  var isTooLong: Bool { count > Self.limit }

  /// Calls `body` with the bytes that were read.
  func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let count = count
    return try buffer.withSpan { (text) throws(E) in try body(text.extracting(first: count)) }
  }

  /// Throws if the input is too long for a key.
  func checkLength() throws(PackError) {
    guard count <= Self.limit else {
      throw PackError(.malformedKey, of: origin, "is more than \(Self.limit) bytes, but a key text has 78")
    }
  }

  /// Returns the key that `parse` makes from the input. Errors name the origin.
  func key<Key: ~Copyable>(_ parse: (Span<UInt8>) throws(PackError) -> Key) throws(PackError) -> Key {
    try checkLength()
    guard count > 0 else { throw PackError(.noKey, of: origin, "is empty; expected a key") }
    let count = count
    return try attributing(to: origin) { () throws(PackError) in
      try buffer.withSpan { (text) throws(PackError) in try parse(text.extracting(first: count)) }
    }
  }
}

/// Whether an open file is a terminal.
func isTerminal(_ file: OpenFile) -> Bool {
  isatty(file.descriptor) == 1
}

/// Prevents programs that are started later from inheriting a descriptor.
func closeOnStart(_ descriptor: CInt) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}
