import Foundation
import PackRuntime

/// Where the app's keys are. The extension has none: it decrypts nothing.
enum Keys {
  /// Keys lie in the Keychain, filed under this.
  static let provider = KeychainKeys(service: "com.example.games.packs")

  /// Puts the key of a development build into the Keychain: `PACKER_KEY` in the scheme's environment. A released app gets its keys from its server after
  /// it has seen who asks, and adds them in the same way.
  static func addDevelopmentKey() throws {
    #if DEBUG
      guard let text = ProcessInfo.processInfo.environment["PACKER_KEY"] else { return }
      let bytes = Array(text.utf8)
      try provider.add(PackKey(text: bytes.span))
    #endif
  }
}
