// The parts of Capacitor 8.4 (github.com/ionic-team/capacitor, ios/Capacitor) that Examples/Capacitor uses: CAPBridgeViewController.swift,
// CAPInstanceConfiguration.h, CAPPlugin.h, CAPPluginCall.h, CAPPluginCall.swift, CAPPluginMethod.h, CAPBridgedPlugin.h, CAPBridgeProtocol.swift, JSTypes.swift
// and PluginConfig.swift. It needs iOS 15. Nothing of it is Sendable, and only the view controller is on the main actor.

public import UIKit
public import WebKit

#if !os(macOS)
  open class CAPBridgeViewController: UIViewController {
    public final var bridge: (any CAPBridgeProtocol)? { nil }
    public fileprivate(set) var webView: WKWebView?
    public override final func loadView() {}
    open override func viewDidLoad() {}
    open func webViewConfiguration(for instanceConfiguration: InstanceConfiguration) -> WKWebViewConfiguration { fatalError() }
    open func capacitorDidLoad() {}
  }

  public protocol CAPBridgeProtocol: NSObjectProtocol {
    var viewController: UIViewController? { get }
    func plugin(withName: String) -> CAPPlugin?
  }

  open class CAPPlugin: NSObject {
    public override init() {}
    open weak var webView: WKWebView?
    open weak var bridge: (any CAPBridgeProtocol)?
    open func load() {}
    open func getConfig() -> PluginConfig { fatalError() }
    open func notifyListeners(_ eventName: String, data: [String: Any]?) {}
    open func shouldOverrideLoad(_ navigationAction: WKNavigationAction) -> NSNumber? { nil }
  }

  public protocol CAPBridgedPlugin: NSObjectProtocol {
    var identifier: String { get }
    var jsName: String { get }
    var pluginMethods: [CAPPluginMethod] { get }
  }
#endif

open class InstanceConfiguration: NSObject {
  open var localURL: URL { fatalError() }
  open var serverURL: URL { fatalError() }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A macro with a text.
public let CAPPluginReturnPromise = "promise"

open class CAPPluginMethod: NSObject {
  public init(name: String!, returnType: String!) {}
}

public protocol JSValue {}
extension String: JSValue {}
public typealias JSArray = [any JSValue]

public typealias PluginCallResultData = [String: Any]

open class CAPPluginCall: NSObject {
  public func getString(_ key: String, _ defaultValue: String) -> String { defaultValue }
  public func getString(_ key: String) -> String? { nil }
  public func getInt(_ key: String) -> Int? { nil }
  public func resolve(_ data: PluginCallResultData = [:]) {}
  public func reject(_ message: String, _ code: String? = nil, _ error: (any Error)? = nil, _ data: PluginCallResultData? = nil) {}
}

public class PluginConfig: NSObject {
  public func getString(_ configKey: String, _ defaultValue: String? = nil) -> String? { nil }
  public func getBoolean(_ configKey: String, _ defaultValue: Bool) -> Bool { defaultValue }
  public func getArray(_ configKey: String, _ defaultValue: JSArray? = nil) -> JSArray? { nil }
}
