/// A file that the caller hands over to be installed. All methods block the thread.
struct InstallFile: Sendable {
  let directory: StoreDirectory
  let path: String
  let taking: Taking

  /// Returns whether the file may be renamed into the store.
  ///
  /// - Parameter open: The same file, which was opened by its path.
  /// - Throws: ``PackError/Code/sourceChanged`` if the path names another file now, ``PackError/Code/usage`` for a symbolic link.
  func isMovable(_ open: OpenFile) throws(PackError) -> Bool {
    guard taking == .moving else { return false }
    let status = try directory.files.status(of: path, following: .asThemselves)
    let mine = try reading(path, directory.files.status(of: open))
    let store = try reading(path, directory.files.status(of: directory.handle))
    guard status.kind == .file else {
      throw PackError(
        .usage, of: path, "is a symbolic link, which cannot be moved into a store",
        advice: .developer("pass the path of the file itself, or have the file copied"))
    }
    try checkIdentity(status, mine)
    // If the file has another hard link, its content could be changed through that link later.
    return status.device == store.device && status.linkCount == 1
  }

  /// Throws if the path does not name the open file any more.
  func checkIdentity(_ open: OpenFile) throws(PackError) {
    let (named, open) = (try directory.status(outside: path), try status(of: open))
    guard let named else { throw PackError(.missingInput, of: path, "does not exist") }
    try checkIdentity(named, open)
  }

  private func checkIdentity(_ named: FileStatus, _ open: FileStatus) throws(PackError) {
    guard named.device == open.device, named.inode == open.inode else {
      throw PackError(.sourceChanged, of: path, "was replaced while it was being installed", advice: .tryAgain)
    }
  }

  func status(of open: OpenFile) throws(PackError) -> FileStatus {
    try reading(path, directory.files.status(of: open))
  }

  /// Returns the SHA-256 of the whole file.
  func digest(of open: OpenFile, each: () throws(PackError) -> Void) throws(PackError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let digest = try directory.backend.makeDigest()
    _ = try directory.files.hash(open, by: digest, buffer: &buffer, name: path, each: each)
    return try digest.finish()
  }

  /// Syncs the file to the disk. The content of a file that is moved may not be there yet.
  func sync(_ open: OpenFile) throws(PackError) {
    try writing(path, directory.files.sync(open))
  }

  /// Copies the file to a name in the store.
  ///
  /// - Parameter each: receives the number of bytes written so far. If it throws, the work ends.
  /// - Returns: the SHA-256 of the bytes that were written, which have reached the disk.
  func copy(_ open: OpenFile, size: UInt64, to name: String, each: (UInt64) throws(PackError) -> Void) throws(PackError) -> [UInt8] {
    let files = directory.files
    let path = directory.path(name)
    let digest = try directory.backend.makeDigest()
    let output = try files.filling(path, with: size, at: directory.handle, files.open(name, .create(mode: 0o644), in: directory.handle))
    try files.filling(path, with: size, at: output, files.reserve(size, for: output))
    try files.forEachPiece(of: open, 0..<size, atOnce: 256 << 10, name: self.path) { (piece, offset) throws(PackError) in
      try each(offset)
      try digest.update(piece)
      try files.filling(path, with: size - offset, at: output, files.writeAll(output, at: offset, piece))
    }
    try each(size)
    try writing(path, files.sync(output))
    return try digest.finish()
  }

  /// Removes the file. Ignores errors, because it is not part of the store.
  func remove() {
    try? directory.files.remove(path, .file, in: nil)
  }
}
