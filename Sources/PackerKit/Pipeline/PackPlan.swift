import PackArchive
import PackFiles
import PackFormat
import PackRuntime

/// What the tar of a pack will look like: the order of the entries, where each lies, and how the frames are cut (FORMAT.md §4.2, §4.3).
///
/// It depends on the tree and the frame size alone, so the same tree gives the same tar however many threads make it.
struct PackPlan: Sendable {
  /// An entry at its place in the tar.
  struct Item: Sendable {
    var entry: SourceEntry
    /// Where its first header starts in the tar.
    var start: UInt64
    /// The length of its headers in bytes.
    var headerSize: UInt32
    /// The item that holds the same content, if an earlier one does.
    var original: Int32 = -1

    var isLink: Bool { original >= 0 }
    var contentSize: UInt64 { isLink ? 0 : entry.size }
    var dataOffset: UInt64 { start + UInt64(headerSize) }
    var dataRange: Range<UInt64> { dataOffset..<dataOffset + contentSize }
    /// Behind the zeros that fill the last block.
    var end: UInt64 { dataOffset + (contentSize + 511) / 512 * 512 }
  }

  /// The bytes of the tar that go into one frame, and the items that have some of them.
  struct Frame: Sendable {
    var range: Range<UInt64>
    var items: Range<Int>
  }

  private(set) var items: [Item]
  private(set) var frames: [Frame] = []
  private(set) var tarSize: UInt64 = 0
  let duplicateFiles: Int
  let duplicateBytes: UInt64

  /// - Parameters:
  ///   - ordered: the entries in the order of the tar.
  ///   - originals: for each entry the number of an earlier one with the same content, or -1.
  init(_ ordered: [SourceEntry], originals: [Int32], frameSize: Int) throws(PackError) {
    let writer = TarWriter()
    var items: [Item] = []
    items.reserveCapacity(ordered.count)
    var position: UInt64 = 0
    var duplicateFiles = 0
    var duplicateBytes: UInt64 = 0
    for (index, entry) in ordered.enumerated() {
      var item = Item(entry: entry, start: position, headerSize: 512, original: originals[index])
      if item.isLink {
        duplicateFiles += 1
        duplicateBytes += entry.size
      }
      let header = Self.header(of: item, in: items)
      if !header.isOneBlock {
        var bytes: [UInt8] = []
        try writer.appendHeader(header, to: &bytes)
        item.headerSize = UInt32(bytes.count)
      }
      position = item.end
      items.append(item)
    }
    self.items = items
    self.duplicateFiles = duplicateFiles
    self.duplicateBytes = duplicateBytes
    tarSize = position + UInt64(TarWriter.endSize)
    // A file with a hole may claim exabytes: frames that will be too many are not listed first.
    try Self.check(frameCount: (tarSize + UInt64(frameSize) - 1) / UInt64(frameSize))
    cut(UInt64(frameSize))
    try Self.check(frameCount: UInt64(frames.count))
  }

  private static func check(frameCount: UInt64) throws(PackError) {
    // Index and seek table need three entries of the table besides.
    guard frameCount <= Limits.frames - 3 else {
      throw PackError(
        .unsuitableSource, "the tree needs \(frameCount) frames, more than \(Limits.frames)",
        hint: "choose a larger --frame-size, or split the tree into several packs")
    }
  }

  /// What the tar says of an item.
  func header(of item: Item) -> TarHeader {
    Self.header(of: item, in: items)
  }

  private static func header(of item: Item, in items: [Item]) -> TarHeader {
    TarHeader(
      path: item.entry.path, kind: item.entry.kind, size: item.contentSize,
      linkTarget: item.isLink ? items[Int(item.original)].entry.path : nil)
  }

  /// Gathers whole entries while they fit, and cuts larger ones at multiples of the frame size. The end of the tar counts as an entry.
  private mutating func cut(_ frameSize: UInt64) {
    var open: Frame?
    func close(_ frames: inout [Frame]) {
      if let frame = open { frames.append(frame) }
      open = nil
    }
    func add(_ range: Range<UInt64>, _ numbers: Range<Int>, _ frames: inout [Frame]) {
      let size = range.upperBound - range.lowerBound
      if size > frameSize {
        close(&frames)
        var start = range.lowerBound
        while start < range.upperBound {
          let end = min(start + frameSize, range.upperBound)
          frames.append(Frame(range: start..<end, items: numbers))
          start = end
        }
      } else if let frame = open, range.upperBound - frame.range.lowerBound <= frameSize {
        open = Frame(
          range: frame.range.lowerBound..<range.upperBound, items: frame.items.lowerBound..<numbers.upperBound)
      } else {
        close(&frames)
        open = Frame(range: range, items: numbers)
      }
    }
    for (number, item) in items.enumerated() {
      add(item.start..<item.end, number..<number + 1, &frames)
    }
    add(tarSize - UInt64(TarWriter.endSize)..<tarSize, items.count..<items.count, &frames)
    close(&frames)
  }
}

extension PackPlan {
  /// The entries in the order of the tar: by extension, then by path. Files of a kind compress best side by side.
  static func ordered(_ entries: [SourceEntry]) -> [SourceEntry] {
    struct Key {
      var fileExtension: [UInt8]
      var path: [UInt8]
    }
    let keys = entries.map { entry in
      Key(
        fileExtension: entry.kind == .directory ? [] : Self.fileExtension(of: entry.path), path: Array(entry.path.utf8))
    }
    return entries.indices.sorted { left, right in
      if keys[left].fileExtension != keys[right].fileExtension {
        return keys[left].fileExtension.lexicographicallyPrecedes(keys[right].fileExtension)
      }
      return keys[left].path.lexicographicallyPrecedes(keys[right].path)
    }.map { entries[$0] }
  }

  /// What follows the last dot of the last component, ASCII letters lowered; nothing where there is no dot but a leading one.
  static func fileExtension(of path: String) -> [UInt8] {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return [] }
    return name[name.index(after: dot)...].map { (65...90).contains($0) ? $0 + 32 : $0 }
  }
}
