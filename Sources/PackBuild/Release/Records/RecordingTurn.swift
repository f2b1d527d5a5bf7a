/// An exclusive lock between processes, held while one of them reads, changes and writes a lock file. Released with the value.
package struct RecordingTurn {
  // The directory is locked, because each recording replaces the file itself.
  private let directory: OpenFile?

  /// Waits until no other process holds the lock, and takes it.
  ///
  /// - Throws: ``PackError/Code/cannotWrite`` if that takes more than ten seconds, ``PackError/Code/cancelled``.
  package init(_ lockPath: String, files: any FileSystem, clock: any DeviceClock = SystemClock()) throws(PackError) {
    guard let parts = PathParts(lockPath) else {
      directory = nil
      return
    }
    directory = try LockWait(.seconds(10), clock: clock).lock(directory: parts.directory, for: lockPath, files: files)
    guard directory != nil else {
      throw PackError(
        .cannotWrite, of: lockPath, "has been in use by another process for more than ten seconds",
        hint: "wait until the other packer ends, and run this one again")
    }
  }
}
