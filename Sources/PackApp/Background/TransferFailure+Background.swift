#if canImport(BackgroundAssets)

  extension TransferFailure {
    /// Creates the queue's failure for a failure of the system's download service.
    package init(_ failure: DownloadFailure, size: UInt64) {
      self =
        switch failure {
        case .backgroundAssets(let code):
          switch failure.remedy {
          case .handOverAnew: .forgotten
          default: .refused(code: code)
          }
        case .offline: .offline
        case .timeout: .timedOut
        case .http(let status): status == 0 ? .malformedResponse : .status(status, retryAfter: nil)
        case .wrongSize: .wrongSize(0)
        case .wrongBytes: .wrongDigest
        case .noSpace: .noSpace(needed: size, free: 0)
        case .other: .other
        }
    }
  }
#endif
