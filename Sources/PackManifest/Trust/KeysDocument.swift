/// A keys document: who may sign manifests, until when, and who may sign the next keys document (FORMAT.md §9.6).
///
/// An app embeds one. Its successors come with manifests, so that devices learn new signing keys without an update of the app.
public struct KeysDocument: Hashable, Sendable {
  /// The whole document.
  public let bytes: [UInt8]
  /// The signatures, in ascending order of their key ids.
  public let signatures: [ManifestSignature]
  /// The range of the signed part in ``bytes``.
  public let signedBytes: Range<Int>
  /// What the signed part says.
  public let content: Content

  /// The only schema that this build reads.
  public static let schema = "pack-keys/1"
  /// The largest number of keys in each of the two lists.
  public static let keyLimit = 16
  /// The largest number of signatures: by all root keys of this document and of the one before.
  public static let signatureLimit = 32
  /// The largest document, in bytes.
  public static let largestSize = SignedManifest.keysSizeLimit

  /// What a keys document says.
  public struct Content: Hashable, Sendable {
    /// The version, from 1. The next document has the next version.
    public var version: UInt64
    /// The time at which it was made.
    public var issued: ManifestTime
    /// The time from which nothing new is installed while this is the newest document.
    public var expires: ManifestTime
    /// The keys that sign keys documents, in ascending order of their texts.
    public var rootKeys: [RootSigningPublicKey]
    /// How many of them must have signed this document, and the next one.
    public var rootThreshold: Int
    /// The keys that sign manifests, in ascending order of their texts.
    public var signingKeys: [SigningPublicKey]
    /// How many of them must have signed a manifest.
    public var signingThreshold: Int

    /// Makes a value without checking it. The keys may be in any order.
    public init(
      version: UInt64, issued: ManifestTime, expires: ManifestTime, rootKeys: [RootSigningPublicKey], rootThreshold: Int,
      signingKeys: [SigningPublicKey], signingThreshold: Int
    ) {
      self.version = version
      self.issued = issued
      self.expires = expires
      self.rootKeys = rootKeys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      self.rootThreshold = rootThreshold
      self.signingKeys = signingKeys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      self.signingThreshold = signingThreshold
    }
  }

  /// Reads a document. Checks its form and what it says, but no signature.
  ///
  /// - Throws: ``PackError/Code/damagedKeys``, or ``PackError/Code/unsupported`` for another schema than ``schema``.
  public init(_ bytes: [UInt8]) throws(PackError) {
    let envelope = try KeysEnvelope(bytes)
    self.init(envelope, try KeysReader.content(of: envelope))
  }

  /// Makes a document from its parts.
  ///
  /// - Parameter signatures: in any order, at most one per key.
  /// - Throws: ``PackError/Code/usage`` if it would not be valid.
  public init(_ content: Content, signatures: [ManifestSignature]) throws(PackError) {
    let signed = try content.signedBytes()
    let sorted = signatures.sorted { $0.precedes($1) }
    var writer = CanonicalWriter()
    writer.object { writer in
      ManifestSignature.write(sorted, to: &writer)
      writer.key("signed")
      writer.raw(signed)
    }
    do throws(PackError) {
      try self.init(writer.bytes)
    } catch {
      throw PackError(.usage, error.message)
    }
  }

  init(_ envelope: KeysEnvelope, _ content: Content) {
    bytes = envelope.bytes
    signatures = envelope.signatures
    signedBytes = envelope.signedBytes
    self.content = content
  }

  // MARK: Signatures

  /// Returns a root signing key's signature of a document, to be added to its list.
  public func signature(by key: borrowing RootSigningKey) throws(PackError) -> ManifestSignature {
    ManifestSignature(keyID: key.publicKey.id, signature: try key.signature(of: message.byteSpan))
  }

  /// Returns the ids of the keys whose signatures are valid, in ascending order. Signatures by other keys are ignored.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys`` if a signature by one of the keys is wrong.
  public func signers(among keys: [RootSigningPublicKey]) throws(PackError) -> [String] {
    try KeysEnvelope.signers(of: message, signatures, among: keys, backend: CryptoBackends.standard)
  }

  /// Throws unless enough of its own root keys signed it, as the first document of an app must be.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys``
  public func checkOwnSignatures() throws(PackError) {
    try checkOwnSignatures(backend: CryptoBackends.standard)
  }

