/// A network speed.
package struct NetworkSpeed: Hashable, Sendable {
  /// The name, or the number of bytes per second as text.
  package let name: String
  package let bytesPerSecond: UInt64

  /// The time before the first byte of each response, in milliseconds.
  static let latency: UInt64 = 100

  package static let wifi = NetworkSpeed(name: "wifi", bytesPerSecond: 12_500_000)
  package static let named = [NetworkSpeed(name: "3g", bytesPerSecond: 94_000), NetworkSpeed(name: "4g", bytesPerSecond: 2_500_000), wifi]

  private init(name: String, bytesPerSecond: UInt64) {
    self.name = name
    self.bytesPerSecond = bytesPerSecond
  }

  /// Parses `3g`, `4g`, `wifi`, or a number of bytes per second.
  ///
  /// - Throws: ``PackFormat/PackError/Code/usage``.
  package init(parsing text: String) throws(PackError) {
    if let known = Self.named.first(where: { $0.name == text.lowercased() }) {
      self = known
      return
    }
    // Below one byte per second nothing arrives. Above the maximum, sums could overflow.
    guard let number = UInt64(text), (1...1_000_000_000_000).contains(number) else {
      throw PackError(.usage, "--speed is '\(text)'", hint: "use 3g, 4g, wifi, or bytes per second, as in 250000")
    }
    self.init(name: "\(number)", bytesPerSecond: number)
  }

  /// Returns the time for a number of bytes, in milliseconds.
  func milliseconds(_ bytes: UInt64) -> UInt64 {
    let (scaled, overflow) = bytes.multipliedReportingOverflow(by: 1000)
    return overflow ? bytes / bytesPerSecond * 1000 : (scaled + bytesPerSecond - 1) / bytesPerSecond
  }

  /// Returns the number of bytes that arrive within a time in milliseconds.
  func bytes(within milliseconds: UInt64) -> UInt64 {
    let (scaled, overflow) = bytesPerSecond.multipliedReportingOverflow(by: milliseconds)
    return overflow ? .max : scaled / 1000
  }
}
