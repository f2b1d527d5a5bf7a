/// A time as a manifest writes it: `YYYY-MM-DDTHH:MM:SSZ`, in whole seconds (FORMAT.md §9.3).
public struct ManifestTime: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Seconds since 1970-01-01T00:00:00Z, from year 0 to year 9999.
  public let secondsSince1970: Int64

  /// - Returns: nil if the year is not in 0...9999.
  public init?(secondsSince1970: Int64) {
    // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    guard (-62_167_219_200...253_402_300_799).contains(secondsSince1970) else { return nil }
    self.secondsSince1970 = secondsSince1970
  }

  /// Reads exactly `YYYY-MM-DDTHH:MM:SSZ`. The day must exist; leap seconds are not accepted.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    let pattern = Array("0000-00-00T00:00:00Z".utf8)
    guard bytes.count == pattern.count else { return nil }
    for (byte, wanted) in zip(bytes, pattern) {
      let isDigit = (0x30...0x39).contains(byte)
      guard wanted == 0x30 ? isDigit : byte == wanted else { return nil }
    }
    func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
    self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  /// Makes a time from its parts, in UTC. The day must exist; leap seconds are not accepted.
  package init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), (0..<24).contains(hour),
      (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    secondsSince1970 = Self.daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// The text as a manifest writes it.
  public var description: String {
    let days = (secondsSince1970 - (secondsSince1970 % 86_400 + 86_400) % 86_400) / 86_400
    let second = secondsSince1970 - days * 86_400
    let (year, month, day) = Self.date(daysSince1970: days)
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
      + "T\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))Z"
  }

  public static func < (left: ManifestTime, right: ManifestTime) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Computes days from a civil date, with March as the first month so that the leap day is the last day of a year.
  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
