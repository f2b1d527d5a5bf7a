#if canImport(WebKit)
  import Foundation
  public import WebKit

  /// The pages of one pack in a web view.
  ///
  /// The main frame does not leave the pack. Sound and video play in the page, without a touch. If the system ends the web view's process, for example
  /// because memory is short, the page is loaded again; if that happens while it loads, it fails.
  /// Dialogs of scripts (`alert`, `confirm`, `prompt`) and new windows show nothing, unless the app sets the `uiDelegate` of the web view.
  @MainActor
  public final class PackWebPage: NSObject, WKNavigationDelegate {
    /// The web view. It uses this object, but does not retain it.
    public let webView: WKWebView
    /// Called if the page cannot be loaded.
    public var onFailure: @MainActor (any Error) -> Void = { _ in }
    /// Called instead of loading the page again after the web view's process ended; see ``reload()``.
    public var onProcessEnd: (@MainActor () -> Void)?

    private let id: String
    private let handler: PackSchemeHandler
    private var isLoaded = false

    /// Creates a web view that shows nothing yet.
    ///
    /// - Parameters:
    ///   - id: The name of the pack.
    ///   - handler: The source of its files.
    ///   - isInspectable: Whether Safari's Web Inspector can connect, from iOS 16.4 and macOS 13.3 on. Only for debug builds: it shows all files of the
    ///     pack.
    public init(of id: String, from handler: PackSchemeHandler, isInspectable: Bool) {
      self.id = id
      self.handler = handler
      let configuration = WKWebViewConfiguration()
      configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
      #if !os(macOS)
        configuration.allowsInlineMediaPlayback = true
      #endif
      configuration.mediaTypesRequiringUserActionForPlayback = []
      webView = WKWebView(frame: .zero, configuration: configuration)
      super.init()
      webView.navigationDelegate = self
      if #available(iOS 16.4, macOS 13.3, *) { webView.isInspectable = isInspectable }
    }

    /// Loads the index of the pack's version that is current now.
    public func load() {
      handler.forget(id)
      isLoaded = false
      if let address = PackSchemeHandler.address(of: id) { webView.load(URLRequest(url: address)) }
    }

    /// Loads the current page again, in the same version, after the web view's process ended. Fails if it ended while the page was loading.
    public func reload() {
      guard isLoaded else {
        return onFailure(PackError(.cannotRead, "the web view's process ended while it loaded a page of the pack '\(id)'"))
      }
      isLoaded = false
      webView.reload()
    }

    /// Stops loading and releases the pack.
    public func close() {
      webView.stopLoading()
      handler.forget(id)
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy {
      // Other frames may show what the page's policy allows.
      guard navigationAction.targetFrame?.isMainFrame ?? true else { return .allow }
      let url = navigationAction.request.url
      return url?.scheme == PackSchemeHandler.scheme && url?.host?.lowercased() == id.lowercased() ? .allow : .cancel
    }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) { isLoaded = true }

    /// Called by the web view.
    public func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error) {
      // Another load, or the end of the page, took its place.
      let reason = error as NSError
      if reason.domain == NSURLErrorDomain, reason.code == NSURLErrorCancelled { return }
      onFailure(error)
    }

    /// Called by the web view.
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
      if let onProcessEnd { onProcessEnd() } else { reload() }
    }
  }
#endif
