import Foundation
import PackRuntime

/// The keys of the app. The extension has none: it decrypts nothing.
enum Keys {
  /// Reads keys from the Keychain, under this service name.
  static let provider = KeychainKeys(service: "com.example.games.packs")

  /// Puts the key of a development build into the Keychain: `PACKER_KEY` in the scheme's environment. A released app gets its keys from its server
  /// after the server has authenticated it, and adds them in the same way.
  static func addDevelopmentKey() throws {
    #if DEBUG
      guard let text = ProcessInfo.processInfo.environment["PACKER_KEY"] else { return }
      try provider.add(PackKey(text: Array(text.utf8)))
    #endif
  }
}
