/// How a process waits for a lock that another one holds. The time is counted in pauses, not by a clock.
package struct LockWait: Sendable {
  /// The time after which the wait is given up.
  package let limit: Duration
  let clock: any DeviceClock
  let isCancelled: @Sendable () -> Bool

  /// - Parameter isCancelled: whether the work was cancelled, so that the wait ends.
  package init(_ limit: Duration, clock: any DeviceClock, isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }) {
    self.limit = limit
    self.clock = clock
    self.isCancelled = isCancelled
  }

  /// Locks a directory that has no lock file. The lock ends when the directory is released.
  ///
  /// - Parameter subject: the path that errors name.
  /// - Returns: nil if another process or task holds the lock for too long.
  /// - Throws: ``PackError/Code/cancelled``, or an error of the file system.
  package func lock(directory: String, for subject: String, files: any FileSystem) throws(PackError) -> OpenFile? {
    try lock(subject, files: files) { () throws(FileFailure) in
      try files.open(directory, .directory, in: nil)
    } named: { () throws(FileFailure) in
      try files.status(of: directory, in: nil, following: .followed)
    }
  }

  /// - Parameters:
  ///   - open: opens what is locked.
  ///   - named: returns the status of what has its name now.
  func lock(
    _ path: String, files: any FileSystem, open: () throws(FileFailure) -> OpenFile, named: () throws(FileFailure) -> FileStatus
  ) throws(PackError) -> OpenFile? {
    let limit = limit.microseconds
    var waited: UInt64 = 0
    var pause: UInt64 = 250
    while true {
      do throws(FileFailure) {
        let file = try open()
        if try files.tryLock(file) {
          // It may have been removed and created again between the two calls. Then other processes do not see this lock.
          if try isStillThere(file, files, named) { return file }
          continue
        }
      } catch {
        throw error.writing(path)
      }
      guard waited < limit else { return nil }
      guard !isCancelled() else { throw PackError(.cancelled, "cancelled") }
      clock.pause(for: .microseconds(Int64(pause)))
      waited += pause
      pause = min(pause * 2, 8000)
    }
  }

  private func isStillThere(
    _ file: OpenFile, _ files: any FileSystem, _ named: () throws(FileFailure) -> FileStatus
  ) throws(FileFailure) -> Bool {
    let mine = try files.status(of: file)
    guard let named = try ifPresent(named()) else { return false }
    return mine.device == named.device && mine.inode == named.inode
  }
}
