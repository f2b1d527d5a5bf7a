package import PackDownloads
package import PackFormat

/// Why a provider brought nothing.
package enum ContentFailure: Error, Sendable {
  /// The network or the server.
  case transfer(TransferFailure)
  /// Anything else.
  case other(PackError)

  package static let cancelled = ContentFailure.other(PackError(.cancelled, "cancelled"))

  /// Whether another attempt cannot do better.
  var isPermanent: Bool {
    switch self {
    case .transfer(.cancelled): true
    case .transfer(let failure): failure.isPermanent
    case .other(let error): [.cancelled, .limitExceeded, .usage].contains(error.code)
    }
  }

  /// What the server asks to wait for.
  var retryAfter: Duration? {
    if case .transfer(.status(_, let duration)) = self { duration } else { nil }
  }

  /// The same for everybody.
  var error: PackError {
    switch self {
    case .transfer(.cancelled): PackError(.cancelled, "cancelled")
    case .transfer(let failure): PackError(.contentUnavailable, failure.text)
    case .other(let error): error
    }
  }
}

extension TransferFailure {
  /// Why content did not come, for a person. It names no address: one may hold a secret.
  fileprivate var text: String {
    switch self {
    case .offline: "the device has no network"
    case .unreachable: "the server cannot be reached"
    case .timedOut: "nothing came for too long"
    case .insecure: "the address is not one of HTTPS, or its certificate is not trusted"
    case .status(let code, _): "the server answered with status \(code)"
    case .redirect: "the server led to a place where nothing may be fetched from, or in circles"
    case .malformedResponse: "the answer is not what HTTP allows in this place"
    case .wrongSize(let size): "the content has another size, \(size) bytes"
    case .wrongDigest: "the content has another digest"
    case .noSpace(let needed, _): "there is not enough free space for \(needed) bytes"
    case .cannotWrite: "a file cannot be written"
    case .forgotten: "the system forgot the download"
    case .refused(let code): "the system refused with code \(code)"
    case .cancelled: "cancelled"
    case .other: "the content did not come"
    }
  }
}
