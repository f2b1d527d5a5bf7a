/// Keeps what spares the decompression of a delta in a file of the store, under the name of the delta in another directory.
///
/// It is removed with the delta, or by the next repair if the delta went in another way.
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

  func keep(_ bytes: [UInt8]) { keepIfPresent(bytes) }

  /// Keeps bytes if the delta is in the store.
  ///
  /// - Returns: whether they were written.
  @discardableResult
  func keepIfPresent(_ bytes: [UInt8]) -> Bool {
    guard (try? directory.status(directory.place(item))) != nil else { return false }
    try? directory.files.makeDirectory(StoreDirectory.digests, mode: 0o755, in: directory.handle)
    do throws(PackError) {
      try directory.replace(StoreDirectory.digests(of: item), with: bytes)
      return true
    } catch {
      return false
    }
  }
}
