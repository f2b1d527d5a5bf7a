#if canImport(FoundationNetworking)
  public import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// Downloads over HTTP with the system's own client.
///
/// A file is fetched in ranges of ``Options/largestPiece`` bytes. Each range must have the entity tag of the first. Neither system lets a client
/// slow a response down, so bytes that arrive faster than the disk writes them wait in memory: at most one piece for each download. A server
/// without support for ranges sends the whole file at once. That works too, but memory then has no such bound.
///
/// Downloads stop when the process ends. The next process continues at the end of the partial file.
public final class URLSessionTransport: Transport {
  /// The options of a transport.
  public struct Options: Sendable {
    /// The time without received data after which an attempt fails.
    public var idleTimeoutSeconds: Double = 30
    /// The largest number of connections to one server. Should match ``TransferPolicy/concurrentDownloads``.
    public var connectionsPerHost = 20
    /// The number of bytes in one range request. If nil, 4 MiB in this process, where they may have to wait in memory, and 64 MiB in the system's tasks,
    /// which write to files.
    public var largestPiece: UInt64?
    /// Makes the request for an address: its header fields, such as an authorisation, and which networks it may use (`allowsCellularAccess`,
    /// `allowsExpensiveNetworkAccess`, `allowsConstrainedNetworkAccess`). The address, the method, the encoding and the range are set afterwards. Called
    /// for every request, on any thread, so that an authorisation may change.
    ///
    /// In this process, a redirect to another host takes no field of it along, and a request without a network that it may use fails. The system's own
    /// tasks, and Background Assets, wait for a network, and may send the fields to hosts that the server redirects to.
    public var request: @Sendable (URL) -> URLRequest = { URLRequest(url: $0) }

    /// Creates the default options.
    public init() {}
  }

  private let options: Options
  private let session: URLSession
  private let delegate: SessionDelegate

  /// Creates a transport with its own session, without cache, cookies and credentials.
  public init(options: Options = Options()) {
    self.options = options
    delegate = SessionDelegate()
    session = URLSession(configuration: options.configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// Fetches the file piece by piece. If a piece fails, the bytes received so far stay in the sink.
  public func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    guard let url = URL(string: request.url), SafeAddress.isAllowed(url) else { throw .insecure }
    // A server that sends no bytes must not cause an endless loop of requests.
    while sink.offset < request.size {
      let offset = sink.offset
      try await fetch(url, request, into: sink)
      guard sink.offset > offset || sink.offset == request.size else { throw .malformedResponse }
    }
  }

  private func fetch(_ url: URL, _ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    var range: Range<UInt64>?
    let piece = max(1, options.largestPiece ?? 4 << 20)
    if sink.offset > 0 || request.size > piece { range = sink.offset..<min(request.size, sink.offset.adding(piece)) }
    let message = options.message(for: url, range, validator: sink.validator)
    let task = session.dataTask(with: message)
    task.priority = Float(request.priority)
    let exchange = Exchange(task, message, for: DownloadReceiver(sink: sink))
    try await delegate.run(exchange, as: request.identifier)
  }

  /// Fetches a range in one request.
  public func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool {
    guard let url = URL(string: request.url), SafeAddress.isAllowed(url) else { throw .insecure }
    let message = options.message(for: url, range, validator: nil)
    let task = session.dataTask(with: message)
    task.priority = Float(request.priority)
    let receiver = RangeReceiver(range, of: request.size, onBytes)
    do throws(TransferFailure) {
      try await delegate.run(Exchange(task, message, for: receiver))
    } catch {
      if receiver.isWhole { return false }
      throw error
    }
    return true
  }

  /// Passes the priority on to the system.
  public func setPriority(_ priority: Double, of identifier: String) async {
    delegate.setPriority(Float(priority), of: identifier)
  }
}

extension URLSessionTransport.Options {
  /// Makes all requests with the same fields and networks. Nil leaves what the system does.
  package mutating func setRequests(fields: [String: String], cellular: Bool?, expensive: Bool?, constrained: Bool?) {
    request = { address in
      var request = URLRequest(url: address)
      for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
      if let cellular { request.allowsCellularAccess = cellular }
      // Elsewhere the system does not know what its networks cost.
      #if canImport(Darwin)
        if let expensive { request.allowsExpensiveNetworkAccess = expensive }
        if let constrained { request.allowsConstrainedNetworkAccess = constrained }
      #endif
      return request
    }
  }

  /// Returns the request for a file, or for some of its bytes. Every request of a URL session for a file is made here.
  ///
  /// - Parameter validator: What the server gave for the bytes that are here. If the file changed, it sends the whole one.
  func message(for url: URL, _ range: Range<UInt64>?, validator: String?) -> URLRequest {
    var message = start(of: url)
    // Sizes and ranges count the bytes of the file, not of a compressed form.
    message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let range {
      message.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
      if let validator { message.setValue(validator, forHTTPHeaderField: "If-Range") }
    }
    return message
  }

  /// Returns the app's request for an address.
  func start(of url: URL) -> URLRequest {
    var message = request(url)
    message.url = url
    message.httpMethod = "GET"
    message.httpBody = nil
    return message
  }

  /// The configuration of a session without cache, cookies and credentials.
  var configuration: URLSessionConfiguration { configured(.ephemeral) }

  func configured(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.timeoutIntervalForRequest = idleTimeoutSeconds
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    return configuration
  }
}

/// Decides which addresses may be fetched: HTTPS addresses, and HTTP addresses of the machine itself.
enum SafeAddress {
  static func isAllowed(_ url: URL) -> Bool {
    switch url.scheme?.lowercased() {
    case "https": url.host != nil
    case "http": ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host?.lowercased())
    default: false
    }
  }
}
