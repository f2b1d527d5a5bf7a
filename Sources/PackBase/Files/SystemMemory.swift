#if canImport(Darwin)
  import Darwin
#else
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

  /// Makes a crash of this process leave no core dump, and stops other processes of the same user from reading its memory on Linux.
  ///
  /// Locked memory is not in dumps anyway, but the crypto library has keys in use on its ordinary heap. Only a program that owns
  /// its process may call this. The owner of the files in `/proc` becomes the root user, but the process itself can still read its own. Programs that
  /// it starts can raise the limit again.
  package static func refuseDumps() {
    var limit = rlimit()
    #if canImport(Darwin)
      unsafe getrlimit(RLIMIT_CORE, &limit)
      limit.rlim_cur = 0
      unsafe setrlimit(RLIMIT_CORE, &limit)
    #else
      unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      limit.rlim_cur = 0
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      // The limit does not apply if dumps go to a program.
      _ = packer_refuse_dumps()
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
