#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An estimate of how many different hashes there were, in 4 KiB (HyperLogLog): two in three estimates of large numbers are within 1.6 %.
struct ClientCount: Sendable {
  /// For each of 4096 parts of the hashes, the most zeros with which one starts, and one.
  private var most: [UInt8] = []

  private static let bits = 12

  mutating func add(_ hash: UInt64) {
    if most.isEmpty { most = Array(repeating: 0, count: 1 << Self.bits) }
    let index = Int(hash >> UInt64(64 - Self.bits))
    let zeros = UInt8((hash << UInt64(Self.bits) | 1 << UInt64(Self.bits - 1)).leadingZeroBitCount + 1)
    if most[index] < zeros { most[index] = zeros }
  }

  var estimate: UInt64 {
    guard !most.isEmpty else { return 0 }
    let count = Double(most.count)
    let empty = most.count { $0 == 0 }
    let sum = most.reduce(0.0) { $0 + 1 / Double(UInt64(1) << UInt64($1)) }
    let raw = 0.7213 / (1 + 1.079 / count) * count * count / sum
    guard raw <= 2.5 * count, empty > 0 else { return UInt64(raw.rounded()) }
    return UInt64((count * log(count / Double(empty))).rounded())
  }
}
