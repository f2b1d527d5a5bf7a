/// The layout of a pack's tar: the order of the entries, the position of each, and how the frames are cut (FORMAT.md §4.2, §4.3).
///
/// It depends only on the tree and the frame size, so the same tree gives the same tar, regardless of the number of threads. Frames that repeat each
/// other are joined afterwards.
final class TarLayout: Sendable {
  /// An entry at its place in the tar.
  struct Item: Sendable {
    var entry: SourceEntry
    /// The position of its first header in the tar.
    var start: UInt64
    /// The length of its headers in bytes.
    var headerSize: UInt32
    /// The number of an earlier item with the same content, or -1.
    var original: Int32 = -1

    var isLink: Bool { original >= 0 }
    var contentSize: UInt64 { isLink ? 0 : entry.size }
    var dataOffset: UInt64 { start + UInt64(headerSize) }
    var dataRange: Range<UInt64> { dataOffset..<dataOffset + contentSize }
    /// The position after the zeros that fill the last block.
    var end: UInt64 { dataOffset + (contentSize + 511) / 512 * 512 }
  }

  /// The range of the tar that goes into one frame, and the items that overlap it.
  struct Frame: Hashable, Sendable {
    var range: Range<UInt64>
    var items: Range<Int>
    var kind = FrameKind.usual

    /// Whether it was made of several frames because they repeat each other.
    var isJoined: Bool { kind == .joined }
  }

  /// The items in the order of the tar.
  struct Items: RandomAccessCollection, Sendable {
    /// The data of an item besides its entry.
    fileprivate struct Place: Sendable {
      var start: UInt64
      var headerSize: UInt32
      var original: Int32
    }

    fileprivate let entries: [SourceEntry]
    fileprivate var places: [Place] = []

    var startIndex: Int { 0 }
    var endIndex: Int { places.count }

    subscript(number: Int) -> Item {
      let place = places[number]
      return Item(entry: entries[number], start: place.start, headerSize: place.headerSize, original: place.original)
    }
  }

  let items: Items
  /// The numbers of the items in the byte order of their paths.
  let byPath: [Int32]
  let frames: [Frame]
  let tarSize: UInt64
  /// The sum of the sizes of all files in bytes, those that are links included.
  let contentSize: UInt64
  let duplicateFiles: Int
  let duplicateBytes: UInt64

  /// - Parameters:
  ///   - order: the entries in the order of the tar.
  ///   - originals: for each entry the number of an earlier one with the same content, or -1.
  init(_ order: Order, originals: [Int32], frameSize: Int, words: SettingWords = .options) throws(PackError) {
    byPath = order.byPath
    var items = Items(entries: order.entries)
    items.places.reserveCapacity(order.entries.count)
    var position: UInt64 = 0
    var duplicateFiles = 0
    var duplicateBytes: UInt64 = 0
    for (index, entry) in order.entries.enumerated() {
      var item = Item(entry: entry, start: position, headerSize: 0, original: originals[index])
      if item.isLink {
        duplicateFiles += 1
        duplicateBytes += entry.size
      }
      item.headerSize = UInt32(Self.header(of: item, among: order.entries).byteCount)
      position = item.end
      items.places.append(Items.Place(start: item.start, headerSize: item.headerSize, original: item.original))
    }
    contentSize = order.entries.reduce(0) { $0.adding($1.size) }
    guard contentSize <= Limits.contentSize else {
      throw PackError(
        .limitExceeded, "the files are \(contentSize) bytes together, more than the \(Limits.contentSize) that a pack may hold",
        hint: "divide them among several packs")
    }
    self.items = items
    self.duplicateFiles = duplicateFiles
    self.duplicateBytes = duplicateBytes
    tarSize = position + UInt64(TarHeader.endSize)
    // A sparse file may claim exabytes, so the number of frames is checked before they are listed.
    try Self.check(frameCount: (tarSize + UInt64(frameSize) - 1) / UInt64(frameSize), words)
    frames = Self.cut(items, tarSize: tarSize, UInt64(frameSize), launchCount: order.launchCount)
    try Self.check(frameCount: UInt64(frames.count), words)
  }

  /// Makes the layout of the same tar with these ranges of frames joined to one frame each.
  init(_ layout: TarLayout, joining groups: [Range<Int>]) {
    items = layout.items
    byPath = layout.byPath
    tarSize = layout.tarSize
    contentSize = layout.contentSize
    duplicateFiles = layout.duplicateFiles
    duplicateBytes = layout.duplicateBytes
    var frames: [Frame] = []
    var next = 0
    for group in groups {
      frames += layout.frames[next..<group.lowerBound]
      let (first, last) = (layout.frames[group.lowerBound], layout.frames[group.upperBound - 1])
      frames.append(
        Frame(
          range: first.range.lowerBound..<last.range.upperBound, items: first.items.lowerBound..<last.items.upperBound, kind: .joined))
      next = group.upperBound
    }
    self.frames = frames + layout.frames[next...]
  }

