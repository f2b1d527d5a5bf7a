/// The reason why a provider returned no content.
package enum ContentFailure: Error, Sendable {
  /// A failure of the network or the server.
  case transfer(TransferFailure)
  /// Any other error.
  case other(PackError)

  package static let cancelled = ContentFailure.other(PackError(.cancelled, "cancelled"))

  /// Whether another attempt cannot succeed.
  var isPermanent: Bool {
    switch self {
    case .transfer(.cancelled): true
    case .transfer(let failure): failure.isPermanent
    case .other(let error): [.cancelled, .limitExceeded, .usage].contains(error.code)
    }
  }

  /// The time that the server asked to wait. Nil if it did not.
  var retryAfter: Duration? {
    if case .transfer(.status(_, let duration)) = self { duration } else { nil }
  }

  /// The failure as a ``PackError``.
  package var error: PackError {
    switch self {
    case .transfer(.cancelled): PackError(.cancelled, "cancelled")
    case .transfer(let failure): PackError(.contentUnavailable, failure.text)
    case .other(let error): error
    }
  }
}

extension TransferFailure {
  /// The reason, as a text for people. It contains no URL, because a URL may contain a secret.
  fileprivate var text: String {
    switch self {
    case .offline: "the device has no network"
    case .unreachable: "the server cannot be reached"
    case .timedOut: "the server sent nothing for too long"
    case .insecure: "the URL does not use HTTPS, or the certificate of its server is not trusted"
    case .status(let code, _): "the server answered with status \(code)"
    case .redirect: "the server redirected to a URL that is not allowed, or in a loop"
    case .malformedResponse: "the server's response is not valid for this request"
    case .wrongSize(let size): "the content has the wrong size, \(size) bytes"
    case .wrongDigest: "the content has the wrong digest"
    case .noSpace(let needed, _): "there is not enough free space for \(needed) bytes"
    case .cannotWrite: "a file cannot be written"
    case .endedBySystem: "the system ended the download"
    case .cancelled: "cancelled"
    case .other: "the content was not received"
    }
  }
}
