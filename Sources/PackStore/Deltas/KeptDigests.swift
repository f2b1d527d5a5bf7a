/// Keeps some bytes for each delta, so that opening it again need not decompress it.
///
/// They are the digests of the delta's new contents, encrypted. Bytes that were lost, changed or kept for another delta cost time only: what they say is
/// compared with the content root, and made again.
package protocol DigestKeeper: Sendable {
  /// Returns the bytes that were kept, or nil if there are none or not exactly so many.
  func kept(byteCount: Int) -> [UInt8]?

  /// Keeps bytes in the place of those that were kept. Ignores failures.
  func keep(_ bytes: [UInt8])
}

/// Keeps the digests of one delta in memory. Can be used from any thread.
package final class DigestBuffer: DigestKeeper {
  private let state = Monitor<[UInt8]?>(nil)

  package init() {}

  /// What was kept. Nil if nothing was.
  package var bytes: [UInt8]? { state.withLock { $0 } }

  package func kept(byteCount: Int) -> [UInt8]? { bytes.flatMap { $0.count == byteCount ? $0 : nil } }

  package func keep(_ bytes: [UInt8]) { state.withLock { $0 = bytes } }
}

extension PackSource {
  /// The number of bytes that the digests of so many contents take when they are encrypted.
  static func sealedSize(ofDigests count: Int) -> Int { 32 * count + SegmentLayout.tagSize }

  /// Encrypts a list of digests, with AES-256-GCM and a nonce of zeros. A key is used for one list only: the content root of a delta, which is in the
  /// delta, determines it.
  func seal(digests: [UInt8]) throws(PackError) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: digests.count + SegmentLayout.tagSize)
    var target = sealed.mutableByteSpan
    try makeKeptDigestsCipher().seal(digests.byteSpan, nonce: Self.keptDigestsNonce.byteSpan, into: &target)
    return sealed
  }

  /// Decrypts a list of digests. Returns nil if it was not sealed for this pack.
  func open(digests sealed: [UInt8]) throws(PackError) -> [UInt8]? {
    var digests = [UInt8](repeating: 0, count: sealed.count - SegmentLayout.tagSize)
    var target = digests.mutableByteSpan
    do throws(PackError) {
      try makeKeptDigestsCipher().open(sealed.byteSpan, nonce: Self.keptDigestsNonce.byteSpan, into: &target)
      return digests
    } catch {
      guard error.code == .authenticationFailed else { throw error }
      return nil
    }
  }

  private static let keptDigestsNonce = [UInt8](repeating: 0, count: 12)
}
