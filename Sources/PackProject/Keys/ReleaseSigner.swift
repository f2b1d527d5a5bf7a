/// What signs manifests: a signing key, or a program that has it.
package final class ReleaseSigner: Sendable {
  private enum Source: ~Copyable, Sendable {
    case key(SigningKey)
    case program(SigningProgram)
  }

  private let source: Source
  /// The public half of the key, which apps embed.
  package let publicKey: SigningPublicKey

  /// Takes ownership of a key.
  package init(_ key: consuming SigningKey) {
    publicKey = key.publicKey
    source = .key(key)
  }

  init(_ program: SigningProgram) {
    publicKey = program.publicKey
    source = .program(program)
  }

  /// Throws if the program that has the key cannot be found. Starts nothing.
  ///
  /// - Throws: ``PackError/Code/signingFailed``
  package func checkProgram() throws(PackError) {
    switch source {
    case .key: break
    case .program(let program): try program.check()
    }
  }

  /// Returns the Ed25519 signature of a message, 64 bytes, which was verified. May block until a program or a person has signed.
  ///
  /// - Throws: ``PackError/Code/signingFailed`` if a program did not sign.
  package func signature(of message: Span<UInt8>) throws(PackError) -> [UInt8] {
    switch source {
    case .key(let key): try key.signature(of: message)
    case .program(let program): try program.signature(of: message, files: SystemFiles())
    }
  }
}
