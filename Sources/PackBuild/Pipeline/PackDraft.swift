import PackCrypto
import PackFiles
import PackFormat

/// A pack while it is made: its payload, already at its place in the output, but not encrypted yet.
///
/// The salt depends on every byte of the payload (FORMAT.md §2), so nothing can be encrypted before the last byte is there. The payload
/// waits in the output itself, with room for the tags, and is encrypted where it lies; nothing is written to the disk twice elsewhere. Until
/// then the output holds compressed plaintext: it has no name, so nobody else can open it, and its blocks are free again when the process
/// ends, however it ends.
final class PackDraft: @unchecked Sendable {
  // Appending is for one thread at a time; when it has ended, any number may read.
  let output: OutputFile
  /// The length of the payload so far, in bytes.
  private(set) var size: UInt64 = 0

  private let files: any FileSystem
  private let bodyOffset: UInt64
  private let segmentSize: UInt64
  private var salt: SaltDerivation

  /// - Parameter header: the header of the pack; its salt is not looked at.
  init(
    _ path: String, header: PackHeader, key: borrowing PackKey, durability: OutputFile.Durability = .synced,
    files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    self.files = files
    segmentSize = UInt64(header.segmentSize)
    // As long as the one that will stand there: a salt does not change its length.
    bodyOffset = UInt64(try HeaderAuthentication.seal(header, key: key, backend: backend).count - SegmentLayout.tinkHeaderSize)
    salt = try SaltDerivation(key: key, header: header, backend: backend)
    output = try OutputFile(path, isHidden: true, durability: durability, files: files)
  }

  /// Adds to the payload, and writes it to where its segments will lie.
  func append(_ bytes: Span<UInt8>) throws(PackError) {
    try salt.update(bytes)
    let capacity = segmentSize - UInt64(SegmentLayout.tagSize)
    var done = 0
    while done < bytes.count {
      let position = size + UInt64(SegmentLayout.tinkHeaderSize)
      let inner = position % capacity
      let count = Int(min(capacity - inner, UInt64(bytes.count - done)))
      do {
        try files.writeAll(
          output.file, at: bodyOffset + position / capacity * segmentSize + inner, bytes.extracting(done..<done + count))
      } catch {
        throw failure(error, missing: UInt64(bytes.count - done))
      }
      done += count
      size += UInt64(count)
    }
  }

  /// The salt that follows from the whole payload.
  func makeSalt(random: [UInt8]?) throws(PackError) -> [UInt8] {
    try salt.salt(random: random)
  }

  /// Reads what lies in the output from `offset` on.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    try files.readExactly(output.file, at: offset, into: &buffer, name: output.path)
  }

  /// More payload may come than is known to be missing.
  private func failure(_ error: FileFailure, missing: UInt64) -> PackError {
    guard error.isFullDisk, let free = try? files.freeSpace(at: output.file) else { return error.writing(output.path) }
    return error.writing(output.path, missingBytes: missing > free ? missing - free : 1, isLowerBound: true)
  }
}
