extension FileSystem {
  /// Replaces a small file atomically: writes it under a temporary name and renames it. The temporary file stays only if the process ends in between.
  ///
  /// - Parameters:
  ///   - temporary: a name on the same volume. A file that an earlier process left under it is removed.
  ///   - isOrdered: whether the content reaches the disk before the name (``order(_:)``). The name itself may reach it later.
  package func replace(
    _ name: String, with bytes: Span<UInt8>, by temporary: String, mode: UInt32, isOrdered: Bool, in directory: OpenFile
  ) throws(FileFailure) {
    do throws(FileFailure) {
      let file = try make(temporary, mode: mode, in: directory)
      try writeAll(file, at: 0, bytes)
      if isOrdered { try order(file) }
      try rename(temporary, to: name, in: directory)
    } catch {
      try? remove(temporary, .file, in: directory)
      throw error
    }
  }

  private func make(_ name: String, mode: UInt32, in directory: OpenFile) throws(FileFailure) -> OpenFile {
    if let file = try unlessExisting(open(name, .create(mode: mode), in: directory)) { return file }
    try remove(name, .file, in: directory)
    return try open(name, .create(mode: mode), in: directory)
  }

  /// Makes a new file that appears under its name whole or not at all, and syncs it. An existing file is never replaced.
  ///
  /// If the file system has no nameless files, the file has a temporary name until it is complete. If the file system has no hard links either, an
  /// empty file reserves the name until the rename, and stays if the process is killed in between.
  ///
  /// - Parameters:
  ///   - mode: the permissions, before the process's mask.
  ///   - fill: writes the content.
  /// - Throws: a failure with ``FileFailure/isExisting`` if the name is taken.
  package func makeNew(
    _ name: String, mode: UInt32, in directory: OpenFile, fill: (OpenFile) throws(FileFailure) -> Void
  ) throws(FileFailure) {
    // Thrown before anything is written, and before any other problem of the directory.
    if (try? status(of: name, in: directory, following: .asThemselves)) != nil { throw FileFailure.exists }
    if let file = try nameless(mode: mode, in: directory) {
      try fill(file)
      try sync(file)
      try link(file, as: name, in: directory)
    } else {
      try makeNamed(name, mode: mode, in: directory, fill: fill)
    }
    do throws(FileFailure) {
      try sync(directory)
    } catch {
      try? remove(name, .file, in: directory)
      throw error
    }
  }

  /// Makes a new file with the given content, as ``makeNew(_:mode:in:fill:)`` does.
  package func makeNew(_ name: String, mode: UInt32, in directory: String, _ content: [UInt8]) throws(FileFailure) {
    try makeNew(name, mode: mode, in: open(directory, .directory, in: nil)) { (file) throws(FileFailure) in
      try writeAll(file, at: 0, content.byteSpan)
    }
  }

  /// Makes a file under a temporary name, and gives it its final name when it is complete.
  private func makeNamed(
    _ name: String, mode: UInt32, in directory: OpenFile, fill: (OpenFile) throws(FileFailure) -> Void
  ) throws(FileFailure) {
    let temporary = StagedName.temporaryName(for: name)
    let file = try open(temporary, .create(mode: mode), in: directory)
    // The removal of stale files skips locked ones.
    _ = try? tryLock(file)
    do throws(FileFailure) {
      try fill(file)
      try sync(file)
      do throws(FileFailure) {
        try link(temporary, in: directory, as: name, in: directory)
      } catch {
        guard error.isUnsupported else { throw error }
        // A rename would replace a file that another process has made meanwhile. An empty file reserves the name.
        _ = try open(name, .create(mode: mode), in: directory)
        try rename(temporary, to: name, in: directory)
        return
      }
    } catch {
      try? remove(temporary, .file, in: directory)
      throw error
    }
    try? remove(temporary, .file, in: directory)
  }

