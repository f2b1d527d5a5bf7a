import SwiftUI

/// Lists the games of a release, installs them, and plays them out of their encrypted packs.
@main
struct GamePlayerApp: App {
  @StateObject private var games = Games()

  var body: some Scene {
    WindowGroup {
      GameList(games: games)
        .task { await games.open() }
    }
  }
}
