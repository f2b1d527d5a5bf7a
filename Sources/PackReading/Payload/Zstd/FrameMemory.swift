#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// Memory for one frame, and a zstd decoder that can pause between two blocks of it. Both have one owner, because a paused decoder has the addresses of
/// what it decoded.
///
/// The content is at the start of the memory, the compressed bytes that the decoder gets next are behind it. Pages that no frame needed take no memory.
/// The decoder is made when it is first used, and takes 96 KiB.
@safe
struct FrameMemory: ~Copyable {
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private var raw: OpaquePointer?
  private var output = unsafe ZSTD_outBuffer()
  /// How many of the bytes were lent to be written.
  private var used = 0

  /// The number of bytes.
  var size: Int { unsafe bytes.count }

  init(size: Int) {
    unsafe bytes = .allocate(capacity: size)
  }

  deinit {
    unsafe ZSTD_freeDCtx(raw)
    var lent = unsafe MutableSpan(_unsafeElements: bytes.extracting(..<used))
    wipe(&lent)
    unsafe bytes.deallocate()
  }

  /// Calls `body` with the first `count` bytes for writing. A frame that the decoder had begun cannot be continued.
  mutating func withBytes<Result>(
    first count: Int, _ body: (inout MutableSpan<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    used = max(used, count)
    var lent = unsafe MutableSpan(_unsafeElements: bytes.extracting(..<count))
    return try body(&lent)
  }

  /// Calls `body` with bytes that were written.
  borrowing func withContent<Result>(_ range: Range<Int>, _ body: (Span<UInt8>) throws(PackError) -> Result) throws(PackError) -> Result {
    precondition(range.upperBound <= used)
    return try body(unsafe Span(_unsafeElements: bytes.extracting(range)))
  }

  // MARK: Decoding block by block

  /// Begins a frame that expands to `contentSize` bytes. Its decoder writes nothing behind them.
  mutating func begin(contentSize: Int) throws(PackError) {
    if unsafe raw == nil {
      guard let made = unsafe ZSTD_createDCtx() else { throw PackError(.internalError, "zstd could not allocate a decoder") }
      // `ZSTD_d_stableOutBuffer`: it decodes in place and needs no window. It does not matter if a version does not know that.
      unsafe ZSTD_DCtx_setParameter(made, ZSTD_d_experimentalParam2, 1)
      unsafe raw = made
    }
    unsafe ZSTD_DCtx_reset(raw, ZSTD_reset_session_only)
    used = max(used, contentSize)
    unsafe output = ZSTD_outBuffer(dst: bytes.baseAddress, size: contentSize, pos: 0)
  }

  /// Calls `body` with the place of the next `count` compressed bytes.
  mutating func withInput<Result>(
    _ count: Int, _ body: (inout MutableSpan<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let end = unsafe output.size + count
    used = max(used, end)
    var lent = unsafe MutableSpan(_unsafeElements: bytes.extracting(output.size..<end))
    return try body(&lent)
  }

  /// Decodes the first `count` compressed bytes behind the content: whole blocks, and the header of the next one.
  ///
  /// - Returns: how many bytes of the content are decoded, and whether the frame is over.
  mutating func decode(_ count: Int, name: String) throws(PackError) -> (size: Int, isOver: Bool) {
    var input = unsafe ZSTD_inBuffer(src: bytes.baseAddress.map { unsafe $0 + output.size }, size: count, pos: 0)
    let rest = unsafe ZSTD_decompressStream(raw, &output, &input)
    try DecompressionContext.check(rest, name: name)
    return unsafe (output.pos, rest == 0)
  }
}
