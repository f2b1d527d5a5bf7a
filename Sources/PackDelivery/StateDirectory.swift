/// The directory of a ``SharedState``. Only this code knows its layout:
///
///     delivery              the kind and version of this directory
///     lock                  locked for the milliseconds of one change, never while waiting for anything
///     packs/<pack>          one record per pack that is to come, or is not to, replaced as a whole
///     incoming/<download>   files that arrived, which nothing else says
///     manifest, accepted    the last accepted document, and its version
///     installation          the random bytes by which the installation takes part in rollouts, and its groups
///     allowance             the bytes that may still be downloaded before the first start
///     writing               a temporary file for replacing one of the others; may be left by a process that ended
///
/// The directory is opened again for each operation, because the system or a person may remove it at any time.
struct StateDirectory: Sendable {
  enum Folder: String, CaseIterable {
    case packs, incoming
  }

  let path: String
  let files: any FileSystem
  let clock: any DeviceClock
  let lockTimeoutMilliseconds: UInt32

  private static let form = RecordDirectory.Form("packer-delivery/2", in: "delivery", isPrivate: true)
  private static let writingName = "writing"
  /// The maximum number of changes made under one lock, so that it is held for milliseconds.
  static let batch = 32

  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The name of the file that a download brings.
  static func place(_ download: DownloadIdentifier) -> String { "\(Folder.incoming.rawValue)/\(download)" }

  // MARK: Opening

  /// Opens the directory. Creates it if it does not exist.
  func open() throws(PackError) -> RecordDirectory {
    if let root = try existing() { return root }
    return try make()
  }

  private func existing() throws(PackError) -> RecordDirectory? {
    try reading(path, ifPresent(RecordDirectory(opening: path, Self.form, files: files)))
  }

  /// Creates the missing parts of the directory. Throws if another format version created it.
  @discardableResult
  func make() throws(PackError) -> RecordDirectory {
    let root = try RecordDirectory(making: path, Self.form, files: files)
    try makeFolders(in: root)
    switch try root.kind() {
    case .own: break
    case .ofOtherVersion: throw PackError(.unsupported, of: path, "is a delivery state of another version", advice: .updateApp)
    // A power failure may have damaged the file.
    case .unmarked, .foreign: try withLock(of: root) { () throws(PackError) in try root.mark(by: Self.writingName) }
    }
    return root
  }

  private func makeFolders(in root: RecordDirectory) throws(PackError) { try root.makeFolders(Folder.allCases.map(\.rawValue)) }

  // MARK: Exclusive access

  /// Runs `body` while no other process makes changes.
  ///
  /// - Throws: ``PackFormat/PackError/Code/stateBusy`` if the lock is not released in time. The time is counted in pauses, not by a clock.
  func withLock<Result>(_ body: (RecordDirectory) throws(PackError) -> Result) throws(PackError) -> Result {
    let root = try open()
    return try withLock(of: root) { () throws(PackError) in try body(root) }
  }

  private func withLock<Result>(of root: RecordDirectory, _ body: () throws(PackError) -> Result) throws(PackError) -> Result {
    try root.settling(root.lockBriefly(LockWait(.milliseconds(Int64(lockTimeoutMilliseconds)), clock: clock), busy: .stateBusy), body)
  }

  // MARK: Files

  /// Returns the content of a file, at most one byte more than the limit; nil if it does not exist or is not a regular file.
  func read(_ name: String, limit: Int, in root: RecordDirectory) throws(PackError) -> [UInt8]? {
    switch try root.contents(of: name, limit: limit) {
    case .file(let bytes), .longFile(let bytes): bytes
    case .other, nil: nil
    }
  }

  /// Replaces the content of a file atomically. Call it under the lock.
  func replace(_ name: String, with bytes: Span<UInt8>, isOrdered: Bool = true, in root: RecordDirectory) throws(PackError) {
    try root.replace(name, with: bytes, by: Self.writingName, isOrdered: isOrdered)
  }

