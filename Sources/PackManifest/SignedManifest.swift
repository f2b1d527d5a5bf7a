public import PackFormat

/// A manifest as it is served: the signed part, and the signatures over it (FORMAT.md §9.1).
///
/// Its outer form is sound; nothing else is known of it. The signed part is read only once a signature by a trusted key was found to hold.
public struct SignedManifest: Hashable, Sendable {
  /// The whole document.
  public let bytes: [UInt8]
  /// The signatures, in ascending order of their key ids. None of them was looked at.
  public let signatures: [ManifestSignature]
  /// Where the signed part stands in ``bytes``.
  public let signedBytes: Range<Int>

  /// Takes a document apart: its size, its outer form and the list of signatures are checked, and nothing else.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``
  public init(_ bytes: [UInt8]) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }

  /// Puts a document together.
  ///
  /// - Parameters:
  ///   - signed: what ``Manifest/signedBytes()`` made.
  ///   - signatures: in any order; no two by one key.
  /// - Throws: ``PackError/Code/invalidManifest`` where it would not be one, as where it is larger than ``Manifest/largestSize``.
  public init(signed: [UInt8], signatures: [ManifestSignature]) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }
}

/// A signature in a manifest.
public struct ManifestSignature: Hashable, Sendable {
  /// The key that it claims to be by, 16 hexadecimal digits.
  public var keyID: String
  /// The signature, 64 bytes.
  public var signature: [UInt8]

  /// Makes a value from its parts, which are not checked.
  public init(keyID: String, signature: [UInt8]) {
    self.keyID = keyID
    self.signature = signature
  }
}
