/// The publisher's file of keys documents: all of them in one list, oldest first. The last one may be a draft that too few people have signed yet.
package struct KeysFile: Sendable {
  /// The path, as the caller named it.
  package let path: String
  /// The documents that are signed by enough keys. Each follows the one before it.
  package private(set) var documents: [KeysDocument]
  /// The document that is not signed by enough keys yet.
  package private(set) var draft: KeysDocument?

  /// The usual name, beside packer.yml.
  package static let defaultName = "packer.keys.json"

  /// Makes a file that holds a first document, unsigned. Writes nothing.
  package init(path: String, _ content: KeysDocument.Content) throws(PackError) {
    self.path = path
    documents = []
    draft = try KeysDocument(content, signatures: [])
  }

  /// Reads a file, and checks that each document follows the one before it.
  ///
  /// - Throws: ``PackError/Code/missingInput``, ``PackError/Code/damagedKeys``, ``PackError/Code/untrustedKeys``.
  package init(reading path: String) throws(PackError) {
    self.path = path
    documents = []
    var text = try SystemFiles().contents(of: path, limit: KeysChain.largestSize)
    // Editors and version control want a line end.
    if text.last == UInt8(ascii: "\n") { text.removeLast() }
    do throws(PackError) {
      // A single document is a list of one.
      let list = text.first == UInt8(ascii: "{") ? [text] : try KeysChain.documents(in: text)
      guard !list.isEmpty else { throw PackError(.damagedKeys, "list of keys documents is empty") }
      for (index, bytes) in list.enumerated() { try add(bytes, isLast: index == list.count - 1) }
      // A file with one document may be the one that an app embeds.
      if text.first != UInt8(ascii: "{") { try checkBeginning() }
    } catch {
      // Another schema, for example, is no change by mistake.
      guard error.code == .damagedKeys || error.code == .untrustedKeys else { throw error.about(path) }
      throw error.about(path).advising(.developer("restore the file from version control, or take the change back"))
    }
  }

  /// Throws unless the file begins with the first document, from which every app can follow.
  ///
  /// - Throws: ``PackError/Code/damagedKeys``
  package func checkBeginning() throws(PackError) {
    guard let first = documents.first ?? draft, first.content.version > 1 else { return }
    throw PackError(
      .damagedKeys, of: path,
      "begins with keys document \(first.content.version), but apps that embed an earlier one need all documents from 1 on",
      hint: "restore the file from version control")
  }

  private mutating func add(_ bytes: [UInt8], isLast: Bool) throws(PackError) {
    let document = try KeysDocument(bytes)
    do throws(PackError) {
      if let last = documents.last {
        documents.append(try last.successor(bytes))
      } else {
        try document.checkOwnSignatures()
        documents.append(document)
      }
    } catch {
      guard isLast, error.code == .untrustedKeys, documents.last.map({ $0.content.version + 1 == document.content.version }) ?? true else {
        throw error
      }
      // Signatures that are there must be right.
      _ = try document.signers(among: document.content.rootKeys + (documents.last?.content.rootKeys ?? []))
      draft = document
    }
  }

  /// The document that counts now. Nil if the first one is not signed yet.
  package var newest: KeysDocument? { documents.last }

  /// Returns the newest document.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys`` if the first one is not signed by enough keys yet.
  package func required() throws(PackError) -> KeysDocument {
    if let newest { return newest }
    throw PackError(
      .untrustedKeys, of: path, "has no keys document that is signed by enough root signing keys",
      hint: "packer key trust sign \(path) --root-sign-key REF, with the key of each person")
  }

  /// The keys that count for an app that embeds the newest document.
  ///
  /// - Throws: ``PackError/Code/untrustedKeys``
  package func trusted() throws(PackError) -> TrustedKeys { try TrustedKeys(try required()) }

  /// Returns the document with a version, or nil if there is none that is signed.
  package func document(_ version: UInt64) -> KeysDocument? { documents.first { $0.content.version == version } }

  /// Returns the documents that a manifest must contain, so that an app follows that embeds a version.
  package func documents(after version: UInt64) -> [KeysDocument] { documents.filter { $0.content.version > version } }

  /// The version that the oldest of some apps embeds. Without apps, the oldest version in the file.
  package func oldestVersion(of apps: [ReleaseLock.App]) -> UInt64 {
    let versions = apps.filter { !$0.isRetired }.compactMap(\.keysVersion)
    return versions.min() ?? documents.first?.content.version ?? 0
  }

  // MARK: Changes

  /// Makes the next document as a draft, from the newest one.
  ///
  /// - Throws: ``PackError/Code/usage`` if there is a draft already, or the change makes no valid document.
  package mutating func draftNext(
    issued: ManifestTime, expires: ManifestTime, _ change: (inout KeysDocument.Content) throws(PackError) -> Void
  ) throws(PackError) {
    if let draft {
      throw PackError(
        .usage, of: path, "has keys document \(draft.content.version) already, which is not signed by enough people",
        hint: "sign it with 'packer key trust sign', or restore the file from version control")
    }
    let newest = try required()
    var content = newest.content
    try change(&content)
    content = KeysDocument.Content(
      version: newest.content.version + 1, issued: issued, expires: expires, rootKeys: content.rootKeys,
      rootThreshold: content.rootThreshold, signingKeys: content.signingKeys, signingThreshold: content.signingThreshold)
    draft = try KeysDocument(content, signatures: [])
  }

  /// Signs the draft, or the newest document if there is no draft.
  ///
  /// - Returns: The id of the key.
  /// - Throws: ``PackError/Code/usage`` if neither the document nor the one before it lists the key.
  package mutating func sign(with key: borrowing RootSigningKey) throws(PackError) -> String {
    let id = key.publicKey.id
    guard let document = draft ?? documents.last else { return id }
    guard signable(document).contains(key.publicKey) else {
      throw PackError(
        .usage, of: path, "does not list root key \(id) in keys document \(document.content.version), nor in the one before",
        hint: "packer key trust show \(path)")
    }
    try replace(document, signatures: document.signatures.filter { $0.keyID != id } + [document.signature(by: key)])
    return id
  }

  /// Takes the signatures of another copy of the file that its document lacks, after they were made on several machines at once.
  ///
  /// - Throws: ``PackError/Code/usage`` if the copy has another document.
  package mutating func merge(_ other: KeysFile) throws(PackError) {
    guard let document = draft ?? documents.last, let copy = other.draft ?? other.documents.last else { return }
    guard document.content == copy.content, Array(document.bytes[document.signedBytes]) == Array(copy.bytes[copy.signedBytes]) else {
      throw PackError(
        .usage, of: other.path, "has another keys document than \(path)", hint: "sign copies of the same file")
    }
    let known = Set(document.signatures.map(\.keyID))
    try replace(document, signatures: document.signatures + copy.signatures.filter { !known.contains($0.keyID) })
  }

  private func signable(_ document: KeysDocument) -> [RootSigningPublicKey] {
    let before = self.document(document.content.version - 1)
    return document.content.rootKeys + (before?.content.rootKeys ?? [])
  }

  private mutating func replace(_ document: KeysDocument, signatures: [ManifestSignature]) throws(PackError) {
    let signed = try KeysDocument(document.content, signatures: signatures)
    if draft == nil { documents.removeLast() }
    draft = nil
    try add(signed.bytes, isLast: true)
  }

  /// Writes the file, whole or not at all.
  ///
  /// - Parameter isNew: Whether the file must not exist yet.
  package func write(isNew: Bool = false) throws(PackError) {
    if isNew, ReleasePlaces.exists(path) {
      throw PackError(.outputExists, of: path, "exists already", hint: "packer key trust rotate \(path)")
    }
    let text = KeysChain.text(of: (documents + [draft].compactMap { $0 }).map(\.bytes)) + [UInt8(ascii: "\n")]
    try OutputFile.write(text, to: path, files: SystemFiles())
  }

  /// How many signatures the draft has and needs: by its own root keys, and by those of the document before it.
  package func progress() throws(PackError) -> (own: Int, ownNeeded: Int, before: Int, beforeNeeded: Int)? {
    guard let draft else { return nil }
    let own = try draft.signers(among: draft.content.rootKeys).count
    guard let last = documents.last else { return (own, draft.content.rootThreshold, 0, 0) }
    return (own, draft.content.rootThreshold, try draft.signers(among: last.content.rootKeys).count, last.content.rootThreshold)
  }
}
