/// Writes the decrypted payload of a pack to a file: a `.tar.zst` that ordinary tools can read.
package enum PayloadExport {
  /// Decrypts the pack at `path`. The output appears whole or not at all, and is readable by its owner only.
  ///
  /// - Returns: the length of the output in bytes.
  package static func run(
    _ path: String, to output: String, key: borrowing PackKey, progress: ProgressHandler? = nil
  ) async throws(PackError) -> UInt64 {
    let pack = try Pack.open(path, key: key)
    let file = try OutputFile(output, mode: 0o600, files: pack.source.files)
    let size = pack.layout.payloadSize
    try file.reserve(size)
    let counter = ProgressCounter(.verifying, total: size, handler: progress)
    try await WorkerPool.run(1) { (pool, _) throws(PackError) in
      let reader = try SegmentReader(pack.source)
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      defer { wipe(&buffer) }
      var offset: UInt64 = 0
      while offset < size {
        try pool.checkpoint()
        let count = Int(min(size - offset, UInt64(buffer.count)))
        do {
          var whole = buffer.mutableByteSpan
          var target = whole._mutatingExtracting(first: count)
          try reader.read(at: offset, into: &target)
        }
        try file.write(buffer.byteSpan.extracting(first: count), at: offset, of: size)
        offset += UInt64(count)
        counter.add(UInt64(count))
      }
    }
    try file.commit()
    return size
  }
}
