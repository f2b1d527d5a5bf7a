/// A number of bytes as people write and read it.
///
/// The project computes with plain integers. This type is for sizes that a person types or reads.
public struct ByteCount: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number of bytes.
  public let bytes: UInt64

  /// Makes a count from a number of bytes.
  public init(_ bytes: UInt64) {
    self.bytes = bytes
  }

  /// Reads `1048576`, `1 MiB`, `1MiB`, `35 MB` or `64K` (K, M and G without a B are multiples of 1024, as on other command lines).
  ///
  /// - Returns: nil if the text is not such a size or does not fit 64 bits.
  public init?(parsing text: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
    let factors: [String: UInt64] = [
      "": 1, "b": 1,
      "k": 1 << 10, "kib": 1 << 10, "kb": 1000,
      "m": 1 << 20, "mib": 1 << 20, "mb": 1_000_000,
      "g": 1 << 30, "gib": 1 << 30, "gb": 1_000_000_000,
    ]
    guard let number = UInt64(digits), let factor = factors[unit] else { return nil }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow else { return nil }
    self.bytes = bytes
  }

  public static func < (left: ByteCount, right: ByteCount) -> Bool {
    left.bytes < right.bytes
  }

  /// The count in decimal units with one decimal, as app stores print it: `3.1 MB`.
  public var description: String {
    for (unit, factor) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] as [(String, UInt64)]
    // A value that rounds to 1000.0 of a unit is shown as 1.0 of the next unit.
    where bytes >= factor - factor / 20_000 {
      // Rounded half up in integers; a formatter would bring Foundation into the client.
      let tenths = bytes / (factor / 10) + (bytes % (factor / 10) >= factor / 20 ? 1 : 0)
      return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return "\(bytes) B"
  }
}
