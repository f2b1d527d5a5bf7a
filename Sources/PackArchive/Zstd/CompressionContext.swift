package import PackFormat

#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// A zstd encoder for frames as FORMAT.md §4.2 wants them, freed when its owner goes away. Made once per worker.
///
/// Memory depends on level and frame size: with frames of 1 MiB about 2 MiB at level 3 and 12 MiB at level 19.
@safe
package struct CompressionContext: ~Copyable {
  private let raw: OpaquePointer

  /// The levels a writer may ask for.
  package static let levels = 1...19

  package init(level: Int) throws(PackError) {
    precondition(Self.levels.contains(level))
    guard let raw = unsafe ZSTD_createCCtx() else {
      throw PackError(.internalError, "zstd could not allocate an encoder")
    }
    let settings = [
      (ZSTD_c_compressionLevel, CInt(level)), (ZSTD_c_contentSizeFlag, 1), (ZSTD_c_checksumFlag, 0), (ZSTD_c_dictIDFlag, 0),
    ]
    for (parameter, value) in settings {
      guard unsafe ZSTD_isError(ZSTD_CCtx_setParameter(raw, parameter, value)) == 0 else {
        unsafe ZSTD_freeCCtx(raw)
        throw PackError(.internalError, "zstd refused one of its own parameters")
      }
    }
    unsafe self.raw = raw
  }

  deinit {
    unsafe ZSTD_freeCCtx(raw)
  }

  /// Compresses `content` to one frame at the start of `frame`, which must hold ``Limits/compressBound(_:)`` bytes, and returns its length.
  ///
  /// Known in one call, the length of the content stands in the frame, and the window is never larger.
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
}
