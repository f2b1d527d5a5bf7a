/// The head of a delta pack's payload (FORMAT.md §13.5): its bases, its target, its windows, and where each record of the target has its content.
///
/// Memory: 16 bytes for each range, 24 for each window, 4 to 8 for each record that is named. Numbers of records and contents that cannot be those of
/// a tree are kept as `UInt32.max`, so that they are refused where they are used.
package struct DeltaHead: Hashable, Sendable {
  /// Bytes of the content of a base.
  package struct Piece: Hashable, Sendable {
    /// The number of the content (FORMAT.md §13.3).
    package var content: UInt32
    /// The length in bytes, from 1.
    package var length: UInt32
    /// Where it starts in the content, in bytes.
    package var offset: UInt64

    package init(content: UInt32, offset: UInt64, length: UInt32) {
      self.content = content
      self.offset = offset
      self.length = length
    }
  }

  /// One window.
  package struct Window: Hashable, Sendable {
    /// The length of its frame in the payload, in bytes.
    package var compressedSize: Int
    /// The length of its output, in bytes.
    package var size: Int
    /// The places of its ranges in ``DeltaHead/pieces``.
    package var pieces: Range<Int>

    package init(compressedSize: Int, size: Int, pieces: Range<Int>) {
      self.compressedSize = compressedSize
      self.size = size
      self.pieces = pieces
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
  /// The windows in order.
  package var windows: [Window] = []
  /// The ranges of all windows.
  package var pieces: [Piece] = []
  /// The moved records, ascending.
  package var moved: [Moved] = []
  /// The records that bring new contents, in the order of the stream.
  package var new: [UInt32] = []
  /// The repeated records, ascending.
  package var repeated: [Repeated] = []

  package init(bases: [[UInt8]], target: [UInt8], listSize: Int) {
    self.bases = bases
    self.target = target
    self.listSize = listSize
  }

  /// The number of windows that hold the list.
  package var listWindows: Int {
    var size = 0
    return windows.firstIndex { window in
      defer { size += window.size }
      return size == listSize
    } ?? windows.count
  }

  /// The length of the stream in bytes.
  package var streamSize: UInt64 { windows.reduce(0) { $0 + UInt64($1.size) } }

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
    self.init(
      bases: bases, target: try cursor.root(in: bytes),
      listSize: try cursor.count("bytes in its list", atMost: UInt64(Limits.deltaListSize), in: bytes))
    try readWindows(&cursor, bytes)
    try readPlaces(&cursor, bytes)
    guard minor > 0 || cursor.offset == bytes.count else { throw DeltaCursor.damaged("has \(bytes.count - cursor.offset) bytes too many") }
    let sum = windows.reduce(UInt64(0)) { $0 + UInt64($1.compressedSize) }
    guard sum == windowBytes else { throw DeltaCursor.damaged("says \(sum) bytes of windows, but the payload has \(windowBytes)") }
    let ofList = windows.prefix(listWindows).reduce(0) { $0 + $1.size }
    guard ofList == listSize else { throw DeltaCursor.damaged("has no window that ends where the list does, after \(listSize) bytes") }
  }

  private mutating func readWindows(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) {
    for _ in 0..<(try cursor.count("windows", atMost: UInt64(Limits.deltaWindows), in: bytes)) {
      let compressed = try cursor.number(in: bytes)
      let size = try cursor.count("bytes in a window", atMost: UInt64(Limits.deltaWindowSize), in: bytes)
      guard size > 0, compressed <= UInt64(Limits.compressBound(size)) else {
        throw DeltaCursor.damaged("has a window with \(size) bytes in a frame of \(compressed)")
      }
      let first = pieces.count
      try readPieces(&cursor, bytes)
      windows.append(Window(compressedSize: Int(compressed), size: size, pieces: first..<pieces.count))
    }
  }

  private mutating func readPieces(_ cursor: inout DeltaCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var content: UInt64 = 0
    var end: UInt64 = 0
    var total: UInt64 = 0
    for _ in 0..<(try cursor.count("ranges in a window", atMost: UInt64(Limits.deltaRanges), in: bytes)) {
      let step = try cursor.number(in: bytes)
      content = try cursor.bounded(content + step)
      let offset = try cursor.bounded(try cursor.number(in: bytes) + (step == 0 ? end : 0))
      let length = try cursor.number(in: bytes)
      guard length > 0 else { throw DeltaCursor.damaged("has an empty range") }
      total += length
      guard total <= UInt64(Limits.deltaPrefixSize) else {
        throw PackError(.limitExceeded, "the head of the delta has a window with more than \(Limits.deltaPrefixSize) bytes of ranges")
      }
      end = try cursor.bounded(offset + length)
      pieces.append(Piece(content: UInt32(clamping: content), offset: offset, length: UInt32(length)))
    }
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
  /// The values must keep the rules of FORMAT.md §13.5: pieces ascend in each window, moved and repeated records ascend.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    Varint.append(UInt64(bases.count), to: &bytes)
    for base in bases { bytes += base }
    bytes += target
    Varint.append(UInt64(listSize), to: &bytes)
    Varint.append(UInt64(windows.count), to: &bytes)
    for window in windows { append(window, to: &bytes) }
    appendPlaces(to: &bytes)
    return bytes
  }

  private func append(_ window: Window, to bytes: inout [UInt8]) {
    Varint.append(UInt64(window.compressedSize), to: &bytes)
    Varint.append(UInt64(window.size), to: &bytes)
    Varint.append(UInt64(window.pieces.count), to: &bytes)
    var content: UInt32 = 0
    var end: UInt64 = 0
    for piece in pieces[window.pieces] {
      Varint.append(UInt64(piece.content - content), to: &bytes)
      Varint.append(piece.content == content ? piece.offset - end : piece.offset, to: &bytes)
      Varint.append(UInt64(piece.length), to: &bytes)
      content = piece.content
      end = piece.offset + UInt64(piece.length)
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
