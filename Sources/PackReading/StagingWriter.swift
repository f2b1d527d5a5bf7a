import PackFiles
import PackFormat

/// Makes the files and directories of a tree below a fresh directory that nobody else writes to. One worker's own.
///
/// Every component is opened from the handle of its parent without following links, and every file is made anew, so nothing outside the
/// directory can be reached, and two entries that the file system takes for one collide instead of mixing.
final class StagingWriter {
  private let root: OpenFile
  private let files: any FileSystem
  private let output: String
  private var directories: [[UInt8]: OpenFile] = [:]
  /// The directory that the last file went to: files of one directory often follow each other.
  private var recent: (path: [UInt8], handle: OpenFile)?
  // Whether the process's mask left other permissions than were asked for. Looked at once for each of the three.
  private var corrects: [UInt32: Bool] = [:]

  private static let directoryMode: UInt32 = 0o755
  /// Enough for the directories of one frame; a handle each.
  private static let mostHandles = 64

  init(_ output: OutputDirectory, files: any FileSystem) {
    root = output.root
    self.files = files
    self.output = output.path
  }

  /// Makes an empty file or a directory.
  func make(_ path: Span<UInt8>, _ kind: IndexRecord.Kind) throws(PackError) {
    if kind == .directory {
      _ = try directory(path)
    } else {
      try finish(try create(path, isExecutable: kind == .executable), path)
    }
  }

  /// Makes a file with all of its content.
  func make(_ path: Span<UInt8>, _ kind: IndexRecord.Kind, content: Span<UInt8>) throws(PackError) {
    let file = try create(path, isExecutable: kind == .executable)
    do {
      try files.writeAll(file, at: 0, content)
    } catch {
      throw failure(error, path, missing: UInt64(content.count))
    }
    try finish(file, path)
  }

  /// Writes a part of a file that ``make(_:_:)`` made.
  func write(_ path: Span<UInt8>, at offset: UInt64, content: Span<UInt8>) throws(PackError) {
    let (parent, name) = try place(path)
    do throws(FileFailure) {
      let file = try files.open(name, .writeUnlinked, in: parent)
      try files.writeAll(file, at: offset, content)
      if !files.syncsWholeVolumes { try files.sync(file) }
    } catch {
      throw failure(error, path, missing: UInt64(content.count))
    }
  }

  private func create(_ path: Span<UInt8>, isExecutable: Bool) throws(PackError) -> OpenFile {
    let (parent, name) = try place(path)
    let mode: UInt32 = isExecutable ? 0o755 : 0o644
    do throws(FileFailure) {
      let file = try files.open(name, .create(mode: mode), in: parent)
      try correct(mode, of: file)
      return file
    } catch {
      guard !error.isExisting else {
        throw PackError(
          .cannotWrite,
          of: output, "cannot be written: this file system takes '\(printable([UInt8](copying: path)))' for another entry",
          advice: .developer("unpack to a file system that tells upper from lower case"))
      }
      throw failure(error, path)
    }
  }

  private func finish(_ file: OpenFile, _ path: Span<UInt8>) throws(PackError) {
    guard !files.syncsWholeVolumes else { return }
    do {
      try files.sync(file)
    } catch {
      throw failure(error, path)
    }
  }

  /// The handle of the directory that a path lies in, and its name there.
  private func place(_ path: Span<UInt8>) throws(PackError) -> (OpenFile, String) {
    var start = path.count
    while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let parent = start == 0 ? root : try directory(path.extracting(first: start - 1))
    let name = unsafe path.extracting(start...).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    return (parent, name)
  }

  /// The handle of a directory, made with those above it where they are not there yet.
  private func directory(_ path: Span<UInt8>) throws(PackError) -> OpenFile {
    if let recent, equal(recent.path.span, path) { return recent.handle }
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
    let made: OpenFile
    do throws(FileFailure) {
      // Most are there already: handles are kept for few, and other workers make them too.
      let existing = try existingDirectory(name, in: parent)
      made = if let existing { existing } else { try newDirectory(name, in: parent) }
    } catch {
      throw failure(error, path)
    }
    if directories.count >= Self.mostHandles { directories.removeAll(keepingCapacity: true) }
    directories[key] = made
    return made
  }

  private func existingDirectory(_ name: String, in parent: OpenFile) throws(FileFailure) -> OpenFile? {
    do throws(FileFailure) {
      return try files.open(name, .directoryUnlinked, in: parent)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private func newDirectory(_ name: String, in parent: OpenFile) throws(FileFailure) -> OpenFile {
    var isNew = true
    do throws(FileFailure) {
      try files.makeDirectory(name, mode: Self.directoryMode, in: parent)
    } catch {
      guard error.isExisting else { throw error }
      isNew = false
    }
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

  private func failure(_ error: FileFailure, _ path: Span<UInt8>, missing: UInt64 = 0) -> PackError {
    var missingBytes: UInt64?
    if error.isFullDisk, let free = try? files.freeSpace(at: root) {
      missingBytes = missing > free ? missing - free : nil
    }
    return error.writing("\(output)/\(printable([UInt8](copying: path)))", missingBytes: missingBytes)
  }
}
