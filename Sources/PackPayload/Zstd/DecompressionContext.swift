package import PackFormat

#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// A zstd decoder, freed when its owner goes away. Costs about 96 KiB; made once per worker.
@safe
package struct DecompressionContext: ~Copyable {
  private let raw: OpaquePointer

  package init() throws(PackError) {
    guard let raw = unsafe ZSTD_createDCtx() else {
      throw PackError(.internalError, "zstd could not allocate a decoder")
    }
    unsafe self.raw = raw
  }

  deinit {
    unsafe ZSTD_freeDCtx(raw)
  }

  /// Decompresses exactly one frame, which fills both spans exactly (FORMAT.md §4.2).
  ///
  /// Everything that can be said of the frame without decompressing it is checked first.
  ///
  /// - Parameter name: what the frame is, for messages: `frame 7`.
  package func decompress(
    _ frame: Span<UInt8>, into content: inout MutableSpan<UInt8>, name: String
  ) throws(PackError) {
    let header = try FrameHeader.parse(frame, name: name)
    guard header.contentSize == UInt64(content.count) else {
      throw PackError(
        .damagedPayload, "\(name) says it expands to \(header.contentSize) bytes, but the pack says \(content.count)")
    }
    guard header.windowSize <= header.contentSize else {
      throw PackError(
        .damagedPayload, "\(name) asks for a window of \(header.windowSize) bytes for \(header.contentSize)")
    }
    guard frame.count <= Limits.compressBound(content.count) else {
      throw PackError(.damagedPayload, "\(name) takes \(frame.count) bytes for \(content.count)")
    }
    let whole = unsafe frame.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    guard whole == frame.count else {
      throw PackError(.damagedPayload, "\(name) is not one zstd frame of \(frame.count) bytes")
    }
    let count = unsafe frame.withUnsafeBytes { source in
      unsafe content.withUnsafeMutableBytes { target in
        unsafe ZSTD_decompressDCtx(raw, target.baseAddress, target.count, source.baseAddress, source.count)
      }
    }
    guard ZSTD_isError(count) == 0 else {
      throw PackError(.damagedPayload, "\(name) does not decompress: \(unsafe String(cString: ZSTD_getErrorName(count)))")
    }
    guard count == content.count else {
      throw PackError(.damagedPayload, "\(name) expands to \(count) bytes, not \(content.count)")
    }
  }
}

/// The version of the zstd library this process uses.
package var zstdVersion: String { unsafe String(cString: ZSTD_versionString()) }

extension DecompressionContext {
  /// The compressed length of the frame that `bytes` start with, or all of them where that cannot be told.
  package static func size(ofFirstFrameIn bytes: Span<UInt8>) -> Int {
    let size = unsafe bytes.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    return ZSTD_isError(size) == 0 ? size : bytes.count
  }
}
