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

  /// Locks a directory that has no lock file. The lock ends when the directory is released. Where the file system has no locks, it is not locked.
  ///
  /// - Parameter subject: the path that errors name.
  /// - Returns: nil if another process or task holds the lock for too long.
  /// - Throws: ``PackError/Code/cancelled``, or an error of the file system.
  package func lock(directory: String, for subject: String, files: any FileSystem) throws(PackError) -> OpenFile? {
    try lock(subject, isNeeded: false, files: files) { () throws(FileFailure) in
      try files.open(directory, .directory, in: nil)
    } named: { () throws(FileFailure) in
      try files.status(of: directory, in: nil, following: .followed)
    }
  }

  /// - Parameters:
  ///   - isNeeded: whether it is an error if the file system has no locks.
  ///   - open: opens what is locked.
  ///   - named: returns the status of what has its name now.
  func lock(
    _ path: String, isNeeded: Bool = true, files: any FileSystem, open: () throws(FileFailure) -> OpenFile,
    named: () throws(FileFailure) -> FileStatus
  ) throws(PackError) -> OpenFile? {
    let limit = limit.microseconds
    var waited: UInt64 = 0
    var pause: UInt64 = 250
    while true {
      let file = try writing(path, open())
      if try tryLock(file, path, isNeeded: isNeeded, files: files) {
        // It may have been removed and created again between the two calls. Then other processes do not see this lock.
        if try writing(path, isStillThere(file, files, named)) { return file }
        continue
      }
      guard waited < limit else { return nil }
      guard !isCancelled() else { throw PackError(.cancelled, "cancelled") }
      clock.pause(for: .microseconds(Int64(pause)))
      waited += pause
      pause = min(pause * 2, 8000)
    }
  }

  private func tryLock(_ file: OpenFile, _ path: String, isNeeded: Bool, files: any FileSystem) throws(PackError) -> Bool {
    do throws(FileFailure) {
      return try files.tryLock(file)
    } catch {
      guard error.isLockless else { throw error.writing(path) }
      guard isNeeded else { return true }
      throw PackError(
        .cannotWrite, of: path, "cannot be locked: \(error.text)", advice: .developer("use a volume that has locks, as flock makes them"))
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
