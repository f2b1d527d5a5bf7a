/// Reads files with records of releases.
package enum RecordFile {
  /// The largest record that is read, in bytes. A lock file with 100 000 packs takes 35 MB.
  package static let largestSize = 256 << 20

  package static func read(_ path: String, limit: Int = largestSize, files: any FileSystem) throws(PackError) -> JSON {
    var bytes = try files.contents(of: path, limit: limit)
    // Some editors write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    do throws(PackError) {
      return try JSON(parsing: bytes)
    } catch {
      if let conflict = MergeConflict(bytes) {
        throw PackError(
          .unmergedRecord, "\(path):\(conflict.line): a merge left conflict markers: \(conflict.names.ours) and \(conflict.names.theirs)",
          hint: "packer release resolve")
      }
      if let line = MergeConflict.firstMarker(in: bytes) {
        throw PackError(
          .unmergedRecord, "\(path):\(line): this line is a conflict marker of a merge, but not all markers are there",
          hint: "git checkout --merge \(ShellWord.path(path)), then: packer release resolve")
      }
      // The position follows the path, as in compiler messages.
      throw PackError(error.code, "\(path):\(error.message)", advice: error.advice)
    }
  }

  /// Reads a file and makes a record of it. Errors name the file.
  static func read<Record>(
    _ path: String, files: any FileSystem, as record: (JSON) throws(PackError) -> Record
  ) throws(PackError) -> Record {
    let value = try read(path, files: files)
    return try attributing(to: path) { () throws(PackError) in try record(value) }
  }
}

extension RecordFields {
  mutating func time(_ key: String) throws(PackError) -> ManifestTime {
    let text = try text(key)
    guard let time = ManifestTime(text) else {
      throw PackError(.invalidRecord, "'\(key)' is '\(text)', which is not a time such as 2026-01-31T12:00:00Z")
    }
    return time
  }

  /// Takes the name of a pack.
  mutating func packName(_ key: String) throws(PackError) -> String {
    let text = try text(key)
    do throws(PackError) {
      return try PackName(text).text
    } catch {
      throw PackError(.invalidRecord, error.message, advice: error.advice)
    }
  }

  mutating func budget(_ key: String) throws(PackError) -> InstallBudget {
    var fields = try RecordFields(try object(key), "'\(key)'")
    let budget = InstallBudget(
      essentialDownloadAllowance: try fields.number("BAEssentialDownloadAllowance"),
      downloadAllowance: try fields.number("BADownloadAllowance"),
      essentialMaxInstallSize: try fields.number("BAEssentialMaxInstallSize"), maxInstallSize: try fields.number("BAMaxInstallSize"))
    try fields.finish()
    return budget
  }
}

extension InstallBudget {
  package var record: JSON {
    .sorted(Dictionary(uniqueKeysWithValues: named.map { ($0.key, .number($0.bytes)) }))
  }
}

extension PackError.Code {
  /// A merge of two branches left its markers in a record of releases.
  package static let unmergedRecord = Self(rawValue: "unmerged-record")
  /// A recording contradicts the lock file.
  package static let releaseConflict = Self(rawValue: "release-conflict")
  /// The configuration requires a lock file, and there is none.
  package static let missingLock = Self(rawValue: "missing-lock")
}