  /// Makes a nameless file, or returns nil if the file system has none.
  func nameless(mode: UInt32, in directory: OpenFile) throws(FileFailure) -> OpenFile? {
    do throws(FileFailure) {
      return try open(".", .nameless(mode: mode), in: directory)
    } catch {
      guard error.isUnsupported else { throw error }
      return nil
    }
  }

  /// Fills `buffer` with the bytes that start at `offset`.
  ///
  /// - Throws: ``PackError/Code/truncated`` if the file ends before that, ``PackError/Code/cannotRead`` if the system refuses.
  package func readExactly(
    _ file: OpenFile, at offset: UInt64, into buffer: inout MutableSpan<UInt8>, name: String
  ) throws(PackError) {
    let count = try read(file, at: offset, filling: &buffer, name: name)
    guard count == buffer.count else {
      throw PackError(.truncated, of: name, "ends at byte \(offset + UInt64(count)), before byte \(offset + UInt64(buffer.count))")
    }
  }

  /// Reads a part of a file, piece by piece.
  ///
  /// - Parameters:
  ///   - size: what is read at once, in bytes, at most.
  ///   - checkpoint: called before each piece. If it throws, the work ends.
  ///   - body: receives each piece, and its offset in the file.
  /// - Throws: as ``readExactly(_:at:into:name:)``, and the errors of `checkpoint` and `body`.
  package func forEachPiece(
    of file: OpenFile, _ range: Range<UInt64>, atOnce size: Int = 1 << 20, name: String,
    checkpoint: () throws(PackError) -> Void = {}, _ body: (Span<UInt8>, UInt64) throws(PackError) -> Void
  ) throws(PackError) {
    var buffer = [UInt8](repeating: 0, count: min(size, range.count))
    var offset = range.lowerBound
    while offset < range.upperBound {
      try checkpoint()
      let count = Int(min(range.upperBound - offset, UInt64(buffer.count)))
      do {
        var whole = buffer.mutableByteSpan
        var target = whole._mutatingExtracting(first: count)
        try readExactly(file, at: offset, into: &target, name: name)
      }
      try body(buffer.byteSpan.extracting(first: count), offset)
      offset += UInt64(count)
    }
  }

  /// Reads until `buffer` is full or the file ends, and returns the number of bytes read.
  package func read(
    _ file: OpenFile, at offset: UInt64, filling buffer: inout MutableSpan<UInt8>, name: String
  ) throws(PackError) -> Int {
    do throws(FileFailure) {
      return try unsafe buffer.withUnsafeMutableBytes { (bytes) throws(FileFailure) in
        var done = 0
        while done < bytes.count {
          do throws(FileFailure) {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = try unsafe read(file, at: offset + UInt64(done), into: rest)
            if count == 0 { break }
            done += count
          } catch {
            guard error.isInterruption else { throw error }
          }
        }
        return done
      }
    } catch {
      throw error.reading(name)
    }
  }

  /// Opens a file for random access. Refuses a directory, pipe or device, which would look like a truncated file.
  package func openFile(_ name: String) throws(PackError) -> (file: OpenFile, status: FileStatus) {
    let file = try open(name, .read)
    let status = try reading(name, status(of: file))
    guard status.kind != .directory else { throw FileFailure.isDirectory.reading(name) }
    guard status.kind == .file else {
      throw PackError(
        .cannotRead, of: name, "is a pipe or a device, which has no random access",
        advice: .developer("copy it to a file and give the file"))
    }
    return (file, status)
  }

  /// Returns the path that an output of this name replaces: the target of a symbolic link to a file or directory, or the path itself.
  package func target(of path: String) throws(PackError) -> String {
    guard (try? status(of: path, in: nil, following: .asThemselves))?.kind == .symbolicLink, PathParts(path)?.directory != "/dev",
      // Refused by the system if another user made the link in a directory of all.
      let kind = (try? status(of: path, in: nil, following: .followed))?.kind, kind == .file || kind == .directory
    else { return path }
    return try reading(path, canonicalPath(of: path))
  }

