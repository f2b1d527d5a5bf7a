/// The records of the target of a delta, and where each has its content (FORMAT.md §13.4, §13.5).
///
/// Memory: the list, 64 bytes for each record, and 24 for each new content.
package struct DeltaTarget: Sendable {
  /// Where a record has its content.
  package enum Origin: Hashable, Sendable {
    /// A directory, or an empty file.
    case nothing
    /// The content of a base with this number (FORMAT.md §13.3).
    case base(Int)
    /// The new content with this number.
    case new(Int)
  }

  /// A new content, and the records that have it.
  package struct New: Sendable {
    package var size: UInt64
    package var records: [Int]
  }

  private struct Record {
    /// Where the path starts in the list.
    var path: Int
    var pathSize: UInt16
    var kind: IndexRecord.Kind
    var size: UInt64
    var origin: Origin?
  }

  /// The list, as it is in the delta.
  private let list: [UInt8]
  private var records: [Record] = []
  private var digests: [UInt8] = []
  /// The new contents in the order of the stream.
  package private(set) var new: [New] = []
  /// The sum of the sizes of all records.
  package private(set) var contentSize: UInt64 = 0

  /// Reads a list, and checks each of its records (FORMAT.md §13.7, step 4).
  init(list: [UInt8]) throws(PackError) {
    self.list = list
    var cursor = TreeListCursor()
    var order = EntryPath.TreeOrder()
    while let line = try cursor.next(in: list.byteSpan) {
      guard count < Limits.records else { throw PackError(.limitExceeded, "the delta lists more than \(Limits.records) entries") }
      let record = try Self.record(line, list, &order)
      let (sum, overflow) = contentSize.addingReportingOverflow(record.size)
      guard !overflow else { throw PackError(.damagedPayload, "the sizes of all entries overflow") }
      contentSize = sum
      records.append(record)
    }
    digests = [UInt8](repeating: 0, count: 32 * count)
  }

  private static func record(
    _ line: TreeListCursor.Line, _ list: [UInt8], _ order: inout EntryPath.TreeOrder
  ) throws(PackError) -> Record {
    let path = list.byteSpan.extracting(line.path)
    let kind = try IndexRecord.check(type: line.kind, path: path, size: line.size ?? 0)
    if let problem = order.problem(withNext: path) {
      throw PackError(.damagedPayload, "entry '\(printable([UInt8](copying: path)))' \(problem)")
    }
    // After type, path and order.
    guard let size = line.size else { throw TreeListCursor.cut }
    return Record(path: line.path.lowerBound, pathSize: UInt16(line.path.count), kind: kind, size: size)
  }

  // MARK: Records

  /// The number of records.
  package var count: Int { records.count }

  /// Calls `body` with the path of a record.
  package func withPath<Result, Failure: Error>(of record: Int, _ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
    let start = records[record].path
    return try body(list.byteSpan.extracting(start..<start + Int(records[record].pathSize)))
  }

  package func path(of record: Int) -> String {
    let start = records[record].path
    return String(decoding: list[start..<start + Int(records[record].pathSize)], as: UTF8.self)
  }

  package func kind(of record: Int) -> IndexRecord.Kind { records[record].kind }

  /// The length of the content of a record in bytes.
  package func size(of record: Int) -> UInt64 { records[record].size }

  package func origin(of record: Int) -> Origin { records[record].origin ?? .nothing }

  /// The SHA-256 of the content of a record, 32 bytes; zeros for a new content that was not read yet.
  package func digest(of record: Int) -> [UInt8] { Array(digests[32 * record..<32 * record + 32]) }

  /// Counts what the tree makes on a disk.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if the tree is more than a pack may hold.
  package func measured() throws(PackError) -> TreeCount {
    var tree = TreeCount()
    for record in 0..<count {
      try withPath(of: record) { (path) throws(PackError) in try tree.add(path: path, kind: kind(of: record), size: size(of: record)) }
    }
    return tree
  }

  // MARK: Contents

  /// Finds the content of every record.
  ///
  /// - Throws: ``PackError/Code/damagedPayload`` if a record has no content, or more than one, or one of another size.
  mutating func place(_ head: DeltaHead, over bases: BaseRecords) throws(PackError) {
    try placeNamed(head, over: bases)
    try placeOthers(over: bases)
    for record in 0..<count {
      guard case .base(let content) = origin(of: record) else { continue }
      bases.withDigest(of: content) { setDigest($0, of: record) }
    }
    let needed = new.reduce(UInt64(0)) { $0.adding($1.size) }
    guard needed == head.contentSize else {
      throw Self.damaged("has \(head.contentSize) bytes of new content, but its entries need \(needed)")
    }
  }

  /// Returns a record that the head names.
  private func named(_ record: UInt32) throws(PackError) -> Int {
    let record = Int(record)
    guard record < count else { throw Self.damaged("names entry \(record) of \(count)") }
    guard size(of: record) > 0 else { throw Self.damaged("names a content for \(title(record)), which has none") }
    guard records[record].origin == nil else { throw Self.damaged("names two contents for \(title(record))") }
    return record
  }

  private mutating func placeNamed(_ head: DeltaHead, over bases: BaseRecords) throws(PackError) {
    for place in head.moved {
      let record = try named(place.record)
      let content = Int(place.content)
      guard content < bases.count, bases.sizes[content] == size(of: record) else {
        throw Self.damaged("takes \(title(record)) from content \(content), which is not one of its size")
      }
      records[record].origin = .base(content)
    }
    for place in head.new {
      let record = try named(place)
      records[record].origin = .new(new.count)
      new.append(New(size: size(of: record), records: [record]))
    }
    for place in head.repeated {
      let record = try named(place.record)
      guard new[Int(place.source)].size == size(of: record) else {
        throw Self.damaged("repeats a content for \(title(record)), which has another size")
      }
      records[record].origin = .new(Int(place.source))
      new[Int(place.source)].records.append(record)
    }
  }

  /// Finds the records that are not named in the first base, by their paths. Both lists are in ascending order.
  private mutating func placeOthers(over bases: BaseRecords) throws(PackError) {
    var cursor = TreeListCursor()
    let list = bases.string.lists[0]
    var line = try cursor.next(in: list.byteSpan)
    var number = 0
    for record in 0..<count where size(of: record) > 0 && records[record].origin == nil {
      while let current = line, withPath(of: record, { precedes(list.byteSpan.extracting(current.path), $0) }) {
        line = try cursor.next(in: list.byteSpan)
        number += 1
      }
      guard let current = line, current.size == size(of: record),
        withPath(of: record, { equal(list.byteSpan.extracting(current.path), $0) })
      else { throw Self.damaged("has no content for \(title(record))") }
      records[record].origin = .base(number)
    }
  }

  private func title(_ record: Int) -> String { "'\(withPath(of: record) { printable([UInt8](copying: $0)) })'" }

  private static func damaged(_ fault: String) -> PackError { PackError(.damagedPayload, "the delta \(fault)") }

  // MARK: Digests

  private mutating func setDigest(_ digest: Span<UInt8>, of record: Int) {
    var whole = digests.mutableByteSpan
    copy(digest, to: &whole, at: 32 * record)
  }

  /// Sets the digests of the new contents, and returns the content root.
  ///
  /// - Parameter new: The SHA-256 of each new content, end to end.
  mutating func contentRoot(new: [UInt8], _ backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    let root = try ContentRoot(backend: backend)
    let empty = IndexRecord.emptyDigest
    for record in 0..<count {
      if case .new(let content) = origin(of: record) { setDigest(new.byteSpan.extracting(32 * content..<32 * content + 32), of: record) }
      if size(of: record) == 0, kind(of: record) != .directory { setDigest(empty.byteSpan, of: record) }
      let digest = digest(of: record)
      try withPath(of: record) { (path) throws(PackError) in
        try root.add(path: path, kind: kind(of: record), size: size(of: record), digest: digest.byteSpan)
      }
    }
    return try root.finish()
  }
}
