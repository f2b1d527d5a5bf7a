import PackFiles
import PackFormat

/// The directory of a ``SharedState``. Only this code knows its layout:
///
///     delivery              the kind and version of this directory
///     lock                  locked for the milliseconds of one change, never while waiting for anything
///     packs/<pack>          one record per pack or page in progress, replaced as a whole
///     incoming/<download>   downloaded files
///     installing/<download> downloaded files that the app took for installation
///     manifest, accepted    the last accepted document, and its version
///     pages/<file>          pages that were checked, until no accepted manifest names them
///     allowance             the bytes that may still be downloaded before the first start
///     writing               a temporary file for replacing one of the others; may be left by a process that ended
///
/// The directory is opened again for each operation, because the system or a person may remove it at any time.
struct StateDirectory: Sendable {
  enum Folder: String, CaseIterable {
    case packs, incoming, installing
  }

  let path: String
  let files: any FileSystem
  let clock: any DeviceClock
  let lockTimeoutMilliseconds: UInt32

  private static let marker = Array("packer-delivery/1\n".utf8)
  private static let markerName = "delivery"
  private static let lockName = "lock"
  private static let writingName = "writing"
  /// The maximum number of changes made under one lock, so that it is held for milliseconds.
  static let batch = 32

  func path(_ name: String) -> String { "\(path)/\(name)" }

  // MARK: Opening

  /// Opens the directory. Creates it if it does not exist.
  func open() throws(PackError) -> OpenFile {
    do throws(FileFailure) {
      return try files.open(path, .directory, in: nil)
    } catch {
      guard error.isMissing else { throw error.reading(path) }
    }
    try make()
    do throws(FileFailure) {
      return try files.open(path, .directory, in: nil)
    } catch {
      throw error.writing(path)
    }
  }

  /// Creates the missing parts of the directory. Throws if another format version created it.
  func make() throws(PackError) {
    do throws(FileFailure) {
      do throws(FileFailure) {
        try files.makeDirectory(path, mode: 0o700, in: nil)
        // The directory's name must survive a power failure, like its contents.
        if let parent = PathParts(path)?.directory { try files.sync(try files.open(parent, .directory, in: nil)) }
      } catch {
        guard error.isExisting else { throw error }
      }
    } catch {
      throw error.writing(path)
    }
    let root = try open()
    try makeFolders(in: root)
    let found = try read(Self.markerName, limit: 64, in: root)
    guard found != Self.marker else { return }
    if let found, found.starts(with: Array("packer-delivery/".utf8)), found.last == UInt8(ascii: "\n") {
      throw PackError(
        .unsupported, of: path, "is a delivery state of another version", advice: .updateApp)
    }
    try withLock { (root) throws(PackError) in try replace(Self.markerName, with: Self.marker.byteSpan, in: root) }
  }

  private func makeFolders(in root: OpenFile) throws(PackError) {
    var isChanged = false
    do throws(FileFailure) {
      for folder in Folder.allCases {
        do throws(FileFailure) {
          try files.makeDirectory(folder.rawValue, mode: 0o700, in: root)
          isChanged = true
        } catch {
          guard error.isExisting else { throw error }
        }
      }
      if isChanged { try files.sync(root) }
    } catch {
      throw error.writing(path)
    }
  }

  // MARK: Exclusive access

  /// Runs `body` while no other process makes changes.
  ///
  /// - Throws: ``PackFormat/PackError/Code/stateBusy`` if the lock is not released in time. The time is counted in pauses, not by a clock.
  func withLock<Result>(_ body: (OpenFile) throws(PackError) -> Result) throws(PackError) -> Result {
    let root = try open()
    var waited: UInt32 = 0
    var pause: UInt32 = 1
    while true {
      if let lock = try tryLock(in: root) {
        defer { withExtendedLifetime(lock) {} }
        return try body(root)
      }
      guard waited < lockTimeoutMilliseconds else {
        throw PackError(
          .stateBusy, of: path, "has been locked by another process for \(lockTimeoutMilliseconds) ms",
          advice: .tryAgain)
      }
      clock.pause(for: .milliseconds(Int64(pause)))
      waited += pause
      pause = min(pause * 2, 16)
    }
  }

