import PackFiles
import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The turn of one process to read, change and write a lock file. It ends when the value goes away.
struct RecordingTurn {
  // The directory is locked, because the file itself is another one after each recording.
  private let directory: OpenFile?

  /// How often another process is asked, and how long is waited each time, in microseconds: ten seconds in all.
  private static let (attempts, pause) = (200, UInt32(50_000))

  /// Waits until no other process has its turn.
  ///
  /// - Throws: ``PackError/Code/cannotWrite`` where that takes more than ten seconds.
  init(_ lockPath: String, files: any FileSystem) throws(PackError) {
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
      .cannotWrite, of: lockPath, "is in use by another process for more than ten seconds",
      hint: "let the other 'packer release' end, and run this one again")
  }
}
