/// A key that was read, with warnings about its source.
package struct ResolvedKey: ~Copyable, Sendable {
  /// The key.
  package let key: PackKey
  /// The warnings for a person, one sentence each.
  package let warnings: [Warning]

  /// A warning that does not stop the work.
  package struct Warning: Hashable, Sendable {
    /// The message, for a person.
    package let message: String
    /// What to do about it.
    package let hint: String
  }

  package init(_ key: consuming PackKey, warnings: [Warning] = []) {
    self.key = key
    self.warnings = warnings
  }
}

/// What signs manifests: a signing key that was read, with warnings about its source, or a program that has it.
package struct ResolvedSigningKey: ~Copyable, Sendable {
  private enum Source: ~Copyable, Sendable {
    case key(SigningKey)
    case program(SigningProgram)
  }

  private let source: Source
  /// The public half of the key, which apps embed.
  package let publicKey: SigningPublicKey
  /// The warnings for a person, one sentence each.
  package let warnings: [ResolvedKey.Warning]

  /// Takes ownership of a key.
  package init(_ key: consuming SigningKey, warnings: [ResolvedKey.Warning] = []) {
    publicKey = key.publicKey
    source = .key(key)
    self.warnings = warnings
  }

  init(_ program: SigningProgram) {
    publicKey = program.publicKey
    source = .program(program)
    warnings = []
  }

  /// Throws if the program that has the key cannot be found. Starts nothing.
  ///
  /// - Throws: ``PackError/Code/signingFailed``
  package borrowing func checkProgram() throws(PackError) {
    switch source {
    case .key: break
    case .program(let program): try program.check()
    }
  }

  /// Returns the Ed25519 signature of a message, 64 bytes, which was verified. May block until a program or a person has signed.
  ///
  /// - Throws: ``PackError/Code/signingFailed`` if a program did not sign.
  package borrowing func signature(of message: Span<UInt8>) throws(PackError) -> [UInt8] {
    switch source {
    case .key(let key): try key.signature(of: message)
    case .program(let program): try program.signature(of: message, files: SystemFiles())
    }
  }
}

/// A root signing key that was read, with warnings about its source.
package struct ResolvedRootSigningKey: ~Copyable, Sendable {
  /// The key.
  package let key: RootSigningKey
  /// The warnings for a person, one sentence each.
  package let warnings: [ResolvedKey.Warning]

  init(_ key: consuming RootSigningKey, warnings: [ResolvedKey.Warning]) {
    self.key = key
    self.warnings = warnings
  }
}

/// The text of a key, as read.
struct KeyInput: ~Copyable {
  private let text: SecretInput
  let origin: String
  let warnings: [ResolvedKey.Warning]

  init(_ text: consuming SecretInput, from origin: String, warnings: [ResolvedKey.Warning] = []) {
    self.text = text
    self.origin = origin
    self.warnings = warnings
  }

  /// Returns the key that `parse` makes from the text. Errors name the origin.
  func key<Key: ~Copyable>(
    _ parse: (Span<UInt8>) throws(PackError) -> Key
  ) throws(PackError) -> Key {
    try text.key(from: origin, parse)
  }
}
