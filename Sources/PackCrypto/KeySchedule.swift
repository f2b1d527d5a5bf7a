package import PackFormat

/// What one key and one header make: the keys of a pack (FORMAT.md §2).
package struct KeySchedule: ~Copyable, Sendable {
  /// The key that every segment is sealed with (SEGK).
  package let segmentKey: SecretBytes
  /// Tink's stream salt and nonce prefix (TS ‖ NP), 39 bytes.
  package let streamHeader: [UInt8]

  private let headerKey: SecretBytes
  private let backend: any CryptoBackend

  static let streamSaltSize = 32
  static let noncePrefixSize = 7
  /// Where the salt lies in the core.
  private static let saltRange = 64..<PackHeader.size

  /// Derives all keys.
  ///
  /// - Parameter core: the 96 bytes of the header, with the salt that the pack has.
  package init(
    key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    let fileKey = try Self.fileKey(key: key, core: core, backend: backend)
    let streamKey = try Self.streamKey(fileKey: fileKey, core: core, backend: backend)
    let headerKey = try Self.headerKey(fileKey: fileKey, core: core, backend: backend)
    let header = try backend.derive(
      .streamHeader, from: fileKey, salt: core.extracting(Self.saltRange), count: Self.streamSaltSize + Self.noncePrefixSize)
    let streamHeader = header.withSpan { [UInt8](copying: $0) }
    // Tink's rule has no label: its key and its salt serve nothing else.
    let segmentKey = try backend.derive(
      from: streamKey, salt: streamHeader.span.extracting(0..<Self.streamSaltSize), info: core, count: GCM.keySize)
    self.segmentKey = segmentKey
    self.streamHeader = streamHeader
    self.headerKey = headerKey
    self.backend = backend
  }

  /// The MAC of a header: of everything before it in the file.
  package func headerMAC(of bytes: Span<UInt8>) throws(PackError) -> [UInt8] {
    try backend.authenticationCode(of: bytes, key: headerKey)
  }

  /// FK, from which the others come.
  static func fileKey(
    key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    precondition(core.count == PackHeader.size)
    var context: [UInt8] = []
    context.append(littleEndian: PackHeader.suite)
    return try backend.derive(
      .fileKey, from: key.secret, salt: core.extracting(saltRange), context: context + key.id.bytes, count: 32)
  }

  /// MK, which authenticates the header.
  static func headerKey(
    fileKey: borrowing SecretBytes, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(.headerMAC, from: fileKey, salt: core.extracting(saltRange), count: 32)
  }

  /// SK, the key value that Tink knows.
  static func streamKey(
    fileKey: borrowing SecretBytes, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(.streamKey, from: fileKey, salt: core.extracting(saltRange), count: 32)
  }
}
