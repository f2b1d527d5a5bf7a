import Combine
import Foundation
import PackApp
import SwiftUI
import WebKit

/// Plays one game in a web view, straight out of its encrypted pack.
///
/// A newly installed version is on trial. It is confirmed when its page sends the token with which it was served. It is rolled back if that does not
/// happen within the store's time limit, or if the web view's process ends.
@MainActor
final class Player: NSObject, ObservableObject, WKScriptMessageHandler {
  let page: PackWebPage
  @Published private(set) var problem: String?

  private let id: String
  private let library: PackLibrary
  private var store: AssetStore { library.store }
  private var token: BootToken?
  private var watch: Task<Void, Never>?
  private static let messageName = "packer"

  init(_ id: String, in library: PackLibrary) {
    self.id = id
    self.library = library
    let handler = PackSchemeHandler(store: library.store)
    page = PackWebPage(of: id, from: handler, isInspectable: Self.isDebugBuild)
    super.init()
    page.onFailure = { [weak self] error in self?.problem = error.localizedDescription }
    page.onProcessEnd = { [weak self] in self?.processEnded() }
    page.webView.configuration.userContentController.add(self, name: Self.messageName)
  }

  /// Whether Safari's Web Inspector can connect.
  private static var isDebugBuild: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  /// Loads the newest version that did not fail.
  func start() async {
    watch?.cancel()
    do throws(PackError) {
      // Activates the newest version, and brings the pack back if the system freed its space.
      try await library.ensure(id)
      // The token of the version that is active already. With it, only the page of exactly this version can confirm.
      let token = try await store.activate(id)
      self.token = token
      let content = page.webView.configuration.userContentController
      content.removeAllUserScripts()
      content.addUserScript(WKUserScript(source: Self.script(token), injectionTime: .atDocumentStart, forMainFrameOnly: true))
      page.load()
      watch = Task { [weak self, store] in
        do throws(PackError) {
          try await store.confirmation(of: token)
        } catch {
          guard error.code == .notConfirmed else { return }
          await self?.fellBack(from: token)
        }
      }
    } catch {
      problem = error.localizedDescription
    }
  }

  /// Releases the game: the web view's configuration retains the player, and the page retains the pack.
  func close() {
    watch?.cancel()
    page.webView.configuration.userContentController.removeScriptMessageHandler(forName: Self.messageName)
    page.close()
  }

  /// The script that defines `packer.confirm()`. It is called when the page has loaded, unless the page sets `packerConfirmsItself` to call it later.
  private static func script(_ token: BootToken) -> String {
    """
    window.packer = { confirm() { webkit.messageHandlers.\(messageName).postMessage("\(token)") } };
    addEventListener("load", () => { if (!window.packerConfirmsItself) packer.confirm() });
    """
  }

  func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage) {
    // A frame from another origin cannot confirm. Origins are in lower case.
    let origin = message.frameInfo.securityOrigin
    guard message.frameInfo.isMainFrame, origin.protocol == PackSchemeHandler.scheme, origin.host.lowercased() == id.lowercased(),
      let text = message.body as? String, let token = try? BootToken(parsing: text), token.id == id
    else { return }
    Task {
      // A confirmation after the end of the trial has no effect, and is not an error for the player.
      try? await store.confirm(token)
    }
  }

  /// Called after the store has rolled back.
  private func fellBack(from token: BootToken) async {
    guard token == self.token else { return }
    problem = "Version \(token.version) did not start."
    guard (try? await store.current(id)) != nil else { return }
    await start()
  }

  private func processEnded() {
    guard let token else { return }
    Task {
      // During a trial this counts as a crash of the version. Otherwise the system was short of memory, and the game is loaded again.
      if (try? await store.trial(of: id)) == token {
        watch?.cancel()
        _ = try? await library.reject(id, reason: "the web view's process ended")
        await fellBack(from: token)
      } else {
        page.reload()
      }
    }
  }
}
