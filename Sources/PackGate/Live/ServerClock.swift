/// The time of the server from which devices fetch a release, as the date of an answer says it.
package struct ServerClock: Sendable {
  /// Who said it.
  private let address: String
  /// In seconds since 1970. Caches on the way keep the date, and say how long.
  private let times: ClosedRange<Int64>

  /// The largest difference of two clocks that is not noticed, in seconds.
  package static let tolerance: Int64 = 300

  package init(address: String, times: ClosedRange<Int64>) { (self.address, self.times) = (address, times) }

  /// Asks a server for its time, with a request for one byte. Any answer with a date will do.
  ///
  /// - Throws: ``PackError/Code/serverUnreachable`` without one.
  package static func read(at address: String, files: any FileSystem = SystemFiles()) async throws(PackError) -> ServerClock {
    let address = try LiveAddress(address).text
    let request = LiveRequest(url: address, range: 0...0, limit: 1 << 20, fields: ["Cache-Control: no-cache"])
    let answer = try await CurlFetcher(files: files).fetch([request])[0]
    guard let times = LiveHeaders(answer).times else {
      let reason = answer.status == 0 ? "cannot be reached: \(answer.failureText)" : "answers \(answer.status) without a date"
      throw PackError(
        .serverUnreachable, of: address, "\(reason), so that the time is known from this machine only",
        hint: "check the address, and the network of this machine")
    }
    return ServerClock(address: address, times: times)
  }

  /// Returns the time that it is by both clocks: the earlier one.
  ///
  /// - Throws: ``PackError/Code/wrongClock`` if they differ by more than ``tolerance``.
  package func agreed(with now: ManifestTime) throws(PackError) -> ManifestTime {
    let gap = max(times.lowerBound - now.secondsSince1970, now.secondsSince1970 - times.upperBound)
    guard gap <= Self.tolerance, let server = ManifestTime(secondsSince1970: times.upperBound) else {
      throw PackError(
        .wrongClock, of: address,
        "says that it is \(ManifestTime(secondsSince1970: times.upperBound).map { "\($0)" } ?? "another time"), and this machine that it is \(now)",
        hint: "set the clock of this machine, or mend the server's; nothing was opened")
    }
    return min(now, server)
  }
}

extension PackError.Code {
  /// The clocks of this machine and of the server differ.
  package static let wrongClock = Self(rawValue: "wrong-clock")
}
