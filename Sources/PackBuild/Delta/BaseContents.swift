/// Some parts of a delta's base string in one space of addresses, in which each part begins at a multiple of the spacing of the samples.
///
/// Takes 24 bytes for each part.
struct BaseContents: Sendable {
  /// One part of the base string, and its addresses.
  struct Item: Sendable {
    /// The places in the base string.
    var range: Range<UInt64>
    /// The address of its first byte.
    var start: UInt64

    var size: UInt64 { range.upperBound - range.lowerBound }
    var end: UInt64 { start + size }
  }

  /// In the order of the base string, and ascending by address.
  private(set) var items: [Item] = []
  /// One byte in this many is the start of a sample. A power of two.
  let spacing: UInt64
  /// The address after the last part.
  private(set) var end: UInt64 = 0

  init(_ string: BaseString, parts: Range<Int>) {
    spacing = Self.spacing(for: parts.reduce(0) { $0 + UInt64(string.range(of: $1).count) })
    items.reserveCapacity(parts.count)
    for number in parts {
      let range = string.range(of: number)
      items.append(Item(range: range, start: end))
      end += (UInt64(range.count) + spacing - 1) / spacing * spacing
    }
  }

  /// Returns the distance of samples for contents of `total` bytes: as small as the table of fingerprints allows.
  private static func spacing(for total: UInt64) -> UInt64 {
    var spacing = smallestSpacing
    while total / spacing > mostSamples(of: total) { spacing *= 2 }
    return spacing
  }

  /// A sample takes up to 12 bytes. So all samples of a small base take 24 MiB, and those of a base of 4 GiB 192 MiB.
  private static func mostSamples(of total: UInt64) -> UInt64 {
    min(max(2 << 20, total / 256), 16 << 20)
  }

  private static let smallestSpacing: UInt64 = 4

  /// Returns the index of the item that an address is in.
  func index(holding address: UInt64) -> Int { items.partitioningIndex { $0.start > address } - 1 }
}
