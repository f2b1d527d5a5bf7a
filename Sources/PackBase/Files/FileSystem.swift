/// The file operations of the project. Only this target calls the system's file functions.
///
/// Tests wrap a file system in one that fails, lies or stops at any operation, to prove that outputs appear whole or not at all. Names are relative
/// to `directory`, or to the process's working directory if it is nil.
package protocol FileSystem: Sendable {
  func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile
  /// Reads at most `buffer.count` bytes at `offset`, fewer at the end of the file or when the system says so.
  func read(_ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int
  /// Reads from a stream without positions: a pipe, a terminal.
  func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int
  /// Maps the first `size` bytes of a file that is never changed in place. Returns nil if that is not possible.
  func map(_ file: OpenFile, _ size: Int) -> FileContent?
  /// Writes at most `buffer.count` bytes at `offset` and returns how many.
  func write(_ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int
  /// Writes to the end of a stream and returns the number of bytes written.
  func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int
  func status(of file: OpenFile) throws(FileFailure) -> FileStatus
  func status(of name: String, in directory: OpenFile?, following links: LinkPolicy) throws(FileFailure) -> FileStatus
  /// Returns the names in a directory in no particular order, without `.` and `..`.
  func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName]
  func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure)
  /// Sets the protection of the files that are made in a directory from now on: readable from the first unlocking of the device, also while it is
  /// locked. Does nothing where the system has no such protection.
  func protectUntilFirstUnlock(_ directory: String)
  func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure)
  /// Renames a file or directory, and replaces one of the same kind under the new name (a directory must be empty).
  func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure)
  /// Gives a file that was opened as ``FileAccess/nameless(mode:)`` a name that is not taken.
  func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure)
  /// Gives a file a second name, in the same or another directory of its volume. Not every file system can (``FileFailure/isUnsupported``).
  func link(_ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?) throws(FileFailure)
  /// Makes a new file with the content of an open one. Both share their space on the volume until one of them is changed. Not every file system can
  /// (``FileFailure/isUnclonable``). Then nothing is left behind.
  func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile
  /// Swaps two names in a directory atomically. Not every file system can (``FileFailure/isUnsupported``).
  func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure)
  func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure)
  /// Reserves space so that the file can grow to `size` bytes. Does nothing if the system cannot reserve space.
  func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure)
  /// Syncs a file or directory to the disk.
  func sync(_ file: OpenFile) throws(FileFailure)
  /// Writes a file or directory so that it reaches the disk before everything that is written later. It is there after the next ``sync(_:)`` of anything on
  /// the volume. Where the system has only ``sync(_:)``, this is the same.
  func order(_ file: OpenFile) throws(FileFailure)
  /// Whether ``syncVolume(of:)`` syncs every file of the volume. If not, each file needs its own sync.
  var syncsWholeVolumes: Bool { get }
  /// Syncs the volume of a directory to the disk if the system can, otherwise does nothing.
  func syncVolume(of directory: OpenFile) throws(FileFailure)
  /// Returns the number of bytes that an ordinary user can write to the volume now. For errors of a full disk.
  func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64
  /// Returns the number of files that can be made on the volume; the largest number if it has no limit.
  func freeFiles(at file: OpenFile) -> UInt64
  /// Gives an open file the owner and group of another one, if the process may do that, as only root may.
  func setOwner(of file: OpenFile, asOf name: String)
  /// Returns the number of bytes that are free, or that the system can free when they are needed. For checks before something is written.
  func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64
  /// Keeps the system from suspending the process. Does nothing where the system suspends none.
  ///
  /// - Returns: nil if the process is about to be suspended.
  func beginActivity() -> ProcessActivity?
  /// Tries to lock a file exclusively without waiting, and returns whether it did. The lock ends when the file is closed. Not every file system has
  /// locks (``FileFailure/isLockless``).
  func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool
  /// Whether something is mounted at a path, so that it cannot be renamed.
  func isMountPoint(_ path: String) -> Bool
  /// Returns the absolute path without symbolic links.
  func canonicalPath(of name: String) throws(FileFailure) -> String
}

extension FileSystem {
  package func protectUntilFirstUnlock(_ directory: String) {}
  package func order(_ file: OpenFile) throws(FileFailure) { try sync(file) }
  package func beginActivity() -> ProcessActivity? { ProcessActivity() }
  package func freeFiles(at file: OpenFile) -> UInt64 { .max }
  package func setOwner(of file: OpenFile, asOf name: String) {}
  package func map(_ file: OpenFile, _ size: Int) -> FileContent? { nil }
  package func isMountPoint(_ path: String) -> Bool {
    guard let own = try? status(of: path, in: nil, following: .asThemselves).device,
      let outer = try? status(of: PathParts(path)?.directory ?? "\(path)/..", in: nil, following: .followed).device
    else { return false }
    return own != outer
  }
}

