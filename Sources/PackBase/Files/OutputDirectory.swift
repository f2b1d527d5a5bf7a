/// A directory that appears under its name whole or not at all.
///
/// It is filled under a temporary name in the same directory, readable by its owner only, and gets its name by one rename. If this object is released
/// before ``commit(mode:)``, the directory is removed. A directory that something is mounted at, or that is named as `.`, keeps its place: the temporary
/// one is inside it, and its files are moved one after the other.
package final class OutputDirectory: Sendable {
  /// The directory to fill.
  package let root: OpenFile
  /// The path the caller gave, for messages.
  package let path: String

  private let files: any FileSystem
  /// Nil if the caller gives the directory its final name.
  private let staging: StagedName?
  private let place: Place
  private let keepsStale: Bool
  /// Whether the temporary directory is inside the final one.
  private let isInside: Bool
  /// The permissions of the finished directory: those that the process gives to new directories.
  private let finalMode: UInt32

  /// What may already exist under the name.
  package enum Place: Hashable, Sendable {
    /// Nothing, or an empty directory.
    case free
    /// Also a directory with content, which is removed once the new one has its name. Callers must first check that they may remove it.
    case replaceable
  }

  /// Makes the temporary directory.
  ///
  /// - Parameter keepsStale: whether what killed processes left of it stays until the commit, because it says what is in the place.
  package init(_ path: String, place: Place = .free, keepsStale: Bool = false, files: any FileSystem) throws(PackError) {
    self.path = path
    self.keepsStale = keepsStale
    self.files = files
    self.place = place
    let target = try files.target(of: path)
    let isNamed = PathParts(target) != nil
    isInside = isNamed ? files.isMountPoint(target) : (try? files.status(of: target, in: nil, following: .asThemselves)) != nil
    try Self.check(path, at: target, place, isInside: isInside, files: files)
    let staging = try StagedName(for: isInside ? "\(target)/new" : target, isSearched: keepsStale, files: files)
    self.staging = staging
    var mode: UInt32 = 0o777
    root = try staging.make(.directory) { (name, directory) throws(FileFailure) in
      try files.makeDirectory(name, mode: 0o777, in: directory)
      do throws(FileFailure) {
        let made = try files.open(name, .directoryUnlinked, in: directory)
        // After the process's mask, with the bit that gives files the group. Nothing is in the directory yet that others could read.
        mode = try files.status(of: made).mode
        try files.setMode(mode & 0o7000 | 0o700, of: made)
        return made
      } catch {
        // No file handles left, for example. The directory must not stay.
        try? files.remove(name, .directory, in: directory)
        throw error
      }
    }
    finalMode = mode
  }

  /// Makes a directory to fill under a given name, for a caller that moves it to its place or removes it.
  ///
  /// It is not locked: the system may end a suspended process that holds a lock.
  ///
  /// - Parameters:
  ///   - name: the directory, which must not exist.
  ///   - path: its name in messages.
  package init(ownedAs name: String, in directory: OpenFile, path: String, files: any FileSystem) throws(PackError) {
    self.path = path
    self.files = files
    place = .free
    keepsStale = false
    isInside = false
    staging = nil
    finalMode = 0o755
    try writing(path, files.makeDirectory(name, mode: 0o700, in: directory))
    root = try writing(path, files.open(name, .directoryUnlinked, in: directory))
  }

  /// Throws if fewer than `size` bytes are available on the volume, or fewer files can be made.
  package func checkSpace(_ size: UInt64, files count: UInt64 = 0) throws(PackError) {
    let room = files.freeFiles(at: root)
    guard count <= room else {
      throw PackError(
        .noSpace, of: path, "cannot be written: \(count) files and directories are too many for the volume, which has \(room) inodes left",
        advice: .developer("write to another volume, or remove files there"))
    }
    let available = try writing(path, files.availableSpace(at: root))
    guard size <= available else {
      throw FileFailure.fullDisk.writing(path, missingBytes: size - available)
    }
  }

  /// Writes a whole new file in the directory.
  package func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o666) throws(PackError) {
    let file = try writing("\(path)/\(name)", files.open(name, .create(mode: mode), in: root))
    try writing("\(path)/\(name)", files.writeAll(file, at: 0, bytes.byteSpan))
    if !files.syncsWholeVolumes { try writing("\(path)/\(name)", files.sync(file)) }
  }

  /// Makes a new directory in the directory.
  package func makeDirectory(_ name: String) throws(PackError) {
    try writing("\(path)/\(name)", files.makeDirectory(name, mode: 0o777, in: root))
  }

  /// Syncs everything to the disk and gives the directory its final name, unless the caller does that.
  ///
  /// - Parameter mode: the permissions of the directory. If nil, those that the process gives to new directories.
  package func commit(mode: UInt32? = nil) throws(PackError) {
    try writing(path, files.setMode(mode.map { finalMode & 0o7000 | $0 } ?? finalMode, of: root))
    try writing(path, files.syncVolume(of: root))
    try writing(path, files.syncsWholeVolumes ? files.sync(root) : syncDirectories(root))
    guard let staging else { return }
    if isInside {
      try Self.check(path, at: files.target(of: path), place, isInside: true, files: files)
      try staging.commitInside()
    } else if place == .free {
      try staging.commit()
    } else {
      try staging.commitReplacing()
    }
    if keepsStale { staging.removeStale() }
  }

  /// Syncs a directory and all directories below it. Otherwise a synced file could lose its name.
  private func syncDirectories(_ directory: OpenFile) throws(FileFailure) {
    for item in try files.names(in: directory) where item.isUTF8 {
      guard try files.status(of: item.text, in: directory, following: .asThemselves).kind == .directory else { continue }
      try syncDirectories(try files.open(item.text, .directoryUnlinked, in: directory))
    }
    try files.sync(directory)
  }

  /// The path of the temporary directory, for files that are made by path. Not available after ``commit(mode:)``.
  package var temporaryPath: String {
    guard let path = staging?.temporaryPath else { preconditionFailure("committed already") }
    return path
  }

  /// Throws if something is there that the directory does not replace.
  private static func check(
    _ path: String, at target: String, _ place: Place, isInside: Bool, files: any FileSystem
  ) throws(PackError) {
    guard let status = try writing(path, ifPresent(files.status(of: target, in: nil, following: .asThemselves))) else { return }
    guard status.kind == .directory else {
      let isLink = status.kind == .symbolicLink
      let what = isLink ? "is a symbolic link to no directory" : "exists and is not a directory"
      throw PackError(.outputExists, of: path, what, advice: .chooseDirectory)
    }
    guard place == .free else { return }
    let names = try writing(path, files.names(in: files.open(target, .directoryUnlinked, in: nil)))
    guard names.allSatisfy({ isInside && StagedName.isOfVolume($0.text) }) else {
      throw PackError(
        .outputExists, of: path, "is not empty",
        advice: .chooseDirectory)
    }
  }
}
