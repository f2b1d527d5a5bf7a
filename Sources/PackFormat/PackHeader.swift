/// The fixed part of a pack's header (FORMAT.md §1), called *core*. Key derivation and every segment are bound to it.
package struct PackHeader: Hashable, Sendable {
  /// What a pack holds.
  package enum Kind: UInt16, Sendable {
    /// A whole tree.
    case full = 1
    /// What makes a tree out of others (FORMAT.md §13).
    case delta = 2
  }

  /// The minor version. Readers of major version 1 accept any.
  package var minor: UInt8 = 0
  /// The size of one ciphertext segment in bytes, tag included.
  package var segmentSize: UInt32
  /// What the pack holds.
  package var kind: Kind = .full
  /// The flags as they are in the file.
  package var flags: UInt16
  /// The version the publisher gave this pack, at most 2^53 − 1.
  package var packVersion: UInt64
  /// SHA-256 of the pack's name under its label, 32 bytes.
  package var packID: [UInt8]
  /// 32 bytes that make this pack's keys differ from those of any other pack.
  package var salt: [UInt8]

  /// The flag that says the salt was derived from key and content.
  package static let deterministicSalt: UInt16 = 1

  /// The length of the core in bytes.
  package static let size = 96
  /// The length of core and stanza length in bytes: enough to know how long the header is.
  package static let prefixSize = 100
  /// The first eight bytes of every pack. Like PNG's, they reveal a transfer that strips bits or converts line ends.
  package static let magic: [UInt8] = [0x89, 0x50, 0x41, 0x4B, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The suite this build knows: AES-256-GCM, HKDF-SHA256, HMAC-SHA256 and Tink's segments.
  package static let suite: UInt16 = 1
  package static let major: UInt8 = 1
  /// The format version that this build writes, and the newest one that it fully supports, as text.
  package static let formatVersion = "1.0"

  package init(
    segmentSize: UInt32, flags: UInt16, packVersion: UInt64, packID: [UInt8], salt: [UInt8]
  ) {
    precondition(packID.count == 32 && salt.count == 32)
    self.segmentSize = segmentSize
    self.flags = flags
    self.packVersion = packVersion
    self.packID = packID
    self.salt = salt
  }

  /// Whether the salt was derived from key and content.
  package var hasDeterministicSalt: Bool { flags & Self.deterministicSalt != 0 }

  /// The 96 bytes of the core.
  package var bytes: [UInt8] {
    var bytes = Self.magic
    bytes += [Self.major, minor]
    bytes.append(littleEndian: Self.suite)
    bytes.append(littleEndian: segmentSize)
    bytes.append(littleEndian: kind.rawValue)
    bytes.append(littleEndian: flags)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: packVersion)
    bytes += packID
    bytes += salt
    return bytes
  }

  /// Returns what a file is that is no pack, to continue a sentence about its start; empty if that is not known.
  private static func guess(_ bytes: Span<UInt8>) -> String {
    guard bytes.count >= 4 else { return "" }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0, 0, 0, 0): return ", but with zeros"
    case (0x1F, 0x8B, _, _): return ", but like a gzip file"
    case (0x28, 0xB5, 0x2F, 0xFD): return ", but like a zstd file"
    case (0x50, 0x4B, 3, 4): return ", but like a zip archive"
    case (UInt8(ascii: "<"), _, _, _): return ", but like a web page"
    case (UInt8(ascii: "v"), UInt8(ascii: "e"), UInt8(ascii: "r"), UInt8(ascii: "s")): return ", but like a pointer of Git LFS"
    default: return ""
    }
  }

  /// Reads the core from the first bytes of a file.
  ///
  /// Nothing here is authenticated yet; the header's MAC is checked before any value but the segment size is used.
  package static func parse(_ bytes: Span<UInt8>) throws(PackError) -> PackHeader {
    let shared = min(bytes.count, magic.count)
    guard equal(bytes.extracting(0..<shared), magic.byteSpan.extracting(0..<shared)) else {
      throw PackError(
        .notAPack, "the file does not start like a pack\(guess(bytes))",
        advice: .fetchAgain)
    }
    guard bytes.count >= magic.count else {
      throw PackError(.truncated, "pack ends inside its magic, at byte \(bytes.count)")
    }
    var cursor = FieldCursor(at: magic.count, failure: .truncated)
    let major = try cursor.uint8("major version", in: bytes)
    guard major == Self.major else {
      throw unsupported("format version \(major), but this build reads \(Self.major)")
    }
    let minor = try cursor.uint8("minor version", in: bytes)
    let suite = try cursor.uint16("suite", in: bytes)
    guard suite == Self.suite else {
      throw unsupported("cipher suite \(suite), but this build knows \(Self.suite)")
    }
    let segmentSize = try cursor.uint32("segment size", in: bytes)
    guard Self.isLegal(segmentSize: segmentSize) else {
      throw PackError(
        .damagedHeader,
        "header says segments of \(segmentSize) bytes, not a power of two in \(Limits.smallestSegment)...\(Limits.largestSegment)")
    }
    let rawKind = try cursor.uint16("kind", in: bytes)
    guard let kind = Kind(rawValue: rawKind) else {
      throw unsupported("pack kind \(rawKind), but this build reads \(Kind.full.rawValue) and \(Kind.delta.rawValue)")
    }
    let flags = try cursor.uint16("flags", in: bytes)
    guard flags & 0xFE == 0 else {
      throw unsupported("flags \(flags & 0xFE), which this build does not know")
    }
    guard try cursor.uint32("reserved", in: bytes) == 0 else {
      throw PackError(.damagedHeader, "header has nonzero bytes in a reserved field")
    }
    let version = try cursor.uint64("pack version", in: bytes)
    guard version <= Limits.packVersion else {
      throw PackError(
        .damagedHeader, "header says pack version \(version), more than \(Limits.packVersion)")
    }
    var header = PackHeader(
      segmentSize: segmentSize, flags: flags, packVersion: version,
      packID: try cursor.bytes("pack id", count: 32, in: bytes),
      salt: try cursor.bytes("salt", count: 32, in: bytes))
    header.minor = minor
    header.kind = kind
    return header
  }

  /// Whether the format allows a segment size: a power of two from 4 096 to 1 048 576.
  package static func isLegal(segmentSize: UInt32) -> Bool {
    segmentSize.nonzeroBitCount == 1
      && (Limits.smallestSegment...Limits.largestSegment).contains(segmentSize)
  }

  private static func unsupported(_ what: String) -> PackError {
    PackError(.unsupported, "pack has \(what)", advice: .updateApp)
  }
}
