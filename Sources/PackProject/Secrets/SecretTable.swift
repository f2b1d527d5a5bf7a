/// The tables with which candidates are found, made once from all rules.
struct SecretTable: Sendable {
  /// One bit for each hash of three bytes: whether a candidate may be here.
  let bits: [UInt64]
  /// The four bytes that are searched for, in an open hash table; 0 where it is empty.
  private let keys: [UInt32]
  /// For each of them, the range in ``candidates``.
  private let ranges: [Range<Int32>]
  private let candidates: [Candidate]

  /// A literal that may be where four bytes were found.
  struct Candidate: Sendable {
    /// The number of the rule.
    let rule: Int
    let literal: SecretRule.Literal
  }

  static let standard = SecretTable(SecretRule.all)

  init(_ rules: [SecretRule]) {
    var found: [UInt32: [Candidate]] = [:]
    for (number, rule) in rules.enumerated() {
      for literal in rule.literals {
        let key = (0..<4).reduce(0 as UInt32) { $0 | UInt32(literal.bytes[literal.anchor + $1]) << UInt32(8 * $1) }
        found[key, default: []].append(Candidate(rule: number, literal: literal))
      }
    }
    // The start of a conflict has no rule.
    found[Self.conflict, default: []] += []
    var bits = [UInt64](repeating: 0, count: Self.bitCount / 64)
    var keys = [UInt32](repeating: 0, count: Self.keyCount)
    var ranges = [Range<Int32>](repeating: 0..<0, count: Self.keyCount)
    var candidates: [Candidate] = []
    precondition(2 * found.count < Self.keyCount, "the hash table is too small for its keys")
    for (key, some) in found.sorted(by: { $0.key < $1.key }) {
      // Only every second position is looked at, so both the first and the last three bytes must be found.
      for three in [key & 0xFF_FFFF, key >> 8] {
        let hash = Self.hash(three)
        bits[hash >> 6] |= 1 << UInt64(hash & 63)
      }
      var slot = Self.slot(key)
      while keys[slot] != 0 { slot = (slot + 1) & (Self.keyCount - 1) }
      keys[slot] = key
      ranges[slot] = Int32(candidates.count)..<Int32(candidates.count + some.count)
      candidates += some
    }
    self.bits = bits
    self.keys = keys
    self.ranges = ranges
    self.candidates = candidates
  }

  /// Four of the bytes with which a merge marks the start of a conflict.
  static let conflict: UInt32 = 0x3C3C_3C3C
  private static let bitCount = 1 << 16
  private static let keyCount = 1 << 10

  /// Returns a hash of 16 bits of three bytes. The factor is one of many tried, with which few groups that are common in scripts collide with one
  /// that is searched for.
  @inline(__always)
  static func hash(_ three: UInt32) -> Int { Int((three &* 0xFC69_9C1B) >> 16) }

  @inline(__always)
  private static func slot(_ key: UInt32) -> Int { Int((key &* 0x85EB_CA6B) >> 22) }

  /// Returns the first index from `index` on, in steps of two, whose three bytes may belong to a candidate; `end` or more if there is none.
  ///
  /// Four bytes that are searched for contain two groups of three, one of which starts at such an index.
  func nextCandidate(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) -> Int {
    precondition(index >= 0 && end <= bytes.count - 3 && bits.count == Self.bitCount / 64, "a search outside of the bytes")
    // Checked once here and not for each byte: every file that is packed goes through this loop.
    return unsafe bytes.withUnsafeBytes { (bytes) in
      unsafe bits.withUnsafeBufferPointer { (bits) in
        var index = index
        // Eight groups at a time, from 18 bytes, until one of them may belong to a candidate.
        while index &+ 14 < end {
          let first = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          let second = unsafe bytes.loadUnaligned(fromByteOffset: index &+ 6, as: UInt64.self)
          let third = unsafe bytes.loadUnaligned(fromByteOffset: index &+ 10, as: UInt64.self)
          var hits: UInt64 = 0
          @inline(__always) func test(_ word: UInt64) {
            let hash = Self.hash(UInt32(truncatingIfNeeded: word) & 0xFF_FFFF)
            unsafe hits |= bits[hash &>> 6] &>> UInt64(truncatingIfNeeded: hash)
          }
          test(first)
          test(first &>> 16)
          test(first &>> 32)
          test(second)
          test(second &>> 16)
          test(second &>> 32)
          test(third &>> 16)
          test(third &>> 32)
          if hits & 1 != 0 { break }
          index &+= 16
        }
        while index < end {
          let three = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self) & 0xFF_FFFF
          let hash = Self.hash(three)
          if unsafe bits[hash &>> 6] &>> UInt64(truncatingIfNeeded: hash & 63) & 1 != 0 { return index }
          index &+= 2
        }
        return index
      }
    }
  }

  /// Returns four bytes as a number.
  static func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt32 {
    (0..<4).reduce(0 as UInt32) { $0 | UInt32(bytes[index + $1]) << UInt32(8 * $1) }
  }

  /// Returns the candidates for four bytes; nil if they are not searched for.
  func candidates(for key: UInt32) -> ArraySlice<Candidate>? {
    var slot = Self.slot(key)
    while keys[slot] != 0 {
      if keys[slot] == key { return candidates[Int(ranges[slot].lowerBound)..<Int(ranges[slot].upperBound)] }
      slot = (slot + 1) & (Self.keyCount - 1)
    }
    return nil
  }
}