/// How a file is opened. Child processes inherit no open file, and opening never waits for the other end of a pipe.
package enum FileAccess: Hashable, Sendable {
  /// Reads a file; the last component may be a symbolic link.
  case read
  /// Reads a file, and refuses a symbolic link as the last component.
  case readUnlinked
  /// Opens a directory; the last component may be a symbolic link.
  case directory
  /// Opens a directory, and refuses a symbolic link as the last component.
  case directoryUnlinked
  /// Writes to a file that exists, and refuses a symbolic link as the last component.
  case writeUnlinked
  /// Empties a file that exists, to write to it, and refuses a symbolic link as the last component.
  case rewriteUnlinked
  /// Makes a new file to read and write. It must not exist yet, not even as a symbolic link.
  case create(mode: UInt32)
  /// Makes a new nameless file to read and write in the given directory. Until it is linked to a name, no other process can open it, and it is
  /// deleted when it is closed. Not every file system has such files (``FileFailure/isUnsupported``).
  case nameless(mode: UInt32)
}

/// Whether an operation on a symbolic link concerns its target or the link.
package enum LinkPolicy: Sendable {
  case followed
  case asThemselves
}

/// A name in a directory. Names that are not UTF-8 are shown with replacement characters and cannot be opened.
package struct DirectoryName: Hashable, Sendable {
  package let text: String
  package let isUTF8: Bool

  package init(text: String, isUTF8: Bool) {
    self.text = text
    self.isUTF8 = isUTF8
  }
}

/// The system's metadata of a file.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file, directory, symbolicLink, other
  }

  package var kind: Kind
  /// The length in bytes.
  package var size: UInt64
  /// The space that it occupies on the volume, in bytes.
  package var allocatedSize: UInt64
  /// The permission bits.
  package var mode: UInt32
  package var device: UInt64
  package var inode: UInt64
  package var linkCount: UInt64
  /// The time of the last change of the content, in nanoseconds since 1970.
  package var modified: Int64
  /// The time of the last change of content or metadata, in nanoseconds since 1970.
  package var changed: Int64

  package var isExecutable: Bool { mode & 0o111 != 0 }

  /// - Parameter allocatedSize: the space that it occupies on the volume. If nil, the size rounded up to blocks of 4 KiB.
  package init(
    kind: Kind, size: UInt64, allocatedSize: UInt64? = nil, mode: UInt32, device: UInt64, inode: UInt64, linkCount: UInt64, modified: Int64,
    changed: Int64
  ) {
    self.kind = kind
    self.size = size
    self.allocatedSize = allocatedSize ?? (size + 4095) / 4096 * 4096
    self.mode = mode
    self.device = device
    self.inode = inode
    self.linkCount = linkCount
    self.modified = modified
    self.changed = changed
  }
}

/// What shows that a file is still the one that was looked at before.
package struct FileStamp: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  private let size: UInt64
  private let modified: Int64
  private let changed: Int64

  package init(_ status: FileStatus) {
    (device, inode, size, modified, changed) = (status.device, status.inode, status.size, status.modified, status.changed)
  }
}

/// An open file or directory, closed when its last owner is released. Positions are passed to each operation, so any number of threads may use one.
package final class OpenFile: Sendable {
  package let descriptor: CInt
  private let closes: Bool

  package init(owning descriptor: CInt) {
    self.descriptor = descriptor
    closes = true
  }

  /// Borrows a descriptor that this object does not close: standard input, for example.
  package init(borrowing descriptor: CInt) {
    self.descriptor = descriptor
    closes = false
  }

  deinit {
    if closes { SystemFiles.close(descriptor) }
  }
}

/// The two numbers that Apple platforms report for the space on a volume.
package enum VolumeSpace {
  /// Returns the number of bytes that can be used for packs.
  ///
  /// - Parameters:
  ///   - free: the bytes that are free now.
  ///   - important: `volumeAvailableCapacityForImportantUsage`, which includes what the system can purge. It is 0 on volumes without purgeable space,
  ///     such as exFAT, and on a Mac where no user is logged in. Nil if unknown.
  package static func available(free: UInt64, important: Int64?) -> UInt64 {
    max(free, important.map { UInt64(clamping: $0) } ?? 0)
  }
}

/// The reason why the system refused an operation.
package struct FileFailure: Error, Hashable, Sendable {
  /// The value of `errno`.
  package let number: CInt

  package init(number: CInt) {
    self.number = number
  }

  /// Returns the error for a failure to read `name`.
  package func reading(_ name: String) -> PackError {
    if isMissing {
      return PackError(.missingInput, of: name, "does not exist")
    }
    return PackError(.cannotRead, of: name, "cannot be read: \(text)")
  }

  /// Returns the error for a failure to write `name`.
  ///
  /// - Parameters:
  ///   - missingBytes: the space that is missing for the output, if the disk is full and the caller knows.
  ///   - isLowerBound: whether more than that may be missing.
  package func writing(_ name: String, missingBytes: UInt64? = nil, isLowerBound: Bool = false) -> PackError {
    guard isFullDisk else {
      return PackError(.cannotWrite, of: name, "cannot be written: \(text)")
    }
    let missing = missingBytes.map { ", \(isLowerBound ? "at least " : "")\($0) bytes are missing" } ?? ""
    return PackError(
      .noSpace, of: name, "cannot be written: \(text)\(missing)",
      advice: .freeSpace(bytes: missingBytes))
  }
}
