#if os(Linux)
  import Glibc

  /// Reads memory of this process at an address, even if it was freed or is not mapped any more.
  package enum MemoryPeek {
    /// Returns the bytes at an address, or nil if there is no memory.
    package static func bytes(at address: UInt, count: Int) -> [UInt8]? {
      let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
      guard memory >= 0 else { return nil }
      defer { close(memory) }
      var bytes = [UInt8](repeating: 0, count: count)
      let read = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, count, off_t(address)) }
      return read == count ? bytes : nil
    }

    /// Returns the address of the first byte of a span.
    package static func address(of bytes: Span<UInt8>) -> UInt {
      bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
  }
#endif
