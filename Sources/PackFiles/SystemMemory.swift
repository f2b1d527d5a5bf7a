#if !canImport(Darwin)
  import CLinux
  import Glibc
#endif

/// The memory of the process.
package enum SystemMemory {
  /// Makes the C library use one heap for every two processors instead of eight for each processor.
  ///
  /// Each heap keeps about a megabyte of freed memory. Threads also have small caches of their own, so they rarely wait for each other. Call this
  /// before any other thread is made: the library fixes the number with the first one.
  package static func shareHeaps() {
    #if !canImport(Darwin)
      packer_set_heap_count(CInt(max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)) / 2)))
    #endif
  }

  /// Asks the system for large pages in a buffer of megabytes that was not written yet, so that writing it causes far fewer page faults.
  ///
  /// Only whole large pages inside of the buffer are meant, and a system without them, or short of them, provides others.
  package static func preferLargePages(in buffer: inout [UInt8]) {
    #if os(Linux)
      let size: UInt = 2 << 20
      unsafe buffer.withUnsafeMutableBytes { bytes in
        guard let start = unsafe bytes.baseAddress.map({ UInt(bitPattern: $0) }) else { return }
        let first = (start + size - 1) / size * size
        let end = (start + UInt(bytes.count)) / size * size
        guard first < end, let pages = unsafe UnsafeMutableRawPointer(bitPattern: first) else { return }
        unsafe _ = madvise(pages, Int(end - first), MADV_HUGEPAGE)
      }
    #endif
  }
}
