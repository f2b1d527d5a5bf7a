#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// A zstd decoder, given back when its owner is released. It uses about 96 KiB. Each worker has one.
@safe
package struct DecompressionContext: ~Copyable {
  private let raw: OpaquePointer

  /// The addresses of decoders that have no owner: of a pack with one small frame, making them costs more than what they decode.
  private static let spares = Monitor<[UInt]>([])
  private static let mostSpares = 2

  package init() throws(PackError) {
    if let spare = Self.spares.withLock({ $0.popLast() }), let raw = unsafe OpaquePointer(bitPattern: spare) {
      unsafe self.raw = raw
      return
    }
    guard let raw = unsafe ZSTD_createDCtx() else {
      throw PackError(.internalError, "zstd could not allocate a decoder")
    }
    unsafe self.raw = raw
  }

  deinit {
    // Nothing of the last frame counts for the next owner.
    unsafe ZSTD_DCtx_reset(raw, ZSTD_reset_session_and_parameters)
    let address = unsafe UInt(bitPattern: raw)
    let isKept = Self.spares.withLock { spares in
      guard spares.count < Self.mostSpares else { return false }
      spares.append(address)
      return true
    }
    if !isKept { unsafe ZSTD_freeDCtx(raw) }
  }

  /// Decompresses exactly one frame, which fills both spans exactly (FORMAT.md §4.2).
  ///
  /// Everything that can be checked without decompressing the frame is checked first.
  ///
  /// - Parameter name: the name of the frame in messages: `frame 7`.
  package func decompress(
    _ frame: Span<UInt8>, into content: inout MutableSpan<UInt8>, name: String
  ) throws(PackError) {
    try Self.check(frame, contentSize: content.count, name: name)
    let count = unsafe frame.withUnsafeBytes { source in
      unsafe content.withUnsafeMutableBytes { target in
        unsafe ZSTD_decompressDCtx(raw, target.baseAddress, target.count, source.baseAddress, source.count)
      }
    }
    try Self.check(count, contentSize: content.count, name: name)
  }

  /// Decompresses exactly one frame whose matches may begin in a prefix: a window of a delta (FORMAT.md §13.6).
  ///
  /// - Parameter prefix: raw content, whatever it begins with. It is used for this frame only.
  package func decompress(
    _ frame: Span<UInt8>, after prefix: Span<UInt8>, into content: inout MutableSpan<UInt8>, name: String
  ) throws(PackError) {
    guard try FrameHeader.parse(frame, name: name).isSingleSegment else {
      throw PackError(.damagedPayload, "\(name) has a window of its own, but must be a single segment")
    }
    try Self.check(frame, contentSize: content.count, name: name)
    let count = unsafe prefix.withUnsafeBytes { prefix in
      unsafe frame.withUnsafeBytes { source in
        unsafe content.withUnsafeMutableBytes { target in
          let failure = unsafe ZSTD_DCtx_refPrefix(raw, prefix.baseAddress, prefix.count)
          guard ZSTD_isError(failure) == 0 else { return failure }
          return unsafe ZSTD_decompressDCtx(raw, target.baseAddress, target.count, source.baseAddress, source.count)
        }
      }
    }
    try Self.check(count, contentSize: content.count, name: name)
  }

  /// Decompresses a frame in place, from the end of `buffer` to its beginning.
  ///
  /// This always succeeds for frames of usual encoders if the buffer has ``room(for:)`` bytes. In a valid but unusual frame, the output could
  /// overwrite input that has not been read. The decoder detects this and throws. The content of the buffer is then undefined, and no memory outside
  /// it was changed.
  package func decompress(
    last size: Int, of buffer: inout MutableSpan<UInt8>, toFirst contentSize: Int, name: String
  ) throws(PackError) {
    precondition(size <= buffer.count && contentSize <= buffer.count)
    let start = buffer.count - size
    try Self.check(buffer.span.extracting(start...), contentSize: contentSize, name: name)
    guard Self.canOverlap else {
      throw PackError(.damagedPayload, "\(name) cannot be decompressed in place")
    }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe ZSTD_decompressDCtx(raw, bytes.baseAddress, contentSize, bytes.baseAddress.map { unsafe $0 + start }, size)
    }
    try Self.check(count, contentSize: contentSize, name: name)
  }

  /// Returns the buffer size in which a frame of `contentSize` bytes can be decompressed in place: the content and zstd's
  /// `ZSTD_DECOMPRESSION_MARGIN`, which is not part of zstd's stable interface. The margin is a frame header, a checksum, the headers of all blocks,
  /// and one block.
  package static func room(for contentSize: Int) -> Int {
    let block = 128 << 10
    return contentSize + 18 + 4 + 3 * ((contentSize + block - 1) / block) + min(block, contentSize)
  }

  /// Decoders before 1.5.4 may read overwritten bytes as part of the frame.
  static let canOverlap = ZSTD_versionNumber() >= 10_504

  /// Checks everything that can be checked without decompressing a frame.
  private static func check(_ frame: Span<UInt8>, contentSize: Int, name: String) throws(PackError) {
    let header = try FrameHeader.parse(frame, name: name)
    try header.check(contentSize: contentSize, compressedSize: frame.count, name: name)
    let whole = unsafe frame.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    guard whole == frame.count else {
      throw PackError(.damagedPayload, "\(name) is not one zstd frame of \(frame.count) bytes")
    }
    try checkBlocks(of: frame, header, name: name)
  }

  /// Checks that no block is larger than a block may be. zstd checks it only where it decodes in pieces, so other readers would refuse the frame.
  private static func checkBlocks(of frame: Span<UInt8>, _ header: FrameHeader, name: String) throws(PackError) {
    var position = header.size
    while position + BlockHeader.length <= frame.count {
      let block = BlockHeader(frame, at: position)
      try header.check(block, name: name)
      guard !block.isLast else { return }
      position += BlockHeader.length + block.storedSize
    }
  }

  /// Checks the decoder's result.
  private static func check(_ count: Int, contentSize: Int, name: String) throws(PackError) {
    try check(count, name: name)
    guard count == contentSize else {
      throw PackError(.damagedPayload, "\(name) expands to \(count) bytes, not \(contentSize)")
    }
  }

  /// Throws if zstd returned an error.
  static func check(_ result: Int, name: String) throws(PackError) {
    guard ZSTD_isError(result) != 0 else { return }
    guard ZSTD_getErrorCode(result) != ZSTD_error_memory_allocation else {
      throw PackError(.internalError, "zstd has no memory to decompress \(name)")
    }
    throw PackError(.damagedPayload, "\(name) does not decompress: \(unsafe String(cString: ZSTD_getErrorName(result)))")
  }
}

/// The version of the zstd library that this process uses.
package var zstdVersion: String { unsafe String(cString: ZSTD_versionString()) }

extension DecompressionContext {
  /// Returns the compressed length of the frame at the start of `bytes`, or the length of `bytes` if it cannot be determined.
  package static func size(ofFirstFrameIn bytes: Span<UInt8>) -> Int {
    let size = unsafe bytes.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    return ZSTD_isError(size) == 0 ? size : bytes.count
  }
}
