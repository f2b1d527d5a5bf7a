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
  /// The system ended a download that outlives the process.
  case endedBySystem(SystemReason)
  /// The task was cancelled.
  case cancelled
  /// Any other failure.
  case other

  /// The reason why the system ended a download.
  public enum SystemReason: Hashable, Sendable {
    /// The user switched background activity off for the app, which was not in the foreground.
    case noBackgroundActivity
    /// The device had no resources for it.
    case noResources
  }

  /// Whether another attempt cannot succeed, because the server's answer is final.
  public var isPermanent: Bool {
    switch self {
    case .status(let code, _): (400...499).contains(code) && ![408, 416, 425, 429].contains(code)
    case .insecure, .redirect: true
    default: false
    }
  }
}
