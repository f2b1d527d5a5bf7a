/// A file that appears under its name whole or not at all.
///
/// It is written under a temporary name in the same directory and gets its name by one rename. If this object is released before ``commit()``, the
/// temporary file is removed. A temporary file of a killed process is removed by the next output of the same name.
package final class OutputFile: Sendable {
  /// The file to write to.
  package let file: OpenFile
  /// The path the caller gave, for messages.
  package let path: String

  private let files: any FileSystem
  private let staging: StagedName
  /// The permissions to set when the file gets its name, if it was made with others.
  private let finalMode: UInt32?
  private let durability: Durability

  /// Which operation syncs the file to the disk.
  package enum Durability: Hashable, Sendable {
    /// ``OutputFile/commit()`` syncs it.
    case synced
    /// The owner of the enclosing directory, which is new, syncs all files in it at once. Nothing that killed processes left is looked for in it,
    /// because with many files that takes longer than writing them.
    case leftToDirectory
  }

  /// Makes the temporary file.
  ///
  /// - Parameters:
  ///   - mode: the permissions the file will have, before the process's mask.
  ///   - isHidden: whether its content must be hidden from other users at first. Then it has no name before ``commit()``. If the file system has no
  ///     nameless files, it has a temporary name and no permissions for others.
  ///   - durability: which operation syncs the file to the disk.
  ///   - isSearched: whether the caller has removed what killed processes left of it: ``StagedName/removeStale(of:files:)``.
  package init(
    _ path: String, mode: UInt32 = 0o666, isHidden: Bool = false, durability: Durability = .synced, isSearched: Bool = false,
    files: any FileSystem
  ) throws(PackError) {
    self.path = path
    self.files = files
    self.durability = files.syncsWholeVolumes ? durability : .synced
    staging = try StagedName(for: path, isSearched: isSearched || durability == .leftToDirectory, files: files)
    try Self.checkPlace(path, in: staging, files: files)
    if isHidden, let nameless = try staging.makeNameless(mode: mode) {
      file = nameless
      finalMode = nil
      return
    }
    var finalMode: UInt32?
    file = try staging.make { (name, directory) throws(FileFailure) in
      let made = try files.open(name, .create(mode: mode), in: directory)
      guard isHidden else { return made }
      // The permissions after the process's mask. Others may have opened this file, so it stays empty, and another one is written.
      finalMode = try files.status(of: made).mode & 0o777
      try files.remove(name, .file, in: directory)
      return try files.open(name, .create(mode: 0o600), in: directory)
    }
    self.finalMode = finalMode
  }

  /// Writes a whole file, and replaces an earlier one atomically.
  package static func write(_ bytes: [UInt8], to path: String, files: any FileSystem) throws(PackError) {
    let output = try OutputFile(path, files: files)
    try output.write(bytes.byteSpan, at: 0, of: UInt64(bytes.count))
    try output.commit()
  }

  /// Writes a whole file, which belongs to whom the earlier one belongs, unless it holds the same bytes. In either case, temporary files of this output that killed processes left are removed.
  package static func update(_ path: String, to bytes: [UInt8], files: any FileSystem) throws(PackError) {
    if let old = try? files.contents(of: path, limit: bytes.count), old == bytes {
      _ = try StagedName(for: path, files: files)
    } else {
      let output = try OutputFile(path, files: files)
      try output.write(bytes.byteSpan, at: 0, of: UInt64(bytes.count))
      output.keepOwner()
      try output.commit()
    }
  }

  /// Gives the file the owner of the one that it replaces: one of a user that root edits stays that user's. Not for content that the owner might not know.
  package func keepOwner() { files.setOwner(of: file, asOf: path) }

  /// Throws if the path exists and is neither a file nor a link to something else than a device or pipe. A rename by a privileged user would remove
  /// the device `/dev/null` or the link `/dev/stdout`, and a rename onto a directory would fail only after all the work.
  private static func checkPlace(_ path: String, in staging: StagedName, files: any FileSystem) throws(PackError) {
    guard let name = PathParts(path)?.name,
      let status = try? files.status(of: name, in: staging.directory, following: .asThemselves)
    else { return }
    var kind = status.kind
    if kind == .symbolicLink, (try? files.status(of: name, in: staging.directory, following: .followed))?.kind == .other { kind = .other }
    if kind == .symbolicLink, PathParts(path)?.directory == "/dev" { kind = .other }
    switch kind {
    case .file, .symbolicLink:
      return
    case .directory:
      throw PackError(
        .outputExists, of: path, "is a directory, but the output is a file", advice: .chooseFile)
    case .other:
      throw PackError(
        .outputExists, of: path, "is a device or pipe, which an output cannot replace", advice: .chooseFile)
    }
  }

  /// Reserves the space, so that a full disk is noticed before anything is written.
  package func reserve(_ size: UInt64) throws(PackError) {
    try files.filling(path, with: size, at: file, files.reserve(size, for: file))
  }

  /// Writes all of `bytes` at `offset`.
  ///
  /// - Parameter size: the final size of the file, from which the error of a full disk computes the missing space.
  package func write(_ bytes: Span<UInt8>, at offset: UInt64, of size: UInt64) throws(PackError) {
    try files.filling(path, with: size > offset ? size - offset : 0, at: file, files.writeAll(file, at: offset, bytes))
  }

  /// Syncs the file to the disk and gives it its name. An existing file is replaced.
  ///
  /// The last step syncs the directory. If it throws, the whole file has its name, but a power cut may undo that.
  package func commit() throws(PackError) {
    if let finalMode { try writing(path, files.setMode(finalMode, of: file)) }
    if durability == .synced { try writing(path, files.sync(file)) }
    try staging.commit(durability)
  }
}

