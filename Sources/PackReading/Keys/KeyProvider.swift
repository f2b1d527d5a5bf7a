/// What a key is wanted for: all that the readable start of a pack tells about it.
///
/// Nothing of it is authenticated yet. A server that hands out keys decides by whom it talks to, not by what is asked for.
public struct KeyRequest: Hashable, Sendable {
  /// The id of the key that the pack was made with.
  public let keyID: KeyID
  /// The 32 bytes of the pack's header that name it, from which a root key makes the pack's own (FORMAT.md §2.3).
  public let packID: [UInt8]
  /// The file that is being opened, if it is a file: for messages, and for providers that keep keys by file.
  public let path: String?

  /// Asks for a key.
  ///
  /// - Parameter packID: the 32 bytes that name the pack.
  public init(keyID: KeyID, packID: [UInt8], path: String? = nil) {
    self.keyID = keyID
    self.packID = packID
    self.path = path
  }
}

extension KeyRequest {
  /// The refusal of a key that is another one.
  func refusal(of id: KeyID) -> PackError {
    PackError(
      .wrongKey, "pack was made with key \(keyID), but the key that came for it is \(id)",
      advice: .giveKey(keyID))
  }
}

/// Where the keys of packs come from: a constant, the Keychain, a server.
public protocol KeyProvider: Sendable {
  /// The key whose id is the wanted one.
  ///
  /// Called before anything of a pack is decrypted, and again each time it is opened. May take as long as it likes; the cancellation
  /// of the task that opens the pack is its to notice.
  ///
  /// - Throws: ``PackError/Code/noKey`` where there is none, or what else kept it from being had.
  func key(for request: KeyRequest) async throws(PackError) -> PackKey
}

extension KeyProvider {
  /// The key for a pack, which is not believed to be the wanted one until its id says so. Errors name the file.
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
