/// The bytes of the tar that contain the next header, while a reader goes through the tar.
///
/// Another tool may interpret the bytes of a header differently from libarchive. So every header must be the one that a writer makes for the entry
/// (FORMAT.md §4.2.2, §4.2.3).
final class HeaderBytes {
  private var bytes: [UInt8] = []
  /// The offset of `bytes` in the tar.
  private var start: UInt64 = 0
  /// The offset from which bytes are still needed.
  private var kept: UInt64 = 0

  /// Appends the next piece of the tar. The bytes between it and the previous piece are missing, and contain no header.
  func append(_ piece: TarPiece) {
    if piece.start > start + UInt64(bytes.count) {
      bytes.removeAll(keepingCapacity: true)
      start = piece.start
    }
    append(piece.bytes)
  }

  /// Appends bytes of the tar that directly follow the previous ones.
  func append(_ piece: some RandomAccessCollection<UInt8>) {
    // Bytes are removed here and not for every entry: moving the rest of a frame for each of its headers takes quadratic time.
    let passed = kept > start ? min(Int(kept - start), bytes.count) : 0
    bytes.removeSubrange(..<passed)
    start += UInt64(passed)
    let end = start + UInt64(bytes.count)
    if end <= kept {
      // All bytes here belong to the content of an entry.
      bytes.removeAll(keepingCapacity: true)
      start = end
      let pieceEnd = end + UInt64(piece.count)
      guard pieceEnd > kept else {
        start = pieceEnd
        return
      }
      bytes += piece.dropFirst(Int(kept - end))
      start = kept
    } else {
      bytes += piece
    }
  }

  /// Allows the bytes before `offset` to be dropped.
  func drop(before offset: UInt64) {
    kept = offset
  }

  /// Returns whether the bytes of `range` are the headers that a writer makes.
  func areWritten(_ range: Range<UInt64>, for header: TarHeader) -> Bool {
    guard range.lowerBound >= start, range.upperBound <= start + UInt64(bytes.count) else { return false }
    let (held, written) = (bytes, header.bytes)
    return equal(held.byteSpan.extracting(Int(range.lowerBound - start)..<Int(range.upperBound - start)), written.byteSpan)
  }
}
