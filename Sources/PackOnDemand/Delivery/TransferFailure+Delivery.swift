public import PackDelivery
public import PackDownloads

extension TransferFailure {
  /// What the failure of a download means for its delivery; nil where the download is to be looked for again (``TransferFailure/forgotten``), or
  /// somebody wanted its end (``TransferFailure/cancelled``).
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
