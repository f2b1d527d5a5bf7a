public import PackFormat

/// A manifest as it is served: the signed part, and the signatures over it (FORMAT.md §9.1).
///
/// Only its outer form has been checked. The signed part is read only after a signature by a trusted key was verified.
public struct SignedManifest: Hashable, Sendable {
  /// The whole document.
  public let bytes: [UInt8]
  /// The signatures, in ascending order of their key ids. None of them has been verified.
  public let signatures: [ManifestSignature]
  /// The range of the signed part in ``bytes``.
  public let signedBytes: Range<Int>

  /// The largest number of signatures of a document.
  public static let signatureLimit = 16

  /// Reads a document. Only its size, its outer form and the list of signatures are checked.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``
  public init(_ bytes: [UInt8]) throws(PackError) {
    try Manifest.check(bytes.count)
    var cursor = CanonicalCursor(at: 0, end: bytes.count)
    signatures = try Self.signatures(&cursor, bytes.byteSpan)
    let start = cursor.offset
    // The signed part is read after its signature was verified.
    guard bytes.count >= start + 3, bytes[start] == UInt8(ascii: "{"), bytes.suffix(2) == Array("}}".utf8)[...] else {
      throw PackError(.damagedManifest, "manifest does not end in a signed part, at byte \(bytes.count)")
    }
    signedBytes = start..<bytes.count - 1
    self.bytes = bytes
  }

  /// Makes a document.
  ///
  /// - Parameters:
  ///   - signed: the result of ``Manifest/signedBytes()``.
  ///   - signatures: in any order, at most one per key.
  /// - Throws: ``PackError/Code/invalidManifest`` if the document would not be valid: larger than ``Manifest/largestSize``, for example.
  public init(signed: [UInt8], signatures: [ManifestSignature]) throws(PackError) {
    let sorted = signatures.sorted { Array($0.keyID.utf8).lexicographicallyPrecedes(Array($1.keyID.utf8)) }
    for (left, right) in zip(sorted, sorted.dropFirst()) where left.keyID == right.keyID {
      throw PackError(
        .invalidManifest, "manifest would be signed by key \(left.keyID) twice", advice: .developer("give each signing key once"))
    }
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.key("signatures")
      writer.array(sorted) { writer, signature in
        writer.object { writer in
          writer.key("keyid")
          writer.string(signature.keyID)
          writer.key("sig")
          writer.string(signature.signature.hex)
        }
      }
      writer.key("signed")
      writer.raw(signed)
    }
    guard writer.bytes.count <= Manifest.largestSize else {
      throw PackError(
        .invalidManifest, "manifest would be \(writer.bytes.count) bytes, more than \(Manifest.largestSize)",
        advice: .developer("make fewer packs, or shorten their descriptions, names and tags"))
    }
    do throws(PackError) {
      try self.init(writer.bytes)
    } catch {
      throw PackError(.invalidManifest, error.message)
    }
  }

  /// Reads the list of signatures, and leaves the cursor at the start of the signed part.
  private static func signatures(
    _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> [ManifestSignature] {
    try cursor.expect("{\"signatures\":", in: bytes)
    var array = try cursor.beginArray("signatures", depth: 2, in: bytes)
    var signatures: [ManifestSignature] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard signatures.count < signatureLimit else {
        throw cursor.fault("has more than \(signatureLimit) signatures")
      }
      let start = cursor.offset
      try cursor.expect("{\"keyid\":", in: bytes)
      let keyID = try cursor.hex("a key id", count: 8, in: bytes).hex
      try cursor.expect(",\"sig\":", in: bytes)
      let signature = try cursor.hex("a signature", count: 64, in: bytes)
      try cursor.expect("}", in: bytes)
      // All ids have the same length, so the order of the texts is the order of the bytes.
      if let last = signatures.last, last.keyID >= keyID {
        throw cursor.fault("has a signature by key \(keyID) after one by \(last.keyID), but key ids must ascend", at: start)
      }
      signatures.append(ManifestSignature(keyID: keyID, signature: signature))
    }
    try cursor.expect(",\"signed\":", in: bytes)
    return signatures
  }
}

/// A signature in a manifest.
public struct ManifestSignature: Hashable, Sendable {
  /// The id of the key that it claims to be made with, 16 hexadecimal digits.
  public var keyID: String
  /// The signature, 64 bytes.
  public var signature: [UInt8]

  /// Makes a value without checking it.
  public init(keyID: String, signature: [UInt8]) {
    self.keyID = keyID
    self.signature = signature
  }
}
