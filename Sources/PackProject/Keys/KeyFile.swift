/// A warning about the source of a key, which does not stop the work.
package struct KeyWarning: Hashable, Sendable {
  /// The message, for a person.
  package let message: String
  /// What to do about it.
  package let hint: String
}

/// A file that holds one key text.
package enum KeyFile {
  /// Writes a new key file that only its owner may read.
  ///
  /// An existing file is never replaced: a key that is lost makes its packs unreadable. On failure no file is left, and no partial file if the
  /// process is killed.
  ///
  /// - Throws: ``PackError/Code/outputExists`` if something exists at `path` already.
  package static func write(_ key: borrowing PackKey, to path: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    try key.withText { (text) throws(PackError) in try write(text, to: path, files: files) }
  }

  /// Writes a new file with a key that signs, in the same way.
  ///
  /// - Throws: ``PackError/Code/outputExists`` if something exists at `path` already.
  package static func write<Role>(_ key: borrowing SecretKey<Role>, to path: String) throws(PackError) {
    try key.withText { (text) throws(PackError) in try write(text, to: path, files: SystemFiles()) }
  }

  private static func write(_ text: Span<UInt8>, to path: String, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(path) else {
      throw PackError(.usage, "'\(path)' is not the path of a file", hint: "give the key file a name, as in -o game.key")
    }
    do throws(FileFailure) {
      let directory = try files.open(parts.directory, .directory, in: nil)
      try files.makeNew(parts.name, mode: 0o600, in: directory) { (file) throws(FileFailure) in
        // The process's file mode mask may have removed too many permissions.
        try files.setMode(0o600, of: file)
        try files.writeAll(file, at: 0, text)
        let newline: [UInt8] = [0x0A]
        try files.writeAll(file, at: UInt64(text.count), newline.byteSpan)
      }
    } catch {
      throw failure(error, path: path, directory: parts.directory)
    }
  }

  /// Reads a key file, and warns if other users can read or change it.
  static func read(_ path: String, _ kind: KeyKind, files: any FileSystem) throws(PackError) -> SecretInput {
    let shown = KeyShape.shown(path)
    let origin = "\(kind.name) file \(shown)"
    var text = SecretInput(from: origin)
    let status: FileStatus
    do throws(FileFailure) {
      let file = try files.open(path, .read, in: nil)
      status = try files.status(of: file)
      if status.kind != .directory { try text.readToEnd(of: file, files: files) }
    } catch {
      guard error.isMissing else { throw error.reading(origin) }
      throw PackError(
        .noKey, of: origin, "does not exist",
        hint: "name another with \(kind.option)\n\(KeyReference.ifNone)\(shown == path ? kind.making(at: path) : kind.making)")
    }
    guard status.kind != .directory else {
      throw PackError(.noKey, of: origin, "is a directory", hint: "name the file in it that holds the key")
    }
    if status.kind == .file, let fault = openness(UInt32(status.mode)) {
      text.warning = KeyWarning(message: "\(origin) \(fault)", hint: "chmod 600 \(shown == path ? ShellWord.path(path) : "the file")")
    }
    return text
  }

  /// Returns what other users can do with a file, as the end of a sentence that starts with the file; nil if they can neither read nor change it.
  package static func openness(_ mode: UInt32) -> String? {
    let verb: String
    switch (mode & 0o044 != 0, mode & 0o022 != 0) {
    case (true, true): verb = "read and changed"
    case (true, false): verb = "read"
    case (false, true): verb = "changed"
    case (false, false): return nil
    }
    return "can be \(verb) by other users of this machine"
  }

  private static func failure(_ failure: FileFailure, path: String, directory: String) -> PackError {
    if failure.isExisting {
      return PackError(
        .outputExists, of: path, "exists already, and packer never overwrites a key",
        hint: "choose another name: a lost key cannot be replaced")
    }
    if failure.isMissing {
      return PackError(.cannotWrite, of: path, "cannot be written: the directory \(directory) does not exist")
    }
    return failure.writing(path)
  }
}
