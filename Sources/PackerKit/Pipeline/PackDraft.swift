import PackCrypto
import PackFiles
import PackFormat
import PackRuntime

/// A pack while it is made: its payload, already at its place in the output, but not encrypted yet.
///
/// The salt depends on every byte of the payload (FORMAT.md §2), so nothing can be encrypted before the last byte is there. The payload
/// waits in the output itself, with room for the tags, and is encrypted where it lies; nothing is written to the disk twice elsewhere. Until
/// then the output holds compressed plaintext: it has no name, so nobody else can open it, and its blocks are free again when the process
/// ends, however it ends.
final class PackDraft: Sendable {
  let output: OutputFile

  private struct State {
    var size: UInt64 = 0
    var current: [UInt8] = []
    /// Pieces that wait to be written, with their numbers.
    var full: [(number: Int, bytes: [UInt8])] = []
    var spare: [[UInt8]] = []
    var tags: [UInt8] = []
    var taggers: [Tagger]
  }

  /// Makes tags. One thread's at a time.
  private final class Tagger: @unchecked Sendable {
    let salt: SaltDerivation

    init(_ salt: consuming SaltDerivation) {
      self.salt = salt
    }
  }

  private let files: any FileSystem
  private let bodyOffset: UInt64
  private let segmentSize: UInt32
  private let state: Monitor<State>
  /// Held while a piece is written. Writers to one file wait for each other in the system too, but there they turn in circles.
  private let writing = Monitor(())

  private static let piece = Limits.saltPiece
  /// Tags are made faster than anything else: more hands than these would be idle.
  private static let mostTaggers = 8

  /// - Parameters:
  ///   - header: the header of the pack; its salt is not looked at.
  ///   - jobs: the number of threads that will call ``flush()``.
  init(
    _ path: String, header: PackHeader, key: borrowing PackKey, jobs: Int, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    self.files = files
    segmentSize = header.segmentSize
    // As long as the one that will stand there: a salt does not change its length.
    bodyOffset = UInt64(try HeaderAuthentication.seal(header, key: key, backend: backend).count - SegmentLayout.tinkHeaderSize)
    var taggers: [Tagger] = []
    for _ in 0..<min(jobs, Self.mostTaggers) {
      taggers.append(Tagger(try SaltDerivation(key: key, header: header, backend: backend)))
    }
    state = Monitor(State(taggers: taggers))
    output = try OutputFile(path, isHidden: true, files: files)
  }

  deinit {
    state.withLock { wipe(&$0.tags) }
  }

  /// The length of the payload so far, in bytes.
  var size: UInt64 { state.withLock { $0.size } }

  /// Adds to the payload. For one thread at a time; what fills a piece waits for ``flush()``.
  func append(_ bytes: Span<UInt8>) {
    state.withLock { state in
      var done = 0
      while done < bytes.count {
        if state.current.capacity == 0 { state.current.reserveCapacity(Self.piece) }
        let count = min(Self.piece - state.current.count, bytes.count - done)
        state.current.append(copying: bytes.extracting(done..<done + count))
        done += count
        state.size += UInt64(count)
        if state.current.count == Self.piece { Self.close(&state) }
      }
    }
  }

  private static func close(_ state: inout State) {
    let number = Int((state.size - 1) / UInt64(piece))
    var next = state.spare.popLast() ?? []
    swap(&next, &state.current)
    state.full.append((number, next))
    state.tags.append(contentsOf: [UInt8](repeating: 0, count: SaltDerivation.tagSize))
  }

  /// Tags and writes the pieces that are full. For any number of threads; each takes what the others have not.
  func flush() throws(PackError) {
    while var piece = state.withLock({ $0.full.popLast() }) {
      let number = piece.number
      let tagger = state.wait { $0.taggers.popLast() }
      defer { state.update { $0.taggers.append(tagger) } }
      let tag = try tagger.salt.tag(of: piece.bytes.span)
      do {
        try writing.withLock { (_) throws(FileFailure) in
          try write(piece.bytes.span, at: UInt64(number) * UInt64(Self.piece))
        }
      } catch {
        throw failure(error)
      }
      piece.bytes.removeAll(keepingCapacity: true)
      state.withLock { state in
        state.tags.replaceSubrange(SaltDerivation.tagSize * number..<SaltDerivation.tagSize * (number + 1), with: tag)
        state.spare.append(piece.bytes)
      }
    }
  }

  /// Writes payload to where its segments will lie.
  private func write(_ bytes: Span<UInt8>, at offset: UInt64) throws(FileFailure) {
    let capacity = UInt64(segmentSize) - UInt64(SegmentLayout.tagSize)
    var done = 0
    while done < bytes.count {
      let position = offset + UInt64(done) + UInt64(SegmentLayout.tinkHeaderSize)
      let inner = position % capacity
      let count = Int(min(capacity - inner, UInt64(bytes.count - done)))
      try files.writeAll(
        output.file, at: bodyOffset + position / capacity * UInt64(segmentSize) + inner,
        bytes.extracting(done..<done + count))
      done += count
    }
  }

  /// Writes what is left and derives the salt from the whole payload.
  func finish(random: [UInt8]?) throws(PackError) -> [UInt8] {
    state.withLock { if !$0.current.isEmpty { Self.close(&$0) } }
    try flush()
    let (tags, size, tagger) = state.withLock { ($0.tags, $0.size, $0.taggers[0]) }
    return try tagger.salt.salt(tags: tags, payloadSize: size, random: random)
  }

  /// Reads what lies in the output from `offset` on.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    try files.readExactly(output.file, at: offset, into: &buffer, name: output.path)
  }

  /// What is compressed but not written needs space, and more may come.
  private func failure(_ error: FileFailure) -> PackError {
    guard error.isFullDisk, let free = try? files.freeSpace(at: output.file), let status = try? files.status(of: output.file) else {
      return error.writing(output.path)
    }
    let needed = size - min(size, status.size)
    return error.writing(output.path, missingBytes: needed > free ? needed - free : 1, isLowerBound: true)
  }
}
