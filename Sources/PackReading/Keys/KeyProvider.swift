/// A request for the key of a pack, with everything that the unencrypted start of the pack says about the key.
///
/// None of it is authenticated yet. A server that hands out keys must decide by the client's identity, not by the content of the request.
public struct KeyRequest: Hashable, Sendable {
  /// The id of the key that the pack was made with.
  public let keyID: KeyID
  /// The 32 bytes of the pack's header that identify the pack. A root key and these bytes give the pack's own key (FORMAT.md §2.3).
  public let packID: [UInt8]
  /// The path of the file that is being opened, or nil if it is not a file. For messages, and for providers that keep keys by file.
  public let path: String?

  /// Creates a request for a key.
  ///
  /// - Parameter packID: the 32 bytes that identify the pack.
  public init(keyID: KeyID, packID: [UInt8], path: String? = nil) {
    self.keyID = keyID
    self.packID = packID
    self.path = path
  }
}

extension KeyRequest {
  /// Returns the error for a key that is not the requested one.
  func refusal(of id: KeyID) -> PackError {
    PackError(
      .wrongKey, "pack was made with key \(keyID), but the provided key is \(id)",
      advice: .giveKey(keyID))
  }
}

/// A source of pack keys: a constant, the Keychain, or a server.
public protocol KeyProvider: Sendable {
  /// Returns the key whose id is the requested one.
  ///
  /// Called each time a pack is opened, before anything in it is decrypted. It may take any amount of time. The implementation itself must respond to
  /// the cancellation of the task that opens the pack.
  ///
  /// - Throws: ``PackError/Code/noKey`` if there is no such key, or the error that prevented getting it.
  func key(for request: KeyRequest) async throws(PackError) -> PackKey
}

extension KeyProvider {
  /// Returns the key for a pack after checking that it has the requested id. Errors name the file.
  package func checkedKey(for request: KeyRequest) async throws(PackError) -> PackKey {
    do throws(PackError) {
      let key = try await key(for: request)
      guard key.id == request.keyID else { throw request.refusal(of: key.id) }
      return key
    } catch {
      throw request.path.map(error.about) ?? error
    }
  }
}
