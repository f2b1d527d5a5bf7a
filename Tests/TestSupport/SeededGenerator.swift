import Foundation

/// A reproducible random number generator. The seed is printed.
///
/// It is always the same, so that a test fails only for a change of the code. The variable `PACKER_TEST_SEED` sets it to a number, or, if it is `fresh`,
/// to one that no run had before.
package struct SeededGenerator: RandomNumberGenerator {
  /// The seed of this run of the tests.
  package static let run: UInt64 = {
    switch ProcessInfo.processInfo.environment["PACKER_TEST_SEED"] {
    case nil, "": return 1
    case "fresh":
      let seed = UInt64.random(in: 0...UInt64.max)
      // Processes that tests start get the same one.
      setenv("PACKER_TEST_SEED", "\(seed)", 1)
      return seed
    case let text?:
      guard let seed = UInt64(text) else { preconditionFailure("PACKER_TEST_SEED is neither a number nor 'fresh': \(text)") }
      return seed
    }
  }()

  /// The seed of the numbers.
  package let seed: UInt64
  private var numbers: SplitMix64

  package init(for test: String = #function) {
    self.init(seed: Self.run)
    print("\(test): PACKER_TEST_SEED=\(seed)")
  }

  package init(seed: UInt64) {
    self.seed = seed
    numbers = SplitMix64(seed: seed)
  }

  package mutating func next() -> UInt64 { numbers.next() }

  /// Returns bytes that do not compress.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    // A loop over the memory: without optimisation, `map` takes ten times as long.
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      var number = 0
      while number < count {
        start[number] = UInt8(truncatingIfNeeded: next())
        number += 1
      }
      initialized = count
    }
  }
}
