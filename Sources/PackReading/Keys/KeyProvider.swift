/// A request for the key of a pack, with everything that the unencrypted start of the pack says about the key.
///
/// None of it is authenticated yet. A server that hands out keys must decide by the client's identity, not by the content of the request.
public struct KeyRequest: Hashable, Sendable {
  /// The id of the key that the pack was made with.
  public let keyID: KeyID
  /// The 32 bytes of the pack's header that identify the pack. A root key and these bytes give the pack's own key (FORMAT.md §2.3).
  public let packID: [UInt8]
  /// The version in the pack's header. With the root key and ``packID``, it gives the key of this version (FORMAT.md §2.7). Nil if the pack's own key is
  /// requested.
  public let packVersion: UInt64?
  /// The ids of the other keys that open the pack, because its file key is wrapped for them (FORMAT.md §2.6). Usually there are none.
  public let recipientIDs: [KeyID]
  /// The path of the file that is being opened, or nil if it is not a file. For messages, and for providers that keep keys by file.
  public let path: String?

  /// Creates a request for a key.
  ///
  /// - Parameters:
  ///   - packID: the 32 bytes that identify the pack.
  ///   - packVersion: the version in the pack's header.
  ///   - recipientIDs: the ids of the other keys that open the pack.
  public init(keyID: KeyID, packID: [UInt8], packVersion: UInt64? = nil, recipientIDs: [KeyID] = [], path: String? = nil) {
    self.keyID = keyID
    self.packID = packID
    self.packVersion = packVersion
    self.recipientIDs = recipientIDs
    self.path = path
  }
}

extension KeyRequest {
  /// Returns the key that opens the pack: the given key, or one derived from it. Returns nil if neither does.
  func key(from given: borrowing PackKey) throws(PackError) -> PackKey? {
    try given.key(keyID, recipients: recipientIDs, ofPack: packID, version: packVersion)
  }

  /// Whether the pack names a key with this id.
  func names(_ id: KeyID) -> Bool { id == keyID || recipientIDs.contains(id) }

  /// Returns the error for a key that is not the requested one.
  func refusal(of id: KeyID) -> PackError {
    PackError(
      .wrongKey, "pack was made with key \(keyID), but the provided key is \(id)",
      advice: .giveKey(keyID))
  }
}

/// A source of pack keys: a constant, the Keychain, or a server.
public protocol KeyProvider: Sendable {
  /// Returns the key whose id is the requested one, or one of the request's recipients.
  ///
  /// Called each time a pack is opened, before anything in it is decrypted. It may take any amount of time. The implementation itself must respond to
  /// the cancellation of the task that opens the pack.
  ///
  /// - Throws: ``PackError/Code/noKey`` if there is no such key, or the error that prevented getting it.
  func key(for request: KeyRequest) async throws(PackError) -> PackKey
}

extension KeyProvider {
  /// Returns the key for a pack after checking that the request names its id. Errors name the file.
  package func checkedKey(for request: KeyRequest) async throws(PackError) -> PackKey {
    do throws(PackError) {
      let key = try await key(for: request)
      guard request.names(key.id) else { throw request.refusal(of: key.id) }
      return key
    } catch {
      throw request.path.map(error.about) ?? error
    }
  }
}
