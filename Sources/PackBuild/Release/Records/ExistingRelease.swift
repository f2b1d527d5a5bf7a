/// An earlier release at the place where a build writes.
struct ExistingRelease: Sendable {
  let record: BuildRecord
  let directory: OpenFile
  let path: String
  /// Whether a killed build may have left files here that only the record in its temporary directory knows.
  let isUnfinished: Bool

  /// Reads the earlier release at the output path.
  ///
  /// - Returns: nil if nothing is there, or only an empty directory.
  /// - Throws: ``PackError/Code/outputExists`` if the build would remove anything that packer did not make.
  static func look(at path: String, files: any FileSystem) throws(PackError) -> ExistingRelease? {
    guard let status = try reading(path, ifPresent(files.status(of: path, in: nil, following: .followed))) else { return nil }
    guard status.kind == .directory else {
      throw PackError(
        .outputExists, of: path, "exists and is not a directory", hint: "choose another directory with -o, or move it away")
    }
    guard let directory = try reading(path, ifPresent(files.open(path, .directory, in: nil))) else { return nil }
    let names = try reading(path, files.names(in: directory)).filter { !StagedName.isOfVolume($0.text) }
    guard !names.isEmpty else { return nil }
    // Of builds that were killed while their files came into a directory that cannot be renamed.
    let unfinished = StagedName.temporaries(of: path, files: files).compactMap { try? BuildRecord.read(in: $0, files: files) }
    let hasRecord = names.contains { $0.text == BuildRecord.fileName }
    guard hasRecord || !unfinished.isEmpty else { throw foreign(path, names.map(\.text).sorted()) }
    let record: BuildRecord
    do throws(PackError) {
      record = try hasRecord ? BuildRecord.read(in: path, files: files) : unfinished[0]
    } catch {
      guard error.code == .invalidRecord else { throw error }
      throw PackError(
        .outputExists, error.message,
        advice: error.advice ?? .developer("remove \(path), which can be built again, or choose another directory with -o"))
    }
    let known = Set(([record] + unfinished).flatMap(\.files) + [BuildRecord.fileName])
    let folders = Set(record.files.compactMap { name in name.firstIndex(of: "/").map { String(name[..<$0]) } })
    var strangers: [String] = []
    for name in names where known.contains(name.text) {
      // What a build makes there are files. Something else with their names is a person's.
      if (try? files.status(of: name.text, in: directory, following: .asThemselves))?.kind == .directory { strangers.append(name.text) }
    }
    for name in names where !known.contains(name.text) && !isJunk(name.text, in: directory, files: files) {
      guard folders.contains(name.text) else {
        strangers += Self.names(of: name.text, in: directory, files: files)
        continue
      }
      let inner = try reading("\(path)/\(name.text)", files.names(in: files.open(name.text, .directoryUnlinked, in: directory)))
      strangers += inner.map { "\(name.text)/\($0.text)" }.filter { !known.contains($0) }
    }
    guard strangers.isEmpty else { throw foreign(path, strangers.sorted()) }
    return ExistingRelease(record: record, directory: directory, path: path, isUnfinished: !unfinished.isEmpty)
  }

  /// Returns the name of a stranger. For a directory of the name that a build uses, too, the names of what is in it.
  private static func names(of name: String, in directory: OpenFile, files: any FileSystem) -> [String] {
    guard name == ReleaseFile.baPackages, let inner = try? files.open(name, .directoryUnlinked, in: directory),
      let names = try? files.names(in: inner), !names.isEmpty
    else { return [name] }
    return names.map { "\(name)/\($0.text)" }
  }

  /// Whether a name is a file that the system left by itself. Directories never count: `.git` holds a person's work.
  private static func isJunk(_ name: String, in directory: OpenFile, files: any FileSystem) -> Bool {
    guard SourceRules.junk(name) != nil else { return false }
    return (try? files.status(of: name, in: directory, following: .asThemselves))?.kind == .file
  }

  private static func foreign(_ path: String, _ names: [String]) -> PackError {
    PackError(
      .outputExists,
      of: path,
      "holds \(names.count == 1 ? "a file" : "\(names.count) files") that packer did not make, such as \(printable(names[0].utf8))",
      details: names.map { printable($0.utf8) },
      hint: "choose another directory with -o, or move these files away: a build replaces the directory"
    )
  }
}
