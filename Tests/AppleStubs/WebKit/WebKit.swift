// WKURLSchemeHandler.h, WKURLSchemeTask.h, WKWebView.h, WKWebViewConfiguration.h, WKUserContentController.h, WKScriptMessage.h,
// WKScriptMessageHandler.h, WKUserScript.h, WKFrameInfo.h, WKSecurityOrigin.h, WKNavigation.h and WKNavigationDelegate.h of iOS.
// WK_SWIFT_UI_ACTOR is @MainActor. Availability as in developer.apple.com/documentation/webkit. Without an attribute: iOS 9 and macOS 10.11 or older.

@_exported import Foundation

#if canImport(FoundationNetworking)
  // Foundation itself on Apple platforms.
  @_exported import FoundationNetworking
#endif

#if os(macOS)
  @_exported import AppKit
  public typealias WKPlatformView = NSView
#else
  @_exported import UIKit
  public typealias WKPlatformView = UIView
#endif

@available(iOS 11, macOS 10.13, *)
@MainActor public protocol WKURLSchemeTask: NSObjectProtocol {
  var request: URLRequest { get }
  func didReceive(_ response: URLResponse)
  func didReceive(_ data: Data)
  func didFinish()
  func didFailWithError(_ error: any Error)
}

@available(iOS 11, macOS 10.13, *)
@MainActor public protocol WKURLSchemeHandler: NSObjectProtocol {
  func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
  func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}

@MainActor open class WKWebViewConfiguration: NSObject {
  public override init() {}
  private var handlers: [String: any WKURLSchemeHandler] = [:]
  open var userContentController = WKUserContentController()
  @available(macOS, unavailable)
  open var allowsInlineMediaPlayback: Bool {
    get { false }
    set {}
  }
  @available(iOS 10, macOS 10.12, *)
  open var mediaTypesRequiringUserActionForPlayback: WKAudiovisualMediaTypes = .all
  @available(iOS 11, macOS 10.13, *)
  open func setURLSchemeHandler(_ urlSchemeHandler: (any WKURLSchemeHandler)?, forURLScheme urlScheme: String) {
    handlers[urlScheme] = urlSchemeHandler
  }
  @available(iOS 11, macOS 10.13, *)
  open func urlSchemeHandler(forURLScheme urlScheme: String) -> (any WKURLSchemeHandler)? { handlers[urlScheme] }
}

@available(iOS 10, macOS 10.12, *)
public struct WKAudiovisualMediaTypes: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let audio = WKAudiovisualMediaTypes(rawValue: 1)
  public static let video = WKAudiovisualMediaTypes(rawValue: 2)
  public static let all = WKAudiovisualMediaTypes(rawValue: .max)
}

@MainActor open class WKWebView: WKPlatformView {
  public init(frame: CGRect, configuration: WKWebViewConfiguration) {
    self.configuration = configuration
    super.init(frame: frame)
  }
  public let configuration: WKWebViewConfiguration
  open weak var navigationDelegate: (any WKNavigationDelegate)?
  open var url: URL? { nil }
  @available(iOS 16.4, macOS 13.3, *)
  open var isInspectable: Bool {
    get { false }
    set {}
  }
  @discardableResult open func load(_ request: URLRequest) -> WKNavigation? { nil }
  @discardableResult open func reload() -> WKNavigation? { nil }
  open func stopLoading() {}
  open func evaluateJavaScript(_ javaScriptString: String, completionHandler: (@MainActor @Sendable (Any?, (any Error)?) -> Void)? = nil) {}
  @available(iOS 15.0, macOS 12.0, *)
  open func evaluateJavaScript(_ javaScriptString: String) async throws -> Any? { nil }
}

@MainActor open class WKNavigation: NSObject {}

@MainActor open class WKNavigationAction: NSObject {
  open var request: URLRequest { fatalError() }
  open var targetFrame: WKFrameInfo? { nil }
}

public enum WKNavigationActionPolicy: Int, Sendable {
  case cancel = 0
  case allow = 1
  @available(iOS 14.5, macOS 11.3, *)
  case download = 2
}

/// All requirements are optional in Objective-C.
@MainActor public protocol WKNavigationDelegate: NSObjectProtocol {
  func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy
  func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)
  func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
  func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)
  func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
}

extension WKNavigationDelegate {
  public func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy {
    .allow
  }
  public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {}
  public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {}
  public func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error) {}
  public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {}
}

@MainActor open class WKUserContentController: NSObject {
  public override init() {}
  open func add(_ scriptMessageHandler: any WKScriptMessageHandler, name: String) {}
  open func removeScriptMessageHandler(forName name: String) {}
  open func addUserScript(_ userScript: WKUserScript) {}
  open func removeAllUserScripts() {}
}

@MainActor public protocol WKScriptMessageHandler: NSObjectProtocol {
  func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage)
}

@MainActor open class WKScriptMessage: NSObject {
  open var body: Any { fatalError() }
  open var name: String { "" }
  open weak var webView: WKWebView? { nil }
  open var frameInfo: WKFrameInfo { fatalError() }
}

@MainActor open class WKFrameInfo: NSObject {
  open var isMainFrame: Bool { true }
  open var request: URLRequest { fatalError() }
  open var securityOrigin: WKSecurityOrigin { fatalError() }
}

@MainActor open class WKSecurityOrigin: NSObject {
  open var `protocol`: String { "" }
  open var host: String { "" }
  open var port: Int { 0 }
}

public enum WKUserScriptInjectionTime: Int, Sendable {
  case atDocumentStart = 0
  case atDocumentEnd = 1
}

@MainActor open class WKUserScript: NSObject {
  public init(source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool) {}
}

// UIProcess/API/Swift of WebKit's sources, and developer.apple.com/documentation/webkit/webkit-for-swiftui. Not on tvOS.

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
public struct URLScheme: Hashable, Sendable {
  @MainActor public init?(_ rawValue: String) { self.rawValue = rawValue }
  public let rawValue: String
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
public enum URLSchemeTaskResult: Sendable {
  case response(URLResponse)
  case data(Data)
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
public protocol URLSchemeHandler {
  associatedtype TaskSequence: AsyncSequence<URLSchemeTaskResult, any Error>
  func reply(for request: URLRequest) -> TaskSequence
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
@MainActor final public class WebPage {
  @MainActor public struct Configuration {
    public init() {}
    public var urlSchemeHandlers: [URLScheme: any URLSchemeHandler] = [:]
  }

  public enum NavigationEvent: Hashable, Sendable {
    case startedProvisionalNavigation, receivedServerRedirect, committed, finished
  }

  public init(configuration: Configuration = Configuration()) {}

  @discardableResult public func load(_ url: URL?) -> some AsyncSequence<NavigationEvent, any Error> {
    AsyncThrowingStream<NavigationEvent, any Error> { $0.finish() }
  }
}
