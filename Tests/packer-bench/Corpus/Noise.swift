/// A reproducible random number generator: xoshiro256++, started from a seed.
struct Noise: RandomNumberGenerator {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  init(seed: UInt64) {
    var mixer = seed
    func mixed() -> UInt64 {
      mixer &+= 0x9E37_79B9_7F4A_7C15
      var word = mixer
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
    state = (mixed(), mixed(), mixed(), mixed())
  }

  mutating func next() -> UInt64 {
    let sum = state.0 &+ state.3
    let result = (sum << 23 | sum >> 41) &+ state.0
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = state.3 << 45 | state.3 >> 19
    return result
  }

  /// Returns a number from 0 up to, but not including, `bound`.
  mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Returns a number in a closed range.
  mutating func within(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  /// Returns a size that is as likely between 1 and 2 kB as between 1 and 2 MB, like the file sizes in real trees.
  mutating func size(_ range: ClosedRange<Int>) -> Int {
    var octaves = 0
    while range.lowerBound << (octaves + 1) <= range.upperBound { octaves += 1 }
    let base = range.lowerBound << below(octaves + 1)
    return min(range.upperBound, base + below(base))
  }

  /// Appends bytes that do not compress.
  mutating func append(_ count: Int, to bytes: inout [UInt8]) {
    guard count > 0 else { return }
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    unsafe bytes.withUnsafeMutableBytes { buffer in
      var place = start
      while place + 8 <= buffer.count {
        unsafe buffer.storeBytes(of: next(), toByteOffset: place, as: UInt64.self)
        place += 8
      }
      var rest = next()
      while place < buffer.count {
        unsafe buffer[place] = UInt8(truncatingIfNeeded: rest)
        rest >>= 8
        place += 1
      }
    }
  }
}
