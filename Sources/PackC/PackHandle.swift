/// An open pack that C has a handle of.
package final class PackHandle: Sendable {
  let pack: Pack
  /// What the pack belongs to, which is kept as long.
  let owner: (any AnyObject & Sendable)?

  package init(_ pack: Pack, owner: (any AnyObject & Sendable)? = nil) {
    self.pack = pack
    self.owner = owner
  }

  static func of(_ handle: UInt64) throws(PackError) -> PackHandle { try Handles.all.object(handle, "pack") }
}

/// Writes a key to `key`, which has room for 128 bytes: the one with one of the ids, which spaces separate, or the root key that it is derived from, as 32
/// bytes or as its text. Returns how many bytes it wrote; 0 if it has none. `packID` are the 32 bytes that identify the pack.
public typealias AskFunction =
  @convention(c) (
    _ context: UnsafeMutableRawPointer?, _ keyIDs: UnsafePointer<CChar>, _ packID: UnsafePointer<UInt8>, _ key: UnsafeMutablePointer<UInt8>
  ) -> Int64

/// Gets an entry, whose path is valid until it returns. Returns 0 for the next one, and anything else to stop.
public typealias VisitFunction =
  @convention(c) (_ context: UnsafeMutableRawPointer?, _ path: UnsafePointer<CChar>, _ kind: PackerKind, _ size: UInt64) -> Int32

/// Gets the bytes of content that are done, and all. Returns 0 to go on, and anything else to cancel.
public typealias ProgressFunction = @convention(c) (_ context: UnsafeMutableRawPointer?, _ done: UInt64, _ total: UInt64) -> Int32

/// What an entry of a pack is.
@c(PackerKind)
public enum PackerKind: Int32, Sendable {
  /// A file.
  case file = 0
  /// A directory.
  case directory = 1

  init(_ kind: Entry.Kind) { self = kind == .file ? .file : .directory }
}

/// The keys that a function of the app has.
@safe
package struct AskedKeys: KeyProvider {
  private static let room = 128
  private let ask: Callback<AskFunction>

  package init(_ ask: Callback<AskFunction>) { unsafe self.ask = ask }

  package func key(for request: KeyRequest) throws(PackError) -> PackKey { try ring(for: request).key(for: request) }

  /// Returns what the function wrote.
  package func ring(for request: KeyRequest) throws(PackError) -> KeyRing {
    let ids = ([request.keyID] + request.recipientIDs).map(\.description).joined(separator: " ")
    let idText = unsafe copied(ids)
    defer { unsafe idText.deallocate() }
    var secret = SecretBytes(count: Self.room)
    let count = secret.withMutableSpan { key in
      unsafe request.packID.withUnsafeBufferPointer { packID in
        unsafe key.withUnsafeMutableBufferPointer { key in
          unsafe ask.run { unsafe $0($1, idText, packID.baseAddress!, key.baseAddress!) }
        }
      }
    }
    guard (1...Int64(Self.room)).contains(count) else {
      throw PackError(.noKey, "the app has no key \(request.keyID)", advice: .giveKey(request.keyID))
    }
    return KeyRing(try secret.withSpan { (bytes) throws(PackError) in try PackKey(given: bytes.extracting(first: Int(count))) })
  }
}

extension PackKey {
  /// Reads a key as C gives it: 32 bytes, or its text.
  package init(given bytes: Span<UInt8>) throws(PackError) {
    if bytes.count == 32 { try self.init(bytes: bytes) } else { try self.init(text: bytes) }
  }
}
