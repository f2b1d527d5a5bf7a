#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Secret memory: wiped on release, kept out of swap and core dumps if the system allows it, never printed.
///
/// This is so for the bytes of this value only. A context of the crypto library that uses a key has an expanded copy of it on the ordinary heap, which
/// the library wipes when the context is freed: ``SegmentCipher`` as long as its pack is open. Swap and core dumps can contain that copy.
///
/// Each value has pages of its own, because memory locks work by page and do not nest: releasing one secret would unlock another one on the same
/// page. Locking is best effort. If the system refuses it (`RLIMIT_MEMLOCK`), nothing else changes. A few pages are kept for the next values, wiped and
/// locked: mapping them took a fifth of the time of opening a small pack.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
  /// The number of bytes.
  package let count: Int

  private let start: UnsafeMutablePointer<UInt8>
  private let mappedSize: Int
  private let isLocked: Bool

  /// Makes `count` zero bytes.
  package init(count: Int) {
    precondition(count >= 0)
    self.count = count
    mappedSize = max(count, SparePages.size)
    if mappedSize == SparePages.size, let page = unsafe SparePages.shared.take() {
      unsafe start = page
      isLocked = true
      return
    }
    let pages = unsafe mmap(nil, mappedSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let pages = unsafe pages, unsafe pages != MAP_FAILED else {
      fatalError("out of memory for \(count) secret bytes")
    }
    isLocked = unsafe mlock(pages, mappedSize) == 0
    #if os(Linux)
      unsafe _ = madvise(pages, mappedSize, MADV_DONTDUMP)
    #endif
    unsafe start = pages.bindMemory(to: UInt8.self, capacity: mappedSize)
  }

  /// Copies `bytes`. The caller must wipe its own bytes.
  package init(copying bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    for index in bytes.indices {
      unsafe start[index] = bytes[index]
    }
  }

  deinit {
    unsafe wipeMemory(UnsafeMutableRawBufferPointer(start: start, count: count))
    guard mappedSize != SparePages.size || !isLocked || !(unsafe SparePages.shared.keep(start)) else { return }
    unsafe _ = munmap(start, mappedSize)
  }

  /// Returns the same bytes in memory of their own.
  package borrowing func copy() -> SecretBytes { withSpan { SecretBytes(copying: $0) } }

  /// Calls `body` with the bytes.
  package borrowing func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try unsafe body(Span(_unsafeStart: UnsafePointer(start), count: count))
  }

  /// Calls `body` with the bytes for writing.
  package mutating func withMutableSpan<R: ~Copyable, E: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    var span = unsafe MutableSpan(_unsafeStart: start, count: count)
    return try body(&span)
  }
}

/// Locked pages that no secret has, all of them zero.
@safe
private final class SparePages: @unchecked Sendable {
  static let shared = SparePages()
  static let size = max(sysconf(CInt(_SC_PAGESIZE)), 1)
  private static let most = 8

  // At a stable address, as pthreads require.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var pages: [UnsafeMutablePointer<UInt8>] = unsafe []

  private init() {
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  func take() -> UnsafeMutablePointer<UInt8>? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe pages.popLast()
  }

  /// - Returns: whether the page was taken. If not, there are enough.
  func keep(_ page: UnsafeMutablePointer<UInt8>) -> Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    guard unsafe pages.count < Self.most else { return false }
    unsafe pages.append(page)
    return true
  }
}

/// Overwrites an ordinary buffer with zeros, in a way the optimizer keeps.
package func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { unsafe wipeMemory($0) }
}

/// Overwrites memory with zeros, in a way the optimizer keeps.
package func wipe(_ bytes: inout MutableSpan<UInt8>) {
  unsafe bytes.withUnsafeMutableBytes { unsafe wipeMemory($0) }
}

/// Overwrites memory with zeros, in a way the optimizer keeps.
@unsafe
private func wipeMemory(_ memory: UnsafeMutableRawBufferPointer) {
  guard let start = memory.baseAddress, memory.count > 0 else { return }
  #if canImport(Darwin)
    unsafe _ = memset_s(start, memory.count, 0, memory.count)
  #else
    unsafe explicit_bzero(start, memory.count)
  #endif
}
