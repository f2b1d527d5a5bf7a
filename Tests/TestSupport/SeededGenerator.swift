import Foundation

/// A reproducible random number generator: the seed is printed, and `PACKER_TEST_SEED` sets it.
package struct SeededGenerator: RandomNumberGenerator {
  /// The seed of the numbers.
  package let seed: UInt64
  private var state: UInt64

  package init(for test: String = #function) {
    let given = ProcessInfo.processInfo.environment["PACKER_TEST_SEED"].flatMap(UInt64.init)
    self.init(seed: given ?? UInt64.random(in: 0...UInt64.max))
    print("\(test): PACKER_TEST_SEED=\(seed)")
  }

  package init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  // SplitMix64.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns bytes that do not compress.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
