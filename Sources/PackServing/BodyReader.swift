/// Reads a response body from its first byte to its last. Only one thread may read at a time; concurrent reads trap.
///
/// Between two pieces, the reader holds only the state of a digest and no content, however long the caller waits. While a piece is read and passed
/// on, it takes the memory of one concurrent operation of ``Pack``, which also says what a pack keeps.
public final class BodyReader: Sendable {
  private struct State {
    /// The number of the next part, and how many bytes of it were already passed on.
    var part = 0
    var position: UInt64 = 0
    var decryptedBytes: UInt64 = 0
    var digest: (any DigestContext)?
    var failure: PackError?
    var isBusy = false
  }

  private let body: PackBody
  private let state: Monitor<State>

  init(_ body: PackBody) {
    self.body = body
    state = Monitor(State(decryptedBytes: body.decryptedBytes))
  }

  /// The length of the body in bytes.
  package var length: UInt64 { body.length }

  /// The number of bytes of the pack decrypted so far.
  public var decryptedBytes: UInt64 { state.withLock { $0.decryptedBytes } }

  /// Reads the next piece and passes it to `receive`. Returns false if there are no more pieces.
  ///
  /// A piece is at most one frame. Bytes that are in one frame come in one piece. The call blocks its thread while it reads. The digest of a whole
  /// file is checked before its last piece is passed on, unless the file is larger than ``PackResponder/Options/digestLimit``. A part of a file is
  /// authenticated by the tags of its segments only. After an error, every further call throws that error.
  ///
  /// - Parameter receive: receives the piece, which is valid only until it returns. It may use the pack, but not this reader.
  public func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    var current = state.withLock { state in
      precondition(!state.isBusy, "two threads read one body")
      state.isBusy = true
      return state
    }
    defer {
      current.isBusy = false
      state.withLock { $0 = current }
    }
    if let failure = current.failure { throw failure }
    do throws(PackError) {
      return try step(&current, receive)
    } catch {
      if error.code != .notArrived { current.failure = error }
      throw error
    }
  }

  private func step(
    _ current: inout State, _ receive: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) -> Bool {
    guard current.part < body.parts.count else { return false }
    switch body.parts[current.part] {
    case .text(let bytes):
      try receive(bytes.byteSpan)
      current.part += 1
    case .content(let entry, let range):
      try content(of: entry, range, &current, receive)
    }
    return true
  }

  private func content(
    of entry: Entry, _ range: Range<UInt64>, _ current: inout State, _ receive: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    let isWhole = range == 0..<entry.size
    if isWhole, current.position == 0, entry.size <= body.digestLimit { current.digest = try body.pack.source.backend.makeDigest() }
    let digest = isWhole ? current.digest : nil
    let start = range.lowerBound + current.position
    var decryptedBytes: UInt64 = 0
    defer { current.decryptedBytes += decryptedBytes }
    let end = try body.pack.withPiece(
      of: entry, start..<range.upperBound, decryptedBytes: &decryptedBytes
    ) { (piece) throws(PackError) in
      let end = start + UInt64(piece.count)
      if let digest {
        try digest.update(piece)
        if end == entry.size, try digest.finish() != entry.sha256 {
          throw PackReader.digestMismatch(entry.path).about(body.pack.source)
        }
      }
      try receive(piece)
      return end
    }
    if end == range.upperBound {
      current.digest = nil
      current.part += 1
      current.position = 0
    } else {
      current.position = end - range.lowerBound
    }
  }
}
