extension ReleaseLock {
  /// Returns the directory of the app versions beside a lock file. If the lock file is a symbolic link, it is beside the link.
  static func appsFolder(besides path: String) throws(PackError) -> String {
    guard let parts = PathParts(path) else { throw PackError(.usage, "'\(path)' is not the path of a file") }
    return parts.sibling(ReleaseFile.apps)
  }

  /// Adds the app versions beside a lock file. Files whose names do not end in `.json` are not read.
  ///
  /// - Parameter known: the paths of files that are not read, because their versions were added already.
  mutating func readApps(besides path: String, except known: Set<String> = [], files: any FileSystem) throws(PackError) {
    let folder = try Self.appsFolder(besides: path)
    for name in try Self.appFiles(in: folder, files: files) {
      let file = "\(folder)/\(name)"
      guard !known.contains(file) else { continue }
      let app = try RecordFile.read(file, files: files, as: App.init)
      guard app.fileName == name else {
        throw PackError(
          .invalidRecord, of: file, "describes app \(app.title), which belongs into \(app.fileName)",
          hint: "restore it from version control, or remove it if it is a copy")
      }
      // The list in a file of version 1 stays until the lock file is written, which is after the files of the apps.
      guard !apps.contains(app) else { continue }
      apps.append(app)
    }
    try sortApps()
    let stems = Set(apps.map(\.stem))
    for app in apps {
      guard let lost = app.follows.first(where: { !stems.contains($0) }) else { continue }
      let file = "\(folder)/\(lost)\(App.fileEnding)"
      throw PackError(
        .missingLock, of: file, "does not exist, but app \(app.title) was recorded after it",
        hint: "git restore \(ShellWord.path(file)), or if it never was with players, remove it from \"follows\" in \(app.fileName)")
    }
    guard !hasApps || !apps.isEmpty else {
      throw PackError(
        .missingLock, of: folder, "holds no app version, but \(path) says that some were recorded",
        hint: "git restore \(ShellWord.path(folder))")
    }
  }

  /// Returns the names of the files of app versions, in order.
  static func appFiles(in folder: String, files: any FileSystem) throws(PackError) -> [String] {
    do throws(PackError) {
      return try files.names(at: folder).filter { $0.hasSuffix(App.fileEnding) && !$0.hasPrefix(".") }
    } catch {
      guard error.code == .missingInput else { throw error }
      // A broken link is not the same as no directory.
      guard (try? files.status(of: folder, in: nil, following: .asThemselves)) == nil else {
        throw PackError(.missingInput, of: folder, "is a broken symbolic link", hint: "restore its target, or remove the link")
      }
      return []
    }
  }

  /// Writes the files of the app versions that differ from those on the disk.
  func writeApps(besides path: String, files: any FileSystem) throws(PackError) {
    guard !apps.isEmpty else { return }
    let folder = try Self.appsFolder(besides: path)
    try writing(folder, unlessExisting(files.makeDirectory(folder, mode: 0o777, in: nil)))
    for app in apps {
      let file = try files.target(of: "\(folder)/\(app.fileName)")
      let document = app.record.document
      guard let copy = try? App(JSON(parsing: document)), copy == app else {
        throw PackError(.internalError, of: file, "would not read back as it was written; it was not changed")
      }
      try OutputFile.update(file, to: document, files: files)
    }
  }
}

extension ReleaseLock.App {
  static let fileEnding = ".json"

  /// Whether a text can be a version. It becomes the name of a file, which must not be hidden.
  static func isVersion(_ text: String) -> Bool { text.wholeMatch(of: /[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}/) != nil }

  /// The name of its file. Versions do not contain an `@`, so that no two have the same.
  package var fileName: String { stem + Self.fileEnding }

  /// The name of its file without the ending.
  package var stem: String { "\(version)\(platform.map { "@\($0)" } ?? "")" }
}
