package import PackCrypto
import PackFormat
import PackManifest
package import PackProject
import PackTrust

/// A signing key in the hands of a build.
package final class ReleaseSigner: Sendable {
  private let key: SigningKey

  /// Takes a key over.
  package init(_ key: consuming SigningKey) {
    self.key = key
  }

  /// Takes over a key that was read.
  package convenience init(_ resolved: consuming ResolvedSigningKey) {
    self.init(resolved.takeKey())
  }

  /// The half that apps embed.
  package var publicKey: SigningPublicKey { key.publicKey }

  func signature(of signed: [UInt8]) throws(PackError) -> ManifestSignature {
    try SignedManifest.signature(of: signed, by: key)
  }
}
