/// Computes the content root of a tree (FORMAT.md §4.4) from its records in the order of their paths.
package final class ContentRoot {
  private let digest: any DigestContext
  private var buffer: [UInt8] = []

  package init(backend: any CryptoBackend) throws(PackError) {
    digest = try backend.makeDigest()
    buffer = Array("pack/v1/content-root".utf8) + [0]
  }

  package func add(
    path: Span<UInt8>, kind: IndexRecord.Kind, size: UInt64, digest: Span<UInt8>
  ) throws(PackError) {
    IndexRecord.appendForContentRoot(to: &buffer, path: path, kind: kind, size: size, digest: digest)
    if buffer.count > 16 << 10 { try flush() }
  }

  /// Adds the bytes that ``PackFormat/IndexRecord/appendForContentRoot(to:digest:)`` returned for some records.
  package func add(bytes: [UInt8]) throws(PackError) {
    try flush()
    try digest.update(bytes.byteSpan)
  }

  /// Returns the root, 32 bytes.
  package func finish() throws(PackError) -> [UInt8] {
    try flush()
    return try digest.finish()
  }

  private func flush() throws(PackError) {
    var bytes: [UInt8] = []
    swap(&bytes, &buffer)
    defer { swap(&bytes, &buffer) }
    try digest.update(bytes.byteSpan)
    bytes.removeAll(keepingCapacity: true)
  }
}
