import PackCrypto
import PackFiles
import PackFormat

/// The finished payload between compression and encryption: the salt depends on all of it (FORMAT.md §2).
///
/// Keeps up to 16 MiB in memory, and the rest in a file that has no name. That file holds compressed plaintext, readable by its
/// owner only, and its blocks are free again when the process ends, however it ends.
final class PayloadSpool: @unchecked Sendable {
  /// The length so far, in bytes.
  private(set) var size: UInt64 = 0

  private let output: String
  private let files: any FileSystem
  private let salt: SaltDerivation
  private var tags: [UInt8] = []
  private var current: [UInt8] = []
  private var memory: [[UInt8]] = []
  private var file: OpenFile?

  private static let piece = Limits.saltPiece
  private static let piecesInMemory = 16

  // Appending is for one thread at a time; when it has ended, any number may read.
  init(output: String, salt: consuming SaltDerivation, files: any FileSystem) {
    self.output = output
    self.salt = salt
    self.files = files
    current.reserveCapacity(Self.piece)
  }

  deinit {
    wipe(&tags)
    wipe(&current)
    for index in memory.indices { wipe(&memory[index]) }
  }

  func append(_ bytes: Span<UInt8>) throws(PackError) {
    var rest = 0
    while rest < bytes.count {
      let count = min(Self.piece - current.count, bytes.count - rest)
      current.append(copying: bytes.extracting(rest..<rest + count))
      rest += count
      size += UInt64(count)
      if current.count == Self.piece { try close() }
    }
  }

  /// Ends the payload and derives the salt from it.
  func finish(random: [UInt8]?) throws(PackError) -> [UInt8] {
    if !current.isEmpty { try close() }
    return try salt.salt(tags: tags, payloadSize: size, random: random)
  }

  /// Reads the bytes from `offset` on.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    var done = 0
    while done < buffer.count {
      let position = offset + UInt64(done)
      let number = Int(position / UInt64(Self.piece))
      let start = Int(position % UInt64(Self.piece))
      let count = min(Self.piece - start, buffer.count - done)
      var target = buffer._mutatingExtracting(done..<done + count)
      if number < memory.count {
        let piece = memory[number]
        copy(piece.span.extracting(start..<start + count), to: &target)
      } else if let file {
        try files.readExactly(
          file, at: position - UInt64(Self.piecesInMemory * Self.piece), into: &target, name: "the spool of \(output)")
      }
      done += count
    }
  }

  private func close() throws(PackError) {
    var piece: [UInt8] = []
    swap(&piece, &current)
    tags += try salt.tag(of: piece.span)
    if memory.count < Self.piecesInMemory {
      memory.append(piece)
      current.reserveCapacity(Self.piece)
      return
    }
    let file = if let made = self.file { made } else { try makeFile() }
    self.file = file
    let position = size - UInt64(Self.piecesInMemory * Self.piece) - UInt64(piece.count)
    do {
      try files.writeAll(file, at: position, piece.span)
    } catch {
      throw failure(error, file)
    }
    piece.removeAll(keepingCapacity: true)
    swap(&piece, &current)
  }

  private func makeFile() throws(PackError) -> OpenFile {
    let staging = try StagedName(for: output, files: files)
    return try staging.makeNameless { [files] (name, directory) throws(FileFailure) in
      try files.open(name, .create(mode: 0o600), in: directory)
    }
  }

  /// The pack will be at least as large as what stands here, and both must fit.
  private func failure(_ error: FileFailure, _ file: OpenFile) -> PackError {
    guard error.isFullDisk, let free = try? files.freeSpace(at: file) else { return error.writing(output) }
    return error.writing(output, missingBytes: size > free ? size - free : size, isLowerBound: true)
  }
}
