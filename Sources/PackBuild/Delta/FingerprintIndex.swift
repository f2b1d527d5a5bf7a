/// A table of fingerprints of the bases' contents, to find where the bytes of a new content occur in them.
///
/// A fingerprint is a hash of ``width`` bytes. The contents are sampled at equal distances, and a new content is looked up at every byte, so every
/// match of spacing + width − 1 bytes is found, wherever it is. Different bytes may have the same fingerprint. Then a range is useless, and nothing is
/// wrong.
///
/// The table depends only on the contents and their order. Takes up to 12 bytes for each sample.
struct FingerprintIndex: Sendable {
  /// The number of bytes that a fingerprint covers.
  static let width = 16
  /// The most samples with the same fingerprint that are remembered: the first ones.
  static let mostCandidates = 8

  /// By number of the sample: its fingerprint, or 0 if there is no sample.
  private let fingerprints: [UInt32]
  /// A hash table with linear probing: numbers of samples, counted from 1, or 0 for a free slot.
  private var slots: [UInt32]
  private let shift: UInt64
  private let spacing: UInt64

  /// - Parameter fingerprints: by address of the sample divided by the spacing, its fingerprint, or 0 if there is no sample.
  init(_ fingerprints: [UInt32], spacing: UInt64) {
    self.fingerprints = fingerprints
    self.spacing = spacing
    var bits = 8
    // At most three slots of four are taken.
    while (1 << bits) * 3 < fingerprints.count * 4 { bits += 1 }
    shift = UInt64(64 - bits)
    slots = [UInt32](repeating: 0, count: 1 << bits)
    // Of a run of equal bytes, the first sample is enough.
    for number in fingerprints.indices
    where fingerprints[number] != 0 && (number == 0 || fingerprints[number] != fingerprints[number - 1]) {
      insert(number)
    }
  }

  private mutating func insert(_ number: Int) {
    var place = slot(fingerprints[number])
    var equal = 0
    while slots[place] != 0 {
      if fingerprints[Int(slots[place]) - 1] == fingerprints[number] {
        equal += 1
        guard equal < Self.mostCandidates else { return }
      }
      place = (place + 1) & (slots.count - 1)
    }
    slots[place] = UInt32(number + 1)
  }

  private func slot(_ fingerprint: UInt32) -> Int {
    Int(truncatingIfNeeded: (UInt64(fingerprint) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Calls `body` with the address of each remembered sample that has a fingerprint, ascending.
  @inline(__always)
  func forEachCandidate(_ fingerprint: UInt32, _ body: (UInt64) -> Void) {
    var place = slot(fingerprint)
    while slots[place] != 0 {
      let number = Int(slots[place]) - 1
      if fingerprints[number] == fingerprint { body(UInt64(number) * spacing) }
      place = (place + 1) & (slots.count - 1)
    }
  }

  /// Whether a sample starts at an address and has a fingerprint. Also finds samples that are not remembered as candidates.
  @inline(__always)
  func hasSample(_ fingerprint: UInt32, at address: Int64) -> Bool {
    guard address >= 0, UInt64(address) & (spacing - 1) == 0 else { return false }
    let number = Int(UInt64(address) / spacing)
    return number < fingerprints.count && fingerprints[number] == fingerprint
  }

  /// Returns the fingerprint of the bytes at `place`, of which there must be ``width``; never 0.
  @inline(__always)
  static func fingerprint(_ bytes: Span<UInt8>, at place: Int) -> UInt32 {
    precondition(place >= 0 && place <= bytes.count - width)
    let first = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self))
    let second = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place + 8, as: UInt64.self))
    let product = (first ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: second ^ 0xE703_7ED1_A0B4_28DB)
    let hash = product.high ^ product.low
    return max(1, UInt32(truncatingIfNeeded: hash ^ hash >> 32))
  }
}
