#if !canImport(Darwin)
  import CLinux
  import Glibc
#endif

/// The memory of the process.
package enum SystemMemory {
  /// Has every two processors share one heap, where the C library would make eight for each.
  ///
  /// Each heap keeps what was freed in it, about a megabyte. Threads have a small stock of their own besides, so that they hardly ever wait for each
  /// other. This must come before any other thread is made: the library settles the number with the first one.
  package static func shareHeaps() {
    #if !canImport(Darwin)
      packer_set_heap_count(CInt(max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)) / 2)))
    #endif
  }
}
