/// A directory of small files that several processes read, and change one at a time under its lock. A marker file says what it is.
///
/// Files are replaced as a whole. All methods block the thread. Errors name the path of the file.
package struct RecordDirectory: Sendable {
  /// The path as passed to the initializer.
  package let path: String
  /// The open directory.
  package let handle: OpenFile
  package let files: any FileSystem
  package let form: Form

  /// What all directories of one kind have in common.
  package struct Form: Sendable {
    /// The name of the marker file.
    let name: String
    /// The content of the marker file: the kind, a slash, the version and a line end.
    let marker: [UInt8]
    /// The permissions of new directories and files.
    let (directoryMode, fileMode): (UInt32, UInt32)

    /// - Parameter isPrivate: whether only the user may read the directory.
    package init(_ marker: String, in name: String, isPrivate: Bool) {
      self.name = name
      self.marker = Array("\(marker)\n".utf8)
      (directoryMode, fileMode) = isPrivate ? (0o700, 0o600) : (0o755, 0o644)
    }
  }

  // MARK: Opening

  /// Opens a directory that exists.
  package init(opening path: String, _ form: Form, files: any FileSystem) throws(FileFailure) {
    self.init(path, try files.open(path, .directory, in: nil), form, files)
  }

  /// Opens a directory. Creates it if it does not exist. Its files can be read while the device is locked.
  ///
  /// - Parameter withParents: whether its parent directories are created too.
  package init(making path: String, _ form: Form, withParents: Bool = false, files: any FileSystem) throws(PackError) {
    self.init(path, try Self.make(path, form, withParents: withParents, files: files), form, files)
    // Each time: a process may have ended after it had created the directory.
    files.protectUntilFirstUnlock(path)
  }

  private init(_ path: String, _ handle: OpenFile, _ form: Form, _ files: any FileSystem) {
    self.path = path
    self.handle = handle
    self.files = files
    self.form = form
  }

  private static func make(_ path: String, _ form: Form, withParents: Bool, files: any FileSystem) throws(PackError) -> OpenFile {
    if let directory = try writing(path, ifPresent(files.open(path, .directory, in: nil))) { return directory }
    if withParents, let parts = PathParts(path) { _ = try make(parts.directory, form, withParents: true, files: files) }
    try writing(path, unlessExisting(files.makeDirectory(path, mode: form.directoryMode, in: nil)))
    try writing(path, syncName(of: path, files: files))
    return try writing(path, files.open(path, .directory, in: nil))
  }

  /// Writes the name of a directory to the disk.
  private static func syncName(of path: String, files: any FileSystem) throws(FileFailure) {
    guard let above = PathParts(path)?.directory else { return }
    let parent: OpenFile
    do throws(FileFailure) {
      parent = try files.open(above, .directory, in: nil)
    } catch {
      // An app may not be allowed to open the parent directory. Then it did not create this directory either.
      guard error.isDenied else { throw error }
      return
    }
    try files.sync(parent)
  }

  /// Creates directories in this one that do not exist.
  ///
  /// - Parameter removesOthers: whether something else in the place of a directory is removed.
  package func makeFolders(_ names: [String], removesOthers: Bool = false) throws(PackError) {
    var isNew = false
    for name in names {
      if let kind = try status(name)?.kind {
        guard kind != .directory, removesOthers else { continue }
        try remove(name, isSynced: false)
      }
      if try writing(path(name), unlessExisting(files.makeDirectory(name, mode: form.directoryMode, in: handle))) != nil { isNew = true }
    }
    if isNew { try sync() }
  }

  // MARK: The marker

  /// What the marker file says.
  package enum Kind: Hashable, Sendable {
    /// The directory is of this kind and version.
    case own
    /// There is no marker file.
    case unmarked
    /// The directory is of this kind and another version.
    case ofOtherVersion
    /// The marker file says something else.
    case foreign
  }

  /// Reads the marker file.
  package func kind() throws(PackError) -> Kind {
    guard let content = try contents(of: form.name, limit: 64) else { return .unmarked }
    guard case .file(let found) = content else { return .foreign }
    if found == form.marker { return .own }
    let front = form.marker.prefix { $0 != UInt8(ascii: "/") } + [UInt8(ascii: "/")]
    return found.starts(with: front) && found.last == UInt8(ascii: "\n") ? .ofOtherVersion : .foreign
  }

  /// Writes the marker file.
  package func mark(by temporary: String) throws(PackError) { try replace(form.name, with: form.marker.byteSpan, by: temporary) }

  // MARK: Names

  /// Returns the path of a name in the directory, for use outside this type.
  package func path(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

  /// Returns the names in a directory of this one, sorted; none if it does not exist.
  package func names(in folder: String = ".") throws(PackError) -> [String] {
    let names = try reading(path(folder), ifPresent(files.names(in: files.open(folder, .directoryUnlinked, in: handle)))) ?? []
    return names.map(\.text).sorted()
  }

  /// Returns the status of a name; nil if it does not exist.
  package func status(_ name: String) throws(PackError) -> FileStatus? {
    try reading(path(name), ifPresent(files.status(of: name, in: handle, following: .asThemselves)))
  }

  /// Writes the names in a directory of this one to the disk.
  package func sync(_ folder: String = ".") throws(PackError) {
    try writing(folder == "." ? path : path(folder), syncNames(in: folder))
  }

  private func syncNames(in folder: String) throws(FileFailure) {
    try files.sync(folder == "." ? handle : try files.open(folder, .directoryUnlinked, in: handle))
  }

  /// Writes the names in the directory of a name to the disk.
  private func syncNames(beside name: String) throws(FileFailure) { try syncNames(in: PathParts(name)?.directory ?? ".") }

  // MARK: Files

  /// What stands under a name.
  package enum Content: Hashable, Sendable {
    /// A file with these bytes.
    case file([UInt8])
    /// A file that is longer than the limit, and its first bytes: one more than the limit.
    case longFile([UInt8])
    /// A directory, a symbolic link or another thing that is not a file.
    case other
  }

  /// Reads what stands under a name; nil if it does not exist.
  package func contents(of name: String, limit: Int) throws(PackError) -> Content? {
    let file: OpenFile
    do throws(FileFailure) {
      file = try files.open(name, .readUnlinked, in: handle)
      guard try files.status(of: file).kind == .file else { return .other }
    } catch {
      if error.isMissing { return nil }
      if let kind = try status(name)?.kind, kind != .file { return .other }
      throw error.reading(path(name))
    }
    // Reads one byte more than the limit, to detect a file that is too long.
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(limit + 1, 16 << 10))
    while bytes.count <= limit {
      var span = piece.mutableByteSpan
      let count = try files.read(file, at: UInt64(bytes.count), filling: &span, name: path(name))
      bytes.append(copying: piece.byteSpan.extracting(first: count))
      if count < piece.count { return .file(bytes) }
    }
    bytes.removeLast(bytes.count - limit - 1)
    return .longFile(bytes)
  }

  /// Replaces a file atomically.
  ///
  /// - Parameters:
  ///   - temporary: a name in the directory that no other process uses now.
  ///   - isSynced: whether the change is on the disk when this returns.
  package func replace(_ name: String, with bytes: Span<UInt8>, by temporary: String, isSynced: Bool = true) throws(PackError) {
    try files.filling(
      path(name), with: UInt64(bytes.count), at: handle,
      files.replace(name, with: bytes, by: temporary, mode: form.fileMode, isSynced: isSynced, in: handle))
  }

  /// Removes a file, or a directory with its contents. Another process may be removing it at the same time.
  ///
  /// - Parameter isSynced: whether the change is on the disk when this returns.
  /// - Returns: whether there was something to remove.
  @discardableResult
  package func remove(_ name: String, isSynced: Bool = true) throws(PackError) -> Bool {
    do throws(FileFailure) {
      let kind = try files.status(of: name, in: handle, following: .asThemselves).kind
      if kind == .directory { try files.removeTree(name, in: handle) } else { try files.remove(name, kind, in: handle) }
      if isSynced { try syncNames(beside: name) }
      return true
    } catch {
      if error.isMissing { return false }
      throw error.writing(path(name))
    }
  }

  // MARK: Lock

  /// Takes the lock of the directory, the file `lock` in it. It ends when the file is released.
  ///
  /// - Returns: nil if another process or task holds it for too long.
  /// - Throws: ``PackError/Code/cancelled``, or an error of the file system.
  package func lock(_ wait: LockWait) throws(PackError) -> OpenFile? {
    try wait.lock(path(Self.lockName), files: files) { () throws(FileFailure) in
      try lockFile()
    } named: { () throws(FileFailure) in
      try files.status(of: Self.lockName, in: handle, following: .asThemselves)
    }
  }

  /// Takes the lock of the directory for a change that takes milliseconds. The process is not suspended before it ends.
  ///
  /// - Parameter busy: the error if the system is about to suspend the process.
  /// - Returns: nil if another process or task holds it for too long.
  /// - Throws: that error, ``PackError/Code/cancelled``, or an error of the file system.
  package func lockBriefly(_ wait: LockWait, busy: PackError.Code) throws(PackError) -> BriefLock? {
    guard let activity = files.beginActivity() else {
      throw PackError(busy, of: path, "is not changed now, because the system is about to suspend the app", advice: .tryAgain)
    }
    return try lock(wait).map { BriefLock($0, activity) }
  }

  package static let lockName = "lock"

  private func lockFile() throws(FileFailure) -> OpenFile {
    while true {
      // Opened for reading, which is enough for the lock and also works on a read-only volume.
      if let file = try ifPresent(files.open(Self.lockName, .readUnlinked, in: handle)) { return file }
      if let file = try unlessExisting(files.open(Self.lockName, .create(mode: form.fileMode), in: handle)) { return file }
    }
  }
}
