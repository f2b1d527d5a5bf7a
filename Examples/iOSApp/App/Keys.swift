import Foundation
import PackApp

/// The keys of the packs. Nonisolated: used by all threads, while the rest of the app is on the main actor.
nonisolated enum Keys {
  private static let service = "com.example.games.packs"

  /// Returns the keys in the device's keychain. A released app gets its keys from a server and adds them there.
  static func provider() throws(PackError) -> KeychainKeys {
    #if DEBUG
      // The key that made the release, from the scheme: README.md says how.
      if let text = ProcessInfo.processInfo.environment["PACKER_KEY"], text.hasPrefix("pkk1-") {
        let key = try PackKey(text: Array(text.utf8))
        let keys = KeychainKeys(service: service, roots: [key.id])
        try keys.add(key)
        return keys
      }
    #endif
    return KeychainKeys(service: service)
  }
}
