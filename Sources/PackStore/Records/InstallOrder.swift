/// What is to be installed.
struct InstallOrder: Sendable {
  let entry: ManifestPack
  let mode: InstallMode

  /// The name in `packs` of a version with its own file or tree.
  var itemName: String { ItemName(id: entry.id, version: entry.version, sha256: entry.sha256, mode: mode).text }

  /// Returns the version if a record has it already, and it is on the device.
  func present(in record: PackRecord, of directory: StoreDirectory) throws(PackError) -> PackRecord.Content? {
    guard let content = record.content(entry.bytes), content.mode == mode, try directory.isPresent(content, of: record) else { return nil }
    return content
  }

  /// - Throws: ``PackError/Code/versionFailed`` if the bytes failed on this device.
  func checkFailure(_ record: PackRecord?) throws(PackError) {
    if let failure = record?.failure(of: entry.bytes) { throw failure }
  }
}
