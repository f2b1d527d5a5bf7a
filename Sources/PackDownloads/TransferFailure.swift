/// Why a download did not succeed.
public enum TransferFailure: Error, Hashable, Sendable {
  /// The device has no network.
  case offline
  /// The server cannot be reached: its name is unknown, it refuses or it went away.
  case unreachable
  /// Nothing came for too long.
  case timedOut
  /// The connection is not as safe as it must be: a certificate, or plain HTTP.
  case insecure
  /// The server answered with a status that is no success, and may have said when to come again.
  case status(Int, retryAfter: Duration?)
  /// The server led to a place where nothing may be fetched from, or in circles.
  case redirect
  /// The answer is not what HTTP allows in this place.
  case malformedResponse
  /// The file at the server has another size.
  case wrongSize(UInt64)
  /// The file is not the one that was asked for: its SHA-256 differs.
  case wrongDigest
  /// The volume has not enough free space.
  case noSpace(needed: UInt64, free: UInt64)
  /// The file cannot be written or read.
  case cannotWrite
  /// The system does not know the download any more.
  case forgotten
  /// The system's download service refused, with a number of its own.
  case refused(code: Int)
  /// The task was cancelled.
  case cancelled
  /// What a transport could not put a better name to.
  case other

  /// Whether another attempt cannot do better: the server says no and means it.
  public var isPermanent: Bool {
    switch self {
    case .status(let code, _): (400...499).contains(code) && ![408, 416, 425, 429].contains(code)
    case .insecure, .redirect: true
    default: false
    }
  }

  /// Whether it may be the same for every other request: the server is down, is busy or cannot be reached.
  var isOfServer: Bool {
    switch self {
    case .unreachable, .timedOut: true
    case .status(let code, _): (500...599).contains(code) || code == 429
    default: false
    }
  }

  /// Whether the attempt says nothing about the request, and so does not count.
  var isCircumstance: Bool {
    switch self {
    case .offline, .noSpace: true
    default: false
    }
  }
}

// As the journal keeps it.
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

  /// The one number that is kept with the code.
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
