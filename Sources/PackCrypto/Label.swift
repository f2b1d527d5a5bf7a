/// Every label of the format, in one place so that no two derivations share one (FORMAT.md §2).
package enum Label: String, CaseIterable, Sendable {
  case keyID = "pack/v1/key-id"
  case keyText = "pack/v1/key-text"
  case packID = "pack/v1/pack-id"
  case packKey = "pack/v1/pack-key"
  case editionKey = "pack/v1/edition-key"
  case opener = "pack/v1/opener"
  case openerNonce = "pack/v1/opener-nonce"
  case fileKey = "pack/v1/file-key"
  case headerMAC = "pack/v1/header-mac"
  case streamKey = "pack/v1/stream-key"
  case streamHeader = "pack/v1/stream-header"
  case wrapSymmetric = "pack/v1/wrap-sym"
  case wrapSymmetricNonce = "pack/v1/wrap-sym-nonce"
  case wrapX25519 = "pack/v1/wrap-x25519"
  case wrapEphemeral = "pack/v1/wrap-x25519-ephemeral"
  case recipientKeyID = "pack/v1/recipient-key"
  case recipientKeyText = "pack/v1/recipient-key-text"
  case recipientPublicText = "pack/v1/recipient-public-text"
  case saltTagKey = "pack/v1/det-key"
  case deterministicSalt = "pack/v1/det-salt"
  case randomSalt = "pack/v1/random-salt"
  case contentRoot = "pack/v1/content-root"
  case signingKeyID = "pack/v1/sig-key"
  case signingKeyText = "pack/v1/sig-key-text"
  case signingPublicText = "pack/v1/sig-public-text"
  case manifest = "pack/v1/manifest"
  case shard = "pack/v1/shard"
  case rollout = "pack/v1/rollout"
  case rootKeyID = "pack/v1/root-key"
  case rootKeyText = "pack/v1/root-key-text"
  case rootPublicText = "pack/v1/root-public-text"
  case keysDocument = "pack/v1/keys"

  /// The label as it is hashed: ASCII, then one zero byte.
  package var bytes: [UInt8] { Array(rawValue.utf8) + [0] }
}

extension CryptoBackend {
  /// Derives a key with HKDF-SHA256 and a label followed by `context`.
  func derive(
    _ label: Label, from secret: borrowing SecretBytes, salt: Span<UInt8>? = nil, context: [UInt8] = [], count: Int
  ) throws(PackError) -> SecretBytes {
    var info = label.bytes + context
    // A context may contain digests of the payload, which must not leave the packer.
    defer { wipe(&info) }
    let none: [UInt8] = []
    if let salt { return try derive(from: secret, salt: salt, info: info.byteSpan, count: count) }
    return try derive(from: secret, salt: none.byteSpan, info: info.byteSpan, count: count)
  }

  /// Returns the SHA-256 of a message, 32 bytes.
  package func digest(of message: Span<UInt8>) throws(PackError) -> [UInt8] {
    let context = try makeDigest()
    try context.update(message)
    return try context.finish()
  }
}

/// The 32 bytes that identify a pack in its header (FORMAT.md §1).
package enum PackID {
  /// Returns the id of the pack that is published under `name`.
  package static func bytes(
    for name: PackName, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> [UInt8] {
    let message = Label.packID.bytes + Array(name.text.utf8)
    return try backend.digest(of: message.byteSpan)
  }
}
