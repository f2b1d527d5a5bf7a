import PackCrypto
public import PackFormat
import PackPayload
import PackReading
import PackWork

/// Reads a body from its first byte to its last. One owner's at a time: it traps where two threads read at once.
///
/// Between two pieces it holds the state of a digest and nothing of the content, however long the owner waits. While a piece is read and handed out it
/// takes what one reader of a pack takes: one frame with a block of 128 KiB, and 128 KiB of segments. A pack keeps the buffers of four
/// readers that are done, with the frames in them.
public final class BodyReader: Sendable {
  private struct State {
    /// The number of the part that comes next, and how much of it was handed out already.
    var part = 0
    var position: UInt64 = 0
    var decryptedBytes: UInt64 = 0
    var digest: (any DigestContext)?
    var failure: PackError?
    var isBusy = false
  }

  private let body: PackBody
  private let state = Monitor(State())

  init(_ body: PackBody) {
    self.body = body
  }

  /// The bytes of the pack that were decrypted so far to make those that were handed out.
  public var decryptedBytes: UInt64 { state.withLock { $0.decryptedBytes } }

  /// Reads the next piece, lends it to `receive`, and returns whether there was one: false at the end.
  ///
  /// A piece is at most one frame, and what lies in one frame comes in one piece. Blocks its thread while it reads. The digest of a whole file is
  /// checked before its last piece is handed out, unless the file is larger than ``PackResponder/Options/digestLimit``; a part of a file rests on the tags of its segments. After an error every call throws that error again.
  ///
  /// - Parameter receive: takes the piece, which is gone when it returns. It may use the pack, but not this reader.
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
      current.failure = error
      throw error
    }
  }

  private func step(
    _ current: inout State, _ receive: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) -> Bool {
    guard current.part < body.parts.count else { return false }
    switch body.parts[current.part] {
    case .text(let bytes):
      try receive(bytes.span)
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
