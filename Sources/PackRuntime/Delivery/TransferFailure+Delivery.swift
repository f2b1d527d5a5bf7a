extension TransferFailure {
  /// The reason why the delivery failed.
  public var deliveryFailure: DownloadFailure {
    switch self {
    case .offline, .unreachable: .offline
    case .timedOut: .timeout
    case .status(let code, _): .http(status: code)
    case .wrongSize: .wrongSize
    case .wrongDigest: .wrongBytes
    case .noSpace: .noSpace
    case .insecure, .redirect, .malformedResponse, .cannotWrite, .endedBySystem, .cancelled, .other: .other
    }
  }

  /// The number of seconds that the server asked to wait.
  var retryAfter: UInt32 {
    guard case .status(_, let after?) = self else { return 0 }
    return UInt32(clamping: after.components.seconds)
  }
}
