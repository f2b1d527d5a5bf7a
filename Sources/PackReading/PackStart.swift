/// The header of a pack, before any of it is authenticated.
package struct PackStart: Sendable {
  package let file: OpenFile
  /// The bytes from the magic through Tink's header.
  package let bytes: [UInt8]
  package let header: PackHeader
  package let stanzas: KeyStanzas
  package let layout: SegmentLayout

  package init(_ path: String, files: any FileSystem) throws(PackError) {
    let (file, status) = try files.openFile(path)
    try self.init(file, size: status.size, path: path, files: files)
  }

  /// Reads the start of an open file.
  package init(_ file: OpenFile, size: UInt64, path: String, files: any FileSystem) throws(PackError) {
    self.file = file
    do throws(PackError) {
      var bytes = [UInt8](repeating: 0, count: Int(min(size, UInt64(PackHeader.prefixSize))))
      var prefix = bytes.mutableByteSpan
      try files.readExactly(file, at: 0, into: &prefix, name: path)
      header = try PackHeader.parse(bytes.byteSpan)
      guard bytes.count == PackHeader.prefixSize else {
        throw PackError(.truncated, "pack ends inside its header, at byte \(size)")
      }
      var cursor = FieldCursor(at: PackHeader.size, failure: .truncated)
      let stanzaBytes = try cursor.uint32("key stanzas", in: bytes.byteSpan)
      guard stanzaBytes <= Limits.stanzaBytes else {
        throw PackError(
          .limitExceeded, "header says \(stanzaBytes) bytes of key stanzas, more than \(Limits.stanzaBytes)")
      }
      let headerSize = PackHeader.prefixSize + Int(stanzaBytes) + 32
      layout = try SegmentLayout(packSize: size, headerSize: headerSize, segmentSize: header.segmentSize)
      bytes = [UInt8](repeating: 0, count: headerSize + SegmentLayout.tinkHeaderSize)
      var whole = bytes.mutableByteSpan
      try files.readExactly(file, at: 0, into: &whole, name: path)
      stanzas = try KeyStanzas.parse(
        bytes.byteSpan.extracting(PackHeader.prefixSize..<PackHeader.prefixSize + Int(stanzaBytes)))
      self.bytes = bytes
    } catch {
      throw error.about(path)
    }
  }
}
