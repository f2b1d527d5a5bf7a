package import PackCrypto
import PackFormat

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

  init(_ key: consuming PackKey, warnings: [Warning]) {
    self.key = key
    self.warnings = warnings
  }
}

/// A signing key that was read, with warnings about its source.
package struct ResolvedSigningKey: ~Copyable, Sendable {
  /// The key.
  package let key: SigningKey
  /// The warnings for a person, one sentence each.
  package let warnings: [ResolvedKey.Warning]

  init(_ key: consuming SigningKey, warnings: [ResolvedKey.Warning]) {
    self.key = key
    self.warnings = warnings
  }

  /// The key, without the warnings.
  package consuming func takeKey() -> SigningKey { key }
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
