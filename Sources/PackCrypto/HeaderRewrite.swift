/// A header whose recipients are changed. Core and body stay as they are; stanzas and MAC are made anew (FORMAT.md §2.6).
package struct HeaderRewrite: ~Copyable {
  /// The stanzas as they will be written.
  package private(set) var stanzas: KeyStanzas

  private let core: [UInt8]
  private let fileKey: SecretBytes
  private let backend: any CryptoBackend

  /// Authenticates a header.
  ///
  /// - Parameters:
  ///   - bytes: the file from its start through Tink's header; later bytes are ignored.
  ///   - key: any key that opens the pack.
  /// - Throws: the errors of ``HeaderAuthentication/open(_:key:backend:)``.
  package init(
    _ bytes: Span<UInt8>, key: borrowing PackKey, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    let opened = try HeaderAuthentication.open(bytes, key: key, backend: backend)
    let core = bytes.extracting(0..<PackHeader.size)
    let fileKey = try FileKey.find(in: opened.stanzas, of: opened.header, core: core, key: key, backend: backend)
    self.core = [UInt8](copying: core)
    self.fileKey = fileKey
    self.backend = backend
    stanzas = opened.stanzas
  }

  /// Wraps the file key for a recipient.
  ///
  /// - Throws: ``PackError/Code/usage`` if the pack is wrapped for it already.
  package mutating func add(_ recipient: RecipientPublicKey) throws(PackError) {
    try checkIsNew(.x25519, recipient.id)
    stanzas.wraps.append(try KeyWrap.seal(fileKey, for: recipient, core: core.byteSpan, backend: backend))
  }

  /// Wraps the file key for someone who has an application key.
  ///
  /// - Throws: ``PackError/Code/usage`` if the pack is wrapped for it already, or was made with it; ``PackError/Code/malformedKey`` for a recipient's
  ///   key, whose public half is enough.
  package mutating func add(_ key: borrowing PackKey) throws(PackError) {
    guard key.kind == .application else {
      throw PackError(
        .malformedKey, "the secret half of a recipient's key was given where its public half is enough",
        advice: .giveKeyText(prefix: KeyText.Kind.recipientPublic.prefixText, insteadOf: KeyText.Kind.recipient.prefixText))
    }
    guard key.id != stanzas.keyID else {
      throw PackError(.usage, "pack was made with key \(key.id), which opens it already")
    }
    try checkIsNew(.symmetric, key.id)
    stanzas.wraps.append(try KeyWrap.seal(fileKey, for: key, core: core.byteSpan, backend: backend))
  }

  /// Removes the stanzas for a key.
  ///
  /// - Throws: ``PackError/Code/usage`` if it is the key that the pack was made with, whose stanza every pack must have;
  ///   ``PackError/Code/notWrapped`` if there is no stanza for it.
  package mutating func remove(_ id: KeyID) throws(PackError) {
    guard stanzas.wraps.contains(where: { $0.keyID == id }) else {
      guard id != stanzas.keyID else {
        throw PackError(
          .usage, "key \(id) is the one that the pack was made with, and its stanza is required",
          advice: .developer("remove recipients only, or build the pack again with another key"))
      }
      throw stanzas.notWrapped(for: [id]).advising(nil)
    }
    stanzas.wraps.removeAll { $0.keyID == id }
  }

  /// Returns the bytes before segment 0: core, stanzas, MAC and Tink's header.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if there are more recipients than a header can have.
  package borrowing func seal() throws(PackError) -> [UInt8] {
    let list = stanzas.bytes
    guard list.count <= Int(Limits.stanzaBytes) else {
      throw PackError(
        .limitExceeded, "\(stanzas.wraps.count) recipients need \(list.count) bytes of key stanzas, more than \(Limits.stanzaBytes)")
    }
    let schedule = try KeySchedule(fileKey: fileKey, core: core.byteSpan, backend: backend)
    return try HeaderAuthentication.seal(core, list, schedule)
  }

  private func checkIsNew(_ kind: KeyStanzas.Wrap.Kind, _ id: KeyID) throws(PackError) {
    guard stanzas.wrap(kind, for: id) == nil else { throw PackError(.usage, "pack is wrapped for key \(id) already") }
  }
}
