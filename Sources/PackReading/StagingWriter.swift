/// Creates the files and directories of a tree below a new directory that nothing else writes to. Used by one worker only.
///
/// Every path component is opened from the handle of its parent without following links, and every file is created exclusively. So nothing outside
/// the directory can be reached. Two entries that the file system treats as the same name cause an error instead of overwriting each other.
package final class StagingWriter {
  private let root: OpenFile
  private let files: any FileSystem
  private let output: String
  private var directories: [[UInt8]: OpenFile] = [:]
  /// The directory of the last file. Consecutive files are often in the same directory.
  private var recent: (path: [UInt8], handle: OpenFile)?
  // Whether the process's umask changes these permissions, so that they must be set again. Determined once for each mode.
  private var corrects: [UInt32: Bool] = [:]

  private static let directoryMode: UInt32 = 0o755
  /// The maximum number of directories kept open, one handle each. Enough for the directories of one frame.
  private static let mostHandles = 64

  package init(_ output: OutputDirectory, files: any FileSystem) {
    root = output.root
    self.files = files
    self.output = output.path
  }

  /// Creates an empty file or a directory.
  package func make(_ path: Span<UInt8>, _ kind: IndexRecord.Kind) throws(PackError) {
    if kind == .directory {
      _ = try directory(path)
    } else {
      try finish(try create(path, isExecutable: kind == .executable), path)
    }
  }

  /// Creates a file with all of its content.
  package func make(_ path: Span<UInt8>, _ kind: IndexRecord.Kind, content: Span<UInt8>) throws(PackError) {
    let file = try create(path, isExecutable: kind == .executable)
    try write(content, to: file, at: 0, path)
    try finish(file, path)
  }

  /// Writes a part of a file that ``make(_:_:)`` created.
  package func write(_ path: Span<UInt8>, at offset: UInt64, content: Span<UInt8>) throws(PackError) {
    let (parent, name) = try place(path)
    let file = try writing(title(path), files.open(name, .writeUnlinked, in: parent))
    try write(content, to: file, at: offset, path)
    if !files.syncsWholeVolumes { try writing(title(path), files.sync(file)) }
  }

  /// Creates a file with the content of an open one, which shares its space. Returns false if the volume cannot do that.
  package func clone(_ source: OpenFile, as path: Span<UInt8>, _ kind: IndexRecord.Kind) throws(PackError) -> Bool {
    let (parent, name) = try place(path)
    let mode = Self.mode(of: kind)
    let file: OpenFile
    do throws(FileFailure) {
      file = try files.clone(source, as: name, mode: mode, in: parent)
      try correct(mode, of: file)
    } catch {
      if error.isUnclonable { return false }
      throw creating(error, path)
    }
    try finish(file, path)
    return true
  }

  /// Gives a file a second name.
  ///
  /// - Parameter status: The status of the file that is meant.
  /// - Returns: its status with the new name; nil if the volume cannot do that, or if the file's name leads to another file.
  package func link(
    _ source: (directory: OpenFile, name: String), _ status: FileStatus, as path: Span<UInt8>
  ) throws(PackError) -> FileStatus? {
    let (parent, name) = try place(path)
    do throws(FileFailure) {
      try files.link(source.name, in: source.directory, as: name, in: parent)
      let made = try files.status(of: name, in: parent, following: .asThemselves)
      if made.device == status.device, made.inode == status.inode, made.size == status.size, made.modified == status.modified {
        return made
      }
      try files.remove(name, made.kind, in: parent)
      return nil
    } catch {
      if error.isUnlinkable { return nil }
      throw creating(error, path)
    }
  }

  /// Creates an empty file, to be written by its handle.
  package func create(_ path: Span<UInt8>, _ kind: IndexRecord.Kind) throws(PackError) -> OpenFile {
    try create(path, isExecutable: kind == .executable)
  }

  /// Writes a part of a file that ``create(_:_:)`` created.
  package func write(_ content: Span<UInt8>, to file: OpenFile, at offset: UInt64, _ path: Span<UInt8>) throws(PackError) {
    try files.filling(title(path), with: UInt64(content.count), at: root, files.writeAll(file, at: offset, content))
  }

  /// The permissions of a file.
  package static func mode(of kind: IndexRecord.Kind) -> UInt32 { kind == .executable ? 0o755 : 0o644 }

  private func create(_ path: Span<UInt8>, isExecutable: Bool) throws(PackError) -> OpenFile {
    let (parent, name) = try place(path)
    let mode = Self.mode(of: isExecutable ? .executable : .file)
    do throws(FileFailure) {
      let file = try files.open(name, .create(mode: mode), in: parent)
      try correct(mode, of: file)
      return file
    } catch {
      throw creating(error, path)
    }
  }

  private func creating(_ error: FileFailure, _ path: Span<UInt8>) -> PackError {
    guard error.isExisting else { return error.writing(title(path)) }
    return PackError(
      .cannotWrite,
      of: output, "cannot be written: '\(printable([UInt8](copying: path)))' collides with another entry on this file system",
      advice: .developer("unpack to a case-sensitive file system"))
  }

  /// Syncs a file that was written by its handle.
  package func finish(_ file: OpenFile, _ path: Span<UInt8>) throws(PackError) {
    guard !files.syncsWholeVolumes else { return }
    try writing(title(path), files.sync(file))
  }

  /// Returns the handle of the directory that contains a path, and the last component of the path.
  private func place(_ path: Span<UInt8>) throws(PackError) -> (OpenFile, String) {
    var start = path.count
    while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let parent = start == 0 ? root : try directory(path.extracting(first: start - 1))
    let name = unsafe path.extracting(start...).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    return (parent, name)
  }

  /// Returns the handle of a directory. Creates it and its parents if they do not exist.
  private func directory(_ path: Span<UInt8>) throws(PackError) -> OpenFile {
    if let recent, equal(recent.path.byteSpan, path) { return recent.handle }
    let key = [UInt8](copying: path)
    let handle: OpenFile
    if let known = directories[key] {
      handle = known
    } else {
      handle = try makeDirectory(path, key: key)
    }
    recent = (key, handle)
    return handle
  }

  private func makeDirectory(_ path: Span<UInt8>, key: [UInt8]) throws(PackError) -> OpenFile {
    let (parent, name) = try place(path)
    // Most directories exist already: only a few handles are kept, and other workers create directories too.
    let existing = try writing(title(path), ifPresent(files.open(name, .directoryUnlinked, in: parent)))
    let made = if let existing { existing } else { try writing(title(path), newDirectory(name, in: parent)) }
    if directories.count >= Self.mostHandles { directories.removeAll(keepingCapacity: true) }
    directories[key] = made
    return made
  }

  private func newDirectory(_ name: String, in parent: OpenFile) throws(FileFailure) -> OpenFile {
    let isNew = try unlessExisting(files.makeDirectory(name, mode: Self.directoryMode, in: parent)) != nil
    let made = try files.open(name, .directoryUnlinked, in: parent)
    if isNew { try correct(Self.directoryMode, of: made, isDirectory: true) }
    return made
  }

  private func correct(_ mode: UInt32, of file: OpenFile, isDirectory: Bool = false) throws(FileFailure) {
    let key = isDirectory ? mode | 1 << 16 : mode
    if corrects[key] == nil {
      corrects[key] = try files.status(of: file).mode & 0o777 != mode
    }
    if corrects[key] == true { try files.setMode(mode, of: file) }
  }

  /// Returns how errors name a path in the directory.
  private func title(_ path: Span<UInt8>) -> String { "\(output)/\(printable([UInt8](copying: path)))" }
}
