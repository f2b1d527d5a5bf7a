#if canImport(BackgroundAssets)
  import Foundation

  extension DownloadFailure {
    /// Creates the failure for a system error. Uses the first error with a known meaning, starting with the outermost.
    public init(_ error: any Error) {
      var next: NSError? = error as NSError
      // The limit stops at cycles; errors are rarely nested deeply.
      for _ in 0..<8 {
        guard let error = next else { break }
        if let failure = DownloadFailure(domain: error.domain, code: error.code) {
          self = failure
          return
        }
        next = error.userInfo[NSUnderlyingErrorKey] as? NSError
      }
      self = .other
    }
  }
#endif
