/// A pack while it is made: its payload is already at its place in the output, but not encrypted yet.
///
/// The salt depends on every byte of the payload (FORMAT.md §2), so encryption cannot start before the last byte is known. Until then, the payload
/// is in the output itself, with room for the tags. It is then encrypted in place, without a temporary copy elsewhere. Before that, the output
/// holds compressed plaintext. It has no name, so other processes cannot open it, and its blocks are freed when the process ends, however it ends.
/// If the file system has no nameless files, it has a temporary name and no permissions for other users.
final class PackDraft: @unchecked Sendable {
  // One thread at a time may append. After that, any number of threads may read.
  let output: OutputFile
  /// The length of the payload so far, in bytes.
  private(set) var size: UInt64 = 0

  private let files: any FileSystem
  private let bodyOffset: UInt64
  private let segmentSize: UInt64
  private var salt: SaltDerivation

  /// - Parameter header: the header of the pack. Its salt is ignored.
  init(
    _ path: String, header: PackHeader, key: borrowing PackKey, durability: OutputFile.Durability = .synced,
    files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    self.files = files
    segmentSize = UInt64(header.segmentSize)
    // The final header has the same length, because the salt does not change it.
    bodyOffset = UInt64(try HeaderAuthentication.seal(header, key: key, backend: backend).count - SegmentLayout.tinkHeaderSize)
    salt = try SaltDerivation(key: key, header: header, backend: backend)
    output = try OutputFile(files.target(of: path), isHidden: true, durability: durability, files: files)
  }

  /// Appends to the payload, and writes the bytes at the places of their segments.
  func append(_ bytes: Span<UInt8>) throws(PackError) {
    try salt.update(bytes)
    let capacity = segmentSize - UInt64(SegmentLayout.tagSize)
    var done = 0
    while done < bytes.count {
      let position = size + UInt64(SegmentLayout.tinkHeaderSize)
      let inner = position % capacity
      let count = Int(min(capacity - inner, UInt64(bytes.count - done)))
      let offset = bodyOffset + position / capacity * segmentSize + inner
      do {
        try files.writeAll(output.file, at: offset, bytes.extracting(done..<done + count))
      } catch {
        throw failure(error, missing: UInt64(bytes.count - done), from: offset)
      }
      done += count
      size += UInt64(count)
    }
  }

  /// Returns the salt, which is derived from the whole payload.
  func makeSalt(random: [UInt8]?) throws(PackError) -> [UInt8] {
    try salt.salt(random: random)
  }

  /// Reads bytes of the output from `offset`.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    try files.readExactly(output.file, at: offset, into: &buffer, name: output.path)
  }

  /// Returns the error of a failed write at `offset`. The missing bytes in it are a lower bound, because more payload may follow.
  private func failure(_ error: FileFailure, missing: UInt64, from offset: UInt64) -> PackError {
    // A part of the bytes may have been written before the disk was full.
    let end = (try? files.status(of: output.file).size) ?? offset
    let missing = missing - min(missing, end - min(end, offset))
    guard error.isFullDisk, let free = try? files.freeSpace(at: output.file) else { return error.writing(output.path) }
    return error.writing(output.path, missingBytes: missing > free ? missing - free : 1, isLowerBound: true)
  }
}
