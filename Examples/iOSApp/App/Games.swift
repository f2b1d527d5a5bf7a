import Foundation
import PackApp

/// The packs of the app: one per game.
@MainActor
enum Games {
  /// Opens them. From here on they are downloaded, installed and updated as the manifest says, with and without a network.
  ///
  /// - Returns: The mirror of a `PackLibrary`, which does the work. SwiftUI sees the mirror's changes.
  static func open() async throws(PackError) -> PublishedLibrary {
    var options = PackLibrary.Options()
    // A release inside the app, if there is one: its games are there without a server.
    options.bundled = Bundle.main.url(forResource: "dist", withExtension: nil)
    // A new version of a game is on trial until its page confirms it.
    options.confirmsVersions = false
    return PublishedLibrary(
      try await PackLibrary(group: Publisher.group, trusting: Publisher.publicKeys, keys: try Keys.provider(), options: options))
  }
}
