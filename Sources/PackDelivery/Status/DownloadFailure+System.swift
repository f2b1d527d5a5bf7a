// Maps system errors to download failures by domain and code. This needs no Apple types. The constant BAErrorDomain exists from iOS 17 and macOS 14 on.
// Older systems use the same codes in another domain: developer.apple.com/forums/thread/718588 has a log of iOS 16.1.
extension DownloadFailure {
  /// Creates a failure from a system error.
  ///
  /// - Parameters:
  ///   - domain: `NSError.domain`.
  ///   - code: `NSError.code`.
  /// - Returns: nil if the error says nothing about the download. Try its underlying error then, and use ``DownloadFailure/other`` if no error
  ///   matches.
  public init?(domain: String, code: Int) {
    switch domain {
    case "BAErrorDomain", "com.apple.backgroundassets.error": self = .backgroundAssets(code: code)
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
    // No network, no permitted network (roaming, mobile data, a call), or a host that cannot be reached or was lost.
    case -1009, -1018, -1019, -1020, -1003, -1004, -1005, -1006: .offline
    case -1001: .timeout
    case -1013: .http(status: 401)
    case -1102: .http(status: 403)
    case -1100: .http(status: 404)
    // An invalid response, circular redirects, or a cancelled authentication.
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
