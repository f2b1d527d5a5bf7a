/// The failure of a download.
public enum TransferFailure: Error, Hashable, Sendable {
  /// The device has no network.
  case offline
  /// The server cannot be reached: its name is unknown, it refuses connections, or the connection was lost.
  case unreachable
  /// No data arrived for too long.
  case timedOut
  /// The connection is not secure enough: a certificate problem, or plain HTTP.
  case insecure
  /// The server returned an error status, possibly with a time after which to retry.
  case status(Int, retryAfter: Duration?)
  /// The server redirected to a URL that is not permitted, or in a loop.
  case redirect
  /// The response violates HTTP.
  case malformedResponse
  /// The file on the server has another size.
  case wrongSize(UInt64)
  /// The file's SHA-256 is not the expected one.
  case wrongDigest
  /// There is not enough free space on the volume.
  case noSpace(needed: UInt64, free: UInt64)
  /// The file cannot be written or read.
  case cannotWrite
  /// The system no longer has the download.
  case forgotten
  /// The system's download service refused, with its error code.
  case refused(code: Int)
  /// The task was cancelled.
  case cancelled
  /// Any other failure.
  case other

  /// Whether another attempt cannot succeed, because the server's answer is final.
  public var isPermanent: Bool {
    switch self {
    case .status(let code, _): (400...499).contains(code) && ![408, 416, 425, 429].contains(code)
    case .insecure, .redirect: true
    default: false
    }
  }

  /// Whether other requests are probably affected too: the server is down, busy or cannot be reached.
  var isOfServer: Bool {
    switch self {
    case .unreachable, .timedOut: true
    case .status(let code, _): (500...599).contains(code) || code == 429
    default: false
    }
  }

}

// The stored form in the journal.
extension TransferFailure {
  var code: UInt8 {
    switch self {
    case .offline: 1
    case .unreachable: 2
    case .timedOut: 3
    case .insecure: 4
    case .status: 5
    case .redirect: 6
    case .malformedResponse: 7
    case .wrongSize: 8
    case .wrongDigest: 9
    case .noSpace: 10
    case .cannotWrite: 11
    case .forgotten: 12
    case .refused: 13
    case .cancelled: 14
    case .other: 15
    }
  }

  /// The number that is stored with the code.
  var value: UInt64 {
    switch self {
    case .status(let code, _): UInt64(clamping: code)
    case .wrongSize(let size): size
    case .noSpace(let needed, _): needed
    case .refused(let code): UInt64(bitPattern: Int64(code))
    default: 0
    }
  }

  init(code: UInt8, value: UInt64) {
    self =
      switch code {
      case 1: .offline
      case 2: .unreachable
      case 3: .timedOut
      case 4: .insecure
      case 5: .status(Int(clamping: value), retryAfter: nil)
      case 6: .redirect
      case 7: .malformedResponse
      case 8: .wrongSize(value)
      case 9: .wrongDigest
      case 10: .noSpace(needed: value, free: 0)
      case 11: .cannotWrite
      case 12: .forgotten
      case 13: .refused(code: Int(truncatingIfNeeded: Int64(bitPattern: value)))
      case 14: .cancelled
      default: .other
      }
  }
}
