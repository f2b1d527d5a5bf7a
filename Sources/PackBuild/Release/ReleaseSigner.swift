package import PackCrypto
import PackFormat
import PackManifest
package import PackProject
import PackTrust

/// A signing key that a build uses.
package final class ReleaseSigner: Sendable {
  private let key: SigningKey

  /// Takes ownership of a key.
  package init(_ key: consuming SigningKey) {
    self.key = key
  }

  /// Takes ownership of a resolved key.
  package convenience init(_ resolved: consuming ResolvedSigningKey) {
    self.init(resolved.takeKey())
  }

  /// The public key, which apps embed.
  package var publicKey: SigningPublicKey { key.publicKey }

  func signature(of signed: [UInt8]) throws(PackError) -> ManifestSignature {
    try SignedManifest.signature(of: signed, by: key)
  }
}
