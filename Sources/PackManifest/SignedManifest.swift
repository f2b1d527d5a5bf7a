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

  /// The most signatures that a document may have.
  public static let signatureLimit = 16

  /// Takes a document apart: its size, its outer form and the list of signatures are checked, and nothing else.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``
  public init(_ bytes: [UInt8]) throws(PackError) {
    try Manifest.check(bytes.count)
    var cursor = CanonicalCursor(at: 0, end: bytes.count)
    signatures = try Self.signatures(&cursor, bytes.span)
    let start = cursor.offset
    // What lies between is read once it is known who signed it.
    guard bytes.count >= start + 3, bytes[start] == UInt8(ascii: "{"), bytes.suffix(2) == Array("}}".utf8)[...] else {
      throw PackError(.damagedManifest, "manifest does not end as one, at byte \(bytes.count)")
    }
    signedBytes = start..<bytes.count - 1
    self.bytes = bytes
  }

  /// Puts a document together.
  ///
  /// - Parameters:
  ///   - signed: what ``Manifest/signedBytes()`` made.
  ///   - signatures: in any order; no two by one key.
  /// - Throws: ``PackError/Code/invalidManifest`` where it would not be one, as where it is larger than ``Manifest/largestSize``.
  public init(signed: [UInt8], signatures: [ManifestSignature]) throws(PackError) {
    let sorted = signatures.sorted { Array($0.keyID.utf8).lexicographicallyPrecedes(Array($1.keyID.utf8)) }
    for (left, right) in zip(sorted, sorted.dropFirst()) where left.keyID == right.keyID {
      throw PackError(
        .invalidManifest, "manifest would be signed by key \(left.keyID) twice", advice: .developer("name each signing key once"))
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

  /// Reads the list, and leaves the cursor at the start of the signed part.
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
      // Digits of one length: the order of texts is the order of bytes.
      if let last = signatures.last, last.keyID >= keyID {
        throw cursor.fault("has a signature by key \(keyID) behind one by \(last.keyID), and they ascend", at: start)
      }
      signatures.append(ManifestSignature(keyID: keyID, signature: signature))
    }
    try cursor.expect(",\"signed\":", in: bytes)
    return signatures
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
