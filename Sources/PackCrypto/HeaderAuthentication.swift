/// An authenticated header and the keys of its pack.
package struct OpenedHeader: ~Copyable, Sendable {
  /// The header's fields, authenticated.
  package let header: PackHeader
  /// Its key stanzas, authenticated.
  package let stanzas: KeyStanzas
  /// The keys of the pack.
  package let schedule: KeySchedule
}

/// Makes and checks everything before the first segment of a pack: header, MAC and Tink's header (FORMAT.md §1, §2).
package enum HeaderAuthentication {
  private static let macSize = 32
  /// The first byte of Tink's header: the length of that header.
  private static let tinkHeaderLength = UInt8(SegmentLayout.tinkHeaderSize)

  /// Returns the bytes before segment 0: core, stanzas, MAC and Tink's header.
  package static func seal(
    _ header: PackHeader, key: borrowing PackKey, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> [UInt8] {
    let core = header.bytes
    let schedule = try KeySchedule(key: key, core: core.byteSpan, backend: backend)
    return try seal(core, KeyStanzas(keyID: key.id).bytes, schedule)
  }

  /// Returns the same for a core and a list of stanzas, whatever these are.
  package static func seal(_ core: [UInt8], _ stanzas: [UInt8], _ schedule: borrowing KeySchedule) throws(PackError) -> [UInt8] {
    var bytes = core
    bytes.append(littleEndian: UInt32(stanzas.count))
    bytes += stanzas
    bytes += try schedule.headerMAC(of: bytes.byteSpan)
    bytes.append(tinkHeaderLength)
    bytes += schedule.streamHeader
    return bytes
  }

  /// Checks a header in the format's order: fields, stanzas, MAC, Tink's header.
  ///
  /// The key is the one that the pack was made with, one for which it is wrapped, or the root key from which the pack's key was derived.
  ///
  /// - Parameter bytes: the file from its start through Tink's header; later bytes are ignored.
  /// - Throws: ``PackError/Code/wrongKey`` or ``PackError/Code/notWrapped`` if the pack names other keys, ``PackError/Code/damagedHeader`` if it names
  ///   this key but its stanza does not open, or MAC or Tink header differ.
  package static func open(
    _ bytes: Span<UInt8>, key: borrowing PackKey, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> OpenedHeader {
    let header = try PackHeader.parse(bytes)
    var cursor = FieldCursor(at: PackHeader.size, failure: .truncated)
    let stanzaSize = try cursor.uint32("header", in: bytes)
    guard stanzaSize <= Limits.stanzaBytes else {
      throw PackError(.limitExceeded, "header says \(stanzaSize) bytes of key stanzas, more than \(Limits.stanzaBytes)")
    }
    let stanzaRange = try cursor.range("header", count: Int(stanzaSize), in: bytes)
    let mac = try cursor.range("header", count: macSize, in: bytes)
    let tinkHeader = try cursor.range("header", count: SegmentLayout.tinkHeaderSize, in: bytes)

    let stanzas = try KeyStanzas.parse(bytes.extracting(stanzaRange))
    // From the bytes, not from the parsed fields: a reader must authenticate the bytes that it received.
    let core = bytes.extracting(0..<PackHeader.size)
    let fileKey = try FileKey.find(in: stanzas, of: header, core: core, key: key, backend: backend)
    let schedule = try KeySchedule(fileKey: fileKey, core: core, backend: backend)
    let expectedMAC = try schedule.headerMAC(of: bytes.extracting(0..<mac.lowerBound))
    guard equalInConstantTime(expectedMAC.byteSpan, bytes.extracting(mac)) else {
      throw PackError(
        .damagedHeader, "header was changed after the pack was made: its MAC differs", advice: .fetchAgain)
    }
    let streamHeader = schedule.streamHeader
    guard bytes[tinkHeader.lowerBound] == tinkHeaderLength,
      equalInConstantTime(streamHeader.byteSpan, bytes.extracting(tinkHeader.lowerBound + 1..<tinkHeader.upperBound))
    else {
      throw PackError(
        .damagedHeader, "stream header was changed after the pack was made", advice: .fetchAgain)
    }
    return OpenedHeader(header: header, stanzas: stanzas, schedule: schedule)
  }

}
