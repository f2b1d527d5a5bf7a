/// What the header fields of an answer mean for a device and for caches on the way (RFC 9110, RFC 9111).
struct LiveHeaders {
  let fields: [String: String]

  init(_ answer: LiveAnswer) { fields = answer.fields }

  /// The encoding of the body; nil if it is sent as it is.
  var encoding: String? {
    guard let text = fields["content-encoding"]?.lowercased(), !text.isEmpty, text != "identity" else { return nil }
    return text
  }

  /// The type of the body without parameters, in lower case.
  var type: String? { fields["content-type"].map { String($0.lowercased().prefix { $0 != ";" && $0 != " " }) } }

  /// The length that the server says.
  var length: UInt64? { fields["content-length"].flatMap { UInt64($0) } }

  /// The validator of the file: its strong entity tag, or otherwise its date. Nil if it has none that a device could continue a download with.
  var validator: String? {
    if let tag = fields["etag"], tag.hasPrefix("\"") { return tag }
    return fields["last-modified"]
  }

  /// The part of the file that is sent, and the size of the whole; nil if the field is missing or not in its form.
  var part: (first: UInt64, last: UInt64, total: UInt64)? {
    guard let match = fields["content-range"]?.wholeMatch(of: /bytes (\d+)-(\d+)\/(\d+)/), let first = UInt64(match.1),
      let last = UInt64(match.2), let total = UInt64(match.3)
    else { return nil }
    return (first, last, total)
  }

  /// The directives of `Cache-Control`, in lower case, with their values.
  var directives: [String: String] {
    let parts = (fields["cache-control"] ?? "").lowercased().split(separator: ",").map { part in
      let halves = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
      return (halves.first ?? "", halves.count > 1 ? halves[1] : "")
    }
    return Dictionary(parts) { first, _ in first }
  }

  /// Whether caches must not keep the body, or ask each time.
  var isUncached: Bool { directives.keys.contains { ["no-store", "no-cache", "private"].contains($0) } }

  /// The time in seconds that caches may keep the body; nil if the server does not say it.
  var lifetime: UInt64? {
    let directives = directives
    if isUncached { return 0 }
    if let text = directives["s-maxage"] ?? directives["max-age"], let seconds = UInt64(text) { return seconds }
    guard let expires = fields["expires"] else { return nil }
    // Anything else than a date, such as 0, is in the past.
    guard let end = HTTPDate(expires), let now = fields["date"].flatMap({ HTTPDate($0) }) else { return 0 }
    return UInt64(max(0, end.secondsSince1970 - now.secondsSince1970))
  }

  /// The times that it may be by the clock of the server, in seconds since 1970: caches keep its date. Nil if it says none.
  var times: ClosedRange<Int64>? {
    guard let date = fields["date"].flatMap({ HTTPDate($0) })?.secondsSince1970 else { return nil }
    return date...date + Int64(min(age ?? 0, 1 << 40))
  }

  /// The time in seconds that the answer spent in caches.
  var age: UInt64? { fields["age"].flatMap { UInt64($0) } }
}