  /// Brings the names in a folder to the disk, and the files in it that were replaced without order.
  func settle(_ folder: Folder) throws(PackError) {
    let root = try open()
    root.noteChange(in: folder.rawValue)
    try root.settle()
  }

  /// Returns the size of a file outside the directory.
  func sizeOfFile(_ file: String) throws(PackError) -> UInt64 {
    let status = try files.status(of: file, following: .asThemselves)
    guard status.kind == .file else { throw FileFailure.isDirectory.reading(file) }
    return status.size
  }

  /// Moves a file of the same volume into `incoming`, by a single rename without the lock, and replaces an existing file. Creates the folder if it is gone.
  ///
  /// - Throws: ``PackFormat/PackError/Code/missingInput`` if the file itself is gone: another call may have moved it.
  func moveIn(_ file: String, as identifier: DownloadIdentifier, in root: RecordDirectory) throws(PackError) {
    try root.order()
    let place = path(Self.place(identifier))
    if try writing(place, ifPresent(files.rename(file, to: place, in: nil))) == nil {
      // Either the file or the folder is gone.
      _ = try sizeOfFile(file)
      try? makeFolders(in: root)
      try writing(place, files.rename(file, to: place, in: nil))
    }
    root.noteChange(in: Folder.incoming.rawValue)
  }

  /// Returns whether the file that a record is about is here, as long as the manifest says.
  func hasFile(of record: PackStatus, in root: RecordDirectory) throws(PackError) -> Bool {
    try status(Self.place(record.identifier), in: root)?.size == record.file.size
  }

  /// Returns the names in a folder, sorted; empty if the folder does not exist.
  func names(in folder: Folder, of root: RecordDirectory) throws(PackError) -> [String] { try root.names(in: folder.rawValue) }

  /// Returns the names of the packs that have a record.
  func recordedPacks(in root: RecordDirectory) throws(PackError) -> [String] {
    try names(in: .packs, of: root).compactMap { PackName(fileName: $0)?.text }
  }

  /// Returns the status of a file; nil if it does not exist.
  func status(_ name: String, in root: RecordDirectory) throws(PackError) -> FileStatus? {
    guard let status = try root.status(name), status.kind == .file else { return nil }
    return status
  }

  // MARK: Records

  static func recordName(_ id: String) -> String { "\(Folder.packs.rawValue)/\(PackName.fileName(of: id))" }

  /// Returns the record of a pack; nil if there is none.
  ///
  /// - Throws: ``PackFormat/PackError/Code/damagedState``
  func record(_ id: String, in root: RecordDirectory) throws(PackError) -> PackStatus? {
    let name = Self.recordName(id)
    guard let bytes = try read(name, limit: PackStatus.largestSize, in: root) else {
      // Anything that is not a regular file is not a record and prevents writing one.
      return try isTaken(name, in: root) ? try PackStatus(reading: [], of: id) : nil
    }
    return try PackStatus(reading: bytes, of: id)
  }

  private func isTaken(_ name: String, in root: RecordDirectory) throws(PackError) -> Bool {
    guard let status = try root.status(name) else { return false }
    return status.kind != .file
  }

  /// Writes a record, or removes it if `status` is nil. Call it under the lock.
  func write(_ status: PackStatus?, of id: String, isOrdered: Bool = true, in root: RecordDirectory) throws(PackError) {
    let name = Self.recordName(id)
    guard let status else {
      try root.remove(name)
      return
    }
    do throws(PackError) {
      try replace(name, with: status.record.byteSpan, isOrdered: isOrdered, in: root)
    } catch {
      // Removes anything that is not a regular file. Creates the folder again if it is gone.
      if try isTaken(name, in: root) {
        try root.remove(name)
      } else if try !isTaken(Folder.packs.rawValue, in: root) {
        try makeFolders(in: root)
      } else {
        throw error
      }
      try replace(name, with: status.record.byteSpan, isOrdered: isOrdered, in: root)
    }
  }
}