  /// Reads a whole file. Throws an error with `code` if it is larger than `limit` bytes.
  package func contents(of name: String, limit: Int, code: PackError.Code = .limitExceeded) throws(PackError) -> [UInt8] {
    let (file, _) = try openFile(name)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(limit + 1, 256 << 10))
    // To its end, whatever its status says, because it may grow meanwhile.
    while true {
      var span = piece.mutableByteSpan
      let count = try read(file, at: UInt64(bytes.count), filling: &span, name: name)
      guard count > 0 else { return bytes }
      bytes.append(copying: piece.byteSpan.extracting(first: count))
      guard bytes.count <= limit else { throw PackError(code, of: name, "is more than \(limit) bytes") }
    }
  }

  /// Returns the content of a file that is replaced as a whole if it changes, mapped if the system can do that. Throws if it is larger than `limit` bytes.
  package func content(of name: String, limit: Int) throws(PackError) -> FileContent {
    let (file, status) = try openFile(name)
    guard status.size <= UInt64(limit) else { throw PackError(.limitExceeded, of: name, "is more than \(limit) bytes") }
    if let content = map(file, Int(status.size)) { return content }
    return FileContent(try contents(of: name, limit: limit))
  }

  /// Writes all of `bytes` at `offset`.
  package func writeAll(_ file: OpenFile, at offset: UInt64, _ bytes: Span<UInt8>) throws(FileFailure) {
    try unsafe bytes.withUnsafeBytes { (bytes) throws(FileFailure) in
      var done = 0
      while done < bytes.count {
        do throws(FileFailure) {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
          done += try moved(try unsafe write(file, at: offset + UInt64(done), rest))
        } catch {
          guard error.isInterruption else { throw error }
        }
      }
    }
  }

  /// Refuses a write of 0 bytes, which would be repeated forever.
  private func moved(_ count: Int) throws(FileFailure) -> Int {
    guard count > 0 else { throw FileFailure.inputOutput }
    return count
  }

  /// Writes all of `bytes` to a stream.
  package func writeAll(_ file: OpenFile, _ bytes: Span<UInt8>) throws(FileFailure) {
    try unsafe bytes.withUnsafeBytes { (bytes) throws(FileFailure) in
      var done = 0
      while done < bytes.count {
        do throws(FileFailure) {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
          done += try moved(try unsafe write(file, rest))
        } catch {
          guard error.isInterruption else { throw error }
        }
      }
    }
  }

  /// Removes a directory and everything below it. Symbolic links are removed, not followed. Another process may be removing it at the same time.
  package func removeTree(_ name: String, in directory: OpenFile?) throws(FileFailure) {
    do {
      let tree = try open(name, .directoryUnlinked, in: directory)
      for item in try names(in: tree) where item.isUTF8 {
        guard let kind = try ifPresent(status(of: item.text, in: tree, following: .asThemselves))?.kind else { continue }
        try ifPresent(kind == .directory ? removeTree(item.text, in: tree) : remove(item.text, kind, in: tree))
      }
    }
    try remove(name, .directory, in: directory)
  }
}

/// A path split into its directory and its last component.
package struct PathParts: Hashable, Sendable {
  /// The directory, or `.` if the path has none.
  package let directory: String
  package let name: String

  /// - Returns: nil if the path does not end in a name: it is empty or ends in `/`, `.` or `..`.
  package init?(_ path: String) {
    // Bytes, because a combining character after a slash forms one Character with it.
    let slash = UInt8(ascii: "/")
    var end = path.utf8.endIndex
    while end > path.utf8.startIndex, path.utf8[path.utf8.index(before: end)] == slash {
      path.utf8.formIndex(before: &end)
    }
    let start = path.utf8[..<end].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex
    let name = String(path.utf8[start..<end]) ?? ""
    guard name != "", name != ".", name != ".." else { return nil }
    var front = path.utf8[..<start]
    while front.count > 1, front.last == slash { front.removeLast() }
    directory = front.isEmpty ? "." : String(front) ?? "."
    self.name = name
  }

  /// Returns the path of another name in the directory.
  package func sibling(_ name: String) -> String {
    directory == "." ? name : directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }
}
