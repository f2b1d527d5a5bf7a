import Foundation
import PackRuntime

/// What an app knows of whoever makes its packs: the lines to change.
enum Publisher {
  /// Where `packer build`'s directory lies.
  static let manifestAddress = URL(string: "https://games.example.com/packs/manifest.json")!

  /// What `packer key public` prints: manifests with another signature are not believed.
  static let publicKey = "pkp1-…"

  /// Keys lie in the Keychain, filed under this.
  static let keys = KeychainKeys(service: "com.example.games.packs")

  /// Puts the key of a development build into the Keychain: `PACKER_KEY` in the scheme's environment. A released app gets its keys from its server after
  /// it has seen who asks, and adds them in the same way.
  static func addDevelopmentKey() throws {
    #if DEBUG
      guard let text = ProcessInfo.processInfo.environment["PACKER_KEY"] else { return }
      let bytes = Array(text.utf8)
      try keys.add(PackKey(text: bytes.span))
    #endif
  }
}
