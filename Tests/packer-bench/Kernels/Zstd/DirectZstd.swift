#if canImport(CZstd)
  import CZstd
#else
  import libzstd
#endif

/// Calls zstd as a C program would: one context, one buffer, a loop.
@safe
final class DirectZstd {
  private let encoder: OpaquePointer
  private let decoder: OpaquePointer
  private let buffer: UnsafeMutableRawPointer
  private let capacity: Int

  /// - Parameter frameSize: The largest size of a frame in bytes.
  init(level: Int, frameSize: Int) throws(PackError) {
    capacity = ZSTD_compressBound(frameSize)
    guard let encoder = unsafe ZSTD_createCCtx(), let decoder = unsafe ZSTD_createDCtx() else {
      throw PackError(.internalError, "zstd could not allocate a context")
    }
    unsafe ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, CInt(level))
    unsafe self.encoder = encoder
    unsafe self.decoder = decoder
    unsafe buffer = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
  }

  deinit {
    unsafe ZSTD_freeCCtx(encoder)
    unsafe ZSTD_freeDCtx(decoder)
    unsafe buffer.deallocate()
  }

  /// Compresses each piece of `frameSize` bytes into the same buffer, and returns the sum of the lengths.
  func compress(_ input: [UInt8], frameSize: Int) -> Int {
    unsafe input.withUnsafeBytes { input in
      var sum = 0
      var place = 0
      while place < input.count, let base = input.baseAddress {
        unsafe sum += ZSTD_compress2(encoder, buffer, capacity, base + place, min(frameSize, input.count - place))
        place += frameSize
      }
      return sum
    }
  }

  /// Decompresses each frame into the same buffer, and returns the sum of the lengths.
  func decompress(_ frames: [[UInt8]]) -> Int {
    var sum = 0
    for frame in frames {
      sum += unsafe frame.withUnsafeBytes { unsafe ZSTD_decompressDCtx(decoder, buffer, capacity, $0.baseAddress, $0.count) }
    }
    return sum
  }

  /// Decompresses `frame` and calls `body` with the content.
  func withContent<Result>(of frame: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let count = unsafe ZSTD_decompressDCtx(decoder, buffer, capacity, frame.baseAddress, frame.count)
    return unsafe body(UnsafeRawBufferPointer(start: buffer, count: count))
  }
}
