/// The link between a server and its clients: a rate that all connections share, and a round trip.
package struct NetworkLink: Hashable, Sendable {
  /// The rate of what the server sends.
  package let bitsPerSecond: UInt64
  /// The time in which a question and its answer travel, half of it each.
  package let roundTripNanoseconds: UInt64

  /// As it was given.
  package let text: String

  /// A wireless network at home.
  package static let usual = NetworkLink(bitsPerSecond: 100_000_000, roundTripNanoseconds: 100_000_000, text: "100Mbit/s,100ms")

  private static let units = [("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("bit/s", 1)]
  // On a faster link, the server would be slower.
  private static let rates = 8.0...1e10
  private static let roundTrips = 0.0...1e10

  private init(bitsPerSecond: UInt64, roundTripNanoseconds: UInt64, text: String) {
    (self.bitsPerSecond, self.roundTripNanoseconds, self.text) = (bitsPerSecond, roundTripNanoseconds, text)
  }

  /// Parses the value of `--link`, a rate and a round trip such as `5Mbit/s,50ms`.
  ///
  /// - Throws: ``PackFormat/PackError/Code/usage``.
  package init(parsing text: String) throws(PackError) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let rate = Self.bitsPerSecond(parts[0]), let time = Self.number(parts[1], [("ms", 1e6)]),
      Self.roundTrips.contains(time)
    else {
      throw PackError(
        .usage,
        "--link is '\(printable(text.utf8))', but must be a rate and a round trip, from 8bit/s to 10Gbit/s, and from 0ms to 10000ms",
        hint: "for example: --link 5Mbit/s,50ms")
    }
    self.text = text
    bitsPerSecond = UInt64(rate)
    roundTripNanoseconds = UInt64(time)
  }

  /// The round trip in milliseconds.
  package var latency: UInt64 { (roundTripNanoseconds + 999_999) / 1_000_000 }

  /// Returns the time for a number of bytes after the round trip, in milliseconds.
  package func milliseconds(_ bytes: UInt64) -> UInt64 { bytes.times(8000).adding(bitsPerSecond - 1) / bitsPerSecond }

  /// Returns the number of bytes that arrive within a time in milliseconds.
  package func bytes(within milliseconds: UInt64) -> UInt64 { bitsPerSecond.times(milliseconds) / 8000 }

  /// Returns a rate such as `5Mbit/s`; nil if the text is something else, or out of range.
  static func bitsPerSecond(_ text: Substring) -> Double? { number(text, units).flatMap { rates.contains($0) ? $0 : nil } }

  private static func number(_ text: Substring, _ units: [(name: String, size: Double)]) -> Double? {
    guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
    let digits = text.dropLast(unit.name.utf8.count)
    // The initializer would also accept signs, exponents and names.
    guard digits.wholeMatch(of: /[0-9]+(\.[0-9]+)?/) != nil, let number = Double(digits) else { return nil }
    return (number * unit.size).rounded()
  }
}
