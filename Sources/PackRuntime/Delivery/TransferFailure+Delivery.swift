extension TransferFailure {
  /// The reason why the delivery failed. Nil if the system lost the download (``TransferFailure/forgotten``) or it was cancelled on purpose
  /// (``TransferFailure/cancelled``).
  public var deliveryFailure: DownloadFailure? {
    switch self {
    case .offline, .unreachable: .offline
    case .timedOut: .timeout
    case .status(let code, _): .http(status: code)
    case .wrongSize: .wrongSize
    case .wrongDigest: .wrongBytes
    case .noSpace: .noSpace
    case .refused(let code): .backgroundAssets(code: code)
    case .insecure, .redirect, .malformedResponse, .cannotWrite, .other: .other
    case .forgotten, .cancelled: nil
    }
  }
}
