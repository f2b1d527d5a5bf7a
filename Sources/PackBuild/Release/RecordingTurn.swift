package import PackFiles
package import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An exclusive lock between processes, held while one of them reads, changes and writes a lock file. Released with the value.
package struct RecordingTurn {
  // The directory is locked, because each recording replaces the file itself.
  private let directory: OpenFile?

  /// The number of attempts to take the lock, and the pause between them in microseconds: ten seconds in all.
  private static let (attempts, pause) = (200, UInt32(50_000))

  /// Waits until no other process holds the lock, and takes it.
  ///
  /// - Throws: ``PackError/Code/cannotWrite`` if that takes more than ten seconds.
  package init(_ lockPath: String, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(lockPath) else {
      directory = nil
      return
    }
    do throws(FileFailure) {
      let directory = try files.open(parts.directory, .directory, in: nil)
      for _ in 0..<Self.attempts {
        if try files.tryLock(directory) {
          self.directory = directory
          return
        }
        usleep(Self.pause)
      }
    } catch {
      throw error.writing(lockPath)
    }
    throw PackError(
      .cannotWrite, of: lockPath, "has been in use by another process for more than ten seconds",
      hint: "wait until the other packer ends, and run this one again")
  }
}
