/// Where each record of a delta's target has its content (FORMAT.md §13.5), as a place in the row of bytes that ``DeltaLayer`` describes.
struct TreeLayout {
  /// A new content, and the records that have it.
  struct New {
    var size: UInt64
    var records: [Int]
  }

  /// A record's content in a base.
  private struct Use {
    var record: Int
    var content: Int
  }

  /// For each record with content, where that starts.
  private(set) var offsets: [UInt64]
  /// The new contents in the order of the stream.
  private(set) var new: [New] = []
  private(set) var parts: [DeltaLayer.Source] = []
  private(set) var pieces: [Range<Int>] = []
  private(set) var pieceSizes: [UInt32] = []
  /// For each record, the number of the content of a base plus one; 0 if it has none from a base.
  private var contents: [UInt32]
  private var isNamed: [Bool]

  /// Finds the places of all records.
  ///
  /// - Throws: ``PackError/Code/damagedPayload`` if a record has no place, or more than one, or one of another size, and about a base in which contents
  ///   overlap.
  init(_ head: DeltaHead, _ tree: borrowing DerivedTree, _ records: BaseRecords, _ bases: [any DeltaBase]) throws(PackError) {
    offsets = [UInt64](repeating: 0, count: tree.count)
    contents = [UInt32](repeating: 0, count: tree.count)
    isNamed = [Bool](repeating: false, count: tree.count)
    try placeNamed(head, tree, records)
    try placeOthers(tree, records)
    let streamSize = head.streamSize - UInt64(head.listSize)
    try placeStream(head, tree, size: streamSize)
    try placeUses(records, bases, from: streamSize)
  }

  /// The number of the content of a base that a record has. Nil if its content is new.
  func base(of record: Int) -> Int? { contents[record] == 0 ? nil : Int(contents[record]) - 1 }

  private mutating func name(_ record: UInt32, _ tree: borrowing DerivedTree) throws(PackError) -> Int {
    let record = Int(record)
    guard record < tree.count else { throw Self.damaged("names entry \(record) of \(tree.count)") }
    guard tree.sizes[record] > 0 else { throw Self.damaged("names a content for \(Self.title(record, tree)), which has none") }
    guard !isNamed[record] else { throw Self.damaged("names two contents for \(Self.title(record, tree))") }
    isNamed[record] = true
    return record
  }

  private mutating func placeNamed(_ head: DeltaHead, _ tree: borrowing DerivedTree, _ records: BaseRecords) throws(PackError) {
    for place in head.moved {
      let record = try name(place.record, tree)
      let content = Int(place.content)
      guard content < records.count, records.sizes[content] == tree.sizes[record] else {
        throw Self.damaged("takes \(Self.title(record, tree)) from content \(content), which is not one of its size")
      }
      contents[record] = UInt32(content + 1)
    }
    for record in head.new {
      let record = try name(record, tree)
      new.append(New(size: tree.sizes[record], records: [record]))
    }
    for place in head.repeated {
      let record = try name(place.record, tree)
      guard new[Int(place.source)].size == tree.sizes[record] else {
        throw Self.damaged("repeats a content for \(Self.title(record, tree)), which has another size")
      }
      new[Int(place.source)].records.append(record)
    }
  }

  /// Finds the records that are not named in the first base, by their paths. Both lists are in ascending order.
  private mutating func placeOthers(_ tree: borrowing DerivedTree, _ records: BaseRecords) throws(PackError) {
    var cursor = TreeListCursor()
    let list = records.list
    var line = try cursor.next(in: list.byteSpan)
    var number = 0
    for record in 0..<tree.count where tree.sizes[record] > 0 && !isNamed[record] {
      while let current = line, tree.withPath(of: record, { precedes(list.byteSpan.extracting(current.path), $0) }) {
        line = try cursor.next(in: list.byteSpan)
        number += 1
      }
      guard let current = line, current.size == tree.sizes[record],
        tree.withPath(of: record, { equal(list.byteSpan.extracting(current.path), $0) })
      else { throw Self.damaged("has no content for \(Self.title(record, tree))") }
      contents[record] = UInt32(number + 1)
    }
  }

  private mutating func placeStream(_ head: DeltaHead, _ tree: borrowing DerivedTree, size: UInt64) throws(PackError) {
    var offset: UInt64 = 0
    for content in new {
      for record in content.records { offsets[record] = offset }
      offset = offset.adding(content.size)
    }
    guard offset == size else { throw Self.damaged("has \(size) bytes of new content, but its entries need \(offset)") }
  }

  /// Lays what comes from bases behind the stream, in the order of its places there.
  ///
  /// Contents of a base that are neither the same nor apart are refused: a few kilobytes of index could name any number of pieces.
  private mutating func placeUses(_ records: BaseRecords, _ bases: [any DeltaBase], from start: UInt64) throws(PackError) {
    var uses: [Use] = []
    for record in contents.indices where contents[record] > 0 { uses.append(Use(record: record, content: Int(contents[record]) - 1)) }
    uses.sort {
      (records.base(of: $0.content), records.offsets[$0.content], $0.record) < (
        records.base(of: $1.content), records.offsets[$1.content], $1.record
      )
    }
    var offset = start
    var last: (base: Int, place: Range<UInt64>)?
    var piece: (base: Int, start: UInt64)?
    for use in uses {
      let (base, size) = (records.base(of: use.content), records.sizes[use.content])
      let place = records.offsets[use.content]..<records.offsets[use.content] + size
      if let last, last == (base, place) {
        // A hard link in the base's tar.
        offsets[use.record] = offset - size
        continue
      }
      if let last, last.base == base, last.place.upperBound > place.lowerBound {
        throw PackError(.damagedPayload, "the content of two entries overlaps at byte \(place.lowerBound) of the tar")
          .about(bases[base].basePath)
      }
      last = (base, place)
      offsets[use.record] = offset
      offset += size
      cut(place, base, bases[base], &piece)
    }
  }

  /// Adds the parts of a content, one for each piece of the base that has bytes of it. A new piece of the tree begins with each.
  private mutating func cut(
    _ content: Range<UInt64>, _ number: Int, _ base: any DeltaBase, _ piece: inout (base: Int, start: UInt64)?
  ) {
    var position = content.lowerBound
    while position < content.upperBound {
      let place = base.piece(holding: position)
      let end = min(content.upperBound, place.upperBound)
      if piece.map({ $0 != (number, place.lowerBound) }) ?? true {
        pieces.append(parts.count..<parts.count)
        pieceSizes.append(0)
        piece = (number, place.lowerBound)
      }
      let last = pieces.count - 1
      parts.append(
        DeltaLayer.Source(base: UInt32(number), length: UInt32(end - position), offset: position, target: Int(pieceSizes[last])))
      pieces[last] = pieces[last].lowerBound..<parts.count
      pieceSizes[last] += UInt32(end - position)
      position = end
    }
  }

  private static func title(_ record: Int, _ tree: borrowing DerivedTree) -> String {
    "'\(tree.withPath(of: record) { printable([UInt8](copying: $0)) })'"
  }

  private static func damaged(_ fault: String) -> PackError { PackError(.damagedPayload, "the delta \(fault)") }
}
