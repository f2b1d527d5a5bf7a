/// The head of a delta pack's payload (FORMAT.md §13.5): its bases, its target, what is copied from the bases, its windows, and where each record of the
/// target has its content.
///
/// Memory: 24 bytes for each copy, 24 for each window, 16 for each extra range, 4 to 8 for each record that is named. Numbers of records and contents that
/// cannot be those of a tree are kept as `UInt32.max`, so that they are refused where they are used.
package struct DeltaHead: Hashable, Sendable {
  /// Bytes of a stream that are copied from the base string.
  package struct Copy: Hashable, Sendable {
    /// The number of literals between the end of the copy before and this one.
    package var gap: UInt64
    /// Where the bytes are in the base string.
    package var place: UInt64
    /// How many they are, from ``Limits/deltaCopyLengths``.
    package var length: UInt32

    package init(gap: UInt64, place: UInt64, length: UInt32) {
      self.gap = gap
      self.place = place
      self.length = length
    }
  }

  /// What a window is compressed against.
  package enum Prefix: Hashable, Sendable {
    case nothing
    /// What both sides derive from the copies, and the literals before.
    case derived
    /// Ranges of the base string before that; their places in ``DeltaHead/extras``.
    case extended(Range<Int>)
  }

  /// One window.
  package struct Window: Hashable, Sendable {
    /// The length of its frame in the payload, in bytes.
    package var compressedSize: Int
    /// The length of its output, in bytes.
    package var size: Int
    package var prefix: Prefix

    package init(compressedSize: Int, size: Int, prefix: Prefix) {
      self.compressedSize = compressedSize
      self.size = size
      self.prefix = prefix
    }
  }

  /// A record with the content of a record of a base.
  package struct Moved: Hashable, Sendable {
    /// The number of the record in the target.
    package var record: UInt32
    /// The number of the content.
    package var content: UInt32

    package init(record: UInt32, content: UInt32) {
      self.record = record
      self.content = content
    }
  }

  /// A record with a content that another record brings.
  package struct Repeated: Hashable, Sendable {
    /// The number of the record in the target.
    package var record: UInt32
    /// The place of the content in ``DeltaHead/new``.
    package var source: UInt32

    package init(record: UInt32, source: UInt32) {
      self.record = record
      self.source = source
    }
  }

  /// The content roots of the bases, 32 bytes each.
  package var bases: [[UInt8]]
  /// The content root of the target, 32 bytes.
  package var target: [UInt8]
  /// The length of the target's list in bytes.
  package var listSize: Int
  /// The length of all new contents in bytes.
  package var contentSize: UInt64
  /// The copies of the list, and those of the new contents.
  package var copies: (list: [Copy], contents: [Copy]) {
    get { (listCopies, contentCopies) }
    set { (listCopies, contentCopies) = newValue }
  }
  private var listCopies: [Copy] = []
  private var contentCopies: [Copy] = []
  /// The windows of the list, then those of the new contents.
  package var windows: [Window] = []
  /// The extra ranges of all windows.
  package var extras: [Range<UInt64>] = []
  /// The moved records, ascending.
  package var moved: [Moved] = []
  /// The records that bring new contents, in the order of the stream.
  package var new: [UInt32] = []
  /// The repeated records, ascending.
  package var repeated: [Repeated] = []

  package init(bases: [[UInt8]], target: [UInt8], listSize: Int, contentSize: UInt64) {
    self.bases = bases
    self.target = target
    self.listSize = listSize
    self.contentSize = contentSize
  }

  /// The number of literals of the list.
  package var listLiterals: UInt64 { Self.literals(UInt64(listSize), listCopies) }
  /// The number of literals of the new contents.
  package var contentLiterals: UInt64 { Self.literals(contentSize, contentCopies) }

  private static func literals(_ size: UInt64, _ copies: [Copy]) -> UInt64 { copies.reduce(size) { $0 - UInt64($1.length) } }

  /// Returns the lengths of the windows of so many literals.
  package static func windowSizes(of literals: UInt64) -> [Int] {
    let most = UInt64(Limits.deltaWindowSize)
    return stride(from: 0, to: literals, by: Int(most)).map { Int(min(most, literals - $0)) }
  }

  /// The number of windows of the list.
  package var listWindows: Int { Self.windowSizes(of: listLiterals).count }

  /// The magic at the end of the payload.
  package static let trailerMagic = Array("PDL1".utf8)
  /// The length of the trailer in bytes.
  package static let trailerSize = 8

  /// Reads the trailer: the last ``trailerSize`` bytes of the payload, or all if it is shorter.
  ///
  /// - Returns: the length of the head's frame in bytes.
  /// - Throws: ``PackError/Code/damagedPayload``
  package static func headSize(trailer: Span<UInt8>, payloadSize: UInt64) throws(PackError) -> Int {
    guard trailer.count == trailerSize, equal(trailer.extracting(4...), trailerMagic.byteSpan) else {
      throw PackError(.damagedPayload, "payload does not end in the trailer of a delta")
    }
    let size = trailer.littleEndian(UInt32.self, at: 0)
    guard size > 0, UInt64(size) <= payloadSize - UInt64(trailerSize) else {
      throw PackError(.damagedPayload, "the head of the delta would be \(size) bytes of a payload of \(payloadSize)")
    }
    return Int(size)
  }

  /// Returns the trailer behind a head whose frame has a length.
  package static func trailer(headSize: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(headSize))
    return bytes + trailerMagic
  }
}

