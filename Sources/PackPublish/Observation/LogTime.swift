/// The times in access logs, in seconds since 1970.
enum LogTime {
  /// Reads `10/Oct/2000:13:55:36 -0700`, as between brackets.
  static func inBrackets(_ line: Span<UInt8>, _ place: Range<Int>) -> Int64? {
    let start = place.lowerBound
    guard place.count == 26, line[start + 2] == slash, line[start + 6] == slash, line[start + 11] == colon, line[start + 14] == colon,
      line[start + 17] == colon, line[start + 20] == space, let month = month(line, start + 3), let day = number(line, start, 2),
      let year = number(line, start + 7, 4)
    else { return nil }
    return seconds(line, year, month, day, clock: start + 12, zone: start + 21..<place.upperBound)
  }

  /// Reads `2026-11-30T13:55:36.5Z`, also with a space, with an offset, or without either, which is UTC; or a number of seconds, milliseconds, microseconds
  /// or nanoseconds.
  static func stamp(_ line: Span<UInt8>, _ place: Range<Int>) -> Int64? {
    let start = place.lowerBound
    guard place.count >= 19, line[start + 4] == hyphen, line[start + 13] == colon, line[start + 16] == colon else {
      return count(line, place)
    }
    var end = start + 19
    if end < place.upperBound, line[end] == dot {
      end += 1
      while end < place.upperBound, digit(line[end]) != nil { end += 1 }
    }
    return date(line, start, clock: start + 11, zone: end..<place.upperBound)
  }

  /// Reads `2026-11-30` and `13:55:36`, which are UTC.
  static func parts(_ line: Span<UInt8>, date: Range<Int>, clock: Range<Int>) -> Int64? {
    guard date.count == 10, clock.count >= 8, line[clock.lowerBound + 2] == colon, line[clock.lowerBound + 5] == colon else { return nil }
    return Self.date(line, date.lowerBound, clock: clock.lowerBound, zone: 0..<0)
  }

  private static func date(_ line: Span<UInt8>, _ start: Int, clock: Int, zone: Range<Int>) -> Int64? {
    guard line[start + 4] == hyphen, line[start + 7] == hyphen, let year = number(line, start, 4), let month = number(line, start + 5, 2),
      let day = number(line, start + 8, 2)
    else { return nil }
    return seconds(line, year, month, day, clock: clock, zone: zone)
  }

  private static func seconds(_ line: Span<UInt8>, _ year: Int64, _ month: Int64, _ day: Int64, clock: Int, zone: Range<Int>) -> Int64? {
    guard let hour = number(line, clock, 2), let minute = number(line, clock + 3, 2), let second = number(line, clock + 6, 2),
      // Unlike manifests, servers write leap seconds.
      let time = ManifestTime(year: year, month: month, day: day, hour: hour, minute: minute, second: min(second, 59)),
      let offset = offset(line, zone)
    else { return nil }
    return time.secondsSince1970 - offset
  }

  /// Reads `+0100`, `+01:00`, `Z` or nothing.
  private static func offset(_ line: Span<UInt8>, _ place: Range<Int>) -> Int64? {
    guard let first = place.first, line[first] != UInt8(ascii: "Z") else { return place.count <= 1 ? 0 : nil }
    let minutes = place.count == 6 && line[first + 3] == colon ? first + 4 : first + 3
    guard line[first] == UInt8(ascii: "+") || line[first] == hyphen, minutes + 2 == place.upperBound, let hour = number(line, first + 1, 2),
      let minute = number(line, minutes, 2)
    else { return nil }
    return (line[first] == hyphen ? -1 : 1) * (hour * 3600 + minute * 60)
  }

  /// Reads a number since 1970, whose length shows the unit. What follows a point is left out.
  private static func count(_ line: Span<UInt8>, _ place: Range<Int>) -> Int64? {
    var end = place.lowerBound
    while end < place.upperBound, digit(line[end]) != nil { end += 1 }
    guard end == place.upperBound || line[end] == dot, let value = line.number(in: place.lowerBound..<end)
    else { return nil }
    let unit: UInt64 =
      switch end - place.lowerBound {
      case ...11: 1
      case ...14: 1000
      case ...17: 1_000_000
      default: 1_000_000_000
      }
    return Int64(value / unit)
  }

  private static func number(_ line: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
    var value: Int64 = 0
    for index in start..<start + count {
      guard let digit = digit(line[index]) else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  private static func digit(_ byte: UInt8) -> Int64? { byte &- 0x30 < 10 ? Int64(byte &- 0x30) : nil }

  private static func month(_ line: Span<UInt8>, _ start: Int) -> Int64? {
    switch (line[start], line[start + 1], line[start + 2]) {
    case (0x4A, 0x61, 0x6E): 1
    case (0x46, 0x65, 0x62): 2
    case (0x4D, 0x61, 0x72): 3
    case (0x41, 0x70, 0x72): 4
    case (0x4D, 0x61, 0x79): 5
    case (0x4A, 0x75, 0x6E): 6
    case (0x4A, 0x75, 0x6C): 7
    case (0x41, 0x75, 0x67): 8
    case (0x53, 0x65, 0x70): 9
    case (0x4F, 0x63, 0x74): 10
    case (0x4E, 0x6F, 0x76): 11
    case (0x44, 0x65, 0x63): 12
    default: nil
    }
  }

  private static let (slash, colon, space, hyphen, dot) = (
    UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: ".")
  )
}
