/// The files of a tree that exist already, and need not be written: a bit for each record of the index.
package struct MadeFiles: Sendable {
  private var bits: [UInt64] = []

  package init() {}

  package mutating func insert(_ number: Int) {
    while bits.count <= number / 64 { bits.append(0) }
    bits[number / 64] |= 1 << UInt64(number % 64)
  }

  var isEmpty: Bool { bits.isEmpty }

  /// Whether the file of a record exists.
  func contains(_ number: Int) -> Bool { number / 64 < bits.count && bits[number / 64] & 1 << UInt64(number % 64) != 0 }
}
