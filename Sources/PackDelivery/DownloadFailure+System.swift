// What the systems' errors mean for a download, by the name of their domain and their number: no Apple type is needed for that, and BAErrorDomain
// itself is a year younger than the oldest system with such downloads.
extension DownloadFailure {
  /// Puts an error of a system in its place.
  ///
  /// - Parameters:
  ///   - domain: `NSError.domain`.
  ///   - code: `NSError.code`.
  /// - Returns: nil for one that says nothing about the download; the error below it may, and ``DownloadFailure/other`` is what is left.
  public init?(domain: String, code: Int) {
    switch domain {
    case "BAErrorDomain": self = .backgroundAssets(code: code)
    case "NSURLErrorDomain":
      guard let failure = Self.ofURLLoading(code) else { return nil }
      self = failure
    case "NSPOSIXErrorDomain":
      guard let failure = Self.ofDarwin(code) else { return nil }
      self = failure
    case "NSCocoaErrorDomain":
      // NSFileWriteOutOfSpaceError
      guard code == 640 else { return nil }
      self = .noSpace
    default: return nil
    }
  }

  private static func ofURLLoading(_ code: Int) -> DownloadFailure? {
    switch code {
    // No network, none that may be used (roaming, mobile data, a call), and what cannot be reached or went away on it.
    case -1009, -1018, -1019, -1020, -1003, -1004, -1005, -1006: .offline
    case -1001: .timeout
    case -1013: .http(status: 401)
    case -1102: .http(status: 403)
    case -1100: .http(status: 404)
    // An answer that is none, circular redirects, an authentication that was given up.
    case -1007, -1008, -1010, -1011, -1012, -1014, -1015, -1016, -1017: .http(status: 0)
    // NSURLErrorDataLengthExceedsMaximum
    case -1103: .wrongSize
    default: nil
    }
  }

  private static func ofDarwin(_ code: Int) -> DownloadFailure? {
    switch code {
    // ENOSPC, EDQUOT
    case 28, 69: .noSpace
    // ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ECONNREFUSED, EHOSTDOWN, EHOSTUNREACH
    case 50, 51, 52, 53, 54, 61, 64, 65: .offline
    // ETIMEDOUT
    case 60: .timeout
    default: nil
    }
  }
}
