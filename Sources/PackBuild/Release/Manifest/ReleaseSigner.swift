/// A signing key that a build uses.
package final class ReleaseSigner: Sendable {
  private let key: ResolvedSigningKey

  /// Takes ownership of a key.
  package init(_ key: consuming SigningKey) {
    self.key = ResolvedSigningKey(key)
  }

  /// Takes ownership of a resolved key, or of the program that has it.
  package init(_ resolved: consuming ResolvedSigningKey) {
    key = resolved
  }

  /// The public key, which apps embed.
  package var publicKey: SigningPublicKey { key.publicKey }

  /// Throws if the program that has the key cannot be found.
  func checkProgram() throws(PackError) { try key.checkProgram() }

  func signature(of signed: [UInt8]) throws(PackError) -> ManifestSignature {
    try ManifestSignature(keyID: publicKey.id, signature: key.signature(of: SignedManifest.message(signed.byteSpan).byteSpan))
  }
}
