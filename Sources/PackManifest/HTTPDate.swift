#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package struct HTTPDate: Hashable, Comparable {
  package let secondsSince1970: Int64

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter secondsSince1970: times before 1970 or after the year 9999 are clamped.
  package init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(max(secondsSince1970, 0), 253_402_300_799)
  }

  package static var now: HTTPDate { HTTPDate(secondsSince1970: Int64(time(nil))) }

  /// Reads the current form. The two obsolete forms are not accepted.
  package init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, parts[5] == "GMT", parts[0].hasSuffix(","), let month = Self.months.firstIndex(of: parts[2]) else { return nil }
    func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    guard let time = ManifestTime("\(parts[3])-\(digits(month + 1))-\(parts[1])T\(parts[4])Z"), time.secondsSince1970 >= 0,
      parts[0] == "\(Self.days[Int(time.secondsSince1970 / 86_400 % 7)]),"
    else { return nil }
    secondsSince1970 = time.secondsSince1970
  }

  package var text: String {
    guard let time = ManifestTime(secondsSince1970: secondsSince1970) else { return "" }
    // 1994-11-06T08:49:37Z
    let bytes = Array(time.description.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    let month = Int(part(5..<7)) ?? 1
    let day = Self.days[Int(secondsSince1970 / 86_400 % 7)]
    return "\(day), \(part(8..<10)) \(Self.months[month - 1]) \(part(0..<4)) \(part(11..<19)) GMT"
  }

  package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}
