import PackFiles
import PackFormat
import PackReading

/// Keeps what spares the decompression of a delta in a file of the store, under the name of the delta in another directory.
///
/// It is removed with the delta.
struct StoredDigests: DigestKeeper {
  private let directory: StoreDirectory
  private let item: String

  /// - Parameter item: The name of the delta in `packs`.
  init(_ directory: StoreDirectory, _ item: String) {
    self.directory = directory
    self.item = item
  }

  func kept(byteCount: Int) -> [UInt8]? {
    guard let bytes = try? directory.contents(of: StoreDirectory.digests(of: item), limit: byteCount), bytes.count == byteCount else {
      return nil
    }
    return bytes
  }

  func keep(_ bytes: [UInt8]) {
    try? directory.files.makeDirectory(StoreDirectory.digests, mode: 0o755, in: directory.handle)
    try? directory.replace(StoreDirectory.digests(of: item), with: bytes)
  }
}