// MARK: Reading

extension DeltaHead {
  /// Reads the decompressed head, and checks everything that needs no base (FORMAT.md §13.7, step 2).
  ///
  /// - Parameters:
  ///   - minor: the minor version of the pack. Above 0, bytes after the last field are ignored.
  ///   - windowBytes: the offset of the head in the payload, which the windows fill exactly.
  /// - Throws: ``PackError/Code/limitExceeded``, ``PackError/Code/damagedPayload``.
  package init(parsing bytes: Span<UInt8>, minor: UInt8, windowBytes: UInt64) throws(PackError) {
    var cursor = DeltaCursor()
    let count = try cursor.count("bases", atMost: UInt64(Limits.deltaBases), in: bytes)
    guard count > 0 else { throw DeltaCursor.damaged("names no base") }
    var bases: [[UInt8]] = []
    for _ in 0..<count { bases.append(try cursor.root(in: bytes)) }
    guard Set(bases).count == count else { throw DeltaCursor.damaged("names a base twice") }
    self.init(
      bases: bases, target: try cursor.root(in: bytes),
      listSize: try cursor.count("bytes in its list", atMost: UInt64(Limits.deltaListSize), in: bytes),
      contentSize: UInt64(try cursor.count("bytes of new contents", atMost: Limits.contentSize, in: bytes)))
    try readCopies(&cursor, bytes)
    try readWindows(&cursor, bytes)
    let sum = windows.reduce(UInt64(0)) { $0 + UInt64($1.compressedSize) }
    guard sum == windowBytes else { throw DeltaCursor.damaged("says \(sum) bytes of windows, but the payload has \(windowBytes)") }
    try readPlaces(&cursor, bytes)
    guard minor > 0 || cursor.offset == bytes.count else { throw DeltaCursor.damaged("has \(bytes.count - cursor.offset) bytes too many") }
  }

  private mutating func readCopies(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) {
    let ofList = try cursor.count("copies", atMost: UInt64(Limits.deltaCopies), in: bytes)
    let ofContents = try cursor.count("copies", atMost: UInt64(Limits.deltaCopies - ofList), in: bytes)
    var copies = [Copy](repeating: Copy(gap: 0, place: 0, length: 0), count: ofList + ofContents)
    for number in copies.indices { copies[number].gap = try cursor.number(in: bytes) }
    // Differences of places, until the lengths are known.
    var steps: [Int64] = []
    steps.reserveCapacity(copies.count)
    for _ in copies.indices { steps.append(Varint.signed(try cursor.number(in: bytes))) }
    var end: Int64 = 0
    for number in copies.indices {
      let length = try cursor.number(in: bytes)
      guard Limits.deltaCopyLengths.contains(length) else { throw DeltaCursor.damaged("has a copy of \(length) bytes") }
      let place = end + Int64(copies[number].gap) + steps[number]
      guard place >= 0 else { throw DeltaCursor.damaged("has a copy from before the bases") }
      copies[number].place = try cursor.bounded(UInt64(place))
      copies[number].length = UInt32(length)
      end = Int64(try cursor.bounded(UInt64(place) + length))
    }
    self.copies = (Array(copies[..<ofList]), Array(copies[ofList...]))
    try Self.check(listCopies, of: UInt64(listSize), "list")
    try Self.check(contentCopies, of: contentSize, "new contents")
  }

