/// Keys documents and manifests that are signed with keys named by numbers.
package enum KeysSample {
  /// The root signing key with a number.
  package static func root(_ number: UInt8) throws(PackError) -> RootSigningKey {
    let seed = [UInt8](repeating: number, count: 31) + [0xA5]
    return try RootSigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  /// The signing key with a number: its seed counts up from it.
  package static func signer(_ number: UInt8) throws(PackError) -> SigningKey {
    let seed = (0..<32).map { number &+ $0 }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  /// What a keys document says: by default, two of three root keys, and signing key 0.
  package static func content(
    _ version: UInt64 = 1, roots: [UInt8] = [1, 2, 3], threshold: Int = 2, signers: [UInt8] = [0], needed: Int = 1,
    expires: Int64 = 2_000_000_000
  ) throws(PackError) -> KeysDocument.Content {
    var rootKeys: [RootSigningPublicKey] = []
    for number in roots { rootKeys.append(try root(number).publicKey) }
    var signingKeys: [SigningPublicKey] = []
    for number in signers { signingKeys.append(try signer(number).publicKey) }
    guard let issued = ManifestTime(secondsSince1970: 1_700_000_000), let expires = ManifestTime(secondsSince1970: expires) else {
      preconditionFailure("the times are times")
    }
    return KeysDocument.Content(
      version: version, issued: issued, expires: expires, rootKeys: rootKeys, rootThreshold: threshold, signingKeys: signingKeys,
      signingThreshold: needed)
  }

  /// Signs a keys document with root keys.
  package static func document(_ content: KeysDocument.Content, by roots: [UInt8] = [1, 2]) throws(PackError) -> KeysDocument {
    let draft = try KeysDocument(content, signatures: [])
    var signatures: [ManifestSignature] = []
    for number in roots { signatures.append(try draft.signature(by: root(number))) }
    return try KeysDocument(content, signatures: signatures)
  }

  /// Signs a manifest, and puts keys documents into it.
  package static func sign(_ manifest: Manifest, by signers: [UInt8] = [0], keys: [KeysDocument] = []) throws(PackError) -> SignedManifest {
    let signed = try manifest.signedBytes()
    var signatures: [ManifestSignature] = []
    for number in signers { signatures.append(try SignedManifest.signature(of: signed, by: signer(number))) }
    return try SignedManifest(signed: signed, signatures: signatures, keys: keys.map(\.bytes))
  }
}
