import PackArchive
import PackFormat
import PackPayload
import PackReading
import PackWork

/// Finds out, frame by frame and in no order, whether the tar is what a writer makes of the index: every header byte for byte, every record once.
///
/// Such a tar holds for every reader what the index says, so nobody needs to read it as a tar. What the census does not know is not refused here;
/// ``ArchiveComparison`` decides about it.
final class HeaderCensus: Sendable {
  private struct State {
    var seen: [ArchiveComparison.Sighting]
    var links: [Link] = []
    var isSound = true
  }

  /// The numbers of a link's record and of the one it leads to.
  fileprivate struct Link {
    let number: Int
    let target: Int
  }

  private let state: Monitor<State>

  init(_ pack: Pack) {
    state = Monitor(State(seen: [ArchiveComparison.Sighting](repeating: .none, count: pack.entryCount)))
  }

  /// Whether the whole tar is as a writer makes it. Asked when all frames have been seen.
  var isComplete: Bool {
    state.withLock { state in
      state.isSound && state.seen.allSatisfy { $0 != .none } && state.links.allSatisfy { state.seen[$0.target] == .content }
    }
  }

  fileprivate var isSound: Bool { state.withLock { $0.isSound } }

  /// Says that something was met that the census does not know.
  fileprivate func giveUp() {
    state.withLock { $0.isSound = false }
  }

  /// Takes the records that were met in one frame.
  fileprivate func add(contents: [Int], links: [Link]) {
    state.withLock { state in
      func mark(_ number: Int, _ sighting: ArchiveComparison.Sighting) {
        if state.seen[number] != .none { state.isSound = false }
        state.seen[number] = sighting
      }
      for number in contents { mark(number, .content) }
      for link in links { mark(link.number, .link) }
      state.links += links
    }
  }
}

/// Looks at the headers of one worker's frames for a census.
final class HeaderWitness: FrameObserver {
  private let census: HeaderCensus
  private let tarSize: UInt64
  private var plain = PlainHeader()
  private let writer = TarWriter()
  private var expected: [UInt8] = []
  private var contents: [Int] = []
  private var links: [HeaderCensus.Link] = []

  init(_ census: HeaderCensus, _ pack: Pack) {
    self.census = census
    tarSize = pack.table.tarSize
  }

  func observe(
    _ frame: SeekTable.Frame, _ content: Span<UInt8>, _ table: ContentTable, _ records: RecordBatch, reader: PackReader
  ) throws(PackError) {
    guard census.isSound else { return }
    contents.removeAll(keepingCapacity: true)
    links.removeAll(keepingCapacity: true)
    let place = frame.tarRange
    // The last bytes of the tar are no header; that they are zeros is checked with the padding.
    let end = tarSize - min(tarSize, UInt64(TarWriter.endSize))
    var isKnown = true
    try table.forEachGap(in: place) { (gap, next) throws(PackError) in
      let gap = gap.lowerBound..<max(gap.lowerBound, min(gap.upperBound, end))
      guard isKnown, !gap.isEmpty else { return }
      let start = Int(gap.lowerBound - place.lowerBound)
      let headers = content.extracting(start..<start + gap.count)
      isKnown = try areKnown(headers, at: gap.lowerBound, before: next, table, records, reader: reader)
    }
    if isKnown {
      census.add(contents: contents, links: links)
    } else {
      census.giveUp()
    }
  }

  /// Whether `bytes` are headers, one after the other, and the last of them is that of the content of `next`, where there is one.
  private func areKnown(
    _ bytes: Span<UInt8>, at offset: UInt64, before next: ArraySlice<ContentTable.Item>, _ table: ContentTable, _ records: RecordBatch,
    reader: PackReader
  ) throws(PackError) -> Bool {
    var position = 0
    while position < bytes.count {
      guard let entry = HeaderFields(bytes, at: position) else { return false }
      let header = bytes.extracting(entry.place)
      position = entry.place.upperBound
      if position == bytes.count, !next.isEmpty {
        guard try isHeader(header, ofContentOf: next, entry.path, table, records, reader: reader) else { return false }
      } else {
        guard try isHeaderWithoutContent(header, entry, at: offset + UInt64(entry.place.lowerBound), reader: reader) else { return false }
      }
    }
    return true
  }

  private func isHeader(
    _ header: Span<UInt8>, ofContentOf items: ArraySlice<ContentTable.Item>, _ path: [UInt8], _ table: ContentTable,
    _ records: RecordBatch, reader: PackReader
  ) throws(PackError) -> Bool {
    for index in items.indices {
      let kind = try records.withRecord(of: index, in: table, reader: reader) { recorded, kind, _ in
        equal(recorded, path.span) ? kind : nil
      }
      guard let kind else { continue }
      contents.append(items[index].number)
      return try isWritten(header, path, kind, size: items[index].size, linkTarget: [])
    }
    return false
  }

