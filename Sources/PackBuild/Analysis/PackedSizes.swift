/// What each file of a pack takes in it, in bytes as served.
///
/// A frame holds parts of several files, and its compressed size is divided among them by their lengths in it. The sizes of all files and of all other
/// parts add up to the size of the pack. A content that several files have counts for the first of them, and a delta has only what its bases lack.
/// Memory: 8 bytes for each entry, and about 80 for each file while they are computed.
package struct PackedSizes: Sendable {
  /// A part of the pack that belongs to no file.
  package struct Part: Hashable, Sendable {
    package let name: String
    /// Its length in bytes.
    package let size: UInt64
  }

  /// The bytes of each entry, by its number in the index.
  package private(set) var sizes: [UInt64]
  /// The sum of the sizes of all entries.
  package private(set) var total: UInt64 = 0
  /// What belongs to no file.
  package private(set) var parts: [Part] = []

  /// The bytes of the pack that belong to no file.
  package var rest: UInt64 { parts.reduce(0) { $0.adding($1.size) } }

  /// Where the content of a file is in the tar.
  private struct Content {
    var range: Range<UInt64>
    var number: Int
  }

  /// Reads the index.
  ///
  /// - Throws: ``PackError/Code/damagedPayload`` if contents overlap without being the same.
  package init(_ pack: Pack) throws(PackError) {
    sizes = [UInt64](repeating: 0, count: pack.entryCount)
    var contents: [Content] = []
    try pack.forEachRecord { (block, row) throws(PackError) in
      guard block.size(of: row) > 0 else { return }
      let start = block.offset(of: row)
      contents.append(
        Content(range: start..<start.adding(block.size(of: row)), number: block.number(of: row)))
    }
    contents.sort { ($0.range.lowerBound, $0.number) < ($1.range.lowerBound, $1.number) }
    contents = contents.enumerated().filter { $0.offset == 0 || contents[$0.offset - 1].range != $0.element.range }.map(\.element)
    for (left, right) in zip(contents, contents.dropFirst()) where left.range.upperBound > right.range.lowerBound {
      throw PackError(.damagedPayload, "the content of two entries overlaps at byte \(right.range.lowerBound) of the tar")
        .about(pack.source)
    }
    var first = 0
    var unused: UInt64 = 0
    for number in 0..<pack.table.dataFrameCount {
      let frame = pack.table[number]
      let compressed = pack.layer?.compressedSize(ofPiece: number) ?? UInt64(frame.compressedSize)
      while first < contents.count, contents[first].range.upperBound <= frame.tarRange.lowerBound { first += 1 }
      var end = first
      while end < contents.count, contents[end].range.lowerBound < frame.tarRange.upperBound { end += 1 }
      unused += divide(compressed, of: frame, among: contents[first..<end])
    }
    total = sizes.reduce(0, +)
    addParts(pack, unused)
  }

  /// Divides the bytes of a frame among the contents in it, so that nothing is lost by rounding.
  ///
  /// - Returns: what is left if there are none.
  private mutating func divide(_ compressed: UInt64, of frame: SeekTable.Frame, among contents: ArraySlice<Content>) -> UInt64 {
    let lengths = contents.map { UInt64($0.range.clamped(to: frame.tarRange).count) }
    let all = lengths.reduce(0, +)
    guard all > 0 else { return compressed }
    var (passed, given) = (0 as UInt64, 0 as UInt64)
    for (content, length) in zip(contents, lengths) {
      passed += length
      // A frame and its content are less than 2^32 bytes.
      let share = compressed * passed / all
      sizes[content.number] += share - given
      given = share
    }
    return 0
  }

  private mutating func addParts(_ pack: Pack, _ unused: UInt64) {
    let layout = pack.layout
    let tags = layout.segmentCount * UInt64(SegmentLayout.tagSize)
    let payload = layout.payloadSize
    if unused > 0 { parts.append(Part(name: "frames without file content", size: unused)) }
    parts.append(Part(name: pack.layer == nil ? "index and seek table" : "head and list", size: payload - total - unused))
    parts.append(Part(name: "tags", size: tags))
    parts.append(Part(name: "header", size: layout.packSize - payload - tags))
  }
}

extension PackedSizes {
  /// What a pack is made of. Sizes are in bytes.
  package func json(packSize: UInt64) -> JSON {
    [
      "type": "pack", "packSize": .number(packSize), "packedSize": .number(total),
      "parts": .list(parts.map { ["name": .text($0.name), "size": .number($0.size)] }),
    ]
  }
}
