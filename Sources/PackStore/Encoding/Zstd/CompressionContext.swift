#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// The compression settings of zstd for a frame.
package struct CompressionStrength: Hashable, Sendable {
  /// The zstd level, -1 or 1 to 22; at -1 literals are not compressed.
  package let level: Int
  /// The base-2 logarithms of the sizes of the tables that find matches, or 0 for the default of the level.
  package let hashLog: Int
  package let chainLog: Int
  /// The base-2 logarithm of the largest distance of a match, or 0 for the default of the level. Limited by the content.
  package let windowLog: Int
  /// Whether blocks are split where their content changes, as from one small file to the next. From level 16 on, zstd does that anyway.
  package let splitsBlocks: Bool
  /// Whether long matches are looked for first, at any distance in the window. Only then are they found between incompressible content at levels
  /// from 5 on, which pass over it without remembering much.
  package let findsLongMatches: Bool

  package init(
    level: Int, hashLog: Int = 0, chainLog: Int = 0, windowLog: Int = 0, splitsBlocks: Bool = false, findsLongMatches: Bool = false
  ) {
    precondition(level == -1 || (1...22).contains(level))
    self.level = level
    self.hashLog = hashLog
    self.chainLog = chainLog
    self.windowLog = windowLog
    self.splitsBlocks = splitsBlocks
    self.findsLongMatches = findsLongMatches
  }
}

/// A zstd encoder for frames as FORMAT.md §4.2 requires them, freed when its owner goes away. Made once per worker.
///
/// Memory depends on level and frame size: with frames of 2 MiB about 1 MiB at level 3 and 30 MiB at level 19.
@safe
package struct CompressionContext: ~Copyable {
  private let raw: OpaquePointer

  /// Makes an encoder with a zstd level from 1 to 19.
  package init(level: Int) throws(PackError) {
    try self.init(CompressionStrength(level: level))
  }

  package init(_ strength: CompressionStrength) throws(PackError) {
    guard let raw = unsafe ZSTD_createCCtx() else {
      throw PackError(.internalError, "zstd could not allocate an encoder")
    }
    do throws(PackError) {
      try unsafe Self.set([(ZSTD_c_contentSizeFlag, 1), (ZSTD_c_checksumFlag, 0), (ZSTD_c_dictIDFlag, 0)], of: raw)
      try unsafe Self.use(strength, in: raw)
    } catch {
      unsafe ZSTD_freeCCtx(raw)
      throw error
    }
    unsafe self.raw = raw
  }

  /// Sets the strength for the next frames.
  package func use(_ strength: CompressionStrength) throws(PackError) {
    try unsafe Self.use(strength, in: raw)
  }

  private static func use(_ strength: CompressionStrength, in raw: OpaquePointer) throws(PackError) {
    try unsafe set(
      [
        (ZSTD_c_compressionLevel, CInt(strength.level)), (ZSTD_c_hashLog, CInt(strength.hashLog)),
        (ZSTD_c_chainLog, CInt(strength.chainLog)), (ZSTD_c_windowLog, CInt(strength.windowLog)),
        (ZSTD_c_enableLongDistanceMatching, strength.findsLongMatches ? 1 : 0),
      ], of: raw)
    do throws(PackError) {
      // The parameter for splitting blocks, 1 for always and 0 for the default of the level, without a name that Swift can import.
      try unsafe set([(ZSTD_c_experimentalParam13, strength.splitsBlocks ? 1 : 0)], of: raw)
    } catch {
      // zstd has it since 1.5.1. Before, frames are only larger.
      guard ZSTD_versionNumber() < 10501 else { throw error }
    }
  }

  private static func set(_ settings: [(ZSTD_cParameter, CInt)], of raw: OpaquePointer) throws(PackError) {
    for (parameter, value) in settings {
      guard unsafe ZSTD_isError(ZSTD_CCtx_setParameter(raw, parameter, value)) == 0 else {
        throw PackError(.internalError, "zstd refused a compression parameter")
      }
    }
  }

  deinit {
    unsafe ZSTD_freeCCtx(raw)
  }

  /// Compresses `content` to one frame at the start of `frame`, and returns its length. `frame` must have room for ``Limits/compressBound(_:)``
  /// bytes.
  ///
  /// One call compresses all of the content, so the frame contains its length, and the window is not larger than that.
  package func compress(_ content: Span<UInt8>, into frame: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    let count = unsafe content.withUnsafeBytes { source in
      unsafe frame.withUnsafeMutableBytes { target in
        unsafe ZSTD_compress2(raw, target.baseAddress, target.count, source.baseAddress, source.count)
      }
    }
    guard ZSTD_isError(count) == 0 else {
      throw PackError(.internalError, "zstd could not compress: \(unsafe String(cString: ZSTD_getErrorName(count)))")
    }
    return count
  }

  /// Compresses the bytes of `buffer` from `start` on to one frame, against the bytes before them as a prefix (FORMAT.md §13.6).
  ///
  /// Prefix and content are in one buffer, because zstd searches two that touch faster than two that do not. The window of the strength must not be
  /// smaller than the buffer, or the beginning of the prefix is of no use.
  ///
  /// - Parameter frame: must have room for ``Limits/compressBound(_:)`` of the content's bytes.
  /// - Returns: the length of the frame.
  package func compress(_ buffer: Span<UInt8>, from start: Int, into frame: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    let reference = unsafe buffer.withUnsafeBytes { unsafe ZSTD_CCtx_refPrefix(raw, $0.baseAddress, start) }
    guard ZSTD_isError(reference) == 0 else { throw PackError(.internalError, "zstd refused a prefix of \(start) bytes") }
    return try compress(buffer.extracting(start...), into: &frame)
  }
}
