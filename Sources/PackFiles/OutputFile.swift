package import PackFormat

/// A file that appears under its name whole or not at all.
///
/// It is written under a temporary name beside its place and takes it by one rename. If its owner goes away before ``commit()``, the
/// temporary file goes too; one that a killed process left is removed by the next output of the same name.
package final class OutputFile: Sendable {
  /// The file to write to.
  package let file: OpenFile
  /// The path the caller gave, for messages.
  package let path: String

  private let files: any FileSystem
  private let staging: StagedName
  /// The permissions to set when the file takes its place, where it was made with others.
  private let finalMode: UInt32?
  private let durability: Durability

  /// Who sees to it that the bytes are on the disk.
  package enum Durability: Hashable, Sendable {
    /// ``OutputFile/commit()`` does.
    case synced
    /// Whoever made the directory that the file lies in, for all that is in it at once.
    case leftToDirectory
  }

  /// Makes the temporary file.
  ///
  /// - Parameters:
  ///   - mode: the permissions the file will have, before the process's mask.
  ///   - isHidden: whether it holds for a while what nobody else may see. Then it has no name before ``commit()``, or where the file system
  ///     has no such files, a temporary one and no permissions for others.
  ///   - durability: who sees to it that the bytes are on the disk.
  package init(
    _ path: String, mode: UInt32 = 0o644, isHidden: Bool = false, durability: Durability = .synced, files: any FileSystem
  ) throws(PackError) {
    self.path = path
    self.files = files
    self.durability = files.syncsWholeVolumes ? durability : .synced
    staging = try StagedName(for: path, files: files)
    try Self.checkPlace(path, in: staging, files: files)
    if isHidden, let nameless = try staging.makeNameless(mode: mode) {
      file = nameless
      finalMode = nil
      return
    }
    file = try staging.make { (name, directory) throws(FileFailure) in
      try files.open(name, .create(mode: mode), in: directory)
    }
    guard isHidden else {
      finalMode = nil
      return
    }
    do {
      // What the process's mask left.
      finalMode = try files.status(of: file).mode & 0o777
      try files.setMode(0o600, of: file)
    } catch {
      throw error.writing(path)
    }
  }

  /// Writes a whole file, and replaces an earlier one at once.
  package static func write(_ bytes: [UInt8], to path: String, files: any FileSystem) throws(PackError) {
    let output = try OutputFile(path, files: files)
    try output.write(bytes.span, at: 0, of: UInt64(bytes.count))
    try output.commit()
  }

  /// Refuses to take the place of anything but a file or a link: a rename would remove the device `/dev/null` for a privileged user, and
  /// would fail on a directory only when all work is done.
  private static func checkPlace(_ path: String, in staging: StagedName, files: any FileSystem) throws(PackError) {
    guard let name = PathParts(path)?.name,
      let status = try? files.status(of: name, in: staging.directory, following: .asThemselves)
    else { return }
    switch status.kind {
    case .file, .symbolicLink:
      return
    case .directory:
      throw PackError(
        .outputExists, of: path, "is a directory, and a file was to be written", advice: .chooseFile)
    case .other:
      throw PackError(
        .outputExists, of: path, "is a device or pipe, which an output cannot replace", advice: .chooseFile)
    }
  }

  /// Asks the system for the space, so that a full disk is noticed before anything is written.
  package func reserve(_ size: UInt64) throws(PackError) {
    do {
      try files.reserve(size, for: file)
    } catch {
      throw error.writing(path, missingBytes: missingBytes(for: size))
    }
  }

  /// Writes all of `bytes` at `offset`.
  ///
  /// - Parameter size: the size the file will have, from which a full disk tells how much is missing.
  package func write(_ bytes: Span<UInt8>, at offset: UInt64, of size: UInt64) throws(PackError) {
    do {
      try files.writeAll(file, at: offset, bytes)
    } catch {
      throw error.writing(path, missingBytes: missingBytes(for: size > offset ? size - offset : 0))
    }
  }

  /// Brings the bytes to the disk and gives the file its name. What stood there is replaced.
  ///
  /// An error of the last step, which brings the new name to the disk, leaves the whole file under its name, though a power cut may undo it.
  package func commit() throws(PackError) {
    do {
      if let finalMode { try files.setMode(finalMode, of: file) }
      if durability == .synced { try files.sync(file) }
    } catch {
      throw error.writing(path)
    }
    try staging.commit(durability)
  }

  /// How many bytes of free space are missing for `needed` more.
  private func missingBytes(for needed: UInt64) -> UInt64? {
    guard let free = try? files.freeSpace(at: file) else { return nil }
    return needed > free ? needed - free : nil
  }
}

