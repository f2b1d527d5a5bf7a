/// The eight bytes that identify a key without revealing anything about it (FORMAT.md §2).
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
  /// The identifier, eight bytes.
  public let bytes: [UInt8]

  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == Self.size)
    self.bytes = bytes
  }

  /// Reads 16 lower-case hexadecimal digits. Returns nil for anything else.
  package init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * Self.size, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
    bytes = (0..<Self.size).map { index in
      digits[2 * index...2 * index + 1].reduce(0) { $0 << 4 | ($1 < 0x61 ? $1 - 0x30 : $1 - 0x61 + 10) }
    }
  }

  package static let size = 8

  /// The identifier as 16 lower-case hexadecimal digits.
  public var description: String { bytes.hex }
}

/// The key stanzas of a header (FORMAT.md §1.3): which keys open the pack.
package struct KeyStanzas: Hashable, Sendable {
  /// A stanza that wraps the file key for one recipient (FORMAT.md §2.6).
  package struct Wrap: Hashable, Sendable {
    /// How the file key is wrapped. The value is the type of the stanza.
    package enum Kind: UInt16, Sendable {
      /// With a key that both sides have.
      case symmetric = 2
      /// For the public key of a recipient.
      case x25519 = 3

      /// The length of the stanza's content in bytes, key id included.
      var contentSize: Int {
        switch self {
        case .symmetric: KeyID.size + 12 + 32 + 16
        case .x25519: KeyID.size + 32 + 32 + 16
        }
      }
    }

    package let kind: Kind
    /// The id of the key that unwraps it.
    package let keyID: KeyID
    /// What follows the key id.
    package let content: [UInt8]

    /// - Parameter content: as many bytes as the kind has after the key id.
    package init(_ kind: Kind, for keyID: KeyID, content: [UInt8]) {
      precondition(KeyID.size + content.count == kind.contentSize)
      self.kind = kind
      self.keyID = keyID
      self.content = content
    }
  }

  /// A stanza that this build passes over.
  package struct Unknown: Hashable, Sendable {
    package let type: UInt16
    package let content: [UInt8]
  }

  /// The key that the pack was made with, from its DERIVE stanza.
  package let keyID: KeyID
  /// The stanzas for recipients, in order.
  package var wraps: [Wrap] = []
  /// The stanzas that this build passes over, in order.
  package private(set) var unknown: [Unknown] = []

  /// The ids of the keys for which the file key is wrapped, in order.
  package var recipientIDs: [KeyID] { wraps.map { $0.keyID } }

  static let derive: UInt16 = 1

  /// The stanzas of a pack without recipients.
  package init(keyID: KeyID) {
    self.keyID = keyID
  }

  /// The bytes of the stanzas as writers order them: DERIVE, those for recipients by type and key id, then unknown ones in their order.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    Self.append(Self.derive, keyID.bytes, to: &bytes)
    let ordered = wraps.sorted {
      ($0.kind.rawValue, $0.keyID.description) < ($1.kind.rawValue, $1.keyID.description)
    }
    for wrap in ordered { Self.append(wrap.kind.rawValue, wrap.keyID.bytes + wrap.content, to: &bytes) }
    for stanza in unknown { Self.append(stanza.type, stanza.content, to: &bytes) }
    return bytes
  }

  private static func append(_ type: UInt16, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(littleEndian: type)
    bytes.append(littleEndian: UInt16(content.count))
    bytes += content
  }

  /// Returns the stanza of a kind for a key; nil if there is none.
  package func wrap(_ kind: Wrap.Kind, for keyID: KeyID) -> Wrap? {
    wraps.first { $0.kind == kind && $0.keyID == keyID }
  }

  /// Reads the stanzas, which must fill `bytes` exactly.
  package static func parse(_ bytes: Span<UInt8>) throws(PackError) -> KeyStanzas {
    var cursor = FieldCursor(failure: .damagedHeader)
    var keyID: KeyID?
    var wraps: [Wrap] = []
    var unknown: [Unknown] = []
    while cursor.offset < bytes.count {
      let type = try cursor.uint16("key stanza", in: bytes)
      let length = Int(try cursor.uint16("key stanza", in: bytes))
      let body = try cursor.bytes("key stanza", count: length, in: bytes)
      if type == derive {
        guard length == KeyID.size else {
          throw PackError(.damagedHeader, "key stanza is \(length) bytes, not \(KeyID.size)")
        }
        guard keyID == nil else { throw PackError(.damagedHeader, "header names two keys") }
        keyID = KeyID(body)
      } else if let kind = Wrap.Kind(rawValue: type), length == kind.contentSize {
        wraps.append(Wrap(kind, for: KeyID(Array(body.prefix(KeyID.size))), content: Array(body.dropFirst(KeyID.size))))
      } else {
        unknown.append(Unknown(type: type, content: body))
      }
    }
    try checkForTwins(wraps)
    guard let keyID else {
      throw PackError(
        .noUsableKey, "pack has no key stanza that this build can use",
        advice: .updateApp)
    }
    var stanzas = KeyStanzas(keyID: keyID)
    stanzas.wraps = wraps
    stanzas.unknown = unknown
    return stanzas
  }

  private static func checkForTwins(_ wraps: [Wrap]) throws(PackError) {
    var seen: Set<[UInt8]> = []
    for wrap in wraps where !seen.insert([UInt8(wrap.kind.rawValue)] + wrap.keyID.bytes).inserted {
      throw PackError(.damagedHeader, "header has two stanzas for key \(wrap.keyID)")
    }
  }
}
