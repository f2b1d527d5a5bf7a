/// The versions of the libraries that this build uses.
package enum LibraryVersions {
  /// One line per library, name and version.
  package static var lines: [String] {
    CryptoBackends.all.map(\.name) + ["libarchive \(libArchiveVersion)", "zstd \(zstdVersion)"]
  }
}
