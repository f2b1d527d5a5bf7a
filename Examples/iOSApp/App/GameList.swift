import Foundation
import PackApp
import SwiftUI

/// The list of games, to install and play them.
struct GameList: View {
  @ObservedObject var packs: PublishedLibrary
  @State private var playing: PackLibrary.Offer?

  var body: some View {
    NavigationStack {
      List(packs.offers) { game in
        GameRow(game: game, packs: packs) { playing = game }
      }
      .navigationTitle("Games")
      .refreshable { await packs.refresh() }
    }
    .alert(isPresented: $packs.hasProblem, error: packs.problem) { _ in
      Button("OK", action: {})
    } message: { problem in
      Text(problem.recoverySuggestion ?? "")
    }
    .fullScreenCover(item: $playing) { game in
      // A preview has no games to play.
      if let library = packs.library as? PackLibrary { GameView(game.id, in: library) { playing = nil } }
    }
  }
}

/// One game.
struct GameRow: View {
  let game: PackLibrary.Offer
  let packs: PublishedLibrary
  let play: @MainActor () -> Void

  var body: some View {
    HStack {
      VStack(alignment: .leading) {
        Text(game.name)
        Text(game.description)
      }
      Spacer()
      switch game.status {
      case .absent:
        install
      case .failed(let error):
        Text(error.localizedDescription)
        install
      case .waiting:
        ProgressView("Waiting")
        cancel
      case .downloading(let received, let size), .playable(_, let received, let size, _):
        ProgressView(value: Double(received), total: Double(max(size, 1)))
        cancel
      case .installing:
        ProgressView("Installing")
      case .sealed(let opens):
        if let opens { Text("Opens \(opens.formatted())") } else { Text("Opens soon") }
      case .ready(let version, _):
        Text("Version \(version)")
        Button("Play", action: play)
        Button("Remove", role: .destructive) { Task { await packs.remove(game.id) } }
      }
    }
    .buttonStyle(.borderless)
  }

  private var install: some View {
    Button("Install (\(max(1, game.downloadSize / 1_000_000)) MB)") { Task { await packs.ensure(game.id) } }
  }

  private var cancel: some View {
    Button("Cancel") { Task { await packs.cancel(game.id) } }
  }
}
