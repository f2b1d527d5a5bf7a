#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The time that a build writes into a release.
package struct BuildTime: Hashable, Sendable {
  /// The time to write.
  package let now: ManifestTime
  /// Whether the time was set from outside. If so, the release does not depend on any other time. Otherwise the times of an earlier build of the
  /// same content are kept.
  package let isFixed: Bool
  /// The time of the system's clock, with which clients compare the expiry of a manifest.
  package let clock: ManifestTime

  /// The seconds by which the times of two manifests may be in the wrong order: a commit may be some days older than the last release.
  package static let tolerance: Int64 = 30 * 86_400

  /// Makes a time from its parts.
  ///
  /// - Parameter clock: the time of the system's clock. Nil means the same as `now`.
  package init(_ now: ManifestTime, isFixed: Bool, clock: ManifestTime? = nil) {
    self.now = now
    self.isFixed = isFixed
    self.clock = clock ?? now
  }

  /// Returns the time in `SOURCE_DATE_EPOCH` if it is set, otherwise the time of the clock.
  ///
  /// - Throws: ``PackError/Code/usage`` if the variable is not a number of seconds.
  package static func fromEnvironment() throws(PackError) -> BuildTime {
    let clock = ManifestTime(secondsSince1970: Int64(time(nil)))
    guard ProcessEnvironment.isSet(variable) else {
      guard let clock else {
        throw PackError(.usage, "the clock of this machine is outside the years 0 to 9999", hint: "set the clock, or \(variable)")
      }
      return BuildTime(clock, isFixed: false)
    }
    guard let text = ProcessEnvironment.text(of: variable), let seconds = Int64(text), seconds >= 0,
      let now = ManifestTime(secondsSince1970: seconds)
    else {
      throw PackError(
        .usage, "\(variable) is not a number of seconds since 1970", hint: "export \(variable)=$(git log -1 --format=%ct)")
    }
    return BuildTime(now, isFixed: true, clock: clock)
  }

  /// The environment variable that reproducible builds use by convention.
  private static let variable = "SOURCE_DATE_EPOCH"
}

extension ManifestTime {
  /// Returns the time of the system's clock.
  package static func now() throws(PackError) -> ManifestTime {
    guard let now = ManifestTime(secondsSince1970: Int64(time(nil))) else {
      throw PackError(.internalError, "the system's clock shows a year that does not have four digits")
    }
    return now
  }
}
