import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The directory of this process for the files of its tests: `packer-tests-…` in memory, or in the system's temporary directory.
///
/// It is removed when the process ends, and otherwise by the next process that runs tests: a process holds the lock of its own directory.
package enum TestPlace {
  private static let front = "packer-tests-"
  private static let lockName = ".lock"

  private struct State {
    var root: String?
    var count = 0
    var lock: CInt = -1
  }

  private static let state = Monitor(State())

  /// Returns a path that no other test uses. Nothing is there yet.
  package static func newPath() throws -> String {
    try state.withLock { state in
      if state.root == nil {
        let base = base
        sweep(base)
        (state.root, state.lock) = try make(in: base)
        atexit { TestPlace.remove() }
      }
      state.count += 1
      return "\(state.root ?? "")/\(state.count)"
    }
  }

  /// A directory in memory if it has a gigabyte to spare, as most of the time of many tests is that of the disk. Otherwise, or if everything is tried, or
  /// if TMPDIR is set, the system's temporary directory.
  private static var base: String {
    let usual = FileManager.default.temporaryDirectory.path
    #if os(Linux)
      let memory = "/dev/shm"
      var volume = statvfs()
      guard !Effort.isFull, ProcessInfo.processInfo.environment["TMPDIR"] == nil, access(memory, W_OK) == 0, statvfs(memory, &volume) == 0,
        // Tests start programs that they have written, which ST_NOEXEC forbids. Swift does not import it.
        volume.f_flag & 8 == 0, UInt64(volume.f_bavail) * UInt64(volume.f_frsize) >= 1 << 30
      else { return usual }
      return memory
    #else
      return usual
    #endif
  }

  /// Makes and locks a directory. It gets its name when it is locked, so that another process does not take it for an abandoned one.
  private static func make(in base: String) throws -> (String, CInt) {
    let name = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let hidden = "\(base)/.\(front)\(name)"
    try FileManager.default.createDirectory(atPath: hidden, withIntermediateDirectories: false)
    let lock = open("\(hidden)/\(lockName)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw POSIXError(.EWOULDBLOCK) }
    try FileManager.default.moveItem(atPath: hidden, toPath: "\(base)/\(front)\(name)")
    return ("\(base)/\(front)\(name)", lock)
  }

  /// Removes the directories of processes that have ended.
  package static func sweep(_ base: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    for name in names where name.hasPrefix(front) {
      let path = "\(base)/\(name)"
      let lock = open("\(path)/\(lockName)", O_RDWR | O_CLOEXEC)
      guard lock >= 0 else { continue }
      defer { close(lock) }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { continue }
      // A test may have taken away its own permissions.
      if (try? FileManager.default.removeItem(atPath: path)) == nil { unlock(path) }
    }
  }

  private static func unlock(_ path: String) {
    let items = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    for item in [""] + items { chmod("\(path)/\(item)", 0o700) }
    try? FileManager.default.removeItem(atPath: path)
  }

  private static func remove() {
    state.withLock { state in
      if let root = state.root { try? FileManager.default.removeItem(atPath: root) }
    }
  }
}
