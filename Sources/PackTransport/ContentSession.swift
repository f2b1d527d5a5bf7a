import PackDownloads
import PackFormat
public import PackRemote
import PackWork

#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Fetches the content of remote assets over HTTP with the system's own client. Assets may share one, and with it its connections.
///
/// Nothing but HTTPS is fetched, and HTTP from the machine itself; a redirect may not lead anywhere else, and takes an authorisation to no other host. Nothing is cached but by the asset.
///
/// A server is believed: whoever can change the file there, or has a certificate for its name, decides what the asset becomes, within what the materializer takes. Content
/// that must come from its publisher alone belongs into a pack, which is authenticated.
public final class ContentSession: Sendable {
  private let options: URLSessionTransport.Options
  private let session: URLSession
  private let delegate = SessionDelegate()

  /// Makes a session of its own, without cache, cookies and credentials.
  ///
  /// - Parameter options: as those of a transport; content comes in one piece.
  public init(options: URLSessionTransport.Options = URLSessionTransport.Options()) {
    self.options = options
    session = URLSession(configuration: options.configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// Fetches what is at an address, where it is another than what is known.
  func content(at address: String, _ request: ContentRequest) async throws(ContentFailure) -> ProvidedContent {
    guard let url = URL(string: address), SafeAddress.isAllowed(url) else { throw .transfer(.insecure) }
    var message = URLRequest(url: url)
    for (name, value) in options.headers { message.setValue(value, forHTTPHeaderField: name) }
    // A compressed form could be a thousand times as large as what came.
    message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let tag = request.known?.tag { message.setValue(tag, forHTTPHeaderField: "If-None-Match") }
    if let date = request.known?.modified { message.setValue(date, forHTTPHeaderField: "If-Modified-Since") }
    let task = session.dataTask(with: message)
    let receiver = ContentReceiver(limit: request.sizeLimit)
    let exchange = Exchange(task, message, for: receiver, largestRedirectCount: options.largestRedirectCount)
    let identifier = "\(task.taskIdentifier)"
    delegate.add(exchange, identifier: identifier)
    defer { delegate.remove(exchange, identifier: identifier) }
    do throws(TransferFailure) {
      try await exchange.run()
    } catch {
      throw receiver.refusal.map { .other($0) } ?? .transfer(error)
    }
    return try receiver.content()
  }
}

extension DataProvider {
  /// What a server has at an address. It is asked with the entity tag and the date of what is there already, so that it sends nothing where that did not change.
  ///
  /// The content is not signed: see ``ContentSession`` for a list of those who can change it.
  ///
  /// - Parameters:
  ///   - address: an address of HTTPS, or of HTTP on this machine; another one is unavailable.
  ///   - session: what fetches it: one of its own unless told otherwise.
  public static func url(_ address: String, over session: ContentSession = ContentSession()) -> DataProvider {
    DataProvider(source: address) { (request: ContentRequest) throws(ContentFailure) in try await session.content(at: address, request) }
  }
}

/// Content that comes, held in memory up to a limit.
private final class ContentReceiver: ResponseReceiver {
  private struct State {
    var isUnchanged = false
    var bytes: [UInt8] = []
    /// What the server announced.
    var length: UInt64?
    var version: ContentVersion?
    var refusal: PackError?
  }

  private let limit: Int
  private let state = Monitor(State())

  init(limit: Int) {
    self.limit = limit
  }

  /// Why the content was not taken, where it was too large.
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
          state.refusal = PackError(.limitExceeded, "the content is \(length) bytes, and at most \(limit) are taken")
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
      // A body where there must be none is not listened to.
      guard !state.isUnchanged else { return }
      guard bytes.count <= limit - state.bytes.count else {
        state.refusal = PackError(.limitExceeded, "the content is more than the \(limit) bytes that are taken")
        throw .other
      }
      state.bytes.append(copying: bytes)
    }
  }

  /// All that came.
  func content() throws(ContentFailure) -> ProvidedContent {
    try state.withLock { (state) throws(ContentFailure) in
      guard !state.isUnchanged else { return .unchanged }
      // A connection that was cut off in the middle.
      if let length = state.length, length != UInt64(state.bytes.count) { throw .transfer(.malformedResponse) }
      return .content(state.bytes, version: state.version)
    }
  }
}
