/// What each file of a pack takes in it, in bytes as served.
///
/// A frame holds parts of several files, and its compressed size is divided among them by their lengths in it. The sizes of all files and of all other
/// parts add up to the size of the pack. A content that several files have counts for the first of them. Of a delta, its windows are divided in the same
/// way among the files whose contents are not copied.
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
    let unused = divide(
      (0..<pack.table.dataFrameCount).lazy.map { (UInt64(pack.table[$0].compressedSize), pack.table[$0].tarRange) }, contents)
    addParts(pack.layout, unused, rest: "index and seek table")
  }

  /// Divides a delta among the files of its target.
  package init(_ application: DeltaApplication) {
    let target = application.target
    sizes = [UInt64](repeating: 0, count: target.count)
    var end: UInt64 = 0
    let frames = application.windows.map { window in
      defer { end += UInt64(window.size) }
      return (UInt64(window.compressedSize), end..<end + UInt64(window.size))
    }
    let contents = application.literals().map { Content(range: $0.range, number: $0.records.min() ?? 0) }
    let unused = divide(frames, contents)
    addParts(application.delta.source.layout, unused, rest: "head and list")
  }

  /// Divides frames among the contents, both in order.
  ///
  /// - Returns: The bytes of frames without contents.
  private mutating func divide(_ frames: some Sequence<(UInt64, Range<UInt64>)>, _ contents: [Content]) -> UInt64 {
    var first = 0
    var unused: UInt64 = 0
    for (compressed, range) in frames {
      while first < contents.count, contents[first].range.upperBound <= range.lowerBound { first += 1 }
      var end = first
      while end < contents.count, contents[end].range.lowerBound < range.upperBound { end += 1 }
      unused += divide(compressed, of: range, among: contents[first..<end])
    }
    total = sizes.reduce(0, +)
    return unused
  }

  /// Divides the bytes of a frame among the contents in it, so that nothing is lost by rounding.
  ///
  /// - Returns: what is left if there are none.
  private mutating func divide(_ compressed: UInt64, of range: Range<UInt64>, among contents: ArraySlice<Content>) -> UInt64 {
    let lengths = contents.map { UInt64($0.range.clamped(to: range).count) }
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

  private mutating func addParts(_ layout: SegmentLayout, _ unused: UInt64, rest: String) {
    let tags = layout.segmentCount * UInt64(SegmentLayout.tagSize)
    let payload = layout.payloadSize
    if unused > 0 { parts.append(Part(name: "frames without file content", size: unused)) }
    parts.append(Part(name: rest, size: payload - total - unused))
    parts.append(Part(name: "tags", size: tags))
    parts.append(Part(name: "header", size: layout.packSize - payload - tags))
  }
}

extension PackedSizes {
  /// What a pack is made of. Sizes are in bytes.
  package func json(packSize: UInt64) -> JSON {
    [
      "type": "pack", "size": .number(packSize), "packedSize": .number(total),
      "parts": .list(parts.map { ["name": .text($0.name), "size": .number($0.size)] }),
    ]
  }
}