  private static func check(_ copies: [Copy], of size: UInt64, _ title: String) throws(PackError) {
    var position: UInt64 = 0
    for copy in copies {
      position += copy.gap + UInt64(copy.length)
      guard position <= size else { throw DeltaCursor.damaged("has copies beyond the end of its \(title), after \(size) bytes") }
    }
  }

  private mutating func readWindows(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) {
    for size in Self.windowSizes(of: listLiterals) + Self.windowSizes(of: contentLiterals) {
      let compressed = try cursor.number(in: bytes)
      guard compressed <= UInt64(Limits.compressBound(size)) else {
        throw DeltaCursor.damaged("has a window with \(size) bytes in a frame of \(compressed)")
      }
      let prefix: Prefix
      switch try cursor.number(in: bytes) {
      case 0: prefix = .nothing
      case 1: prefix = .derived
      case 2: prefix = .extended(try readExtras(&cursor, bytes))
      case let other: throw DeltaCursor.damaged("has a window with the prefix \(other)")
      }
      windows.append(Window(compressedSize: Int(compressed), size: size, prefix: prefix))
    }
  }

  private mutating func readExtras(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) -> Range<Int> {
    let first = extras.count
    let count = try cursor.count("extra ranges in a window", atMost: UInt64(Limits.deltaRanges), in: bytes)
    guard count > 0 else { throw DeltaCursor.damaged("has a window without extra ranges that says it has some") }
    var (end, total): (UInt64, UInt64) = (0, 0)
    for _ in 0..<count {
      let start = try cursor.bounded(try cursor.number(in: bytes) + end)
      let length = try cursor.number(in: bytes)
      guard length > 0 else { throw DeltaCursor.damaged("has an empty range") }
      total += length
      guard total <= UInt64(Limits.deltaContextSize) else {
        throw PackError(.limitExceeded, "the head of the delta has a window with more than \(Limits.deltaContextSize) bytes of ranges")
      }
      end = try cursor.bounded(start + length)
      extras.append(start..<end)
    }
    return first..<extras.count
  }

  private mutating func readPlaces(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var left = UInt64(Limits.records)
    var (record, content): (Int64, Int64) = (-1, -1)
    for _ in 0..<(try cursor.named("moved records", left: &left, in: bytes)) {
      record = try cursor.next(after: record, in: bytes)
      content = try cursor.signedNext(after: content, in: bytes)
      moved.append(Moved(record: UInt32(clamping: record), content: UInt32(clamping: content)))
    }
    record = -1
    for _ in 0..<(try cursor.named("new contents", left: &left, in: bytes)) {
      record = try cursor.signedNext(after: record, in: bytes)
      new.append(UInt32(clamping: record))
    }
    record = -1
    for _ in 0..<(try cursor.named("repeated records", left: &left, in: bytes)) {
      record = try cursor.next(after: record, in: bytes)
      let source = try cursor.number(in: bytes)
      guard source < UInt64(new.count) else { throw DeltaCursor.damaged("repeats new content \(source) of \(new.count)") }
      repeated.append(Repeated(record: UInt32(clamping: record), source: UInt32(source)))
    }
  }
}

/// Reads the fields of a head in order.
private struct DeltaCursor {
  private(set) var offset = 0

  static func damaged(_ fault: String) -> PackError { PackError(.damagedPayload, "the head of the delta \(fault)") }

  mutating func number(in bytes: Span<UInt8>) throws(PackError) -> UInt64 {
    let start = offset
    guard let value = Varint.read(bytes, at: &offset) else { throw Self.damaged("has no valid number at byte \(start)") }
    return value
  }

  mutating func count(_ noun: String, atMost most: UInt64, in bytes: Span<UInt8>) throws(PackError) -> Int {
    let value = try number(in: bytes)
    guard value <= most else { throw PackError(.limitExceeded, "the head of the delta says \(value) \(noun), more than \(most)") }
    return Int(value)
  }

