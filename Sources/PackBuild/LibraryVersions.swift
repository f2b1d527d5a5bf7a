import PackArchive
import PackCrypto
package import PackFormat
import PackPayload

/// The versions of the libraries that this build runs on.
package enum LibraryVersions {
  /// One line per library, name and version.
  package static var lines: [String] {
    CryptoBackends.all.map(\.name) + ["libarchive \(libArchiveVersion)", "zstd \(zstdVersion)"]
  }

  /// Loads libarchive, which verifying always needs, packing for names that take more than one header, and unpacking where headers are not
  /// the usual ones.
  ///
  /// - Throws: ``PackError/Code/internalError`` where the system has none that can be used.
  package static func requireLibArchive() throws(PackError) {
    try LibArchive.require()
  }
}
