import Foundation
import PackApp

/// The packs of the app: one per game.
@MainActor
enum Games {
  /// Opens them. From here on they are downloaded, installed and updated as the manifest says, with and without a network.
  static func open() async throws(PackError) -> PublishedLibrary {
    try addDevelopmentKey()
    var options = PackLibrary.Options()
    // A release inside the app, if there is one: its games are there without a server.
    options.bundled = Bundle.main.url(forResource: "dist", withExtension: nil)
    // A new version of a game is on trial until its page confirms it.
    options.confirmsVersions = false
    let library = try await PackLibrary(
      group: Publisher.group, trusting: [Publisher.publicKey], keys: .keychain(Publisher.keys), options: options)
    return PublishedLibrary(library)
  }

  /// Puts the key of a development build into the Keychain: `PACKER_KEY` in the scheme's environment. A released app gets its keys from its server after
  /// the server has authenticated it, and adds them in the same way.
  private static func addDevelopmentKey() throws(PackError) {
    #if DEBUG
      guard let text = ProcessInfo.processInfo.environment["PACKER_KEY"], text.hasPrefix("pkk1-") else { return }
      try KeychainKeys(service: Publisher.keys).add(PackKey(text: Array(text.utf8)))
    #endif
  }
}
