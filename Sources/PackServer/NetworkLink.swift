/// The link between a server and its clients: a rate that all connections share, and a round trip.
package struct NetworkLink: Hashable, Sendable {
  /// The rate of what the server sends.
  package let bitsPerSecond: UInt64
  /// The time in which a question and its answer travel, half of it each.
  package let roundTripNanoseconds: UInt64

  /// The rates and round trips that ``init(parsing:)`` takes. On a faster link, the server would be slower.
  package static let range = "from 1kbit/s to 10Gbit/s, and from 0ms to 10000ms"

  private static let units = [("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)]
  private static let rates = 1e3...1e10
  private static let roundTrips = 0.0...1e10

  /// Parses a rate and a round trip, such as `5Mbit/s,50ms`. Returns nil if the text is another one, or out of ``range``.
  package init?(parsing text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let rate = Self.number(parts[0], Self.units), let time = Self.number(parts[1], [("ms", 1e6)]),
      Self.rates.contains(rate), Self.roundTrips.contains(time)
    else { return nil }
    bitsPerSecond = UInt64(rate)
    roundTripNanoseconds = UInt64(time)
  }

  private static func number(_ text: Substring, _ units: [(name: String, size: Double)]) -> Double? {
    guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let digits = text.dropLast(unit.name.utf8.count)
    // The initializer would also accept signs, exponents and names.
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits) else { return nil }
    return (number * unit.size).rounded()
  }
}
