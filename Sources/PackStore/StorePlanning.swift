import PackFormat
import PackManifest
import PackTrust
import PackWork

/// Compares the installed packs with a manifest. Reads records and changes nothing.
struct StorePlanning {
  private let directory: StoreDirectory

  init(_ directory: StoreDirectory) {
    self.directory = directory
  }

  func plan(for manifest: VerifiedManifest) throws(PackError) -> UpdatePlan {
    var records: [String: PackRecord] = [:]
    for record in try directory.records() { records[record.id] = record }
    var downloads: [ManifestPack] = []
    var installed: [String] = []
    var failed: [ManifestPack] = []
    let device = directory.device.withLock { $0 }
    for entry in manifest.manifest.packs where device.accepts(entry) {
      let record = records.removeValue(forKey: entry.id)
      if record?.hasFailed(entry.bytes) == true {
        failed.append(entry)
      } else if record?.content(entry.bytes) != nil {
        installed.append(entry.id)
      } else {
        downloads.append(entry)
      }
    }
    let obsolete = records.values.sorted { $0.id < $1.id }.flatMap { record in record.contents.map { directory.installed($0, of: record) } }
    let largestUnpacked = downloads.filter { $0.install == .unpacked }.map(\.size).max() ?? 0
    return UpdatePlan(
      downloads: downloads, installed: installed, failed: failed, obsolete: obsolete,
      downloadSize: downloads.reduce(0) { $0.adding($1.size) },
      peakSize: downloads.reduce(largestUnpacked) { $0.adding($1.sizeOnDevice) })
  }
}

extension ManifestPack {
  /// The version and SHA-256 of the pack file that the entry names.
  package var bytes: PackRecord.Bytes { PackRecord.Bytes(version: version, sha256: sha256) }
}
