public import PackCrypto
public import PackFormat
public import PackManifest

/// A manifest that a trusted key vouches for.
///
/// Whether it is the newest one, and still good, is not known: ``ManifestMemory/check(_:)`` and ``PackManifest/Manifest/state(at:)`` say that.
public struct VerifiedManifest: Sendable {
  /// What it says.
  public let manifest: Manifest
  /// The trusted keys whose signatures hold, in ascending order of their ids.
  public let signers: [String]
  /// SHA-256 of the signed part, 32 bytes.
  public let signedDigest: [UInt8]
}

extension SignedManifest {
  /// Checks the signatures, and only then reads what was signed.
  ///
  /// One signature by a trusted key suffices; signatures by unknown keys are passed over; a wrong signature under a trusted key is refused even
  /// where another one holds. Takes the size of the signed part in memory while it checks, and what the packs need afterwards.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, or what ``PackManifest/Manifest/init(parsingSigned:)`` throws.
  public func verify(trusting keys: [SigningPublicKey]) throws(PackError) -> VerifiedManifest {
    try verify(trusting: keys, backend: CryptoBackends.standard)
  }

  package func verify(
    trusting keys: [SigningPublicKey], backend: any CryptoBackend
  ) throws(PackError) -> VerifiedManifest {
    let signers = try signers(among: keys, backend: backend)
    return VerifiedManifest(
      manifest: try Manifest(parsing: bytes.span, signedBytes), signers: signers,
      signedDigest: try backend.digest(of: bytes.span.extracting(signedBytes)))
  }

  /// The trusted keys whose signatures hold; there is at least one.
  private func signers(
    among keys: [SigningPublicKey], backend: any CryptoBackend
  ) throws(PackError) -> [String] {
    guard !keys.isEmpty else {
      throw PackError(
        .untrustedSignature, "no public key is trusted, so no manifest can be", advice: .giveTrustedKeys)
    }
    // Gone before the packs are read, so that message and packs are never in memory together.
    let message = Self.message(bytes.span.extracting(signedBytes))
    var signers: [String] = []
    for signature in signatures {
      let candidates = keys.filter { $0.id == signature.keyID }
      guard !candidates.isEmpty else { continue }
      var holds = false
      // An id is eight bytes of a digest, so two keys may share one.
      for key in candidates where try key.isValid(signature.signature.span, of: message.span, backend: backend) { holds = true }
      guard holds else {
        throw PackError(
          .untrustedSignature, "manifest has a wrong signature by key \(signature.keyID): it was changed after it was signed",
          advice: .fetchManifestAgain)
      }
      signers.append(signature.keyID)
    }
    guard !signers.isEmpty else {
      let trusted = keys.map(\.id).joined(separator: ", ")
      let present = signatures.isEmpty ? "by nobody" : "by \(signatures.map(\.keyID).joined(separator: ", "))"
      throw PackError(
        .untrustedSignature, "manifest is signed \(present), and trusted \(keys.count == 1 ? "is" : "are") \(trusted)",
        advice: .developer("sign it with a key that the app trusts"))
    }
    return signers
  }

  /// The signature of a signed part by a key, to be put into a document.
  public static func signature(of signed: [UInt8], by key: borrowing SigningKey) throws(PackError) -> ManifestSignature {
    ManifestSignature(keyID: key.publicKey.id, signature: try key.signature(of: message(signed.span).span))
  }

  /// What is signed: the label, so that no other use of a key can be passed off as a manifest, and the signed part.
  private static func message(_ signed: Span<UInt8>) -> [UInt8] {
    let label = Label.manifest.bytes
    var message: [UInt8] = []
    message.reserveCapacity(label.count + signed.count)
    message += label
    message.append(copying: signed)
    return message
  }
}
