#if canImport(Darwin)
  import Foundation
#endif

/// Excludes a directory from backups of the device, on Apple platforms.
package enum BackupExclusion {
  /// Sets the resource value and ignores errors. If it fails, backups are only larger than necessary: after a restore,
  /// ``AssetStore/reconcile(_:)`` repairs the store.
  package static func exclude(_ path: String) {
    #if canImport(Darwin)
      var url = URL(fileURLWithPath: path, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
    #endif
  }
}
