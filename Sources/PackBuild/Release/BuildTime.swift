package import PackFormat
package import PackManifest
import PackProject

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The time that a build writes into what it makes.
package struct BuildTime: Hashable, Sendable {
  /// The moment.
  package let now: ManifestTime
  /// Whether it was given from outside. Then what is made depends on nothing else; otherwise times that are found in an earlier build of the same
  /// content are kept.
  package let isFixed: Bool
  /// What the clock says, by which clients judge what is made.
  package let clock: ManifestTime

  /// Makes a time from its parts.
  ///
  /// - Parameter clock: what the clock says; the moment itself where it is nil.
  package init(_ now: ManifestTime, isFixed: Bool, clock: ManifestTime? = nil) {
    self.now = now
    self.isFixed = isFixed
    self.clock = clock ?? now
  }

  /// `SOURCE_DATE_EPOCH` where it is set, else the clock.
  ///
  /// - Throws: ``PackError/Code/usage`` where the variable is no number of seconds.
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

  /// The variable that reproducible builds agree on.
  private static let variable = "SOURCE_DATE_EPOCH"
}

extension ManifestTime {
  /// The time of the system's clock.
  package static func now() throws(PackError) -> ManifestTime {
    guard let now = ManifestTime(secondsSince1970: Int64(time(nil))) else {
      throw PackError(.internalError, "the system's clock shows a year that does not have four digits")
    }
    return now
  }
}
