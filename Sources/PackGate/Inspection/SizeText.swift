/// Sizes as messages show them: three digits and a decimal unit, as in `4.70 MB`.
///
/// The exact bytes are in the records of `--json`.
enum SizeText {
  /// Returns the text for one size, which is exact below 1 kB.
  static func short(_ bytes: UInt64) -> String {
    let units: [(name: String, bytes: UInt64)] = [("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
    guard bytes >= units[0].bytes else { return exact(bytes) }
    for unit in units {
      for (factor, digits) in [(100 as UInt64, 2), (10, 1), (1, 0)] {
        // Rounded half up in integers.
        let step = unit.bytes / factor
        let number = bytes / step + (bytes % step >= step / 2 ? 1 : 0)
        guard number < 1000 || digits == 0 && unit.name == "GB" else { continue }
        guard digits > 0 else { return "\(number) \(unit.name)" }
        let fraction = String(number % factor)
        return "\(number / factor).\(String(repeating: "0", count: digits - fraction.count))\(fraction) \(unit.name)"
      }
    }
    return exact(bytes)
  }

  /// Returns two different sizes for one sentence. They are exact if their short forms would look the same.
  static func pair(_ first: UInt64, _ second: UInt64) -> (String, String) {
    let texts = (short(first), short(second))
    return texts.0 == texts.1 && first != second ? (exact(first), exact(second)) : texts
  }

  private static func exact(_ bytes: UInt64) -> String { bytes == 1 ? "1 byte" : "\(bytes) bytes" }
}
