/// An error that the system would report: an error of `BAErrorDomain`, or one without a published code.
package struct SystemError: Hashable, Sendable {
  /// The code in `BAErrorDomain`; nil for an error without a published code.
  package let code: Int?
  /// The name of the code without the prefix `BAErrorCode`, or the failure in words.
  package let name: String

  private init(_ code: Int?, _ name: String) {
    self.code = code
    self.name = name
  }

  package static let alreadyScheduled = SystemError(100, "DownloadAlreadyScheduled")
  package static let essentialNotPermitted = SystemError(109, "DownloadEssentialDownloadNotPermitted")
  package static let backgroundActivityProhibited = SystemError(111, "DownloadBackgroundActivityProhibited")
  package static let wouldExceedAllowance = SystemError(112, "DownloadWouldExceedAllowance")
  package static let doesNotExist = SystemError(113, "DownloadDoesNotExist")
  package static let disallowedByDomain = SystemError(202, "SessionDownloadDisallowedByDomain")
  package static let disallowedByAllowance = SystemError(203, "SessionDownloadDisallowedByAllowance")
  package static let allowanceExceeded = SystemError(204, "SessionDownloadAllowanceExceeded")
  package static let notPermittedBeforeLaunch = SystemError(206, "SessionDownloadNotPermittedBeforeAppLaunch")

  /// Returns an error that is not in `BAErrorDomain`.
  package static func plain(_ what: String) -> SystemError { SystemError(nil, what) }
}

extension SystemError: CustomStringConvertible {
  package var description: String { code.map { "\($0) \(name)" } ?? "no published code: \(name)" }
}
