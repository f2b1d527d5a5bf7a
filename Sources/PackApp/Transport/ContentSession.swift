#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Fetches the content of remote assets over HTTP with the system's own client. Assets may share a session and its connections.
///
/// Only HTTPS addresses are fetched, and HTTP addresses of the machine itself. The same applies to redirects. An authorisation is not sent to
/// another host. The session has no cache; only the asset keeps its content.
///
/// The content is not authenticated: anyone who can change the file on the server, or has a certificate for its name, decides what the asset
/// contains, within the limits of the materializer. Content that must come from its publisher belongs in a pack.
public final class ContentSession: Sendable {
  private let options: URLSessionTransport.Options
  private let session: URLSession
  private let delegate = SessionDelegate()

  /// Creates a session without cache, cookies and credentials.
  ///
  /// - Parameter options: The same options as for a transport. Content is fetched in one piece.
  public init(options: URLSessionTransport.Options = URLSessionTransport.Options()) {
    self.options = options
    session = URLSession(configuration: options.configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// Fetches the content at an address, unless it is the content that the request knows already.
  package func content(at address: String, _ request: ContentRequest) async throws(ContentFailure) -> ProvidedContent {
    guard let url = URL(string: address), SafeAddress.isAllowed(url) else { throw .transfer(.insecure) }
    var message = options.start(of: url)
    // Compressed content could expand to a thousand times its size.
    message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let tag = request.known?.tag { message.setValue(tag, forHTTPHeaderField: "If-None-Match") }
    if let date = request.known?.modified { message.setValue(date, forHTTPHeaderField: "If-Modified-Since") }
    let task = session.dataTask(with: message)
    let receiver = ContentReceiver(limit: request.sizeLimit)
    do throws(TransferFailure) {
      try await delegate.run(Exchange(task, message, for: receiver))
    } catch {
      throw receiver.refusal.map { .other($0) } ?? .transfer(error)
    }
    return try receiver.content()
  }
}

extension DataProvider {
  /// Provides the content at a URL.
  ///
  /// Requests carry the entity tag and the date of the current content, so the server sends no content if it did not change.
  ///
  /// The content is not signed: see ``ContentSession`` about who can change it.
  ///
  /// - Parameters:
  ///   - address: An HTTPS address, or an HTTP address of this machine. The content of any other address is unavailable.
  ///   - session: The session that fetches it. By default, the provider has its own session.
  public static func url(_ address: String, over session: ContentSession = ContentSession()) -> DataProvider {
    DataProvider(source: address) { (request: ContentRequest) throws(ContentFailure) in try await session.content(at: address, request) }
  }
}

/// Receives content into memory, up to a limit.
private final class ContentReceiver: ResponseReceiver {
  private struct State {
    var isUnchanged = false
    var bytes: [UInt8] = []
    /// The length that the server announced, in bytes.
    var length: UInt64?
    var version: ContentVersion?
    var refusal: PackError?
  }

  private let limit: Int
  private let state = Monitor(State())

  init(limit: Int) {
    self.limit = limit
  }

  /// The error if the content was too large.
  var refusal: PackError? { state.withLock { $0.refusal } }

  func begin(_ response: HTTPURLResponse, to request: URLRequest) throws(TransferFailure) {
    switch response.statusCode {
    case 200:
      guard response.isUnencoded else { throw .malformedResponse }
      let length = response.length
      let version = ContentVersion(
        tag: response.value(forHTTPHeaderField: "ETag"), modified: response.value(forHTTPHeaderField: "Last-Modified"))
      try state.withLock { (state) throws(TransferFailure) in
        if let length, length > UInt64(limit) {
          state.refusal = PackError(.limitExceeded, "the content is \(length) bytes, but the limit is \(limit)")
          throw .other
        }
        state.length = length
        state.version = version == ContentVersion() ? nil : version
      }
    case 304
    where request.value(forHTTPHeaderField: "If-None-Match") != nil || request.value(forHTTPHeaderField: "If-Modified-Since") != nil:
      state.withLock { $0.isUnchanged = true }
    default:
      throw response.failure
    }
  }

  func write(_ bytes: Span<UInt8>) throws(TransferFailure) {
    try state.withLock { (state) throws(TransferFailure) in
      // A response 304 has no body. If one comes, it is ignored.
      guard !state.isUnchanged else { return }
      guard bytes.count <= limit - state.bytes.count else {
        state.refusal = PackError(.limitExceeded, "the content is larger than the limit of \(limit) bytes")
        throw .other
      }
      state.bytes.append(copying: bytes)
    }
  }

  /// Returns the received content.
  func content() throws(ContentFailure) -> ProvidedContent {
    try state.withLock { (state) throws(ContentFailure) in
      guard !state.isUnchanged else { return .unchanged }
      // The connection was closed before the end.
      if let length = state.length, length != UInt64(state.bytes.count) { throw .transfer(.malformedResponse) }
      return .content(state.bytes, version: state.version)
    }
  }
}
