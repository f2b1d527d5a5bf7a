#if canImport(Darwin)
  import Foundation
#endif

/// Keeps a directory out of backups of the device, where the platform has such.
enum BackupExclusion {
  /// Does what it can. A backup that holds a store is larger than it must be, and nothing else: ``AssetStore/reconcile(_:)`` sets right what comes back of it.
  static func exclude(_ path: String) {
    #if canImport(Darwin)
      var url = URL(fileURLWithPath: path, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
    #endif
  }
}