/// The temporary name of an output, in the directory of its final one, and locked while it is in use.
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

  /// Whether a name is one that an output has while it is made, of this or another process.
  package static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(".") && isRandomPart(name.suffix(16)) && name.dropLast(16).hasSuffix(marker)
  }

  package init(for path: String, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(path) else {
      throw PackError(.usage, "'\(path)' names no file or directory of its own", advice: .chooseFile)
    }
    self.parts = parts
    self.path = path
    self.files = files
    do {
      directory = try files.open(parts.directory, .directory, in: nil)
    } catch {
      throw error.isMissing
        ? PackError(.cannotWrite, of: path, "cannot be written: the directory \(parts.directory) does not exist")
        : error.writing(path)
    }
    removeStale()
  }

  deinit {
    guard let temporaryName else { return }
    if kind == .directory {
      try? files.removeTree(temporaryName, in: directory)
    } else {
      try? files.remove(temporaryName, kind, in: directory)
    }
  }

  /// Makes the temporary file or directory with a name that is free, and locks it.
  package func make(
    _ kind: FileStatus.Kind = .file,
    _ body: (String, OpenFile) throws(FileFailure) -> OpenFile
  ) throws(PackError) -> OpenFile {
    for _ in 0..<100 {
      let name = Self.temporaryName(for: parts.name)
      do throws(FileFailure) {
        let file = try body(name, directory)
        temporaryName = name
        self.kind = kind
        // Somebody who looks for stale names may have been faster than the lock: then this one is theirs.
        if try files.tryLock(file), try files.status(of: file).linkCount > 0 { return file }
        temporaryName = nil
      } catch {
        guard error.isExisting else { throw error.writing(path) }
      }
    }
    throw PackError(.cannotWrite, of: path, "cannot be written: no temporary name is free beside it")
  }

  /// Makes a file that has no name before ``commit()``, or returns nil where the file system has no such files.
  package func makeNameless(mode: UInt32) throws(PackError) -> OpenFile? {
    do throws(FileFailure) {
      let file = try files.open(".", .nameless(mode: mode), in: directory)
      // For the moment between its first name and its last.
      guard try files.tryLock(file) else { return nil }
      nameless = file
      return file
    } catch {
      guard error.isUnsupported else { throw error.writing(path) }
      return nil
    }
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
      throw error.isNotEmpty && kind == .directory
        ? PackError(.outputExists, of: path, "is not empty any more") : error.writing(path)
    }
    temporaryName = nil
    guard durability == .synced else { return }
    do {
      try files.sync(directory)
    } catch {
      throw error.writing(path)
    }
  }

  /// Gives the temporary directory its final name, and removes the directory that had it.
  ///
  /// Where the file system can, the two change places at once. Otherwise the earlier one is moved away first, and for the moment between the two
  /// renames nothing stands under the name: a process that is killed then leaves the earlier directory under a temporary name, and the next output of
  /// the same name removes it.
  package func commitReplacing() throws(PackError) {
    guard let name = temporaryName, kind == .directory else { preconditionFailure("committed twice, or not a directory") }
    do throws(FileFailure) {
      do throws(FileFailure) {
        try files.exchange(name, with: parts.name, in: directory)
      } catch {
        guard error.isUnsupported else { throw error }
        temporaryName = try replaceInTwoSteps(name)
      }
    } catch {
      // Where nothing stands there, there is nothing to replace.
      guard error.isMissing else { throw error.writing(path) }
      return try commit()
    }
    // First the new one for good, then the end of the old one.
    do {
      try files.sync(directory)
    } catch {
      throw error.writing(path)
    }
    if let old = temporaryName.take() { try? files.removeTree(old, in: directory) }
  }

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

  /// The path of the temporary file or directory, as the process can open it.
  package var temporaryPath: String? {
    temporaryName.map { parts.directory == "." ? $0 : parts.directory == "/" ? "/\($0)" : "\(parts.directory)/\($0)" }
  }

  /// A name for what is to have another one in the same directory. What is left under it goes with the next output of that name.
  static func temporaryName(for name: String) -> String { front(of: name) + randomPart() }

  /// 255 bytes are the most a name may have; the random part must fit behind what is kept of it.
  private static func front(of name: String) -> String { "." + String(decoding: name.utf8.prefix(200), as: UTF8.self) + marker }

  /// 16 hexadecimal digits: long enough that nobody's own file looks like it by chance.
  private static func randomPart() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isRandomPart(_ text: Substring) -> Bool {
    text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Removes what killed processes left under temporary names of this output. Those in use are locked.
  private func removeStale() {
    let front = Self.front(of: parts.name)
    guard let names = try? files.names(in: directory) else { return }
    for name in names where name.text.hasPrefix(front) && Self.isRandomPart(name.text.dropFirst(front.count)) {
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
