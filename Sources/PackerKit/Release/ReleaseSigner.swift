public import PackCrypto
import PackFormat
import PackManifest
import PackRuntime

/// A signing key in the hands of a build.
public final class ReleaseSigner: Sendable {
  private let key: SigningKey

  /// Takes a key over.
  public init(_ key: consuming SigningKey) {
    self.key = key
  }

  /// Takes over a key that was read.
  public convenience init(_ resolved: consuming ResolvedSigningKey) {
    self.init(resolved.key)
  }

  /// The half that apps embed.
  public var publicKey: SigningPublicKey { key.publicKey }

  func signature(of signed: [UInt8]) throws(PackError) -> ManifestSignature {
    try SignedManifest.signature(of: signed, by: key)
  }
}
