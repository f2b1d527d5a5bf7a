/// The keys that count on a device now: those that the app embeds, or those of the newest keys document that followed the embedded one.
///
/// A plain value. A device stores ``record`` and makes the value again with ``restored(from:)``; a record never takes it back.
public struct TrustedKeys: Hashable, Sendable {
  /// The keys that may sign manifests.
  public let signingKeys: [SigningPublicKey]
  /// How many of them must have signed a manifest.
  public let threshold: Int
  /// The newest keys document. Nil if the app embeds plain keys.
  public let newest: KeysDocument?
  /// The documents that followed the embedded one, oldest first.
  private let followed: [[UInt8]]

  /// Makes the value of an app that embeds plain public keys. One signature by one of them is enough, and keys documents are ignored.
  public init(_ keys: [SigningPublicKey]) {
    signingKeys = keys
    threshold = 1
    newest = nil
    followed = []
  }

  /// Makes the value of an app that embeds a keys document.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys`` unless enough of its own root keys signed it.
  public init(_ document: KeysDocument) throws(PackError) {
    try document.checkOwnSignatures()
    self.init(document, followed: [])
  }

  /// Makes the value from what an app embeds as text: public signing keys (`pkp1-…`), or one keys document.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, ``PackError/Code/damagedKeys``, ``PackError/Code/untrustedKeys``, or ``PackError/Code/usage`` if
  ///   there is something beside a keys document.
  public init(texts: [String]) throws(PackError) {
    guard let document = texts.first(where: { $0.utf8.first == UInt8(ascii: "{") }) else {
      var keys: [SigningPublicKey] = []
      for text in texts { keys.append(try SigningPublicKey(text: text)) }
      self.init(keys)
      return
    }
    guard texts.count == 1 else {
      throw PackError(
        .usage, "an app embeds one keys document, or public keys, but not both", advice: .developer("embed the keys document only"))
    }
    try self.init(KeysDocument(Array(document.utf8)))
  }

  private init(_ document: KeysDocument, followed: [[UInt8]]) {
    signingKeys = document.content.signingKeys
    threshold = document.content.signingThreshold
    newest = document
    self.followed = followed
  }

  // MARK: Following

  /// The documents that a device has to store. Nil if none followed the embedded one.
  public var record: [UInt8]? { followed.isEmpty ? nil : KeysChain.text(of: followed) }

  /// The value after the documents of a list, and the error of the first document that is refused, if one is.
  public struct Progress: Sendable {
    /// The value after the last document that was accepted.
    public let keys: TrustedKeys
    /// Why the next document is refused. Nil if all were accepted, or are not newer.
    public let failure: PackError?
  }

  /// Returns the value after the keys documents of a manifest, whether the manifest itself is valid or not.
  ///
  /// Documents that are not newer are ignored. Those before a refused one count.
  public func following(_ manifest: SignedManifest) -> Progress {
    following(manifest, backend: CryptoBackends.standard)
  }

  package func following(_ manifest: SignedManifest, backend: any CryptoBackend) -> Progress {
    following(manifest.keysBytes.map { [UInt8](copying: manifest.content.byteSpan.extracting($0)) }, backend: backend)
  }

  /// Returns the value after a record that a device stored. A record that is damaged or does not belong to the embedded document changes nothing.
  public func restored(from record: [UInt8]?) -> TrustedKeys {
    restored(from: record, backend: CryptoBackends.standard)
  }

  package func restored(from record: [UInt8]?, backend: any CryptoBackend) -> TrustedKeys {
    guard newest != nil, let record, let documents = try? KeysChain.documents(in: record) else { return self }
    return following(documents, backend: backend).keys
  }

  /// Returns the value after a list of documents, oldest first.
  package func following(_ documents: [[UInt8]], backend: any CryptoBackend = CryptoBackends.standard) -> Progress {
    guard var newest else { return Progress(keys: self, failure: nil) }
    var followed = followed
    do throws(PackError) {
      for bytes in documents {
        // The version decides whether the document is read. If it is a lie, the document is old, or its signatures are wrong.
        guard try KeysReader.content(of: KeysEnvelope(bytes)).version > newest.content.version else { continue }
        newest = try newest.successor(bytes, backend: backend)
        followed.append(bytes)
      }
    } catch {
      return Progress(keys: followed.count > self.followed.count ? TrustedKeys(newest, followed: followed) : self, failure: error)
    }
    return Progress(keys: followed.count > self.followed.count ? TrustedKeys(newest, followed: followed) : self, failure: nil)
  }

  // MARK: Expiry

  /// Throws if the newest keys document has expired, so that nothing new is installed. Installed packs are not affected.
  ///
  /// - Throws: ``PackError/Code/keysExpired``
  public func checkExpiry(at time: ManifestTime) throws(PackError) {
    guard let content = newest?.content, time >= content.expires else { return }
    throw PackError(
      .keysExpired, "keys document \(content.version) expired at \(content.expires); the time is now \(time)",
      advice: .developer("publish a keys document with a later expiry, or set this device's clock"))
  }
}
