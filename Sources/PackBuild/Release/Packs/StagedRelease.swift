/// The directory of a release while it is made. ``commit()`` makes all of it visible at once.
final class StagedRelease {
  private let directory: OutputDirectory
  /// The temporary path of the directory. Kept after the commit, for messages.
  private let temporaryPath: String
  private let files: any FileSystem
  private let backend: any CryptoBackend
  /// The names of the files that were added so far.
  private(set) var names: Set<String> = []

  /// - Parameter keepsStale: whether what killed builds left stays until the commit: ``ExistingRelease/isUnfinished``.
  init(_ path: String, keepsStale: Bool = false, files: any FileSystem, backend: any CryptoBackend) throws(PackError) {
    directory = try OutputDirectory(path, place: .replaceable, keepsStale: keepsStale, files: files)
    temporaryPath = directory.temporaryPath
    self.files = files
    self.backend = backend
  }

  /// Returns the path of a file in the directory, as the process can open it before the commit.
  func path(of name: String) -> String { "\(temporaryPath)/\(name)" }

  /// Returns the error with the temporary path replaced by the path that the caller gave.
  func naming(_ error: PackError) -> PackError {
    error.rewording { $0.replacing(temporaryPath, with: directory.path) }
  }

  // MARK: Files

  /// Writes a whole new file.
  func write(_ bytes: [UInt8], to name: String) throws(PackError) {
    try directory.write(bytes, to: name)
    names.insert(name)
  }

  func makeDirectory(_ name: String) throws(PackError) {
    try directory.makeDirectory(name)
  }

  /// Adds a file of another directory, as a hard link if the file system supports that, otherwise as a copy.
  /// - Parameter isCopied: whether it is a file of its own in any case, because others may still write to the source.
  func adopt(
    _ name: String, in source: OpenFile, as newName: String, sourcePath: String, isCopied: Bool = false
  ) throws(PackError) {
    guard !isCopied else {
      try copy(name, in: source, as: newName, sourcePath: sourcePath)
      names.insert(newName)
      return
    }
    do throws(FileFailure) {
      try files.link(name, in: source, as: newName, in: directory.root)
    } catch {
      guard error.isUnlinkable else {
        throw error.isMissing ? error.reading("\(sourcePath)/\(name)") : error.writing("\(directory.path)/\(newName)")
      }
      try copy(name, in: source, as: newName, sourcePath: sourcePath)
    }
    names.insert(newName)
  }

  /// Takes a file of the same name from an earlier release, if that has these bytes. Returns why it cannot be taken; nil if it was.
  ///
  /// - Parameter size: the size in bytes that is recorded for it; nil if it follows from the digest.
  func take(_ name: String, _ sha256: [UInt8], _ size: UInt64?, from earlier: ExistingRelease) throws(PackError) -> PackError? {
    do throws(PackError) {
      try adopt(name, in: earlier.directory, as: name, sourcePath: earlier.path)
      let found = try digest(of: name)
      if found.sha256 == sha256, found.size == size ?? found.size { return nil }
      try remove(name)
      return PackError(.digestMismatch, of: "\(earlier.path)/\(name)", "is not the file that was built")
    } catch {
      guard error.code == .missingInput || error.code == .cannotRead else { throw error }
      // Something other than a regular file may have been added.
      try? remove(name)
      return error
    }
  }

  /// Adds a file of this directory under a second name.
  func duplicate(_ name: String, as newName: String) throws(PackError) {
    try adopt(name, in: directory.root, as: newName, sourcePath: directory.path)
  }

  private func copy(_ name: String, in source: OpenFile, as newName: String, sourcePath: String) throws(PackError) {
    let (path, newPath) = ("\(sourcePath)/\(name)", "\(directory.path)/\(newName)")
    let from = try reading(path, files.open(name, .readUnlinked, in: source))
    let size = try reading(path, files.status(of: from)).size
    let to = try writing(newPath, files.open(newName, .create(mode: 0o666), in: directory.root))
    try FileCopy.read(from, size: size, name: path, files: files) { (piece, offset) throws(PackError) in
      try writing(newPath, files.writeAll(to, at: offset, piece))
    }
    if !files.syncsWholeVolumes { try writing(newPath, files.sync(to)) }
  }

  /// Gives a file that was written by path its final name.
  func rename(_ name: String, to newName: String) throws(PackError) {
    try writing("\(directory.path)/\(newName)", files.rename(name, to: newName, in: directory.root))
    names.remove(name)
    names.insert(newName)
  }

  /// Removes a file that is not needed after all.
  func remove(_ name: String) throws(PackError) {
    try writing("\(directory.path)/\(name)", files.remove(name, .file, in: directory.root))
    names.remove(name)
  }

  /// Returns the size of a file and its SHA-256.
  func digest(of name: String) throws(PackError) -> (size: UInt64, sha256: [UInt8]) {
    try FileDigest.run(name, in: directory.root, title: "\(directory.path)/\(name)", files: files, backend: backend)
  }

  // MARK: The end

  /// Gives the directory its final name. An earlier directory of this name is removed.
  func commit() throws(PackError) {
    try directory.commit()
  }
}