  private func tryLock(in root: OpenFile) throws(PackError) -> OpenFile? {
    do throws(FileFailure) {
      let lock: OpenFile
      do throws(FileFailure) {
        lock = try files.open(Self.lockName, .readUnlinked, in: root)
      } catch {
        guard error.isMissing else { throw error }
        do throws(FileFailure) {
          lock = try files.open(Self.lockName, .create(mode: 0o600), in: root)
        } catch {
          // The other process was faster.
          guard error.isExisting else { throw error }
          return nil
        }
      }
      guard try files.tryLock(lock) else { return nil }
      // The file may have been removed and created again meanwhile.
      let named = try files.status(of: Self.lockName, in: root, following: .asThemselves)
      let held = try files.status(of: lock)
      return named.inode == held.inode && named.device == held.device ? lock : nil
    } catch {
      if error.isMissing { return nil }
      throw error.writing(path(Self.lockName))
    }
  }

  // MARK: Files

  /// Returns the content of a file; nil if it does not exist or is not a regular file.
  func read(_ name: String, limit: Int, in root: OpenFile) throws(PackError) -> [UInt8]? {
    let file: OpenFile
    let size: UInt64
    do throws(FileFailure) {
      file = try files.open(name, .readUnlinked, in: root)
      let status = try files.status(of: file)
      guard status.kind == .file else { return nil }
      size = status.size
    } catch {
      if error.isMissing { return nil }
      throw error.reading(path(name))
    }
    // Files are replaced, never modified, so the size does not change.
    var buffer = [UInt8](repeating: 0, count: Int(min(size, UInt64(limit) + 1)))
    var span = buffer.mutableByteSpan
    let count = try files.read(file, at: 0, filling: &span, name: path(name))
    buffer.removeLast(buffer.count - count)
    return buffer
  }

  /// Replaces the content of a file atomically. Call it under the lock.
  ///
  /// - Parameter isSynced: whether the content is synced to disk before this returns.
  func replace(_ name: String, with bytes: Span<UInt8>, isSynced: Bool = true, in root: OpenFile) throws(PackError) {
    do throws(FileFailure) {
      try files.replace(name, with: bytes, by: Self.writingName, mode: 0o600, isSynced: isSynced, in: root)
    } catch {
      throw error.writing(path(name))
    }
  }

  /// Syncs the names in a directory to disk.
  func sync(directoryOf name: String, in root: OpenFile) throws(FileFailure) {
    let folder = name.split(separator: "/").dropLast().first.map(String.init)
    guard let folder else { return try files.sync(root) }
    try files.sync(try files.open(folder, .directoryUnlinked, in: root))
  }

  /// Removes a file, or anything else with its name.
  ///
  /// - Returns: whether there was something to remove.
  @discardableResult
  func remove(_ name: String, in root: OpenFile) throws(PackError) -> Bool {
    do throws(FileFailure) {
      let kind = try files.status(of: name, in: root, following: .asThemselves).kind
      if kind == .directory { try files.removeTree(name, in: root) } else { try files.remove(name, kind, in: root) }
      try sync(directoryOf: name, in: root)
      return true
    } catch {
      if error.isMissing { return false }
      throw error.writing(path(name))
    }
  }

