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
}
