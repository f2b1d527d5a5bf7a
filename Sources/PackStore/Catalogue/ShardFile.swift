/// The file of a shard (FORMAT.md §9.7): one zstd frame of JSON.
package enum ShardFile {
  /// Checks that a file is the shard that a manifest names.
  ///
  /// - Throws: ``PackError/Code/wrongShard`` if it is another file: truncated, changed, or of another release.
  package static func check(_ bytes: Span<UInt8>, as shard: Shard, backend: any CryptoBackend) throws(PackError) {
    guard UInt64(bytes.count) == shard.size else {
      throw PackError(.wrongShard, "\(shard.fileName) is \(bytes.count) bytes, but the manifest says \(shard.size)", advice: .fetchAgain)
    }
    guard try backend.digest(of: bytes) == shard.sha256 else {
      throw PackError(
        .wrongShard, "\(shard.fileName) is not the file that the manifest names: its SHA-256 differs", advice: .fetchAgain)
    }
  }

  /// Returns the packs of a shard. Memory: its JSON, at most 1 MiB, and the entries, about 1 KB each.
  ///
  /// - Throws: ``PackError/Code/wrongShard`` if the file is another one, ``PackError/Code/damagedManifest`` if it is the right one and breaks a rule.
  package static func packs(
    _ bytes: Span<UInt8>, _ number: Int, of manifest: Manifest, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> [ManifestPack] {
    let shard = manifest.catalogue[number]
    try check(bytes, as: shard, backend: backend)
    let json = try decompress(bytes, shard)
    return try ShardContent.packs(parsing: json.byteSpan, number, of: manifest, backend: backend)
  }

  /// Decompresses a shard into a buffer of exactly the size that the manifest says, which is at most 1 MiB.
  private static func decompress(_ bytes: Span<UInt8>, _ shard: Shard) throws(PackError) -> [UInt8] {
    guard (1...Shard.largestContentSize).contains(shard.contentSize) else {
      throw PackError(.damagedManifest, "\(shard.fileName) would be \(shard.contentSize) bytes")
    }
    var content = [UInt8](repeating: 0, count: Int(shard.contentSize))
    var span = content.mutableByteSpan
    do throws(PackError) {
      try DecompressionContext().decompress(bytes, into: &span, name: shard.fileName)
    } catch {
      guard error.code == .damagedPayload else { throw error }
      throw PackError(.damagedManifest, error.message)
    }
    return content
  }
}

extension PackError.Code {
  /// A file is not the shard of the catalogue that the manifest names: it was truncated, changed, or belongs to another release.
  package static let wrongShard = Self(rawValue: "wrong-shard")
}
