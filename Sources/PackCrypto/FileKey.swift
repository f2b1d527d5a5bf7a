/// FK, the key of one pack's file: derived from the key that the pack was made with, or unwrapped by a recipient (FORMAT.md §1.4, step 4).
enum FileKey {
  /// Returns FK, which the header's MAC has not confirmed yet.
  ///
  /// An application key that the pack does not name is tried as the root key from which the key of the pack, or of its version, was derived.
  ///
  /// - Throws: ``PackError/Code/wrongKey`` if the pack names another key, ``PackError/Code/notWrapped`` if it has no stanza for this recipient,
  ///   ``PackError/Code/damagedHeader`` if the stanza for this key does not open with it.
  static func find(
    in stanzas: KeyStanzas, of header: PackHeader, core: Span<UInt8>, key: borrowing PackKey, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    switch key.kind {
    case .application:
      if key.id != stanzas.keyID, let wrap = stanzas.wrap(.symmetric, for: key.id) {
        return try KeyWrap.open(wrap, key: key, core: core, backend: backend)
      }
      guard let key = try key.key(stanzas.keyID, ofPack: header.packID, version: header.packVersion, backend: backend) else {
        throw PackError(
          .wrongKey, "pack was made with key \(stanzas.keyID), but the key given is \(key.id)",
          advice: .giveKey(stanzas.keyID))
      }
      return try KeySchedule.fileKey(key: key, core: core, backend: backend)
    case .recipient:
      guard let wrap = stanzas.wrap(.x25519, for: key.id) else { throw stanzas.notWrapped(for: [key.id]) }
      return try KeyWrap.open(wrap, key: key, core: core, backend: backend)
    }
  }
}

extension KeyStanzas {
  /// Returns the error for recipients' keys of which none has a stanza.
  package func notWrapped(for ids: [KeyID]) -> PackError {
    .notWrapped(for: ids, keyID: keyID, recipients: recipientIDs)
  }
}

extension PackError {
  /// Returns the error for recipients' keys for which a pack is not wrapped.
  package static func notWrapped(for ids: [KeyID], keyID: KeyID, recipients: [KeyID]) -> PackError {
    let others =
      recipients.isEmpty
      ? "and for no other recipient" : "only for \(recipients.prefix(8).map { $0.description }.joined(separator: ", "))"
    let given = ids.prefix(8).map { $0.description }.joined(separator: ", ")
    return PackError(
      .notWrapped, "pack is not wrapped for recipient key \(given), \(others); it was made with key \(keyID)", advice: .askForCopy)
  }
}
