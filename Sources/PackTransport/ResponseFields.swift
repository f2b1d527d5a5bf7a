import PackManifest

/// What a `Content-Range` says (RFC 9110 §14.4).
package struct ContentRange: Hashable {
  package let start: UInt64
  package let end: UInt64
  /// The bytes of the whole file; nil where the server does not say.
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

/// What a `Retry-After` says (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// The longest that is taken at its word, in seconds: more than a century, and sums of it overflow nowhere. A queue's policy waits less.
  private static let longest = Int64(UInt32.max)

  /// - Parameter now: the seconds since 1970 from which a date counts.
  package static func duration(_ text: String?, now: Int64) -> Duration? {
    guard let text else { return nil }
    if let seconds = decimal(text[...]) { return .seconds(Int64(min(seconds, UInt64(longest)))) }
    // Foundation's reader of dates traps on some texts that are not ASCII.
    guard let date = HTTPDate(text) else { return nil }
    return .seconds(min(longest, max(0, date.secondsSince1970 - now)))
  }
}

/// A number in digits alone: no sign, which `UInt64` would take.
private func decimal(_ text: Substring) -> UInt64? {
  text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
}
