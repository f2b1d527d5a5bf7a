import Foundation
import PackApp
import SwiftUI

/// Lists the games of a release, installs them, and plays them out of their encrypted packs.
@main
struct GamePlayerApp: App {
  @State private var packs: PublishedLibrary?
  @State private var problem: PackError?

  var body: some Scene {
    WindowGroup {
      VStack {
        if let packs {
          GameList(packs: packs)
        } else if let problem {
          Text(problem.localizedDescription)
        } else {
          ProgressView("Opening")
        }
      }
      .task { await open() }
    }
  }

  private func open() async {
    guard packs == nil else { return }
    do throws(PackError) {
      packs = try await Games.open()
    } catch {
      problem = error
    }
  }
}
