/// A report that is written to a file.
package enum ReportFile {
  /// Throws an error if a report at `path` would replace an input, a file of the release or a secret, or would become part of a pack.
  ///
  /// - Parameters:
  ///   - inputs: the files that were read for the report, or would be if they existed.
  ///   - release: the directory of the release, which contains only built files.
  ///   - sources: the packs of the configuration.
  /// - Throws: ``PackError/Code/usage``.
  package static func check(
    _ path: String, against inputs: [String], release: String, sources: [PackerConfiguration.Pack] = [],
    files: any FileSystem = SystemFiles()
  ) throws(PackError) {
    func refuse(_ reason: String) -> PackError {
      PackError(
        .usage, "a report cannot be written to \(path): \(reason)", hint: "choose another file")
    }
    // A missing directory is reported when the report is written.
    guard let parts = PathParts(path), let parent = try? files.canonicalPath(of: parts.directory) else { return }
    let place = (try? files.canonicalPath(of: path)) ?? "\(parent == "/" ? "" : parent)/\(parts.name)"
    for input in inputs {
      var other = try? files.canonicalPath(of: input)
      // One that does not exist yet has a place, too.
      if other == nil, let parts = PathParts(input), let parent = try? files.canonicalPath(of: parts.directory) {
        other = "\(parent == "/" ? "" : parent)/\(parts.name)"
      }
      guard let other else { continue }
      if other.utf8.elementsEqual(place.utf8) { throw refuse("that file is an input of the check") }
    }
    if let dist = try? files.canonicalPath(of: release), place.utf8.starts(with: "\(dist)/".utf8) {
      throw refuse("it is inside the release directory, which holds only built files")
    }
    for pack in sources {
      guard let root = try? files.canonicalPath(of: pack.root), place.utf8.starts(with: "\(root)/".utf8) else { continue }
      let inner = String(Substring(place.utf8.dropFirst(root.utf8.count + 1)))
      guard !DirectoryScan.doesExclude(inner, isDirectory: false, by: pack.settings.excludes) else { continue }
      throw refuse("it would become part of pack '\(pack.id)'")
    }
    guard let start = try? start(of: path, files: files) else { return }
    if let reason = SourceRules.secret(content: start.byteSpan) { throw refuse("that file \(reason)") }
  }

  /// Returns the first bytes of a file, at most 64.
  private static func start(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let file = try files.open(path, .read)
    guard try reading(path, files.status(of: file)).kind == .file else { return [] }
    var span = bytes.mutableByteSpan
    guard let count = try? files.read(file, at: 0, filling: &span, name: path) else { return [] }
    defer { wipe(&bytes) }
    return Array(bytes.prefix(count))
  }

  /// Writes a report, and replaces an earlier one atomically.
  package static func write(_ bytes: [UInt8], to path: String) throws(PackError) {
    try OutputFile.write(bytes, to: path, files: SystemFiles())
  }
}
