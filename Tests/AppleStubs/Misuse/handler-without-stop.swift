// expect: required by protocol 'WKURLSchemeHandler' ('webView(_:stop:)')
import WebKit

/// A handler that cannot be told to stop.
final class DeafHandler: NSObject, WKURLSchemeHandler {
  func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {}
}
