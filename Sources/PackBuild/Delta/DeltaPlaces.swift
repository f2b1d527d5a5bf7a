/// Where each record of the new tree gets its content from (FORMAT.md §13.5).
struct DeltaPlaces: Sendable {
  /// Records with the content of another record of the base, ascending.
  private(set) var moved: [DeltaHead.Moved] = []
  /// Records that bring a content, in the order of the stream.
  private(set) var new: [UInt32] = []
  /// Records with a content that another new record brings, ascending.
  private(set) var repeated: [DeltaHead.Repeated] = []
  /// The number of records that are as in the base, or have no content.
  private(set) var unchanged = 0

  /// The place of a content: the first record of the base that has it, or of the new tree.
  private enum Origin {
    case base(Int)
    case new(Int)
  }

  init(of new: DeltaTree, over old: DeltaTree) {
    var origins: [ContentDigest: Origin] = [:]
    origins.reserveCapacity(old.entries.count)
    for (number, entry) in old.entries.enumerated().reversed() where entry.size > 0 {
      origins[ContentDigest(entry.sha256.byteSpan)] = .base(number)
    }
    let twins = Self.samePaths(new.entries, old.entries)
    var fresh: [Int] = []
    var copies: [(record: Int, original: Int)] = []
    for (number, entry) in new.entries.enumerated() {
      if entry.size == 0 || twins[number].map({ entry.hasContent(of: old.entries[$0]) }) ?? false {
        unchanged += 1
        continue
      }
      let digest = ContentDigest(entry.sha256.byteSpan)
      switch origins[digest] {
      case .base(let first) where entry.hasContent(of: old.entries[first]):
        move(number, entry, first, old.entries)
      case .new(let original) where entry.hasContent(of: new.entries[original]):
        copies.append((number, original))
      default:
        origins[digest] = .new(number)
        fresh.append(number)
      }
    }
    order(fresh, new.entries)
    repeatContents(copies)
  }

  /// Adds a moved record. If the content after the one of the last moved record is equal, it is named: that takes one byte.
  private mutating func move(_ number: Int, _ entry: Entry, _ first: Int, _ old: [Entry]) {
    let next = moved.last.map { Int($0.content) + 1 } ?? 0
    let content = next < old.count && entry.hasContent(of: old[next]) ? next : first
    moved.append(DeltaHead.Moved(record: UInt32(number), content: UInt32(content)))
  }

  /// Sets the order of the new contents: the one of a tar (FORMAT.md §4.2.4), so that similar files share windows.
  private mutating func order(_ fresh: [Int], _ entries: [Entry]) {
    let numbers = TarOrder.numbers(fresh.count) { number in
      let entry = entries[fresh[number]]
      return TarOrder.Item(path: entry.path, size: entry.size, isDirectory: false)
    }
    new = numbers.map { UInt32(fresh[$0]) }
  }

  private mutating func repeatContents(_ copies: [(record: Int, original: Int)]) {
    guard !copies.isEmpty else { return }
    var places: [UInt32: UInt32] = [:]
    for (place, record) in new.enumerated() { places[record] = UInt32(place) }
    for copy in copies {
      // Every original was ordered above.
      guard let place = places[UInt32(copy.original)] else { preconditionFailure("the original of a copy is a new content") }
      repeated.append(DeltaHead.Repeated(record: UInt32(copy.record), source: place))
    }
  }

  /// Changes the order of the new contents.
  ///
  /// - Parameter numbers: The present places of the contents, in the new order.
  mutating func reorder(_ numbers: [Int]) {
    new = numbers.map { new[$0] }
    var places = [UInt32](repeating: 0, count: numbers.count)
    for (place, number) in numbers.enumerated() { places[number] = UInt32(place) }
    repeated = repeated.map { DeltaHead.Repeated(record: $0.record, source: places[Int($0.source)]) }
  }

  /// Returns for each entry the number of the old entry with the same path. Both lists ascend by path.
  static func samePaths(_ entries: [Entry], _ old: [Entry]) -> [Int?] {
    var next = 0
    return entries.map { entry in
      let path = Array(entry.path.utf8)
      while next < old.count, old[next].path.withBytes({ precedes($0, path.byteSpan) }) { next += 1 }
      guard next < old.count, old[next].path.withBytes({ equal($0, path.byteSpan) }) else { return nil }
      return next
    }
  }
}

extension Entry {
  /// Whether both are files with the same content.
  fileprivate func hasContent(of other: Entry) -> Bool {
    size == other.size && sha256 == other.sha256
  }
}
