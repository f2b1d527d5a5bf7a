#if canImport(BackgroundAssets)
  import Foundation
  public import PackDelivery

  extension DownloadFailure {
    /// What an error of the system means for a download: the first of it and of those below it that says something about that.
    public init(_ error: any Error) {
      var next: NSError? = error as NSError
      // Errors are rarely nested, and never in a circle that anybody means.
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
