import PackArchive
import PackCrypto
import PackPayload

/// The versions of the libraries that this build runs on.
public enum LibraryVersions {
  /// One line per library, name and version.
  public static var lines: [String] {
    CryptoBackends.all.map(\.name) + ["libarchive \(libArchiveVersion)", "zstd \(zstdVersion)"]
  }
}
