/// The keys of a pack, derived from one key and one header (FORMAT.md §2).
package struct KeySchedule: ~Copyable, Sendable {
  /// The key that every segment is sealed with (SEGK).
  package let segmentKey: SecretBytes
  /// Tink's stream salt and nonce prefix (TS ‖ NP), 39 bytes.
  package let streamHeader: [UInt8]

  private let headerKey: SecretBytes
  private let backend: any CryptoBackend

  static let streamSaltSize = 32
  static let noncePrefixSize = 7
  /// The position of the salt in the core.
  static let saltRange = 64..<PackHeader.size

  /// Derives all keys from the key that a pack is made with.
  ///
  /// - Parameter core: the 96 bytes of the header, with the pack's salt.
  package init(
    key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    try self.init(fileKey: Self.fileKey(key: key, core: core, backend: backend), core: core, backend: backend)
  }

  /// Derives all keys from FK.
  init(fileKey: borrowing SecretBytes, core: Span<UInt8>, backend: any CryptoBackend) throws(PackError) {
    let streamKey = try Self.streamKey(fileKey: fileKey, core: core, backend: backend)
    let headerKey = try Self.headerKey(fileKey: fileKey, core: core, backend: backend)
    let header = try backend.derive(
      .streamHeader, from: fileKey, salt: core.extracting(Self.saltRange), count: Self.streamSaltSize + Self.noncePrefixSize)
    let streamHeader = header.withSpan { [UInt8](copying: $0) }
    // Tink's derivation has no label: its key and salt are used for nothing else.
    let segmentKey = try backend.derive(
      from: streamKey, salt: streamHeader.byteSpan.extracting(0..<Self.streamSaltSize), info: core, count: GCM.keySize)
    self.segmentKey = segmentKey
    self.streamHeader = streamHeader
    self.headerKey = headerKey
    self.backend = backend
  }

  /// Returns the MAC of a header, which covers everything before it in the file.
  package func headerMAC(of bytes: Span<UInt8>) throws(PackError) -> [UInt8] {
    try backend.authenticationCode(of: bytes, key: headerKey)
  }

  /// Derives FK, from which the other keys are derived.
  static func fileKey(
    key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    precondition(core.count == PackHeader.size)
    try key.checkMakesPacks()
    var context: [UInt8] = []
    context.append(littleEndian: PackHeader.suite)
    return try backend.derive(
      .fileKey, from: key.secret, salt: core.extracting(saltRange), context: context + key.id.bytes, count: 32)
  }

  /// Derives MK, which authenticates the header.
  static func headerKey(
    fileKey: borrowing SecretBytes, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(.headerMAC, from: fileKey, salt: core.extracting(saltRange), count: 32)
  }

  /// Derives SK, Tink's key value.
  static func streamKey(
    fileKey: borrowing SecretBytes, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(.streamKey, from: fileKey, salt: core.extracting(saltRange), count: 32)
  }
}