  func checkOwnSignatures(backend: any CryptoBackend) throws(PackError) {
    let signers = try KeysEnvelope.signers(of: message, signatures, among: content.rootKeys, backend: backend)
    guard signers.count >= content.rootThreshold else {
      throw PackError(
        .untrustedKeys,
        "keys document \(content.version) is signed by \(signers.count) of its root keys, but needs \(content.rootThreshold)",
        advice: .developer("have it signed by more of the people who hold root signing keys"))
    }
  }

  /// Reads the document that follows this one.
  ///
  /// Its signatures by this document's root keys are checked first, then it is parsed, then its signatures by its own root keys are checked.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys`` if it is not signed by enough keys or has another version than the next one,
  ///   ``PackError/Code/damagedKeys``, ``PackError/Code/unsupported``.
  public func successor(_ bytes: [UInt8]) throws(PackError) -> KeysDocument {
    try successor(bytes, backend: CryptoBackends.standard)
  }

  func successor(_ bytes: [UInt8], backend: any CryptoBackend) throws(PackError) -> KeysDocument {
    let envelope = try KeysEnvelope(bytes)
    let signers = try KeysEnvelope.signers(of: envelope.message, envelope.signatures, among: content.rootKeys, backend: backend)
    guard signers.count >= content.rootThreshold else {
      throw PackError(
        .untrustedKeys,
        "the keys document after version \(content.version) is signed by \(signers.count) of its root keys, but \(content.rootThreshold) are needed",
        advice: .fetchManifestAgain)
    }
    let next = KeysDocument(envelope, try KeysReader.content(of: envelope))
    guard next.content.version == content.version + 1 else {
      throw PackError(
        .untrustedKeys, "keys document \(next.content.version) follows \(content.version), but versions have no gaps",
        advice: .fetchManifestAgain)
    }
    try next.checkOwnSignatures(backend: backend)
    return next
  }

  private var message: [UInt8] { KeysEnvelope.message(bytes.byteSpan.extracting(signedBytes)) }
}

/// The outer form of a keys document, whose signed part has not been read.
struct KeysEnvelope {
  let bytes: [UInt8]
  let signatures: [ManifestSignature]
  let signedBytes: Range<Int>

  /// - Throws: ``PackError/Code/damagedKeys``
  init(_ bytes: [UInt8]) throws(PackError) {
    guard bytes.count <= KeysDocument.largestSize else {
      throw PackError(.damagedKeys, "keys document is \(bytes.count) bytes, more than \(KeysDocument.largestSize)")
    }
    var cursor = Self.cursor(0, bytes.count)
    signatures = try ManifestSignature.list(&cursor, bytes.byteSpan, isFirst: true, depth: 4, limit: KeysDocument.signatureLimit)
    let start = cursor.offset
    guard bytes.count >= start + 3, bytes[start] == UInt8(ascii: "{"), bytes.suffix(2) == Array("}}".utf8)[...] else {
      throw PackError(.damagedKeys, "keys document does not end in a signed part, at byte \(bytes.count)")
    }
    signedBytes = start..<bytes.count - 1
    self.bytes = bytes
  }

  static func cursor(_ start: Int, _ end: Int) -> CanonicalCursor {
    CanonicalCursor(at: start, end: end, subject: "keys document", code: .damagedKeys)
  }

  var message: [UInt8] { Self.message(bytes.byteSpan.extracting(signedBytes)) }

  /// Returns the message that is signed: a label, so that no signature of a manifest is valid for it, and the signed part.
  static func message(_ signed: Span<UInt8>) -> [UInt8] {
    var message = Label.keysDocument.bytes
    message.append(copying: signed)
    return message
  }

  /// Returns the ids of the keys whose signatures are valid. Each key counts once: ids ascend in a list of signatures, and are unique in a list of
  /// keys.
  static func signers(
    of message: [UInt8], _ signatures: [ManifestSignature], among keys: [RootSigningPublicKey], backend: any CryptoBackend
  ) throws(PackError) -> [String] {
    var signers: [String] = []
    for signature in signatures {
      guard let key = keys.first(where: { $0.id == signature.keyID }) else { continue }
      guard try key.isValid(signature.signature.byteSpan, of: message.byteSpan, backend: backend) else {
        throw PackError(
          .untrustedKeys, "keys document has a wrong signature by root key \(key.id): it was changed after it was signed",
          advice: .fetchManifestAgain)
      }
      signers.append(key.id)
    }
    return signers
  }
}
