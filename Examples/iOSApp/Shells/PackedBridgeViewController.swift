import Capacitor
import Foundation
import PackApp
import UIKit
import WebKit

/// A Capacitor app whose game comes from a pack. In Main.storyboard it is the class of the view controller, instead of CAPBridgeViewController.
final class PackedBridgeViewController: CAPBridgeViewController, WKScriptMessageHandler {
  /// The id of the pack in packer.yml, and the entry of `allowNavigation`.
  private static let game = "arcade"
  private static let messageName = "packer"
  private let opening = Task { await openLibrary() }

  override func webViewConfiguration(for instanceConfiguration: InstanceConfiguration) -> WKWebViewConfiguration {
    let configuration = super.webViewConfiguration(for: instanceConfiguration)
    let handler = PackSchemeHandler { [opening] (id) async throws(PackError) in
      try PackResponder(try await opening.value.get().store.open(id))
    }
    configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
    return configuration
  }

  /// Messages and scripts are added here: Capacitor replaces the content controller of the configuration above.
  override func capacitorDidLoad() {
    webView?.configuration.userContentController.add(self, name: Self.messageName)
  }

  func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage) {
    guard message.frameInfo.isMainFrame, let text = message.body as? String else { return }
    if message.frameInfo.securityOrigin.protocol == PackSchemeHandler.scheme {
      // The game runs.
      Task { try await opening.value.get().confirm(Self.game) }
    } else {
      // The shell's own page, with what the app had saved before it had packs.
      Task { await play(saved: text) }
    }
  }

  private func play(saved: String) async {
    do throws(PackError) {
      // Downloads and activates the pack, if needed.
      try await opening.value.get().ensure(Self.game)
      guard let address = PackSchemeHandler.address(of: Self.game) else { return }
      let script = WKUserScript(source: Self.script(saved: saved), injectionTime: .atDocumentStart, forMainFrameOnly: true)
      webView?.configuration.userContentController.addUserScript(script)
      webView?.load(URLRequest(url: address))
    } catch {
      // The shell's page shows the text, and asks again.
      webView?.evaluateJavaScript("packerFailed(\(Self.quoted(error.localizedDescription)))", completionHandler: nil)
    }
  }

  /// Gives the saved items to the game's origin, once, before its own scripts run; and confirms the version when the page has loaded.
  private static func script(saved: String) -> String {
    """
    if (location.protocol === "\(PackSchemeHandler.scheme):") {
      if (localStorage.getItem("packerMoved") === null) {
        for (const [key, value] of Object.entries(JSON.parse(\(quoted(saved))))) localStorage.setItem(key, value);
        localStorage.setItem("packerMoved", "1");
      }
      addEventListener("load", () => webkit.messageHandlers.\(messageName).postMessage("loaded"));
    }
    """
  }

  /// A text as a literal of JavaScript.
  private static func quoted(_ text: String) -> String {
    let units = text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"\(units.joined())\""
  }

  private static func openLibrary() async -> Result<PackLibrary, PackError> {
    do throws(PackError) {
      var options = PackLibrary.Options()
      // A release inside the app, for a first run without a server.
      options.bundled = Bundle.main.url(forResource: "dist", withExtension: nil)
      // A new version is on trial until its page has loaded.
      options.confirmsVersions = false
      return .success(
        try await PackLibrary(group: Publisher.group, trusting: Publisher.publicKeys, keys: try Keys.provider(), options: options))
    } catch {
      return .failure(error)
    }
  }
}
