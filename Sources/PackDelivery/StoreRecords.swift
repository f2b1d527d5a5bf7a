/// What is on the device, as the records of its store say, for a process that does not open the store: the downloader extension.
///
/// The store replaces its records as a whole, so that reading them takes no lock.
struct StoreRecords {
  private let directory: RecordDirectory

  /// - Returns: nil if there is no store yet.
  init?(_ path: String, files: any FileSystem) throws(PackError) {
    let form = RecordDirectory.Form("packer-store/1", in: "store", isPrivate: false)
    guard let directory = try reading(path, ifPresent(RecordDirectory(opening: path, form, files: files))) else { return nil }
    self.directory = directory
  }

  /// Returns the versions of a pack that are installed, and those that were rejected. None if the record cannot be read: the store makes it anew, and
  /// finds what is there.
  func versions(of id: String) throws(PackError) -> [DevicePack] {
    guard let record = try record(of: id) else { return [] }
    let failed = record.failures.filter { record.content($0.bytes) == nil }
    return record.contents.map { content in
      DevicePack(
        id: id, version: content.bytes.version, sha256: content.bytes.sha256, mode: content.mode,
        isRejected: record.hasFailed(content.bytes), contentRoot: content.isSealed ? nil : content.contentRoot)
    }
      + failed.map { DevicePack(id: id, version: $0.bytes.version, sha256: $0.bytes.sha256, mode: .packed, isRejected: true) }
  }

  /// Returns what became of a candidate of a pack. A trial whose process has ended counts as running: the app decides it.
  func standing(of candidate: PackRecord.Bytes, _ id: String) throws(PackError) -> RolloutChoice.Standing {
    try record(of: id)?.standing(of: candidate) ?? .other
  }

  private func record(of id: String) throws(PackError) -> PackRecord? {
    guard case .file(let bytes)? = try directory.contents(of: "state/\(PackName.fileName(of: id))", limit: PackRecord.largestSize) else {
      return nil
    }
    return try? PackRecord(parsing: bytes, id: id)
  }

  /// Whether the store has moved the file of a download to its place. For a moment, or if its process ended, no record names it.
  func hasTaken(_ file: DownloadIdentifier) throws(PackError) -> Bool { try directory.status("packs/\(file).pack") != nil }
}
