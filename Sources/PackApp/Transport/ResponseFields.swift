/// The value of a `Content-Range` field (RFC 9110 §14.4).
package struct ContentRange: Hashable {
  package let start: UInt64
  package let end: UInt64
  /// The size of the whole file in bytes, or nil if the server does not state it.
  package let total: UInt64?

  package init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let start = decimal(ends[0]), let end = decimal(ends[1]), start <= end else { return nil }
    if parts[1] == "*" {
      total = nil
    } else {
      guard let size = decimal(parts[1]), end < size else { return nil }
      total = size
    }
    self.start = start
    self.end = end
  }
}

/// The value of a `Retry-After` field (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// The longest accepted duration, in seconds: more than a century, and small enough that sums do not overflow. Delays of downloads are shorter.
  private static let longest = Int64(UInt32.max)

  /// Parses the field: a number of seconds, or a date.
  ///
  /// - Parameter now: The current time in seconds since 1970. The duration until a date is counted from it.
  package static func duration(_ text: String?, now: Int64) -> Duration? {
    guard let text else { return nil }
    if let seconds = decimal(text[...]) { return .seconds(Int64(min(seconds, UInt64(longest)))) }
    // Foundation's date parser traps on some texts that are not ASCII.
    guard let date = HTTPDate(text) else { return nil }
    return .seconds(min(longest, max(0, date.secondsSince1970 - now)))
  }
}

/// Parses a number of digits only: `UInt64` would accept a sign too.
private func decimal(_ text: Substring) -> UInt64? {
  text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
}
