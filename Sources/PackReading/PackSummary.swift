/// The information that a pack reveals without a key. None of it is authenticated.
package struct PackSummary: Sendable {
  /// One part of the file.
  package struct Part: Hashable, Sendable {
    /// The name of the part.
    package let name: String
    /// Its length in bytes.
    package let size: UInt64
  }

  /// The unencrypted start of the pack.
  package let header: PackHeader
  /// The key stanzas: the id of the key that the pack says it opens with, and further stanzas.
  package let stanzas: KeyStanzas
  /// The positions of the segments.
  package let layout: SegmentLayout

  /// Reads the header of the pack at `path`, a few hundred bytes.
  package static func read(_ path: String) throws(PackError) -> PackSummary {
    try read(path, files: SystemFiles())
  }

  package static func read(_ path: String, files: any FileSystem) throws(PackError) -> PackSummary {
    let start = try PackStart(path, files: files)
    try attributing(to: path) { () throws(PackError) in try start.layout.checkLastSegment() }
    return PackSummary(header: start.header, stanzas: start.stanzas, layout: start.layout)
  }

  /// The size of the file in bytes.
  package var packSize: UInt64 { layout.packSize }

  /// The parts of the file in order. They add up to its size.
  package var parts: [Part] {
    let stanzaSize = layout.bodyOffset - UInt64(PackHeader.prefixSize) - 32
    return [
      Part(name: "header", size: UInt64(PackHeader.prefixSize)),
      Part(name: "key stanzas", size: stanzaSize),
      Part(name: "header MAC", size: 32),
      Part(name: "stream header", size: UInt64(SegmentLayout.tinkHeaderSize)),
      Part(name: "tags", size: layout.segmentCount * UInt64(SegmentLayout.tagSize)),
      Part(name: "payload, encrypted", size: layout.payloadSize),
    ]
  }
}