  /// Reads how many records are named, of those that are still allowed.
  mutating func named(_ noun: String, left: inout UInt64, in bytes: Span<UInt8>) throws(PackError) -> Int {
    let count = try count(noun, atMost: left, in: bytes)
    left -= UInt64(count)
    return count
  }

  mutating func root(in bytes: Span<UInt8>) throws(PackError) -> [UInt8] {
    guard bytes.count - offset >= 32 else { throw Self.damaged("ends in a content root") }
    defer { offset += 32 }
    return [UInt8](copying: bytes.extracting(offset..<offset + 32))
  }

  /// Returns a computed number unless it is too large.
  func bounded(_ value: UInt64) throws(PackError) -> UInt64 {
    guard value <= Varint.largest else { throw Self.damaged("has a number above 2^53 before byte \(offset)") }
    return value
  }

  mutating func next(after last: Int64, in bytes: Span<UInt8>) throws(PackError) -> Int64 {
    Int64(try bounded(UInt64(last + 1) + (try number(in: bytes))))
  }

  mutating func signedNext(after last: Int64, in bytes: Span<UInt8>) throws(PackError) -> Int64 {
    let value = last + 1 + Varint.signed(try number(in: bytes))
    guard value >= 0 else { throw Self.damaged("has a negative number before byte \(offset)") }
    return Int64(try bounded(UInt64(value)))
  }
}

// MARK: Writing

extension DeltaHead {
  /// The fields as they are compressed.
  ///
  /// The values must keep the rules of FORMAT.md §13.5: the windows have the sizes that follow from the copies, extra ranges ascend in each window, moved
  /// and repeated records ascend.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    Varint.append(UInt64(bases.count), to: &bytes)
    for base in bases { bytes += base }
    bytes += target
    Varint.append(UInt64(listSize), to: &bytes)
    Varint.append(contentSize, to: &bytes)
    appendCopies(to: &bytes)
    for window in windows { append(window, to: &bytes) }
    appendPlaces(to: &bytes)
    return bytes
  }

  private func appendCopies(to bytes: inout [UInt8]) {
    Varint.append(UInt64(listCopies.count), to: &bytes)
    Varint.append(UInt64(contentCopies.count), to: &bytes)
    let copies = listCopies + contentCopies
    for copy in copies { Varint.append(copy.gap, to: &bytes) }
    var end: UInt64 = 0
    for copy in copies {
      Varint.append(signed: Int64(copy.place) - Int64(end + copy.gap), to: &bytes)
      end = copy.place + UInt64(copy.length)
    }
    for copy in copies { Varint.append(UInt64(copy.length), to: &bytes) }
  }

  private func append(_ window: Window, to bytes: inout [UInt8]) {
    Varint.append(UInt64(window.compressedSize), to: &bytes)
    switch window.prefix {
    case .nothing: Varint.append(0, to: &bytes)
    case .derived: Varint.append(1, to: &bytes)
    case .extended(let ranges):
      Varint.append(2, to: &bytes)
      Varint.append(UInt64(ranges.count), to: &bytes)
      var end: UInt64 = 0
      for range in extras[ranges] {
        Varint.append(range.lowerBound - end, to: &bytes)
        Varint.append(UInt64(range.count), to: &bytes)
        end = range.upperBound
      }
    }
  }

  private func appendPlaces(to bytes: inout [UInt8]) {
    Varint.append(UInt64(moved.count), to: &bytes)
    var (record, content): (Int64, Int64) = (-1, -1)
    for place in moved {
      Varint.append(UInt64(Int64(place.record) - record - 1), to: &bytes)
      Varint.append(signed: Int64(place.content) - content - 1, to: &bytes)
      (record, content) = (Int64(place.record), Int64(place.content))
    }
    Varint.append(UInt64(new.count), to: &bytes)
    record = -1
    for place in new {
      Varint.append(signed: Int64(place) - record - 1, to: &bytes)
      record = Int64(place)
    }
    Varint.append(UInt64(repeated.count), to: &bytes)
    record = -1
    for place in repeated {
      Varint.append(UInt64(Int64(place.record) - record - 1), to: &bytes)
      Varint.append(UInt64(place.source), to: &bytes)
      record = Int64(place.record)
    }
  }
}
