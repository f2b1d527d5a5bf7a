import PackRuntime
import SwiftUI

/// The list of games, to install, update and play them.
struct GameList: View {
  @ObservedObject var games: Games
  @State private var playing: Games.Game?

  var body: some View {
    NavigationStack {
      List(games.games) { game in
        GameRow(game: game, work: games.work[game.id]) {
          Task { await games.install(game.id) }
        } play: {
          playing = game
        } cancel: {
          Task { await games.cancel(game.id) }
        } remove: {
          Task { await games.remove(game.id) }
        }
      }
      .navigationTitle("Games")
      .refreshable { await games.update() }
    }
    .alert(item: $games.problem) { problem in
      Alert(title: Text("That did not work"), message: Text(problem.text))
    }
    .fullScreenCover(item: $playing) {
      Task { await games.show() }
    } content: { game in
      if let store = games.store {
        GameView(game.id, in: store) { playing = nil }
      }
    }
  }
}

/// One game.
struct GameRow: View {
  let game: Games.Game
  let work: String?
  let install: @MainActor () -> Void
  let play: @MainActor () -> Void
  let cancel: @MainActor () -> Void
  let remove: @MainActor () -> Void

  var body: some View {
    HStack {
      VStack(alignment: .leading) {
        Text(game.name)
        Text(game.description)
        if let current = game.current { Text("Version \(current.version)") }
      }
      Spacer()
      if let work {
        ProgressView(work)
        Button("Cancel", action: cancel)
      } else {
        if let size = game.downloadSize {
          Button("\(game.isInstalled ? "Update" : "Install") (\(size / 1_000_000) MB)", action: install)
        }
        if game.isInstalled {
          Button("Play", action: play)
          Button("Remove", role: .destructive, action: remove)
        }
      }
    }
    .buttonStyle(.borderless)
  }
}
