#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// The receiver of the response to one request.
protocol ResponseReceiver: Sendable {
  /// Checks the status and the header fields. Called before any byte of the body is delivered.
  func begin(_ response: HTTPURLResponse, to request: URLRequest) throws(TransferFailure)
  /// Receives the next bytes of the body.
  func write(_ bytes: Span<UInt8>) throws(TransferFailure)
}

/// One request and its response, whose bytes go to a receiver.
///
/// The session's queue calls it, one call at a time. The first end is final: later calls are ignored, because the client on Linux continues after
/// it was cancelled.
final class Exchange: Sendable {
  private struct State {
    var finish: (@Sendable (TransferFailure?) -> Void)?
    var result: TransferFailure??
    var isReceiving = false
    var redirectCount = 0
  }

  let task: URLSessionDataTask
  private let request: URLRequest
  private let receiver: any ResponseReceiver
  /// The largest number of redirects that are followed. The system follows those of its own tasks without asking.
  private static let largestRedirectCount = 5
  private let state = Monitor(State())

  init(_ task: URLSessionDataTask, _ request: URLRequest, for receiver: any ResponseReceiver) {
    self.task = task
    self.request = request
    self.receiver = receiver
  }

  /// Sends the request. Calls `finish` exactly once.
  private func start(_ finish: @escaping @Sendable (TransferFailure?) -> Void) {
    let result = state.withLock { state in
      if state.result == nil { state.finish = finish }
      return state.result
    }
    // The task was cancelled before the request was sent.
    if let result { return finish(result) }
    task.resume()
  }

  /// Sends the request and returns when the whole response has been received, or soon after the task was cancelled.
  func run() async throws(TransferFailure) {
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start { continuation.resume(returning: $0) }
      }
    } onCancel: {
      finish(.cancelled)
    }
    if let failure { throw failure }
  }

  /// Ends the exchange, with a failure or without.
  func finish(_ failure: TransferFailure?) {
    let (isFirst, finish) = state.withLock { state in
      let isFirst = state.result == nil
      if isFirst { state.result = .some(failure) }
      return (isFirst, state.finish.take())
    }
    guard isFirst else { return }
    finish?(failure)
    // On another queue: on Linux, cancelling waits for the session's queue, which may in turn wait for this call.
    if failure != nil { DispatchQueue.global().async { [task] in task.cancel() } }
  }

  private var isOver: Bool { state.withLock { $0.result != nil } }

  // MARK: Events of the session

  func redirect(_ response: HTTPURLResponse, to next: URLRequest) -> URLRequest? {
    let count = state.withLock { state in
      state.redirectCount += 1
      return state.redirectCount
    }
    guard count <= Self.largestRedirectCount, let url = next.url, SafeAddress.isAllowed(url) else {
      finish(.redirect)
      return nil
    }
    var following = next
    // The fields for the range must be sent to the new address too. An authorisation is sent only to its own host.
    let isSameHost = url.host == request.url?.host && url.port == request.url?.port
    for (name, value) in request.allHTTPHeaderFields ?? [:] where isSameHost || Self.travelling.contains(name.lowercased()) {
      following.setValue(value, forHTTPHeaderField: name)
    }
    if !isSameHost {
      for name in request.allHTTPHeaderFields?.keys ?? [:].keys where !Self.travelling.contains(name.lowercased()) {
        following.setValue(nil, forHTTPHeaderField: name)
      }
    }
    return following
  }

  private static let travelling: Set = ["range", "if-range", "if-none-match", "if-modified-since", "accept-encoding", "user-agent"]

  /// Handles the header of the response. Returns whether the body is wanted.
  func receive(_ response: URLResponse) -> Bool {
    guard !isOver else { return false }
    do throws(TransferFailure) {
      guard let response = response as? HTTPURLResponse else { throw .malformedResponse }
      try receiver.begin(response, to: request)
      state.withLock { $0.isReceiving = true }
      return true
    } catch {
      finish(error)
      return false
    }
  }

  func receive(_ data: Data) {
    guard !isOver else { return }
    guard state.withLock({ $0.isReceiving }) else { return finish(.malformedResponse) }
    let failure = unsafe data.withUnsafeBytes { bytes -> TransferFailure? in
      do throws(TransferFailure) {
        try receiver.write(unsafe Span<UInt8>(_unsafeBytes: bytes))
        return nil
      } catch {
        return error
      }
    }
    if let failure { finish(failure) }
  }

  func complete(_ error: (any Error)?) {
    guard let error else { return finish(nil) }
    finish(TransferFailure(error))
  }
}

/// The receiver of a download, which writes the bytes to a sink.
struct DownloadReceiver: ResponseReceiver {
  let sink: DownloadSink

