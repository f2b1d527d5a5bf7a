/// A set of records of an index, by their numbers: a bit for each record.
package struct RecordSet: Sendable {
  private var bits: [UInt64] = []

  package init() {}

  package mutating func insert(_ number: Int) {
    while bits.count <= number / 64 { bits.append(0) }
    bits[number / 64] |= 1 << UInt64(number % 64)
  }

  package var isEmpty: Bool { bits.isEmpty }

  package func contains(_ number: Int) -> Bool { number / 64 < bits.count && bits[number / 64] & 1 << UInt64(number % 64) != 0 }
}
