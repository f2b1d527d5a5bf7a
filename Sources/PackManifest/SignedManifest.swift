/// A manifest as it is served: keys documents if there are any, the signatures, and the signed part (FORMAT.md §9.1).
///
/// Only its outer form has been checked. The signed part is read only after a signature by a trusted key was verified, and a keys document only
/// after its signatures were.
public struct SignedManifest: Hashable, Sendable {
  /// The whole document. A copy of it, if the document is mapped.
  public var bytes: [UInt8] { content.bytes }
  package let content: FileContent
  /// The ranges of the keys documents in ``bytes``, oldest first. Empty if there are none. The signatures do not cover them: each has its own.
  public let keysBytes: [Range<Int>]
  /// The signatures, in ascending order of their key ids. None of them has been verified.
  public let signatures: [ManifestSignature]
  /// The range of the signed part in ``bytes``.
  public let signedBytes: Range<Int>

  /// The largest number of signatures of a document.
  public static let signatureLimit = 16

  /// Reads a document. Only its size, its outer form and the list of signatures are checked.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``
  public init(_ bytes: [UInt8]) throws(PackError) { try self.init(FileContent(bytes)) }

  package init(_ content: FileContent) throws(PackError) {
    let bytes = content.byteSpan
    try Manifest.check(bytes.count)
    var cursor = CanonicalCursor(at: 0, end: bytes.count)
    keysBytes = try Self.keys(&cursor, bytes)
    signatures = try ManifestSignature.list(&cursor, bytes, isFirst: keysBytes.isEmpty, depth: 2, limit: Self.signatureLimit)
    let (start, brace) = (cursor.offset, UInt8(ascii: "}"))
    // The signed part is read after its signature was verified.
    guard bytes.count >= start + 3, bytes[start] == UInt8(ascii: "{"), bytes[bytes.count - 1] == brace, bytes[bytes.count - 2] == brace
    else {
      throw PackError(.damagedManifest, "manifest does not end in a signed part, at byte \(bytes.count)")
    }
    signedBytes = start..<bytes.count - 1
    self.content = content
  }

  /// Makes a document.
  ///
  /// - Parameters:
  ///   - signed: the result of ``Manifest/signedBytes()``.
  ///   - signatures: in any order, at most one per key.
  ///   - keys: the keys documents, oldest first, each as its bytes.
  /// - Throws: ``PackError/Code/invalidManifest`` if the document would not be valid: larger than ``Manifest/largestSize``, for example.
  public init(signed: [UInt8], signatures: [ManifestSignature], keys: [[UInt8]] = []) throws(PackError) {
    let sorted = signatures.sorted { $0.precedes($1) }
    for (left, right) in zip(sorted, sorted.dropFirst()) where left.keyID == right.keyID {
      throw PackError(
        .invalidManifest, "manifest would be signed by key \(left.keyID) twice", advice: .developer("give each signing key once"))
    }
    var writer = CanonicalWriter()
    writer.object { writer in
      if !keys.isEmpty { writer.array("keys", keys) { $0.raw($1) } }
      ManifestSignature.write(sorted, to: &writer)
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

  /// The largest number of keys documents in a manifest. A device that is further behind needs an app update.
  public static let keysLimit = 32
  /// The largest keys document, in bytes. With the largest number of keys and signatures, one has some 9 KiB.
  public static let keysSizeLimit = 16 << 10

  /// Reads the outer form of the keys documents, if the document has any.
  private static func keys(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [Range<Int>] {
    let start = Array("{\"keys\":".utf8)
    guard bytes.count > start.count, equal(bytes.extracting(first: start.count), start.byteSpan) else { return [] }
    try cursor.expect("{\"keys\":", in: bytes)
    var array = try cursor.beginArray("keys", depth: 2, in: bytes)
    var ranges: [Range<Int>] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard ranges.count < keysLimit else { throw cursor.fault("has more than \(keysLimit) keys documents") }
      let start = cursor.offset
      try cursor.skip(depth: 3, in: bytes)
      guard bytes[start] == UInt8(ascii: "{") else { throw cursor.fault("has a keys document that is not an object", at: start) }
      guard cursor.offset - start <= keysSizeLimit else {
        throw cursor.fault("has a keys document of \(cursor.offset - start) bytes, more than \(keysSizeLimit)", at: start)
      }
      ranges.append(start..<cursor.offset)
    }
    // A manifest without keys documents has one form only.
    guard !ranges.isEmpty else { throw cursor.fault("has an empty list of keys documents") }
    return ranges
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

  package func precedes(_ other: ManifestSignature) -> Bool {
    Array(keyID.utf8).lexicographicallyPrecedes(Array(other.keyID.utf8))
  }

  /// Writes the key `signatures` with a list that is in order.
  package static func write(_ signatures: [ManifestSignature], to writer: inout CanonicalWriter) {
    writer.array("signatures", signatures) { writer, signature in
      writer.object { writer in
        writer.string("keyid", signature.keyID)
        writer.string("sig", signature.signature.hex)
      }
    }
  }

  /// Reads the key `signatures` with its list, and leaves the cursor at the start of the signed part.
  ///
  /// - Parameters:
  ///   - isFirst: whether it is the first key of the document.
  ///   - depth: the depth of the list.
  ///   - limit: the largest number of signatures.
  package static func list(
    _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>, isFirst: Bool, depth: Int, limit: Int
  ) throws(PackError) -> [ManifestSignature] {
    try cursor.expect(isFirst ? "{\"signatures\":" : ",\"signatures\":", in: bytes)
    var array = try cursor.beginArray("signatures", depth: depth, in: bytes)
    var signatures: [ManifestSignature] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard signatures.count < limit else {
        throw cursor.fault("has more than \(limit) signatures")
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
