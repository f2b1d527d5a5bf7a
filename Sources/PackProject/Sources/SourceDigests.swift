/// Digests of source files.
package enum SourceDigests {
  private static let bufferSize: UInt64 = 256 << 10

  /// Computes the digests of the first `limit` bytes of the entries with these numbers, on several threads.
  ///
  /// - Parameter checkingSecrets: whether a file is a problem if it contains a secret.
  /// - Returns: the digests by number. Files that could not be read are missing; they are in the reader's `sourceProblems`.
  package static func run(
    _ numbers: [Int32], _ entries: [SourceEntry], limit: Int, checkingSecrets: Bool = false, reader: SourceReader,
    backend: any CryptoBackend, jobs: Int, progress: ProgressHandler?
  ) async throws(PackError) -> [Int32: [UInt8]] {
    guard !numbers.isEmpty else { return [:] }
    let total = numbers.reduce(0 as UInt64) { $0 + entries[Int($1)].size }
    let counter = ProgressCounter(.hashing, total: total, handler: progress)
    let next = Monitor(0)
    let results = Monitor<[Int32: [UInt8]]>([:])
    // For little content, starting a thread and clearing a whole buffer take longer than the work.
    let largest = numbers.reduce(0 as UInt64) { max($0, entries[Int($1)].size) }
    let size = Int(min(max(largest, 1), bufferSize))
    try await WorkerPool.run(min(jobs, numbers.count, 1 + Int(total / bufferSize))) { (pool, _) throws(PackError) in
      let digest = try backend.makeDigest()
      var buffer = [UInt8](repeating: 0, count: size)
      while let position = next.count(below: numbers.count) {
        let number = numbers[position]
        let entry = entries[Int(number)]
        guard let file = reader.open(entry, toReadAtOnce: true) else { continue }
        var offset: UInt64 = 0
        let end = min(entry.size, UInt64(limit))
        var scanner = SecretScanner()
        while offset < end {
          try pool.checkpoint()
          let count = Int(min(end - offset, UInt64(buffer.count)))
          var whole = buffer.mutableByteSpan
          var target = whole._mutatingExtracting(first: count)
          guard reader.read(file, entry, at: offset, into: &target) else { break }
          if checkingSecrets, offset == 0 { reader.checkSecrets(entry, start: buffer.byteSpan.extracting(first: count)) }
          if checkingSecrets {
            scanner.add(buffer.byteSpan.extracting(first: count), isLast: offset + UInt64(count) == end)
          }
          try digest.update(buffer.byteSpan.extracting(first: count))
          offset += UInt64(count)
          counter.add(UInt64(count))
        }
        reader.checkSecrets(entry, file, found: scanner.matches)
        let value = try digest.finish()
        if offset == end, reader.confirm(file, entry) { results.withLock { $0[number] = value } }
      }
    }
    return results.withLock { $0 }
  }
}
