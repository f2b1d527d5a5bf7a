/// The eight bytes that identify a key without revealing anything about it (FORMAT.md §2).
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
  /// The identifier, eight bytes.
  public let bytes: [UInt8]

  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == Self.size)
    self.bytes = bytes
  }

  package static let size = 8

  /// The identifier as 16 lower-case hexadecimal digits.
  public var description: String { bytes.hex }
}

/// The key stanzas of a header (FORMAT.md §1): which keys open the pack.
package struct KeyStanzas: Hashable, Sendable {
  /// The key that opens the pack, from its DERIVE stanza.
  package let keyID: KeyID
  /// The types of stanzas that this build does not know, in order.
  package let unknownTypes: [UInt16]

  static let derive: UInt16 = 1

  /// Returns the bytes of the only stanza that a writer of version 1.0 makes.
  package static func bytes(for keyID: KeyID) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: derive)
    bytes.append(littleEndian: UInt16(KeyID.size))
    return bytes + keyID.bytes
  }

  /// Reads the stanzas, which must fill `bytes` exactly.
  package static func parse(_ bytes: Span<UInt8>) throws(PackError) -> KeyStanzas {
    var cursor = FieldCursor(failure: .damagedHeader)
    var keyID: KeyID?
    var unknownTypes: [UInt16] = []
    while cursor.offset < bytes.count {
      let type = try cursor.uint16("key stanza", in: bytes)
      let length = Int(try cursor.uint16("key stanza", in: bytes))
      let body = try cursor.bytes("key stanza", count: length, in: bytes)
      guard type == derive else {
        unknownTypes.append(type)
        continue
      }
      guard length == KeyID.size else {
        throw PackError(.damagedHeader, "key stanza is \(length) bytes, not \(KeyID.size)")
      }
      guard keyID == nil else { throw PackError(.damagedHeader, "header names two keys") }
      keyID = KeyID(body)
    }
    guard let keyID else {
      throw PackError(
        .noUsableKey, "pack has no key stanza that this build can use",
        advice: .updateApp)
    }
    return KeyStanzas(keyID: keyID, unknownTypes: unknownTypes)
  }
}
