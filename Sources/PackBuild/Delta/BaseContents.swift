/// The different contents of the bases, one after the other in one space of addresses, which is what a search for similar bytes works on.
///
/// Takes 24 bytes for each content.
struct BaseContents: Sendable {
  /// One content and its place.
  struct Item: Sendable {
    /// The number of the content (FORMAT.md §13.3).
    var number: Int
    /// The length of the content in bytes.
    var size: UInt64
    /// The address of its first byte: a multiple of the spacing of the samples.
    var start: UInt64

    var end: UInt64 { start + size }
  }

  /// Ascending by number and by address.
  private(set) var items: [Item] = []
  /// One byte in this many is the start of a sample. A power of two.
  let spacing: UInt64
  /// The address after the last content.
  private(set) var end: UInt64 = 0

  /// - Parameter contents: the number and the size of each content that is not empty, ascending by number.
  init(_ contents: [(number: Int, size: UInt64)]) {
    let total = contents.reduce(0) { $0 + $1.size }
    spacing = Self.spacing(for: total)
    items.reserveCapacity(contents.count)
    for (number, size) in contents {
      items.append(Item(number: number, size: size, start: end))
      end += (size + spacing - 1) / spacing * spacing
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
  func index(holding address: UInt64) -> Int {
    var low = 0
    var high = items.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if items[middle].start <= address { low = middle } else { high = middle }
    }
    return low
  }
}
