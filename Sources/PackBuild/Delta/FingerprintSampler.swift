/// Takes the fingerprints of one content, which arrives in pieces of any length.
struct FingerprintSampler {
  /// The fingerprints of the samples so far, in order.
  private(set) var fingerprints: [UInt32] = []
  private let spacing: Int
  /// The bytes that were added and are not sampled yet.
  private var rest: [UInt8] = []
  /// The place of the next sample in `rest`. Beyond its end if the samples lie far apart.
  private var next = 0

  init(spacing: UInt64) {
    self.spacing = Int(spacing)
  }

  /// Adds the next bytes of the content.
  mutating func add(_ piece: Span<UInt8>) {
    rest.append(copying: piece)
    while next + FingerprintIndex.width <= rest.count {
      fingerprints.append(FingerprintIndex.fingerprint(rest.byteSpan, at: next))
      next += spacing
    }
    let done = min(next, rest.count)
    rest.removeSubrange(..<done)
    next -= done
  }
}