  private func isHeaderWithoutContent(
    _ header: Span<UInt8>, _ entry: HeaderFields, at offset: UInt64, reader: PackReader
  ) throws(PackError) -> Bool {
    guard let (block, row) = try reader.find(entry.path.span) else { return false }
    let number = block.number * Limits.recordsPerBlock + row
    let kind = block.kind(of: row)
    guard try isWritten(header, entry.path, kind, size: 0, linkTarget: entry.linkTarget) else { return false }
    guard !entry.linkTarget.isEmpty else {
      contents.append(number)
      return block.size(of: row) == 0
    }
    // A link leads back, to the entry that has the content. That it is the one with the header is known when all headers are.
    guard let (original, place) = try reader.find(entry.linkTarget.span), block.size(of: row) > 0,
      original.offset(of: place) == block.offset(of: row), original.size(of: place) == block.size(of: row),
      original.kind(of: place) == kind, block.offset(of: row) < offset
    else { return false }
    links.append(HeaderCensus.Link(number: number, target: original.number * Limits.recordsPerBlock + place))
    return true
  }

  private func isWritten(
    _ header: Span<UInt8>, _ path: [UInt8], _ kind: IndexRecord.Kind, size: UInt64, linkTarget: [UInt8]
  ) throws(PackError) -> Bool {
    if plain.matches(header, path: path.span, kind, size: size, linkTarget: linkTarget.span) { return true }
    expected.removeAll(keepingCapacity: true)
    let target = linkTarget.isEmpty ? nil : String(validating: linkTarget, as: UTF8.self)
    guard let text = String(validating: path, as: UTF8.self), (target == nil) == linkTarget.isEmpty else { return false }
    try writer.appendHeader(TarHeader(path: text, kind: kind, size: size, linkTarget: target), to: &expected)
    let written = expected
    return equal(written.span, header)
  }
}

/// What the headers of one entry seem to say: enough to find the record whose headers they may be, and proof of nothing.
struct HeaderFields: Hashable {
  /// Where the headers of the entry lie: one block, or a pax header and one block.
  let place: Range<Int>
  /// The path, without the final `/` of a directory.
  private(set) var path: [UInt8]
  /// Empty where the entry is no link.
  private(set) var linkTarget: [UInt8] = []

  /// - Returns: nil where there is no whole header.
  init?(_ bytes: Span<UInt8>, at start: Int) {
    guard bytes.count - start >= 512 else { return nil }
    var main = start
    var records = start..<start
    if bytes[start + 156] == UInt8(ascii: "x") {
      var size = 0
      for index in start + 124..<start + 135 {
        guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(bytes[index]) else { return nil }
        size = size << 3 | Int(bytes[index] & 7)
      }
      main = start + 512 + (size + 511) / 512 * 512
      guard main <= bytes.count - 512 else { return nil }
      records = start + 512..<start + 512 + size
    }
    place = start..<main + 512
    path = Self.text(bytes, main..<main + 100)
    let prefix = Self.text(bytes, main + 345..<main + 500)
    if !prefix.isEmpty { path = prefix + [UInt8(ascii: "/")] + path }
    if bytes[main + 156] == UInt8(ascii: "1") { linkTarget = Self.text(bytes, main + 157..<main + 257) }
    while let record = Self.paxRecord(bytes, records) {
      if equal(bytes.extracting(record.key), Self.pathKey.span) { path = [UInt8](copying: bytes.extracting(record.value)) }
      if equal(bytes.extracting(record.key), Self.linkKey.span) { linkTarget = [UInt8](copying: bytes.extracting(record.value)) }
      records = record.end..<records.upperBound
    }
    if path.last == UInt8(ascii: "/") { path.removeLast() }
  }

  private static let pathKey = Array("path".utf8)
  private static let linkKey = Array("linkpath".utf8)

  /// The bytes of a field up to its first zero.
  private static func text(_ bytes: Span<UInt8>, _ field: Range<Int>) -> [UInt8] {
    var end = field.lowerBound
    while end < field.upperBound, bytes[end] != 0 { end += 1 }
    return [UInt8](copying: bytes.extracting(field.lowerBound..<end))
  }

  /// The first record of pax: its length, a space, key, `=`, value, and the end of the line.
  private static func paxRecord(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) -> (key: Range<Int>, value: Range<Int>, end: Int)? {
    var position = range.lowerBound
    var length = 0
    while position < range.upperBound, position - range.lowerBound < 9,
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
    {
      length = 10 * length + Int(bytes[position] - UInt8(ascii: "0"))
      position += 1
    }
    let end = range.lowerBound + length
    guard position < range.upperBound, bytes[position] == UInt8(ascii: " "), end <= range.upperBound else { return nil }
    let key = position + 1
    position = key
    while position < end, bytes[position] != UInt8(ascii: "=") { position += 1 }
    guard position < end - 1 else { return nil }
    return (key..<position, position + 1..<end - 1, end)
  }
}
