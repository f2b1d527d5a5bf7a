public import PackCrypto
public import PackFormat
public import PackManifest

/// A manifest that a trusted key vouches for.
///
/// Whether it is the newest one, and still good, is not known: ``ManifestMemory/check(_:)`` and ``state(at:)`` say that.
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
  /// where another one holds.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, or what ``PackManifest/Manifest/init(parsingSigned:)`` throws.
  public func verify(trusting keys: [SigningPublicKey]) throws(PackError) -> VerifiedManifest {
    throw PackError(.internalError, "unfinished")
  }

  /// Signs a manifest.
  ///
  /// - Throws: ``PackError/Code/invalidManifest`` for values that no manifest may hold.
  public static func signature(of signed: [UInt8], by key: borrowing SigningKey) throws(PackError) -> ManifestSignature {
    throw PackError(.internalError, "unfinished")
  }
}