  /// Moves a file of the same volume into a folder and replaces an existing file. Creates the folder if it is gone. Needs no lock: it is a single
  /// rename.
  ///
  /// - Throws: ``PackFormat/PackError/Code/missingInput`` if the file itself is gone: another call may have moved it.
  func moveIn(_ file: String, as name: String, in root: OpenFile) throws(PackError) {
    do throws(FileFailure) {
      try files.rename(file, to: path(name), in: nil)
    } catch {
      // Either the file or the folder is gone.
      guard error.isMissing else { throw error.writing(path(name)) }
      do throws(FileFailure) {
        guard try files.status(of: file, in: nil, following: .asThemselves).kind == .file else { throw FileFailure.isDirectory }
      } catch {
        throw error.reading(file)
      }
      do throws(FileFailure) {
        guard (try? makeFolders(in: root)) != nil else { throw error }
        try files.rename(file, to: path(name), in: nil)
      } catch {
        throw error.writing(path(name))
      }
    }
    do throws(FileFailure) {
      try sync(directoryOf: name, in: root)
    } catch {
      throw error.writing(path(name))
    }
  }

  /// Renames a file within the directory and replaces an existing one.
  ///
  /// - Returns: false if the file does not exist.
  func move(_ name: String, to newName: String, in root: OpenFile) throws(PackError) -> Bool {
    do throws(FileFailure) {
      try files.rename(name, to: newName, in: root)
      try sync(directoryOf: newName, in: root)
      try sync(directoryOf: name, in: root)
      return true
    } catch {
      if error.isMissing { return false }
      throw error.writing(path(newName))
    }
  }

  /// Returns the names in a folder, sorted; empty if the folder does not exist.
  func names(in folder: Folder, of root: OpenFile) throws(PackError) -> [String] {
    do throws(FileFailure) {
      return try files.names(in: try files.open(folder.rawValue, .directoryUnlinked, in: root)).filter(\.isUTF8).map(\.text).sorted()
    } catch {
      if error.isMissing { return [] }
      throw error.reading(path(folder.rawValue))
    }
  }

  /// Returns the status of a file; nil if it does not exist.
  func status(_ name: String, in root: OpenFile) throws(PackError) -> FileStatus? {
    do throws(FileFailure) {
      let status = try files.status(of: name, in: root, following: .asThemselves)
      return status.kind == .file ? status : nil
    } catch {
      if error.isMissing { return nil }
      throw error.reading(path(name))
    }
  }

  // MARK: Records

  static func recordName(_ id: String) -> String { "\(Folder.packs.rawValue)/\(DeliveryName.fileName(of: id))" }

  /// Returns the record of a pack; nil if there is none.
  ///
  /// - Throws: ``PackFormat/PackError/Code/damagedState``
  func record(_ id: String, in root: OpenFile) throws(PackError) -> PackStatus? {
    let name = Self.recordName(id)
    guard let bytes = try read(name, limit: PackStatus.largestSize, in: root) else {
      // Anything that is not a regular file is not a record and prevents writing one.
      return try isTaken(name, in: root) ? try PackStatus(reading: [], of: id) : nil
    }
    return try PackStatus(reading: bytes, of: id)
  }

  private func isTaken(_ name: String, in root: OpenFile) throws(PackError) -> Bool {
    do throws(FileFailure) {
      return try files.status(of: name, in: root, following: .asThemselves).kind != .file
    } catch {
      if error.isMissing { return false }
      throw error.reading(path(name))
    }
  }

  /// Writes a record, or removes it if `status` is nil. Call it under the lock.
  func write(_ status: PackStatus?, of id: String, isSynced: Bool = true, in root: OpenFile) throws(PackError) {
    let name = Self.recordName(id)
    guard let status else {
      try remove(name, in: root)
      return
    }
    do throws(PackError) {
      try replace(name, with: status.record.byteSpan, isSynced: isSynced, in: root)
    } catch {
      // Removes anything that is not a regular file. Creates the folder again if it is gone.
      if try isTaken(name, in: root) {
        try remove(name, in: root)
      } else if try !isTaken(Folder.packs.rawValue, in: root) {
        try makeFolders(in: root)
      } else {
        throw error
      }
      try replace(name, with: status.record.byteSpan, isSynced: isSynced, in: root)
    }
  }
}
