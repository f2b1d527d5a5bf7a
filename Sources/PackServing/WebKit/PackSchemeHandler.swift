#if canImport(WebKit)
  public import Foundation
  public import WebKit

  /// Serves packs to a web view: a request for `pack://<id>/…` is answered from the pack with that name. Nothing is written to disk unencrypted.
  ///
  /// ```swift
  /// let handler = PackSchemeHandler(store: store)
  /// let configuration = WKWebViewConfiguration()
  /// configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
  /// let webView = WKWebView(frame: .zero, configuration: configuration)
  /// webView.load(URLRequest(url: PackSchemeHandler.address(of: "arcade")!))
  /// ```
  ///
  /// The origin is the scheme and the name of the pack, independent of its version, so what a game has saved is still available after an update. A
  /// pack is opened at the first request for it. Its version stays the same until ``forget(_:)``, so that a page never mixes two versions.
  ///
  /// WebKit does not decode content encodings of an app's own schemes, so a build that compressed its own files does not run: turn that compression
  /// off, because the pack compresses the files. `packer serve` answers a browser in the same way.
  ///
  /// Reading runs on separate threads, at most four at a time. See ``PackResponder`` for the responses and ``BodyReader`` for the memory use.
  @MainActor
  public final class PackSchemeHandler: NSObject, WKURLSchemeHandler {
    /// The URL scheme of the addresses.
    public nonisolated static let scheme = "pack"

    private let server: SchemeServer<WebTask>

    /// Creates a handler that serves the packs that `open` opens.
    ///
    /// - Parameter open: receives the host of an address as the name of a pack. Any page can write such an address, so it must refuse unknown names.
    ///   It is called once for each name until the name is forgotten, and again after an error.
    public init(open: @escaping @Sendable (_ id: String) async throws(PackError) -> PackResponder) {
      server = SchemeServer(open: open)
      super.init()
    }

    /// Returns the address of a file of a pack, or of its index if no path is given. Returns nil if the name or the path is invalid.
    public nonisolated static func address(of id: String, path: String = "") -> URL? {
      guard let name = try? PackName(id) else { return nil }
      return URL(string: "\(scheme)://\(name)/\(RequestTarget.encoded(path))")
    }

    /// Closes a pack: the next page loaded from it comes from the version that is current then. Call it before you reload a page after an update or a
    /// rollback, and when a game is closed.
    public func forget(_ id: String) {
      server.forget(id)
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
      let task = WebTask(urlSchemeTask.request) { _, event in
        switch event {
        case .response(let response): urlSchemeTask.didReceive(response)
        case .data(let data): urlSchemeTask.didReceive(data)
        case .end(nil): urlSchemeTask.didFinish()
        case .end(let error?): urlSchemeTask.didFailWithError(error)
        }
      }
      start(task, key: ObjectIdentifier(urlSchemeTask))
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
      server.stop(ObjectIdentifier(urlSchemeTask))
    }

    private func start(_ task: WebTask, key: ObjectIdentifier) {
      guard let url = task.request.url, let id = url.host else {
        task.fail(PackError(.usage, "the address names no pack", advice: .developer("addresses are \(Self.scheme)://<id>/<path>")))
        return
      }
      let headers = (task.request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { HeaderFields.Field($0.key, $0.value) }
      let asked = PackRequest(method: task.request.httpMethod ?? "GET", target: url.absoluteString, headers: HeaderFields(headers))
      server.start(task, key: key, pack: id, asked)
    }
  }

  /// Serves packs to a `WebPage` of SwiftUI, from the same open packs.
  ///
  /// ```swift
  /// var configuration = WebPage.Configuration()
  /// configuration.urlSchemeHandlers[URLScheme(PackSchemeHandler.scheme)!] = handler
  /// let page = WebPage(configuration: configuration)
  /// page.load(PackSchemeHandler.address(of: "arcade"))
  /// ```
  @available(iOS 26, macOS 26, visionOS 26, *)
  extension PackSchemeHandler: URLSchemeHandler {
    /// Called by the page.
    public nonisolated func reply(for request: URLRequest) -> AsyncThrowingStream<URLSchemeTaskResult, any Error> {
      AsyncThrowingStream { continuation in
        Task { @MainActor in
          let task = WebTask(request) { [server] task, event in
            switch event {
            case .response(let response): continuation.yield(.response(response))
            case .data(let data):
              // The page has cancelled the request.
              if case .terminated = continuation.yield(.data(data)) { server.stop(ObjectIdentifier(task)) }
            case .end(let error): continuation.finish(throwing: error)
            }
          }
          self.start(task, key: ObjectIdentifier(task))
        }
      }
    }
  }

  /// The receiver that passes responses on to a task of WebKit.
  @MainActor
  private final class WebTask: SchemeReceiver {
    enum Event {
      case response(HTTPURLResponse)
      case data(Data)
      case end((any Error)?)
    }

    let request: URLRequest
    private let send: @MainActor (WebTask, Event) -> Void

    init(_ request: URLRequest, send: @escaping @MainActor (WebTask, Event) -> Void) {
      self.request = request
      self.send = send
    }

    nonisolated static func piece(_ bytes: Span<UInt8>) -> Data {
      unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    func receive(_ response: PackResponse) {
      var fields: [String: String] = [:]
      for field in response.headers.fields { fields[field.name] = field.value }
      guard let url = request.url,
        let answer = HTTPURLResponse(url: url, statusCode: response.status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { preconditionFailure("a task with an address has a response") }
      send(self, .response(answer))
    }

    func receive(_ piece: Data) {
      send(self, .data(piece))
    }

    func finish() {
      send(self, .end(nil))
    }

    func fail(_ error: PackError) {
      var information: [String: Any] = [NSLocalizedDescriptionKey: error.message, "code": error.code.rawValue]
      information[NSLocalizedRecoverySuggestionErrorKey] = error.advice?.description
      send(self, .end(NSError(domain: "PackError", code: 1, userInfo: information)))
    }
  }
#endif
