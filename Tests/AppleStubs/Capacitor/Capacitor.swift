// The parts of Capacitor 8.4 (github.com/ionic-team/capacitor, ios/Capacitor) that Examples/iOSApp/Shells uses: CAPBridgeViewController.swift and
// CAPInstanceConfiguration.h. It needs iOS 15.

public import UIKit
public import WebKit

#if !os(macOS)
  open class CAPBridgeViewController: UIViewController {
    public fileprivate(set) var webView: WKWebView?
    public override final func loadView() {}
    open override func viewDidLoad() {}
    open func webViewConfiguration(for instanceConfiguration: InstanceConfiguration) -> WKWebViewConfiguration { fatalError() }
    open func capacitorDidLoad() {}
  }
#endif

open class InstanceConfiguration: NSObject {
  open var localURL: URL { fatalError() }
}
