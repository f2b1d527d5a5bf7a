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
  private var directories: [String: OpenFile] = [:]
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

  /// Makes the empty file or directory of a record.
  func make(_ record: IndexRecord) throws(PackError) {
    let path = String(decoding: record.path, as: UTF8.self)
    if record.kind == .directory {
      _ = try directory(path[...])
    } else {
      try finish(try create(path, isExecutable: record.kind == .executable), path)
    }
  }

  /// Makes a file with all of its content.
  func make(_ record: IndexRecord, content: Span<UInt8>) throws(PackError) {
    let path = String(decoding: record.path, as: UTF8.self)
    let file = try create(path, isExecutable: record.kind == .executable)
    do {
      try files.writeAll(file, at: 0, content)
    } catch {
      throw failure(error, path, missing: UInt64(content.count))
    }
    try finish(file, path)
  }

  /// Writes a part of a file that ``make(_:)`` made.
  func write(_ record: IndexRecord, at offset: UInt64, content: Span<UInt8>) throws(PackError) {
    let path = String(decoding: record.path, as: UTF8.self)
    do {
      let (parent, name) = try place(path)
      let file = try files.open(name, .writeUnlinked, in: parent)
      try files.writeAll(file, at: offset, content)
      if !files.syncsWholeVolumes { try files.sync(file) }
    } catch let error as FileFailure {
      throw failure(error, path, missing: UInt64(content.count))
    } catch let error as PackError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above")
    }
  }

  private func create(_ path: String, isExecutable: Bool) throws(PackError) -> OpenFile {
    let (parent, name) = try place(path)
    let mode: UInt32 = isExecutable ? 0o755 : 0o644
    do {
      let file = try files.open(name, .create(mode: mode), in: parent)
      try correct(mode, of: file)
      return file
    } catch {
      guard !error.isExisting else {
        throw PackError(
          .cannotWrite, "\(output) cannot be written: this file system takes '\(printable(path.utf8))' for another entry",
          hint: "unpack to a file system that tells upper from lower case")
      }
      throw failure(error, path)
    }
  }

  private func finish(_ file: OpenFile, _ path: String) throws(PackError) {
    guard !files.syncsWholeVolumes else { return }
    do {
      try files.sync(file)
    } catch {
      throw failure(error, path)
    }
  }

  private func place(_ path: String) throws(PackError) -> (OpenFile, String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (root, path) }
    // By bytes: a combining character behind the slash makes one Character with it.
    return (try directory(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }

  /// The handle of a directory, made with those above it where they are not there yet.
  private func directory(_ path: Substring) throws(PackError) -> OpenFile {
    let key = String(path)
    if let known = directories[key] { return known }
    let (parent, name) = try place(key)
    let made: OpenFile
    do throws(FileFailure) {
      var isNew = true
      do throws(FileFailure) {
        try files.makeDirectory(name, mode: Self.directoryMode, in: parent)
      } catch {
        guard error.isExisting else { throw error }
        isNew = false
      }
      made = try files.open(name, .directoryUnlinked, in: parent)
      if isNew { try correct(Self.directoryMode, of: made, isDirectory: true) }
    } catch {
      throw failure(error, key)
    }
    if directories.count >= Self.mostHandles { directories.removeAll(keepingCapacity: true) }
    directories[key] = made
    return made
  }

  private func correct(_ mode: UInt32, of file: OpenFile, isDirectory: Bool = false) throws(FileFailure) {
    let key = isDirectory ? mode | 1 << 16 : mode
    if corrects[key] == nil {
      corrects[key] = try files.status(of: file).mode & 0o777 != mode
    }
    if corrects[key] == true { try files.setMode(mode, of: file) }
  }

  private func failure(_ error: FileFailure, _ path: String, missing: UInt64 = 0) -> PackError {
    var missingBytes: UInt64?
    if error.isFullDisk, let free = try? files.freeSpace(at: root) {
      missingBytes = missing > free ? missing - free : nil
    }
    return error.writing("\(output)/\(printable(path.utf8))", missingBytes: missingBytes)
  }
}
