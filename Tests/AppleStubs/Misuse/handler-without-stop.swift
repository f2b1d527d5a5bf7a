// expect: required by protocol 'WKURLSchemeHandler' ('webView(_:stop:)')
import WebKit

/// A handler that cannot be stopped.
final class DeafHandler: NSObject, WKURLSchemeHandler {
  func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {}
}
