extension FuzzTarget {
  /// Header fields of responses and requests. The lines are Content-Range, Retry-After, a date, and Host.
  static let fields = FuzzTarget(
    "fields", largestInput: 512,
    files: [
      "Sources/PackApp/Transport/ResponseFields.swift", "Sources/PackManifest/HTTPDate.swift", "Sources/PackServer/HostField.swift",
    ],
    seeds: {
      let date = "Sun, 06 Nov 1994 08:49:37 GMT"
      return [
        FuzzSeed("plain", "bytes 0-99/1000\n120\n\(date)\nlocalhost:7225"), FuzzSeed("unknown", "BYTES 5-5/*\n\(date)\n\(date)\n127.0.0.1"),
        FuzzSeed("behind", "bytes 5-10/10\n4294967296\nThu, 01 Jan 1970 00:00:00 GMT\ngame.localhost."),
        FuzzSeed(
          "largest",
          "bytes 0-18446744073709551614/18446744073709551615\nFri, 31 Dec 9999 23:59:59 GMT\nFri, 31 Dec 9999 23:59:59 GMT\n[::1]:1"),
        FuzzSeed("years", "bytes */10\nSun, 06 Nov 999999999 08:49:37 GMT\nSun, 06 Nov 19994 08:49:37 GMT\n127.0.0.1.example.com"),
        FuzzSeed("stranger", "\n-1\nSunday, 06-Nov-94 08:49:37 GMT\nexample.com:80"), FuzzSeed("empty", ""),
        FuzzSeed("behind-address", "\n\n\n[::1].example.com"), FuzzSeed("address-dot", "\n\n\n[::1]."),
        FuzzSeed("no-ascii", "\nFri, 3\u{313}1 Dec 999 23:59:59 GMT\n\n"), FuzzSeed("user", "\n\n\nlocalhost:80@evil.com"),
        FuzzSeed("no-port", "\n\n\nlocalhost:"), FuzzSeed("two-ports", "\n\n\n127.0.0.1:1:2"),
        FuzzSeed("behind-name", "\n\n\ngame.localhost.example.com:80"),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      let lines = bytes.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
      func line(_ number: Int) -> String { number < lines.count ? lines[number] : "" }

      if let range = ContentRange(line(0)) {
        try hold(range.start <= range.end && range.end < range.total ?? .max, "a range ends before it begins, or after the end of the file")
        let again = "bytes \(range.start)-\(range.end)/\(range.total.map { "\($0)" } ?? "*")"
        try hold(ContentRange(again) == range, "a range differs after it was written and read")
      }

      if let wait = RetryAfter.duration(line(1), now: 1_800_000_000) {
        try hold(wait >= .zero, "the delay is negative")
        try hold(wait <= .seconds(UInt32.max), "the delay is \(wait)")
      }

      if let date = HTTPDate(line(2)) {
        try hold(date.text == line(2), "a date differs after it was written and read")
      }

      let host = line(3).lowercased()
      if HostField(line(3)) != .stranger, !host.isEmpty {
        try hold(
          host.wholeMatch(of: /(?:[a-z0-9._-]+|\[::1\])(?::[0-9]{1,5})?/) != nil,
          "\(line(3).debugDescription) is more than a host and a port")
      }
      switch HostField(line(3)) {
      case .stranger: break
      case .machine:
        let names = host.isEmpty || host.hasPrefix("localhost") || host.hasPrefix("127.") || host == "[::1]" || host.hasPrefix("[::1]:")
        try hold(names, "\(line(3).debugDescription) counts as this machine")
        let name = host.hasPrefix("[") ? "" : String(host.prefix { $0 != ":" })
        let isNumber = name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        try hold(isNumber || name == "localhost" || name == "localhost.", "\(line(3).debugDescription) counts as this machine")
      case .name(let name):
        let whole = String(host.prefix { $0 != ":" })
        try hold(
          !name.isEmpty && ["\(name).localhost", "\(name).localhost."].contains(whole),
          "\(line(3).debugDescription) is read as \(name.debugDescription)")
      }
    })
}
