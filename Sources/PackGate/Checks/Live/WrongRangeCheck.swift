/// PK7010.
enum WrongRangeCheck: LiveCheck {
  static let rule = ReleaseRule(
    "PK7010", "the server sends a wrong part of a file", .error, .live, needs: [.manifest, .live],
    what: "A request for a part of a file gets status 206, with this part and the size of the whole.",
    onPhone: "A download that continues after an interruption is refused, and starts again.",
    remedy: "Check how the server and the CDN answer range requests, as 'curl -r 0-99 -D - URL' shows it.")
  static let fault = LiveFault.Kind.wrongRange
}
