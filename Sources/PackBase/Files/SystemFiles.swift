#if canImport(Darwin)
  import Darwin
#else
  import CLinux
  import Glibc
#endif

/// The system's own files.
package struct SystemFiles: FileSystem {
  package init() {}

  package func open(
    _ name: String, _ access: FileAccess, in directory: OpenFile?
  ) throws(FileFailure) -> OpenFile {
    // O_NONBLOCK: opening a pipe must not wait for its other end.
    var flags = O_CLOEXEC
    var mode: mode_t = 0
    switch access {
    case .read: flags |= O_RDONLY | O_NONBLOCK
    case .readUnlinked: flags |= O_RDONLY | O_NONBLOCK | O_NOFOLLOW
    case .directory: flags |= O_RDONLY | O_DIRECTORY
    case .directoryUnlinked: flags |= O_RDONLY | O_DIRECTORY | O_NOFOLLOW
    case .writeUnlinked: flags |= O_WRONLY | O_NONBLOCK | O_NOFOLLOW
    case .rewriteUnlinked: flags |= O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_TRUNC
    case .create(let permissions):
      flags |= O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
      mode = mode_t(permissions)
    case .nameless(let permissions):
      #if canImport(Darwin)
        throw FileFailure(number: ENOTSUP)
      #else
        flags |= O_RDWR | CInt(packer_O_TMPFILE)
        mode = mode_t(permissions)
      #endif
    }
    let descriptor = try Self.retrying { unsafe openat(directory.descriptorOrWorkingDirectory, name, flags, mode) }
    let file = OpenFile(owning: descriptor)
    #if !canImport(Darwin)
      // The file can be linked only through this path, so check it before anything is written.
      if case .nameless = access, unsafe Glibc.access(Self.processPath(of: file), F_OK) != 0 {
        throw FileFailure(number: EOPNOTSUPP)
      }
    #endif
    return file
  }

  package func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
    #if canImport(Darwin)
      throw FileFailure(number: ENOTSUP)
    #else
      _ = try Self.retrying {
        unsafe linkat(
          AT_FDCWD, Self.processPath(of: file), directory.descriptorOrWorkingDirectory, name, AT_SYMLINK_FOLLOW)
      }
    #endif
  }

  /// Returns the path by which the process can reach an open file.
  private static func processPath(of file: OpenFile) -> String { "/proc/self/fd/\(file.descriptor)" }

  package func read(
    _ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFailure) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    return try Self.retrying { unsafe pread(file.descriptor, base, buffer.count, off_t(offset)) }
  }

  package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    #if canImport(Darwin)
      return try Self.retrying { unsafe Darwin.read(file.descriptor, base, buffer.count) }
    #else
      return try Self.retrying { unsafe Glibc.read(file.descriptor, base, buffer.count) }
    #endif
  }

  package func map(_ file: OpenFile, _ size: Int) -> FileContent? {
    guard size > 0, let start = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, file.descriptor, 0), unsafe start != MAP_FAILED else {
      return nil
    }
    let pages = unsafe UnsafeRawBufferPointer(start: start, count: size)
    return unsafe FileContent(pages.assumingMemoryBound(to: UInt8.self), owner: MappedPages(pages))
  }

  package func write(
    _ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer
  ) throws(FileFailure) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    return try Self.retrying { unsafe pwrite(file.descriptor, base, buffer.count, off_t(offset)) }
  }

  package func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    #if canImport(Darwin)
      return try Self.retrying { unsafe Darwin.write(file.descriptor, base, buffer.count) }
    #else
      return try Self.retrying { unsafe Glibc.write(file.descriptor, base, buffer.count) }
    #endif
  }

  package func status(of file: OpenFile) throws(FileFailure) -> FileStatus {
    var raw = stat()
    _ = try Self.retrying { unsafe fstat(file.descriptor, &raw) }
    return FileStatus(raw)
  }

  package func status(
    of name: String, in directory: OpenFile?, following links: LinkPolicy
  ) throws(FileFailure) -> FileStatus {
    var raw = stat()
    let flags = links == .followed ? 0 : AT_SYMLINK_NOFOLLOW
    _ = try Self.retrying { unsafe fstatat(directory.descriptorOrWorkingDirectory, name, &raw, flags) }
    return FileStatus(raw)
  }

  package func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] {
    // fdopendir takes ownership of a descriptor, which needs its own position.
    let descriptor = try Self.retrying { unsafe openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = unsafe fdopendir(descriptor) else {
      let failure = FileFailure(number: errno)
      Self.close(descriptor)
      throw failure
    }
    defer { unsafe closedir(stream) }
    guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else {
      preconditionFailure("a C structure has its fields at fixed places")
    }
    var names: [DirectoryName] = []
    while true {
      errno = 0
      guard let item = unsafe readdir(stream) else {
        guard errno == 0 else { throw FileFailure(number: errno) }
        return names
      }
      // Not through the field: the system returns only as many bytes as the name needs, and the field is larger.
      let field = unsafe UnsafeRawPointer(item) + nameOffset
      let length = unsafe strlen(field.assumingMemoryBound(to: CChar.self))
      let bytes = unsafe UnsafeRawBufferPointer(start: field, count: length)
      let valid = unsafe String(validUTF8: bytes)
      let name = unsafe DirectoryName(text: valid ?? String(decoding: bytes, as: UTF8.self), isUTF8: valid != nil)
      if name.text != ".", name.text != ".." { names.append(name) }
    }
  }

  package func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
    _ = try Self.retrying { unsafe mkdirat(directory.descriptorOrWorkingDirectory, name, mode_t(mode)) }
  }

  #if canImport(Darwin)
    package func protectUntilFirstUnlock(_ directory: String) { DataProtection.untilFirstUnlock(directory) }
  #endif

  #if canImport(Darwin) && !os(macOS)
    package func beginActivity() -> ProcessActivity? { ExpiringActivity.begin() }
  #endif

  package func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
    let flags = kind == .directory ? AT_REMOVEDIR : 0
    _ = try Self.retrying { unsafe unlinkat(directory.descriptorOrWorkingDirectory, name, CInt(flags)) }
  }

  package func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
    let descriptor = directory.descriptorOrWorkingDirectory
    _ = try Self.retrying { unsafe renameat(descriptor, name, descriptor, newName) }
  }

  package func link(
    _ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?
  ) throws(FileFailure) {
    _ = try Self.retrying {
      unsafe linkat(directory.descriptorOrWorkingDirectory, name, newDirectory.descriptorOrWorkingDirectory, newName, 0)
    }
  }

  package func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    #if canImport(Darwin)
      _ = try Self.retrying {
        unsafe fclonefileat(file.descriptor, directory.descriptorOrWorkingDirectory, name, 0)
      }
      let clone = try open(name, .writeUnlinked, in: directory)
      try setMode(mode, of: clone)
      return clone
    #else
      let clone = try open(name, .create(mode: mode), in: directory)
      do throws(FileFailure) {
        _ = try Self.retrying { packer_clone(clone.descriptor, file.descriptor) }
      } catch {
        try? remove(name, .file, in: directory)
        throw error
      }
      return clone
    #endif
  }

  package func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure) {
    let descriptor = directory.descriptorOrWorkingDirectory
    _ = try Self.retrying {
      #if canImport(Darwin)
        unsafe renameatx_np(descriptor, name, descriptor, otherName, UInt32(RENAME_SWAP))
      #else
        unsafe renameat2(descriptor, name, descriptor, otherName, UInt32(packer_RENAME_EXCHANGE))
      #endif
    }
  }

  package func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure) {
    _ = try Self.retrying { fchmod(file.descriptor, mode_t(mode)) }
  }

  package func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure) {
    guard size > 0 else { return }
    #if canImport(Darwin)
      var request = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(size),
        fst_bytesalloc: 0)
      let number = unsafe fcntl(file.descriptor, F_PREALLOCATE, &request) == 0 ? 0 : errno
    #else
      let number = posix_fallocate(file.descriptor, 0, off_t(size))
    #endif
    // Any other number means that the volume cannot reserve space.
    let failure = FileFailure(number: number)
    guard failure.isFullDisk else { return }
    #if canImport(Darwin)
      // Only free space can be reserved. If the system can purge enough, the file grows without a reservation while the system does that.
      let held = try status(of: file).allocatedSize
      if try availableSpace(at: file) >= size - min(size, held) { return }
    #endif
    throw failure
  }

  package func sync(_ file: OpenFile) throws(FileFailure) {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache. Not every volume supports the stronger call.
      if fcntl(file.descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    do throws(FileFailure) {
      _ = try Self.retrying { fsync(file.descriptor) }
    } catch {
      // EINVAL: a file system without a disk.
      guard error.number == EINVAL else { throw error }
    }
  }

  #if canImport(Darwin)
    package func order(_ file: OpenFile) throws(FileFailure) {
      // Takes milliseconds, where emptying the drive's cache takes up to hundreds. Not every volume supports it.
      if fcntl(file.descriptor, F_BARRIERFSYNC) != 0 { try sync(file) }
    }
  #endif

  package var syncsWholeVolumes: Bool {
    #if canImport(Darwin)
      return false
    #else
      return true
    #endif
  }

  package func syncVolume(of directory: OpenFile) throws(FileFailure) {
    #if !canImport(Darwin)
      _ = try Self.retrying { syncfs(directory.descriptor) }
    #endif
  }

  package func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    var raw = statvfs()
    _ = try Self.retrying { unsafe fstatvfs(file.descriptor, &raw) }
    return UInt64(raw.f_bavail) * UInt64(raw.f_frsize)
  }

  package func freeFiles(at file: OpenFile) -> UInt64 {
    var raw = statvfs()
    // A volume that makes room for files when they come says 0 of both.
    guard unsafe fstatvfs(file.descriptor, &raw) == 0, raw.f_files > 0 else { return .max }
    return UInt64(raw.f_favail)
  }

  package func setOwner(of file: OpenFile, asOf name: String) {
    var raw = stat()
    guard geteuid() == 0, unsafe stat(name, &raw) == 0 else { return }
    _ = fchown(file.descriptor, raw.st_uid, raw.st_gid)
  }

  package func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    let free = try freeSpace(at: file)
    #if canImport(Darwin)
      var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
      guard unsafe fcntl(file.descriptor, F_GETPATH, &path) == 0 else { return free }
      let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      return VolumeSpace.available(free: free, important: ImportantCapacity.bytes(at: name))
    #else
      return free
    #endif
  }

  package func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool {
    do throws(FileFailure) {
      _ = try Self.retrying { flock(file.descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  #if !canImport(Darwin)
    package func isMountPoint(_ path: String) -> Bool { unsafe packer_is_mount_point(path) }
  #endif

  package func canonicalPath(of name: String) throws(FileFailure) -> String {
    guard let path = unsafe realpath(name, nil) else { throw FileFailure(number: errno) }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  static func close(_ descriptor: CInt) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }

  /// Repeats a call after an interruption, and turns other failures into errors.
  private static func retrying<Result: FixedWidthInteger>(_ call: () -> Result) throws(FileFailure) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      guard errno == EINTR else { throw FileFailure(number: errno) }
    }
  }
}

extension OpenFile? {
  fileprivate var descriptorOrWorkingDirectory: CInt { self?.descriptor ?? AT_FDCWD }
}

extension FileStatus {
  fileprivate init(_ raw: stat) {
    let kind: Kind =
      switch raw.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    #if canImport(Darwin)
      let modified = raw.st_mtimespec
      let changed = raw.st_ctimespec
    #else
      let modified = raw.st_mtim
      let changed = raw.st_ctim
    #endif
    self.init(
      kind: kind, size: UInt64(raw.st_size), allocatedSize: UInt64(raw.st_blocks) * 512, mode: UInt32(raw.st_mode & 0o7777),
      device: UInt64(raw.st_dev),
      inode: UInt64(raw.st_ino), linkCount: UInt64(raw.st_nlink), modified: nanoseconds(modified),
      changed: nanoseconds(changed))
  }
}

private func nanoseconds(_ time: timespec) -> Int64 {
  Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

extension FileFailure {
  /// Whether the disk is full or a quota is exhausted.
  package var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }
  package var isMissing: Bool { number == ENOENT }
  package var isExisting: Bool { number == EEXIST }
  /// The process may not do it.
  package var isDenied: Bool { number == EACCES || number == EPERM }
  /// Whether the file system does not support the operation. An old kernel treats a nameless file as a directory.
  package var isUnsupported: Bool {
    number == EOPNOTSUPP || number == ENOTSUP || number == EISDIR || number == EINVAL || number == ENOSYS
  }
  /// Whether a hard link is impossible: not on this file system, not across volumes, not for this user, or there are too many already.
  package var isUnlinkable: Bool {
    isUnsupported || number == EXDEV || number == EPERM || number == EACCES || number == EMLINK
  }
  /// Whether a file cannot be cloned: not on this file system, or not across volumes.
  package var isUnclonable: Bool { isUnsupported || number == EXDEV || number == ENOTTY || number == EPERM || number == EACCES }
  /// Whether the operation would cross volumes.
  package var isAcrossVolumes: Bool { number == EXDEV }
  /// Whether a name cannot be given to something else: something is mounted there, or it is in a lower layer of an overlay.
  package var isImmovable: Bool { number == EXDEV || number == EBUSY }
  /// Whether the file system, or a sandbox, has no locks.
  package var isLockless: Bool { isUnsupported || isDenied || number == ENOLCK }
  /// Whether a directory is not empty but must be.
  package var isNotEmpty: Bool { number == ENOTEMPTY || number == EEXIST }
  /// Whether the other end of a pipe is closed.
  package var isBrokenPipe: Bool { number == EPIPE }
  /// Whether a call was interrupted. Every loop above this protocol retries it.
  package var isInterruption: Bool { number == EINTR }

  package static let inputOutput = FileFailure(number: EIO)
  package static let fullDisk = FileFailure(number: ENOSPC)
  package static let interrupted = FileFailure(number: EINTR)
  package static let exists = FileFailure(number: EEXIST)
  package static let unsupported = FileFailure(number: EOPNOTSUPP)
  package static let isDirectory = FileFailure(number: EISDIR)
  package static let notADirectory = FileFailure(number: ENOTDIR)
  package static let acrossVolumes = FileFailure(number: EXDEV)
  package static let readOnly = FileFailure(number: EROFS)
  package static let notPermitted = FileFailure(number: EACCES)

  /// The system's text for the failure.
  package var text: String {
    var buffer = [CChar](repeating: 0, count: 256)
    _ = unsafe strerror_r(number, &buffer, buffer.count)
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).lowercasedFirst
  }
}

extension String {
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// Pages that stay mapped as long as this exists.
@safe
private final class MappedPages: @unchecked Sendable {
  private let pages: UnsafeRawBufferPointer

  init(_ pages: UnsafeRawBufferPointer) { unsafe self.pages = pages }

  deinit { unsafe _ = munmap(UnsafeMutableRawPointer(mutating: pages.baseAddress), pages.count) }
}
