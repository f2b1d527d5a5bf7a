public import PackDownloads

#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Downloads over HTTP with the system's own client.
///
/// A file is fetched in ranges of ``Options/largestPiece`` bytes, each held to the entity tag of the first: neither system lets a client slow a response down, so what arrives
/// faster than the disk takes it has to wait in memory, and that is at most one piece of each download. A server that knows no ranges sends all at once, which works too, but
/// has no such bound.
///
/// Nothing goes on when the process ends; the next one goes on where the file ends.
public final class URLSessionTransport: Transport {
  /// How a transport behaves.
  public struct Options: Hashable, Sendable {
    /// How long nothing may come before the attempt fails.
    public var idleTimeoutSeconds: Double = 30
    /// The connections to one server: as many as the queue downloads at a time.
    public var connectionsPerHost = 20
    /// The bytes that are asked for at a time.
    public var largestPiece: UInt64 = 4 << 20
    /// The redirects that are followed, one after the other.
    public var largestRedirectCount = 5
    /// What is sent along: an authorisation, a name.
    public var headers: [String: String] = [:]
    /// Whether the mobile network may be used.
    public var allowsCellularAccess = true

    /// Makes the usual options.
    public init() {}
  }

  private let options: Options
  private let session: URLSession
  private let delegate: SessionDelegate

  /// Makes a transport with a session of its own, without cache, cookies and credentials.
  public init(options: Options = Options()) {
    self.options = options
    delegate = SessionDelegate()
    session = URLSession(configuration: options.configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// Fetches piece by piece until the file is whole; what is there of it stays where that fails.
  public func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    guard let url = URL(string: request.url), SafeAddress.isAllowed(url) else { throw .insecure }
    delegate.begin(request.identifier)
    defer { delegate.end(request.identifier) }
    // A server that sends nothing where it was asked for something would be asked for ever.
    while sink.offset < request.size {
      let offset = sink.offset
      try await fetch(url, request, into: sink)
      guard sink.offset > offset || sink.offset == request.size else { throw .malformedResponse }
    }
  }

  private func fetch(_ url: URL, _ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    var message = URLRequest(url: url)
    for (name, value) in options.headers { message.setValue(value, forHTTPHeaderField: name) }
    // The bytes of the file, not those of a compressed form.
    message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if sink.offset > 0 || request.size > options.largestPiece {
      let (end, overflow) = sink.offset.addingReportingOverflow(max(1, options.largestPiece))
      message.setValue("bytes=\(sink.offset)-\((overflow ? request.size : min(end, request.size)) - 1)", forHTTPHeaderField: "Range")
      if let validator = sink.validator { message.setValue(validator, forHTTPHeaderField: "If-Range") }
    }
    let task = session.dataTask(with: message)
    task.priority = Float(request.priority)
    let exchange = Exchange(task, message, for: DownloadReceiver(sink: sink), largestRedirectCount: options.largestRedirectCount)
    delegate.add(exchange, identifier: request.identifier)
    defer { delegate.remove(exchange, identifier: request.identifier) }
    try await exchange.run()
  }

  /// What this transport is fetching now: nothing outlives the process.
  public func inFlight() async -> Set<String>? { delegate.identifiers }

  /// Hands the priority on to the system.
  public func setPriority(_ priority: Double, of identifier: String) async {
    delegate.setPriority(Float(priority), of: identifier)
  }
}

extension URLSessionTransport.Options {
  /// A session without cache, cookies and credentials.
  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.timeoutIntervalForRequest = idleTimeoutSeconds
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.allowsCellularAccess = allowsCellularAccess
    return configuration
  }
}

/// Where may be fetched from: over TLS, or from the machine itself.
enum SafeAddress {
  static func isAllowed(_ url: URL) -> Bool {
    switch url.scheme?.lowercased() {
    case "https": url.host != nil
    case "http": ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host?.lowercased())
    default: false
    }
  }
}
