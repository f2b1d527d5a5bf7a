/// A manifest with a valid signature by a trusted key.
///
/// It may be outdated or expired: ``ManifestMemory/check(_:)`` and ``PackManifest/Manifest/state(at:)`` check that.
public struct VerifiedManifest: Sendable {
  /// The content of the manifest.
  public let manifest: Manifest
  /// The ids of the trusted keys whose signatures are valid, in ascending order.
  public let signers: [String]
  /// SHA-256 of the signed part, 32 bytes.
  public let signedDigest: [UInt8]
}

extension SignedManifest {
  /// Checks the signatures, and parses the signed part only after that.
  ///
  /// One signature by a trusted key is enough. Signatures by unknown keys are ignored. A wrong signature by a trusted key is an error, even
  /// if another one is valid. While checking, memory holds a copy of the signed part; afterwards, the list of packs.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, or what ``PackManifest/Manifest/init(parsingSigned:)`` throws.
  public func verify(trusting keys: [SigningPublicKey]) throws(PackError) -> VerifiedManifest {
    try verify(trusting: TrustedKeys(keys))
  }

  /// Checks the signatures by the keys that count on a device now, and parses the signed part only after that.
  ///
  /// The keys documents in the manifest are not followed: see ``TrustedKeys/following(_:)``.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, also if too few keys signed it, or what ``PackManifest/Manifest/init(parsingSigned:)`` throws.
  public func verify(trusting keys: TrustedKeys) throws(PackError) -> VerifiedManifest {
    try verify(trusting: keys, backend: CryptoBackends.standard)
  }

  /// Checks the signatures by the keys that count on a device now. The signed part is not read.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, also if too few keys signed it.
  public func checkSignatures(trusting keys: TrustedKeys) throws(PackError) {
    _ = try signers(among: keys, backend: CryptoBackends.standard)
  }

  package func verify(trusting keys: TrustedKeys, backend: any CryptoBackend) throws(PackError) -> VerifiedManifest {
    let signers = try signers(among: keys, backend: backend)
    return VerifiedManifest(
      manifest: try Manifest(parsing: content.byteSpan, signedBytes), signers: signers,
      signedDigest: try backend.digest(of: content.byteSpan.extracting(signedBytes)))
  }

  /// Returns the ids of the trusted keys whose signatures are valid, at least as many as must sign.
  private func signers(among trusted: TrustedKeys, backend: any CryptoBackend) throws(PackError) -> [String] {
    let keys = trusted.signingKeys
    guard !keys.isEmpty else {
      throw PackError(
        .untrustedSignature, "no trusted public key was given, so no manifest can be verified", advice: .giveTrustedKeys)
    }
    // Freed before the packs are parsed, so that the message and the packs are never in memory together.
    let message = Self.message(content.byteSpan.extracting(signedBytes))
    var signers: [String] = []
    for signature in signatures {
      let candidates = keys.filter { $0.id == signature.keyID }
      guard !candidates.isEmpty else { continue }
      var holds = false
      // An id is eight bytes of a digest, so two keys may share one.
      for key in candidates where try key.isValid(signature.signature.byteSpan, of: message.byteSpan, backend: backend) { holds = true }
      guard holds else {
        throw PackError(
          .untrustedSignature, "manifest has a wrong signature by key \(signature.keyID): it was changed after it was signed",
          advice: .fetchManifestAgain)
      }
      signers.append(signature.keyID)
    }
    let needed = trusted.threshold
    guard signers.count >= needed else { throw tooFew(signers.count, of: keys, needed) }
    return signers
  }

  /// The error of a manifest that no trusted key signed, or not enough of them.
  private func tooFew(_ count: Int, of keys: [SigningPublicKey], _ needed: Int) -> PackError {
    guard count == 0 else {
      return PackError(
        .untrustedSignature, "manifest is signed by \(count) trusted \(count == 1 ? "key" : "keys"), but \(needed) are needed",
        advice: .developer("sign it with more of the keys that the keys document lists"))
    }
    let trusted = keys.map { $0.id }.joined(separator: ", ")
    let present = signatures.isEmpty ? "not signed" : "signed by \(signatures.map { $0.keyID }.joined(separator: ", "))"
    return PackError(
      .untrustedSignature, "manifest is \(present); the trusted \(keys.count == 1 ? "key is" : "keys are") \(trusted)",
      advice: .developer("sign it with a key that the app trusts"))
  }

  /// Returns a key's signature of the signed part, for a manifest document.
  public static func signature(of signed: [UInt8], by key: borrowing SigningKey) throws(PackError) -> ManifestSignature {
    ManifestSignature(keyID: key.publicKey.id, signature: try key.signature(of: message(signed.byteSpan).byteSpan))
  }

  /// Returns the message that is signed: a label, so that a signature made for another purpose is not valid for a manifest, and the signed part.
  package static func message(_ signed: Span<UInt8>) -> [UInt8] {
    let label = Label.manifest.bytes
    var message: [UInt8] = []
    message.reserveCapacity(label.count + signed.count)
    message += label
    message.append(copying: signed)
    return message
  }
}