/// The temporary name of an output, in the same directory as its final name, and locked while in use.
package final class StagedName: @unchecked Sendable {
  package let directory: OpenFile
  private let parts: PathParts
  private let path: String
  private let files: any FileSystem
  // Written by `make` and `commit`, which the owner calls one after the other.
  private var temporaryName: String?
  private var nameless: OpenFile?
  private var kind = FileStatus.Kind.file

  private static let marker = ".packer-"

  /// Whether a name is the temporary name of an output of any process.
  package static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(".") && isRandomPart(name.suffix(16)) && name.dropLast(16).hasSuffix(marker)
  }

  /// Returns the name of the output to which a temporary name belongs, or nil for another name. Long names are cut.
  package static func output(of name: String) -> String? {
    isTemporary(name) ? String(name.dropFirst().dropLast(16 + marker.count)) : nil
  }

  /// Opens the directory, and removes what killed processes left there of the output.
  ///
  /// Where the file system has no locks, what they left stays, because another process may be using it.
  ///
  /// - Parameter isSearched: whether nothing of the output can be left there, because the directory is new, or because the caller has removed it.
  package init(for path: String, isSearched: Bool = false, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(path) else {
      throw PackError(.usage, "'\(path)' does not name a file or directory", advice: .chooseFile)
    }
    guard path != "-" else {
      throw PackError(
        .usage, "'-' would be a name, and this is not written to standard output",
        advice: .developer("name a file or directory; with the name '-' it is ./-"))
    }
    self.parts = parts
    self.path = path
    self.files = files
    guard let directory = try writing(path, ifPresent(files.open(parts.directory, .directory, in: nil))) else {
      throw PackError(.cannotWrite, of: path, "cannot be written: the directory \(parts.directory) does not exist")
    }
    self.directory = directory
    if !isSearched { Self.removeStale(of: [parts.name], in: directory, files: files) }
  }

  deinit {
    guard let temporaryName else { return }
    if kind == .directory {
      try? files.removeTree(temporaryName, in: directory)
    } else {
      try? files.remove(temporaryName, kind, in: directory)
    }
  }

  /// Makes the temporary file or directory under a name that is not taken, and locks it.
  package func make(
    _ kind: FileStatus.Kind = .file,
    _ body: (String, OpenFile) throws(FileFailure) -> OpenFile
  ) throws(PackError) -> OpenFile {
    var failure: FileFailure?
    for _ in 0..<100 {
      let name = Self.temporaryName(for: parts.name)
      do throws(FileFailure) {
        let file = try body(name, directory)
        temporaryName = name
        self.kind = kind
        // Another process that removes stale files may have locked it first. Then it is removed, and this loop tries another name.
        if try files.lockIfPossible(file), try files.status(of: file).linkCount > 0 { return file }
        temporaryName = nil
      } catch {
        // Such a process may also have removed a directory before it was opened.
        guard error.isExisting || error.isMissing && kind == .directory else { throw refusal(error) }
        failure = error
      }
    }
    if let failure, failure.isMissing { throw failure.writing(path) }
    throw PackError(.cannotWrite, of: path, "cannot be written: no temporary name is free beside it")
  }

  /// Makes a file that has no name before ``commit()``, or returns nil if the file system has no nameless files.
  package func makeNameless(mode: UInt32) throws(PackError) -> OpenFile? {
    // Locked for the moment between its temporary and its final name.
    let made: OpenFile?
    do { made = try files.nameless(mode: mode, in: directory) } catch { throw refusal(error) }
    guard let file = made, try writing(path, files.lockIfPossible(file)) else { return nil }
    nameless = file
    return file
  }

  /// Returns the error if nothing can be made beside the final name, where a file may be that can be written: one that is mounted.
  private func refusal(_ failure: FileFailure) -> PackError {
    let error = failure.writing(path)
    guard failure == .readOnly, let status = try? files.status(of: parts.name, in: directory, following: .followed), status.kind == .file
    else { return error }
    return error.advising(.developer("it is written beside its place first: make \(parts.directory) writable, and not only the file"))
  }

  /// Gives the temporary file or directory its final name.
  package func commit(_ durability: OutputFile.Durability = .synced) throws(PackError) {
    if let file = nameless.take() {
      _ = try make { [files] (name, directory) throws(FileFailure) in
        try files.link(file, as: name, in: directory)
        return file
      }
    }
    guard let name = temporaryName else { preconditionFailure("committed twice") }
    do {
      try files.rename(name, to: parts.name, in: directory)
    } catch {
      if error.isImmovable, kind == .file { return try rewrite(from: name) }
      throw error.isNotEmpty && kind == .directory
        ? PackError(.outputExists, of: path, "is no longer empty") : error.writing(path)
    }
    temporaryName = nil
    guard durability == .synced else { return }
    try writing(path, files.sync(directory))
  }

  /// Writes a file that is mounted under the final name in place, because no other can get the name.
  private func rewrite(from name: String) throws(PackError) {
    let source = try writing(path, files.open(name, .readUnlinked, in: directory))
    let target = try writing(path, files.open(parts.name, .rewriteUnlinked, in: directory))
    let size = try writing(path, files.status(of: source).size)
    try files.forEachPiece(of: source, 0..<size, name: path) { (piece, offset) throws(PackError) in
      try files.filling(path, with: size - offset, at: directory, files.writeAll(target, at: offset, piece))
    }
    try writing(path, files.sync(target))
    temporaryName = nil
    try? files.remove(name, .file, in: directory)
  }

  /// Gives the temporary directory its final name, and removes the directory that had it.
  ///
  /// The two directories are swapped atomically if the file system can. Otherwise the earlier one is renamed first, and between the two renames
  /// nothing has the name. A process that is killed then leaves the earlier directory under a temporary name, and the next output of the same name
  /// removes it.
  package func commitReplacing() throws(PackError) {
    guard let name = temporaryName, kind == .directory else { preconditionFailure("committed twice, or not a directory") }
    do throws(FileFailure) {
      do throws(FileFailure) {
        try files.exchange(name, with: parts.name, in: directory)
      } catch {
        guard !error.isImmovable else {
          try move(from: name, to: parts.name)
          temporaryName = nil
          return
        }
        guard error.isUnsupported else { throw error }
        temporaryName = try replaceInTwoSteps(name)
      }
    } catch {
      // If nothing has the name, there is nothing to replace.
      guard error.isMissing else { throw error.writing(path) }
      return try commit()
    }
    // Sync the new directory before the old one is removed.
    try writing(path, files.sync(directory))
    if let old = temporaryName.take() { try? files.removeTree(old, in: directory) }
  }

  /// Moves what is in the temporary directory into the one in which that was made, and removes what was there.
  package func commitInside() throws(PackError) {
    guard let name = temporaryName, kind == .directory else { preconditionFailure("committed twice, or not a directory") }
    try writing(path, move(from: name, to: "."))
    temporaryName = nil
  }

  /// Replaces the content of a directory that cannot be renamed by that of another one, file after file. The manifest of a release comes last, and only
  /// then what was there before goes. Until that is done, the record of the build is in the temporary directory: ``temporaries(of:files:)``.
  private func move(from name: String, to target: String) throws(FileFailure) {
    let (source, place) = (
      try files.open(name, .directoryUnlinked, in: directory), try files.open(target, .directoryUnlinked, in: directory)
    )
    let names = try files.names(in: source).map(\.text).sorted { ($0 == Self.last ? 1 : 0, $0) < ($1 == Self.last ? 1 : 0, $1) }
    func take(_ item: String) throws(FileFailure) {
      if try ifPresent(files.status(of: item, in: place, following: .asThemselves))?.kind == .directory {
        try files.removeTree(item, in: place)
      }
      try files.rename("\(name)/\(item)", to: "\(target)/\(item)", in: directory)
    }
    for item in names where item != Self.record { try take(item) }
    try files.sync(place)
    for old in try files.names(in: place) where old.isUTF8 && !names.contains(old.text) && !Self.isOfVolume(old.text) {
      let kind = try files.status(of: old.text, in: place, following: .asThemselves).kind
      try kind == .directory ? files.removeTree(old.text, in: place) : files.remove(old.text, kind, in: place)
    }
    if names.contains(Self.record) { try take(Self.record) }
    // A file that both have, as links to one file, is not renamed.
    try files.removeTree(name, in: directory)
    try files.sync(place)
  }

  /// The file of a release that says what the others are.
  private static let last = "manifest.json"
  /// The file that says which files a build made.
  private static let record = "build.json"

  /// Returns the paths of the temporary directories of a directory, inside it and beside it. A process that was killed may have left them.
  package static func temporaries(of path: String, files: any FileSystem) -> [String] {
    guard let target = try? files.target(of: path), let parts = PathParts(target) else { return [] }
    func names(_ place: String) -> [String] { ((try? files.names(in: files.open(place, .directory, in: nil))) ?? []).map(\.text) }
    return names(target).filter(isTemporary).map { "\(target)/\($0)" }
      + names(parts.directory).filter { output(of: $0) == parts.name }.map(parts.sibling)
  }

  /// A directory that a file system keeps at its root.
  package static let volumeFolder = "lost+found"

  /// Whether a name in a directory is none of its content: that directory, or an output that is being made.
  package static func isOfVolume(_ name: String) -> Bool { name == volumeFolder || isTemporary(name) }

  /// Returns the name that the earlier directory has now.
  private func replaceInTwoSteps(_ name: String) throws(FileFailure) -> String {
    let spare = Self.temporaryName(for: parts.name)
    try files.rename(parts.name, to: spare, in: directory)
    do throws(FileFailure) {
      try files.rename(name, to: parts.name, in: directory)
    } catch {
      try? files.rename(spare, to: parts.name, in: directory)
      throw error
    }
    return spare
  }

  /// The path by which the process can open the temporary file or directory.
  package var temporaryPath: String? {
    temporaryName.map(parts.sibling)
  }

  /// Returns a temporary name for an output in the same directory. If it is left behind, the next output of that name removes it.
  static func temporaryName(for name: String) -> String { front(of: name) + randomPart() }

  /// A name has at most 255 bytes. It is cut so that the random part fits.
  private static func front(of name: String) -> String { "." + String(decoding: name.utf8.prefix(200), as: UTF8.self) + marker }

  /// 16 hexadecimal digits: long enough that no user's file has such a name by chance.
  private static func randomPart() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isRandomPart(_ text: Substring) -> Bool { [UInt8](hex: text, count: 8) != nil }

  /// Removes what killed processes left of outputs in one directory, which is listed once. For many files, that takes longer than writing them.
  package static func removeStale(of paths: [String], files: any FileSystem) {
    let parts = paths.compactMap(PathParts.init)
    guard let place = parts.first, let directory = try? files.open(place.directory, .directory, in: nil) else { return }
    removeStale(of: parts.map(\.name), in: directory, files: files)
  }

  /// Removes what killed processes left of this output.
  func removeStale() { Self.removeStale(of: [parts.name], in: directory, files: files) }

  /// Removes temporary files of outputs that killed processes left. Files in use are locked.
  private static func removeStale(of outputs: [String], in directory: OpenFile, files: any FileSystem) {
    let fronts = Set(outputs.map(front))
    guard let names = try? files.names(in: directory) else { return }
    for name in names where isTemporary(name.text) && fronts.contains(String(name.text.dropLast(16))) {
      guard let status = try? files.status(of: name.text, in: directory, following: .asThemselves) else { continue }
      let access: FileAccess = status.kind == .directory ? .directoryUnlinked : .readUnlinked
      guard let file = try? files.open(name.text, access, in: directory), (try? files.tryLock(file)) == true else {
        continue
      }
      if status.kind == .directory {
        try? files.removeTree(name.text, in: directory)
      } else {
        try? files.remove(name.text, status.kind, in: directory)
      }
    }
  }
}

extension FileSystem {
  /// Locks a file, so that no other process takes it for one of a process that was killed, and returns whether no other had locked it.
  fileprivate func lockIfPossible(_ file: OpenFile) throws(FileFailure) -> Bool {
    do throws(FileFailure) {
      return try tryLock(file)
    } catch {
      guard error.isLockless else { throw error }
      return true
    }
  }
}
