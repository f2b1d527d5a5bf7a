/// The directory of a queue. Only one process can use it at a time:
///
///     queue                 the kind and version of this directory
///     lock                  locked while the queue is open
///     groups/               the groups
struct QueueDirectory: Sendable {
  /// The directory of groups.
  let groups: OpenFile
  /// Its absolute path.
  let path: String
  /// The lock, held until this is released.
  let lock: OpenFile

  private static let form = RecordDirectory.Form("packer-downloads/1", in: "queue", isPrivate: true)
  private static let groupsName = "groups"

  /// Opens the directory and takes its lock. Creates it if only its parent exists.
  ///
  /// - Throws: ``PackError/Code/queueBusy`` if the queue is open already, and stays so for `timeout`; ``PackError/Code/notAQueue``.
  init(_ root: String, timeout: Duration, clock: any DeviceClock, files: any FileSystem) throws(PackError) {
    let directory = try RecordDirectory(making: root, Self.form, files: files)
    // Synced each time, because an earlier process may have ended before it synced.
    try directory.syncName()
    guard let lock = try directory.lock(LockWait(timeout, clock: clock, isCancelled: { WorkerPool.isCancelled })) else {
      throw PackError(.queueBusy, "the download queue in \(root) is already open", advice: .developer("close the other queue first"))
    }
    self.lock = lock
    switch try directory.kind() {
    case .own: break
    case .unmarked:
      // Leftovers of a process that ended while it created the directory.
      let temporary = ".queue"
      let names = try directory.names()
      guard names.allSatisfy({ $0 == RecordDirectory.lockName || $0 == Self.groupsName || $0.hasPrefix(temporary) }) else {
        throw Self.foreign(root)
      }
      try directory.mark(by: temporary)
    case .ofOtherVersion, .foreign: throw Self.foreign(root)
    }
    try directory.makeFolders([Self.groupsName])
    try directory.sync()
    groups = try writing(root, files.open(Self.groupsName, .directoryUnlinked, in: directory.handle))
    path = try writing(root, files.canonicalPath(of: directory.path(Self.groupsName)))
  }

  private static func foreign(_ root: String) -> PackError {
    PackError(.notAQueue, of: root, "is not a download queue, or belongs to a newer version", advice: .chooseDirectory)
  }
}
