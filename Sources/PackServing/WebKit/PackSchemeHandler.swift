#if canImport(WebKit)
  public import Foundation
  public import PackFormat
  public import WebKit

  /// Shows packs in a web view: `pack://<id>/…` is answered out of the pack of that name, and nothing of it is on the disk in the clear.
  ///
  /// ```swift
  /// let handler = PackSchemeHandler(store: store)
  /// let configuration = WKWebViewConfiguration()
  /// configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
  /// let webView = WKWebView(frame: .zero, configuration: configuration)
  /// webView.load(URLRequest(url: PackSchemeHandler.address(of: "arcade")!))
  /// ```
  ///
  /// The origin is the scheme and the name of the pack, whatever its version: what a game saved is there after an update. A pack is opened at the first
  /// request for it and stays the same version until ``forget(_:)``, so that no page is made of two.
  ///
  /// Two things that a server does, WebKit does not do for addresses of an app's own: it follows no redirect, so a directory without its slash is
  /// answered with a page that leads on; and it expands no content encoding, so a build that compressed its files itself does not run: switch that off, the pack
  /// compresses them.
  ///
  /// Reading happens on threads of its own, at most four at a time; see ``PackResponder`` for what is answered and ``BodyReader`` for the memory it takes.
  @MainActor
  public final class PackSchemeHandler: NSObject, WKURLSchemeHandler {
    /// The scheme of the addresses.
    public nonisolated static let scheme = "pack"

    private let server: SchemeServer<WebTask>

    /// Plays what `open` opens.
    ///
    /// - Parameter open: gets the name that is the host of an address, which any page may have written: it has to refuse names that it does not know. Called once
    ///   for each, until it is forgotten; after an error again.
    public init(open: @escaping @Sendable (_ id: String) async throws(PackError) -> PackResponder) {
      server = SchemeServer(open: open)
      super.init()
    }

    /// The address of a file of a pack, of its index unless a path is given; nil where the name or the path is none.
    public nonisolated static func address(of id: String, path: String = "") -> URL? {
      guard let name = try? PackName(id) else { return nil }
      return URL(string: "\(scheme)://\(name)/\(RequestTarget.encoded(path))")
    }

    /// Lets go of a pack: the next page that is loaded from it is of the version that runs then. Called before a page is loaded again after an update or a
    /// rollback, and when a game is closed.
    public func forget(_ id: String) {
      server.forget(id)
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
      let task = WebTask(urlSchemeTask)
      let asked = urlSchemeTask.request
      guard let url = asked.url, let id = url.host else {
        task.fail(PackError(.usage, "the address names no pack", advice: .developer("addresses are \(Self.scheme)://<id>/<path>")))
        return
      }
      let headers = (asked.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { HeaderFields.Field($0.key, $0.value) }
      server.start(
        task, key: ObjectIdentifier(urlSchemeTask), pack: id,
        PackRequest(method: asked.httpMethod ?? "GET", target: url.absoluteString, headers: HeaderFields(headers)))
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
      server.stop(ObjectIdentifier(urlSchemeTask))
    }
  }

  /// A task of WebKit's as the owner of a request sees it.
  @MainActor
  private final class WebTask: SchemeReceiver {
    private let task: any WKURLSchemeTask

    init(_ task: any WKURLSchemeTask) {
      self.task = task
    }

    nonisolated static func piece(_ bytes: Span<UInt8>) -> Data {
      unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    func receive(_ response: PackResponse) {
      var fields: [String: String] = [:]
      for field in response.headers.fields { fields[field.name] = field.value }
      let status = response.status == 301 ? 200 : response.status
      guard let url = task.request.url,
        let answer = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { preconditionFailure("a task with an address has a response") }
      task.didReceive(answer)
    }

    func receive(_ piece: Data) {
      task.didReceive(piece)
    }

    func finish() {
      task.didFinish()
    }

    func fail(_ error: PackError) {
      var information: [String: Any] = [NSLocalizedDescriptionKey: error.message, "code": error.code.rawValue]
      information[NSLocalizedRecoverySuggestionErrorKey] = error.advice?.description
      task.didFailWithError(NSError(domain: "PackError", code: 1, userInfo: information))
    }
  }
#endif
