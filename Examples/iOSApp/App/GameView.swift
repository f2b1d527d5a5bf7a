import PackApp
import SwiftUI
import WebKit

/// A game that is being played.
struct GameView: View {
  @StateObject private var player: Player
  private let close: @MainActor () -> Void

  init(_ id: String, in library: PackLibrary, close: @escaping @MainActor () -> Void) {
    _player = StateObject(wrappedValue: Player(id, in: library))
    self.close = close
  }

  var body: some View {
    VStack {
      HStack {
        Button("Close", action: close)
        Spacer()
        if let problem = player.problem { Text(problem) }
      }
      WebView(webView: player.page.webView)
    }
    .task { await player.start() }
    .onDisappear { player.close() }
  }
}

/// WebKit's view for SwiftUI.
struct WebView: UIViewRepresentable {
  let webView: WKWebView

  func makeUIView(context: Context) -> WKWebView { webView }

  func updateUIView(_ view: WKWebView, context: Context) {}
}
