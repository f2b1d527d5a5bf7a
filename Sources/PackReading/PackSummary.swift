package import PackFiles

/// What a pack says to someone who has no key. Nothing of it is authenticated.
public struct PackSummary: Sendable {
  /// One part of the file.
  public struct Part: Hashable, Sendable {
    /// What the part is.
    public let name: String
    /// Its length in bytes.
    public let size: UInt64
  }

  /// The readable start of the pack.
  public let header: PackHeader
  /// The key that the pack says it opens with, and what else stands there.
  public let stanzas: KeyStanzas
  /// Where the segments lie.
  public let layout: SegmentLayout

  /// Reads the header of the pack at `path`: a few hundred bytes.
  public static func read(_ path: String) throws(PackError) -> PackSummary {
    try read(path, files: SystemFiles())
  }

  package static func read(_ path: String, files: any FileSystem) throws(PackError) -> PackSummary {
    let start = try PackStart(path, files: files)
    do {
      try start.layout.checkLastSegment()
    } catch {
      throw error.about(path)
    }
    return PackSummary(header: start.header, stanzas: start.stanzas, layout: start.layout)
  }

  /// The size of the file in bytes.
  public var packSize: UInt64 { layout.packSize }

  /// The parts of the file in order. They add up to its size.
  public var parts: [Part] {
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
