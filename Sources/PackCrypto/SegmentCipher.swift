/// Seals and opens the segments of one pack (FORMAT.md §3). It belongs to one worker. Making one costs a key expansion.
package final class SegmentCipher {
  private let layout: SegmentLayout
  private let context: any CipherContext
  /// NP ‖ segment number, big-endian ‖ whether it is the last.
  private var nonce: [UInt8]

  /// Makes a cipher for the segments of `layout`, which determines the last segment.
  package init(
    schedule: borrowing KeySchedule, layout: SegmentLayout, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    self.layout = layout
    context = try backend.makeCipher(key: schedule.segmentKey)
    nonce = Array(schedule.streamHeader[KeySchedule.streamSaltSize...]) + [0, 0, 0, 0, 0]
  }

  /// Encrypts a segment.
  ///
  /// - Parameters:
  ///   - segment: the segment's number, from 0.
  ///   - plaintext: the payload bytes of the segment.
  ///   - ciphertext: exactly 16 bytes longer.
  package func seal(
    segment: UInt64, _ plaintext: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>
  ) throws(PackError) {
    precondition(plaintext.count == layout.payloadRange(ofSegment: segment).count)
    let nonce = nonce(of: segment)
    try context.seal(plaintext, nonce: nonce.byteSpan, into: &ciphertext)
  }

  /// Checks and decrypts a segment.
  ///
  /// - Parameters:
  ///   - segment: the segment's number, from 0.
  ///   - ciphertext: the pack's bytes of the segment, tag included.
  ///   - plaintext: exactly 16 bytes shorter. Contains zeros after a failure.
  /// - Throws: ``PackError/Code/authenticationFailed``.
  package func open(
    segment: UInt64, _ ciphertext: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>
  ) throws(PackError) {
    precondition(ciphertext.count == layout.packRange(ofSegment: segment).count)
    let nonce = nonce(of: segment)
    do {
      try context.open(ciphertext, nonce: nonce.byteSpan, into: &plaintext)
    } catch {
      guard error.code == .authenticationFailed else { throw error }
      throw PackError(
        .authenticationFailed,
        "segment \(segment) of \(layout.segmentCount) fails authentication: it was damaged or changed",
        advice: .fetchAgain)
    }
  }

  /// Whether the last segment of a pack was sealed as one that others follow. If so, the pack was cut off after it.
  ///
  /// - Parameter scratch: as long as the plaintext. Contains zeros afterwards.
  package func wasSealedAsMiddle(
    segment: UInt64, _ ciphertext: Span<UInt8>, scratch: inout MutableSpan<UInt8>
  ) -> Bool {
    var nonce = nonce(of: segment)
    nonce[GCM.nonceSize - 1] = 0
    do {
      try context.open(ciphertext, nonce: nonce.byteSpan, into: &scratch)
    } catch {
      return false
    }
    for index in scratch.indices { scratch[index] = 0 }
    return true
  }

  /// Updates the nonce in place and returns it. Callers release it before the next segment, so nothing is allocated.
  private func nonce(of segment: UInt64) -> [UInt8] {
    // A pack has at most 2^28 segments, so the number fits.
    let number = UInt32(segment)
    for index in 0..<4 {
      nonce[KeySchedule.noncePrefixSize + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
    }
    nonce[GCM.nonceSize - 1] = segment == layout.segmentCount - 1 ? 1 : 0
    return nonce
  }
}
