/// A directory of small files that several processes read, and change one at a time under its lock. A marker file says what it is.
///
/// Files are replaced as a whole, and reach the disk in the order of their changes: at the end of ``settling(_:_:)``, or by ``settle()``. All methods
/// block the thread. Errors name the path of the file.
package struct RecordDirectory: Sendable {
  /// The path as passed to the initializer.
  package let path: String
  /// The open directory.
  package let handle: OpenFile
  package let files: any FileSystem
  package let form: Form
  /// What may not have reached the disk yet. Changed under the lock.
  private let unsettled = Monitor(Unsettled())

  private struct Unsettled {
    /// The directories whose names have changed last.
    var folders: Set<String> = []
    /// Whether there were changes before, which reach the disk with those.
    var isOrdered = false
  }

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

  /// Creates directories in this one that do not exist. If a power failure takes one away, it is created again.
  ///
  /// - Parameter removesOthers: whether something else in the place of a directory is removed.
  package func makeFolders(_ names: [String], removesOthers: Bool = false) throws(PackError) {
    var isNew = false
    for name in names {
      if let kind = try status(name)?.kind {
        guard kind != .directory, removesOthers else { continue }
        try remove(name, isOrdered: false)
      }
      if try writing(path(name), unlessExisting(files.makeDirectory(name, mode: form.directoryMode, in: handle))) != nil { isNew = true }
    }
    if isNew { noteChange(in: ".") }
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
  package func mark(by temporary: String) throws(PackError) {
    try replace(form.name, with: form.marker.byteSpan, by: temporary)
  }

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

  private func noteChange(beside name: String) { noteChange(in: PathParts(name)?.directory ?? ".") }

  /// Notes that names in a directory of this one have changed. They reach the disk before what is changed next.
  package func noteChange(in folder: String) { unsettled.withLock { _ = $0.folders.insert(folder) } }

  /// Lets all changes reach the disk before the next one. Call it before a change that is not made here.
  package func order() throws(PackError) {
    let folders = unsettled.withLock { unsettled in
      defer { if !unsettled.folders.isEmpty { unsettled = Unsettled(isOrdered: true) } }
      return unsettled.folders
    }
    for folder in folders { try writing(path(folder), files.order(open(folder))) }
  }

  /// Brings all changes to the disk.
  package func settle() throws(PackError) { try sync(takeUnsettled()) }

  /// The directories to sync, so that all changes are on the disk.
  private func takeUnsettled() -> Set<String> {
    unsettled.withLock { unsettled in
      defer { unsettled = Unsettled() }
      return unsettled.folders.isEmpty && unsettled.isOrdered ? ["."] : unsettled.folders
    }
  }

  private func sync(_ folders: Set<String>) throws(PackError) {
    for folder in folders { try writing(path(folder), files.sync(open(folder))) }
  }

  private func open(_ folder: String) throws(FileFailure) -> OpenFile {
    folder == "." ? handle : try files.open(folder, .directoryUnlinked, in: handle)
  }

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
  ///   - isOrdered: whether the change reaches the disk after those before it, and before those after it. If not, a power failure may damage the file, until
  ///     a later change of its directory is on the disk.
  package func replace(_ name: String, with bytes: Span<UInt8>, by temporary: String, isOrdered: Bool = true) throws(PackError) {
    if isOrdered { try order() }
    try files.filling(
      path(name), with: UInt64(bytes.count), at: handle,
      files.replace(name, with: bytes, by: temporary, mode: form.fileMode, isOrdered: isOrdered, in: handle))
    if isOrdered { noteChange(beside: name) }
  }

  /// Removes a file, or a directory with its contents. Another process may be removing it at the same time.
  ///
  /// - Parameter isOrdered: whether the change reaches the disk after those before it, and before those after it.
  /// - Returns: whether there was something to remove.
  @discardableResult
  package func remove(_ name: String, isOrdered: Bool = true) throws(PackError) -> Bool {
    if isOrdered { try order() }
    do throws(FileFailure) {
      let kind = try files.status(of: name, in: handle, following: .asThemselves).kind
      if kind == .directory { try files.removeTree(name, in: handle) } else { try files.remove(name, kind, in: handle) }
      if isOrdered { noteChange(beside: name) }
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
  /// - Parameter busy: the error if another process or task holds it for too long, or if the system is about to suspend the process.
  /// - Throws: that error, ``PackError/Code/cancelled``, or an error of the file system.
  package func lockBriefly(_ wait: LockWait, busy: PackError.Code) throws(PackError) -> BriefLock {
    guard let activity = files.beginActivity() else {
      throw PackError(busy, of: path, "is not changed now, because the system is about to suspend the app", advice: .tryAgain)
    }
    guard let lock = try lock(wait) else {
      throw PackError(
        busy, of: path, "has been locked by another process or task for \(wait.limit.microseconds / 1000) ms", advice: .tryAgain)
    }
    return BriefLock(lock, activity)
  }

  /// Runs `body` under a lock of the directory, and brings what it changed to the disk after the lock was released, which may take longer than another
  /// process should wait.
  ///
  /// - Parameter lock: nil if nothing can be written.
  package func settling<Result>(_ lock: BriefLock?, _ body: () throws(PackError) -> Result) throws(PackError) -> Result {
    let result: Swift.Result<Result, PackError>
    do throws(PackError) {
      result = .success(try body())
    } catch {
      result = .failure(error)
    }
    // What the next holder of the lock changes is its own to settle.
    let folders = takeUnsettled()
    lock?.unlock()
    try sync(folders)
    return try result.get()
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
