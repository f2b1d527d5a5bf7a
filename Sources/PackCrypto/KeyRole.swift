/// What a key pair is for. Keys of different roles are different types, so that none is used in the place of another.
public protocol KeyRole: Sendable {
  /// The identifier of a key.
  associatedtype ID: Hashable, Sendable
  /// What differs between keys by their role.
  static var traits: KeyTraits<ID> { get }
}

/// The role of a key pair that signs.
public protocol SignerRole: KeyRole where ID == String {}

/// The role of a key that signs manifests (FORMAT.md §9.2).
public enum ManifestSigner: SignerRole {
  /// Those of signing keys.
  public static var traits: KeyTraits<String> { .signing(.signingKeyID, public: .publicKey, secret: .signing) }
}

/// The role of a key that signs keys documents (FORMAT.md §9.6). It is used on a machine without a network, and never lies on a build machine.
public enum KeysSigner: SignerRole {
  /// Those of root signing keys.
  public static var traits: KeyTraits<String> { .signing(.rootKeyID, public: .rootPublic, secret: .root) }
}

/// The role of a key for which packs are wrapped (FORMAT.md §2.6). Its secret half is a ``PackKey``.
public enum PackRecipient: KeyRole {
  /// Those of recipients' keys.
  public static var traits: KeyTraits<KeyID> {
    KeyTraits(curve: .x25519, idLabel: .recipientKeyID, publicText: .recipientPublic, secretText: .recipient) {
      KeyID(Array($0.prefix(KeyID.size)))
    }
  }
}

/// The public half of a ``SigningKey``: an app embeds it to recognise its publisher's manifests. Its text starts with `pkp1-`.
public typealias SigningPublicKey = PublicKey<ManifestSigner>
/// A key that signs manifests. Its text starts with `pks1-`.
public typealias SigningKey = SecretKey<ManifestSigner>
/// The public half of a ``RootSigningKey``, as a keys document lists it. Its text starts with `pkq1-`.
public typealias RootSigningPublicKey = PublicKey<KeysSigner>
/// A key that signs keys documents. Its text starts with `pkt1-`.
public typealias RootSigningKey = SecretKey<KeysSigner>
/// The public half of a recipient's key: packs are wrapped for it, and opened with the secret half, a ``PackKey``. Its text starts with `pkw1-`.
public typealias RecipientPublicKey = PublicKey<PackRecipient>

/// What differs between keys by their role. Only this module makes values.
public struct KeyTraits<ID>: Sendable {
  let curve: KeyCurve
  /// The label of the digest that identifies a public key.
  let idLabel: Label
  let publicText: KeyText.Kind
  let secretText: KeyText.Kind
  /// Makes an identifier from the digest.
  let makeID: @Sendable ([UInt8]) -> ID
}

extension KeyTraits<String> {
  static func signing(_ idLabel: Label, public publicText: KeyText.Kind, secret secretText: KeyText.Kind) -> Self {
    Self(curve: .ed25519, idLabel: idLabel, publicText: publicText, secretText: secretText) { $0.prefix(8).hex }
  }
}

extension KeyRole {
  /// The kind of the secret half's text.
  static var secretText: KeyText.Kind { traits.secretText }
}

/// The curve of a key pair.
enum KeyCurve {
  case ed25519, x25519

  /// Throws if bytes are not the encoding of a public key.
  func checkPublicKey(_ bytes: [UInt8]) throws(PackError) {
    let noun = self == .ed25519 ? "public key" : "recipient's public key"
    guard bytes.count == KeyText.keySize else {
      throw PackError(.malformedKey, "\(noun) is \(bytes.count) bytes, not \(KeyText.keySize)")
    }
    let problem =
      switch self {
      case .ed25519: Ed25519.problem(ofPoint: bytes.byteSpan)
      case .x25519: X25519.problem(ofPublicKey: bytes.byteSpan)
      }
    guard let problem else { return }
    throw PackError(
      .malformedKey, "\(noun) \(problem); no \(self == .ed25519 ? "signing" : "secret") key has such a public key", advice: .copyKeyAgain)
  }
}