  func begin(_ response: HTTPURLResponse, to request: URLRequest) throws(TransferFailure) {
    switch response.statusCode {
    case 200:
      guard response.isUnencoded else { throw .malformedResponse }
      try sink.begin(at: 0, size: response.length, validator: response.validator)
    case 206:
      let range = ContentRange(response.value(forHTTPHeaderField: "Content-Range"))
      guard response.isUnencoded, let range, range.start == sink.offset, request.value(forHTTPHeaderField: "Range") != nil else {
        throw .malformedResponse
      }
      try sink.begin(at: range.start, size: range.total, validator: response.validator ?? sink.validator)
    case 416:
      // The partial file cannot be a part of the file on the server.
      try sink.begin(at: 0, size: nil, validator: nil)
      throw .status(416, retryAfter: nil)
    default:
      throw response.failure
    }
  }

  func write(_ bytes: Span<UInt8>) throws(TransferFailure) {
    try sink.write(bytes)
  }
}

/// The receiver of some bytes of a file.
final class RangeReceiver: ResponseReceiver {
  private let range: Range<UInt64>
  private let size: UInt64
  private let onBytes: @Sendable (Span<UInt8>) -> Void
  private let state = Monitor<(received: UInt64, isWhole: Bool)>((0, false))

  init(_ range: Range<UInt64>, of size: UInt64, _ onBytes: @escaping @Sendable (Span<UInt8>) -> Void) {
    (self.range, self.size, self.onBytes) = (range, size, onBytes)
  }

  /// Whether the server sent the whole file instead.
  var isWhole: Bool { state.withLock { $0.isWhole } }

  func begin(_ response: HTTPURLResponse, to request: URLRequest) throws(TransferFailure) {
    switch response.statusCode {
    case 200:
      // Anything else is no answer of a server that has the file.
      state.withLock { $0.isWhole = response.isUnencoded && response.length ?? size == size }
      throw .malformedResponse
    case 206:
      let sent = ContentRange(response.value(forHTTPHeaderField: "Content-Range"))
      guard response.isUnencoded, let sent, sent.start == range.lowerBound, sent.end == range.upperBound - 1 else {
        throw .malformedResponse
      }
      if let total = sent.total, total != size { throw .wrongSize(total) }
    default: throw response.failure
    }
  }

  func write(_ bytes: Span<UInt8>) throws(TransferFailure) {
    try state.withLock { (state) throws(TransferFailure) in
      guard UInt64(bytes.count) <= range.upperBound - range.lowerBound - state.received else { throw .malformedResponse }
      state.received += UInt64(bytes.count)
    }
    onBytes(bytes)
  }
}

extension HTTPURLResponse {
  /// Whether the body is not compressed.
  var isUnencoded: Bool { (value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "identity") == "identity" }

  /// The size of the body in bytes, or nil if the server does not state it.
  var length: UInt64? { value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) } }

  /// What says in a later request whether the file is still the same (RFC 9110 §8.8): the entity tag if it is a strong one, which changes with every byte;
  /// without any tag, the date of the last change if it was long enough before the response.
  var validator: String? {
    if let tag = value(forHTTPHeaderField: "ETag") { return tag.hasPrefix("\"") && tag.utf8.count > 2 ? tag : nil }
    guard let modified = value(forHTTPHeaderField: "Last-Modified"), let date = HTTPDate(modified),
      let now = value(forHTTPHeaderField: "Date").flatMap({ HTTPDate($0) }), date.secondsSince1970 + 60 <= now.secondsSince1970
    else { return nil }
    return modified
  }

  /// The failure for a status that is not a success.
  var failure: TransferFailure {
    switch statusCode {
    case 300...399: .redirect
    default:
      .status(statusCode, retryAfter: RetryAfter.duration(value(forHTTPHeaderField: "Retry-After"), now: HTTPDate.now.secondsSince1970))
    }
  }
}

extension TransferFailure {
  /// Creates the failure for an error of the system's client.
  init(_ error: any Error) {
    let error = error as NSError
    guard error.domain == NSURLErrorDomain else {
      self = .other
      return
    }
    self =
      switch error.code {
      case NSURLErrorNotConnectedToInternet, NSURLErrorDataNotAllowed, NSURLErrorInternationalRoamingOff, NSURLErrorCallIsActive: .offline
      case NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed, NSURLErrorCannotConnectToHost, NSURLErrorNetworkConnectionLost: .unreachable
      case NSURLErrorTimedOut: .timedOut
      case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate, NSURLErrorServerCertificateUntrusted,
        NSURLErrorServerCertificateHasUnknownRoot, NSURLErrorServerCertificateNotYetValid, NSURLErrorClientCertificateRejected,
        NSURLErrorClientCertificateRequired, NSURLErrorAppTransportSecurityRequiresSecureConnection:
        .insecure
      case NSURLErrorHTTPTooManyRedirects, NSURLErrorRedirectToNonExistentLocation: .redirect
      case NSURLErrorBadServerResponse, NSURLErrorCannotParseResponse, NSURLErrorCannotDecodeRawData, NSURLErrorCannotDecodeContentData:
        .malformedResponse
      // From NSURLErrorCannotCreateFile to NSURLErrorCannotMoveFile.
      case -3005 ... -3000: .cannotWrite
      case NSURLErrorCancelled: .cancelled
      default: .other
      }
  }
}
