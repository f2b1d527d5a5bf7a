public import PackRuntime

/// A key that was read, and what its owner ought to know about the place it came from.
public struct ResolvedKey: ~Copyable, Sendable {
  /// The key.
  public let key: PackKey
  /// What a person should be told, one sentence each.
  public let warnings: [Warning]

  /// Something that does not stop the work.
  public struct Warning: Hashable, Sendable {
    /// What is the matter, for a person.
    public let message: String
    /// What to do about it.
    public let hint: String
  }

  init(_ key: consuming PackKey, warnings: [Warning]) {
    self.key = key
    self.warnings = warnings
  }
}

/// A signing key that was read, and what its owner ought to know about the place it came from.
public struct ResolvedSigningKey: ~Copyable, Sendable {
  /// The key.
  public let key: SigningKey
  /// What a person should be told, one sentence each.
  public let warnings: [ResolvedKey.Warning]

  init(_ key: consuming SigningKey, warnings: [ResolvedKey.Warning]) {
    self.key = key
    self.warnings = warnings
  }
}

/// The text of a key as it was found.
struct KeyInput: ~Copyable {
  private let text: SecretInput
  let origin: String
  let warnings: [ResolvedKey.Warning]

  init(_ text: consuming SecretInput, from origin: String, warnings: [ResolvedKey.Warning] = []) {
    self.text = text
    self.origin = origin
    self.warnings = warnings
  }

  /// The key that `parse` makes of the text, with the place it came from in errors.
  func key<Key: ~Copyable>(
    _ parse: (Span<UInt8>) throws(PackError) -> Key
  ) throws(PackError) -> Key {
    try text.key(from: origin, parse)
  }
}