  /// Returns the size of the largest frame in bytes.
  func largestFrame(where isIncluded: (Frame) -> Bool = { _ in true }) -> Int {
    frames.reduce(0) { isIncluded($1) ? max($0, $1.range.count) : $0 }
  }

  private static func check(frameCount: UInt64, _ words: SettingWords) throws(PackError) {
    // Index and seek table need three more entries of the table.
    guard frameCount <= Limits.frames - 3 else {
      throw PackError(
        .limitExceeded, "the tree needs \(frameCount) frames, more than \(Limits.frames)",
        hint: words.fewerFrames)
    }
  }

  /// Returns the tar header of an item.
  func header(of item: Item) -> TarHeader {
    Self.header(of: item, among: items.entries)
  }

  private static func header(of item: Item, among entries: [SourceEntry]) -> TarHeader {
    TarHeader(
      path: item.entry.path, kind: item.entry.kind, size: item.contentSize,
      linkTarget: item.isLink ? entries[Int(item.original)].path : nil)
  }

  /// Cuts the tar into frames: whole entries are collected while they fit, and larger ones are cut at multiples of the frame size. The end of the tar
  /// counts as an entry. What is loaded at the launch has frames of its own.
  private static func cut(_ items: Items, tarSize: UInt64, _ largest: UInt64, launchCount: Int) -> [Frame] {
    var frames: [Frame] = []
    var (frameSize, kind) = launchCount > 0 ? (min(largest, UInt64(LoadOrder.launchFrameSize)), FrameKind.launch) : (largest, .usual)
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
          frames.append(Frame(range: start..<end, items: numbers, kind: kind))
          start = end
        }
      } else if let frame = open, range.upperBound - frame.range.lowerBound <= frameSize {
        open?.range = frame.range.lowerBound..<range.upperBound
        open?.items = frame.items.lowerBound..<numbers.upperBound
      } else {
        close(&frames)
        open = Frame(range: range, items: numbers, kind: kind)
      }
    }
    for (number, item) in items.enumerated() {
      if number == launchCount {
        close(&frames)
        (frameSize, kind) = (largest, .usual)
      }
      add(item.start..<item.end, number..<number + 1, &frames)
    }
    add(tarSize - UInt64(TarHeader.endSize)..<tarSize, items.count..<items.count, &frames)
    close(&frames)
    return frames
  }
}

extension TarLayout {
  /// The entries of a tar and their order.
  struct Order: Sendable {
    /// The entries in the order of the tar.
    let entries: [SourceEntry]
    /// Their numbers in the byte order of the paths.
    let byPath: [Int32]
    /// The number of the first entries that a game loads at its launch.
    var launchCount = 0
  }

  /// Returns the order of the tar: first what `wanted` names.
  static func order(_ found: [SourceEntry], by wanted: LoadOrder? = nil) -> Order {
    // A scan returns them in order already.
    let entries = isSorted(found) ? found : found.sorted { Self.precedes($0, $1) }
    var numbers = TarOrder.numbers(entries.count) { number in
      TarOrder.Item(name: entries[number].name, size: entries[number].size, isDirectory: entries[number].kind == .directory)
    }
    var launchCount = 0
    if let wanted {
      let byName = Dictionary(entries.enumerated().map { ($0.element.path, $0.offset) }) { first, _ in first }
      let launch = wanted.launch.compactMap { byName[$0] }
      let first = launch + wanted.later.compactMap { byName[$0] }
      let known = Set(first)
      numbers = first + numbers.filter { !known.contains($0) }
      launchCount = launch.count
    }
    var byPath = [Int32](repeating: 0, count: entries.count)
    for (position, number) in numbers.enumerated() { byPath[number] = Int32(position) }
    return Order(entries: numbers.map { entries[$0] }, byPath: byPath, launchCount: launchCount)
  }

  private static func precedes(_ left: SourceEntry, _ right: SourceEntry) -> Bool {
    left.path.withBytes { left in right.path.withBytes { PackFormat.precedes(left, $0) } }
  }

  private static func isSorted(_ entries: [SourceEntry]) -> Bool {
    entries.indices.dropFirst().allSatisfy { precedes(entries[$0 - 1], entries[$0]) }
  }
}
