import PackRuntime
import SwiftUI
import WebKit

/// Plays one game in a web view, straight out of its encrypted pack.
///
/// A version that was installed since the last time is on trial: it is trusted once its page says so with the token that it was served with, and given up where
/// it does not within the store's time, or where the web view's process ends.
@MainActor
final class Player: NSObject, ObservableObject, WKNavigationDelegate, WKScriptMessageHandler {
  let webView: WKWebView
  @Published private(set) var problem: String?

  private let id: String
  private let store: AssetStore
  private let handler: PackSchemeHandler
  private var token: BootToken?
  private var watch: Task<Void, Never>?
  private static let messageName = "packer"

  init(_ id: String, in store: AssetStore) {
    self.id = id
    self.store = store
    var options = PackResponder.Options()
    // For games with threads in WebAssembly; whoever has none and loads from elsewhere sets it to false.
    options.isIsolated = true
    handler = PackSchemeHandler(store: store, options: options)
    let configuration = WKWebViewConfiguration()
    configuration.setURLSchemeHandler(handler, forURLScheme: PackSchemeHandler.scheme)
    configuration.allowsInlineMediaPlayback = true
    configuration.mediaTypesRequiringUserActionForPlayback = []
    webView = WKWebView(frame: .zero, configuration: configuration)
    super.init()
    webView.navigationDelegate = self
    webView.configuration.userContentController.add(self, name: Self.messageName)
  }

  /// Loads the newest version that did not fail.
  func start() async {
    watch?.cancel()
    do {
      let token = try await store.activate(id)
      self.token = token
      // A page is of one version: the next request opens the one that was just activated.
      handler.forget(id)
      let content = webView.configuration.userContentController
      content.removeAllUserScripts()
      content.addUserScript(WKUserScript(source: Self.script(token), injectionTime: .atDocumentStart, forMainFrameOnly: true))
      guard let address = PackSchemeHandler.address(of: id) else { return }
      webView.load(URLRequest(url: address))
      watch = Task { [weak self, store] in
        do throws(PackError) {
          try await store.confirmation(of: token)
        } catch {
          guard error.code == .notConfirmed else { return }
          await self?.fellBack(from: token)
        }
      }
    } catch {
      problem = error.message
    }
  }

  /// Lets go of the game: the web view's configuration holds the player, and the handler the pack.
  func close() {
    watch?.cancel()
    webView.stopLoading()
    webView.configuration.userContentController.removeScriptMessageHandler(forName: Self.messageName)
    handler.forget(id)
  }

  /// What a page finds: `packer.confirm()`, which is called for it once it is loaded, unless it sets `packerConfirmsItself` because it knows better when it works.
  private static func script(_ token: BootToken) -> String {
    """
    window.packer = { confirm() { webkit.messageHandlers.\(messageName).postMessage("\(token)") } };
    addEventListener("load", () => { if (!window.packerConfirmsItself) packer.confirm() });
    """
  }

  func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage) {
    // A frame with a page from elsewhere confirms nothing. Origins have small letters.
    let origin = message.frameInfo.securityOrigin
    guard message.frameInfo.isMainFrame, origin.protocol == PackSchemeHandler.scheme, origin.host.lowercased() == id.lowercased(),
      let text = message.body as? String, let token = try? BootToken(parsing: text), token.id == id
    else { return }
    Task {
      // The confirmation of a trial that is over blesses nothing, and is no reason to tell the player anything.
      try? await store.confirm(token)
    }
  }

  /// The store has gone back by itself.
  private func fellBack(from token: BootToken) async {
    guard token == self.token else { return }
    problem = "Version \(token.version) did not start."
    guard (try? await store.current(id)) != nil else { return }
    await start()
  }

  func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy {
    // A game stays in its pack; frames may show what the page's policy allows.
    guard navigationAction.targetFrame?.isMainFrame ?? true else { return .allow }
    let url = navigationAction.request.url
    return url?.scheme == PackSchemeHandler.scheme && url?.host == id ? .allow : .cancel
  }

  func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error) {
    problem = error.localizedDescription
  }

  func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
    guard let token else { return }
    Task {
      // On trial that counts as a crash of this version; otherwise the system was short of memory, and the game is loaded again.
      if (try? await store.trial(of: id)) == token {
        watch?.cancel()
        _ = try? await store.rollback(id, reason: "the web view's process ended")
        await fellBack(from: token)
      } else {
        webView.reload()
      }
    }
  }
}
