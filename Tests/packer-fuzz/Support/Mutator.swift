package import TestSupport

/// Changes inputs at random, for test runs without an engine.
package struct Mutator {
  private var random: SeededGenerator

  package init(_ random: SeededGenerator) {
    self.random = random
  }

  private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

  /// Returns an input made from one or more of `seeds`.
  package mutating func input(from seeds: [FuzzSeed], largest: Int) -> [UInt8] {
    guard !seeds.isEmpty else { return [] }
    var bytes = seeds[below(seeds.count)].bytes
    for _ in 0...below(4) {
      let place = below(bytes.count + 1)
      switch below(9) {
      case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
      case 1 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 2 where place < bytes.count: bytes[place] &+= UInt8(truncatingIfNeeded: below(3)) &- 1
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(8)))
      case 4: bytes.insert(contentsOf: random.bytes(1 + below(4)), at: place)
      case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + below(64))], at: below(bytes.count + 1))
      case 6: bytes.removeLast(bytes.count - place)
      case 7:
        let other = seeds[below(seeds.count)].bytes
        bytes = Array(bytes[..<place]) + other.dropFirst(below(other.count + 1))
      default:
        let numbers: [UInt64] = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 40, 1 << 63, .max]
        let value = numbers[below(numbers.count)]
        for (index, shift) in stride(from: 0, to: [8, 16, 32, 64][below(4)], by: 8).enumerated() where place + index < bytes.count {
          bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(shift))
        }
      }
    }
    return Array(bytes.prefix(largest))
  }
}
