/// The base string of a delta (FORMAT.md §13.3): of each base, its list, and then every content once. Copies and ranges name places in it.
///
/// Memory: the lists, and 32 bytes for each content.
package struct BaseString: Sendable {
  /// A list, or a content.
  package struct Part: Sendable {
    /// Where it starts in the string.
    package var start: UInt64
    /// The number of the base.
    package var base: Int
    /// Where it starts in the base's row of contents. Nil for the list.
    package var offset: UInt64?
  }

  /// Ascending.
  package private(set) var parts: [Part] = []
  /// The lists of the bases.
  package private(set) var lists: [[UInt8]] = []
  /// The length of the string in bytes.
  package private(set) var size: UInt64 = 0

  package init() {}

  /// Adds the list of the next base.
  package mutating func add(list: [UInt8]) {
    parts.append(Part(start: size, base: lists.count, offset: nil))
    lists.append(list)
    size += UInt64(list.count)
  }

  /// Adds a content of the base whose list was added last.
  package mutating func add(contentAt offset: UInt64, size: UInt64) {
    parts.append(Part(start: self.size, base: lists.count - 1, offset: offset))
    self.size = self.size.adding(size)
  }

  /// Returns the number of the part that has a place, which must be in the string.
  package func part(holding place: UInt64) -> Int {
    // An empty list has the place of what follows it.
    parts.partitioningIndex { $0.start > place } - 1
  }

  /// The places of a part.
  package func range(of part: Int) -> Range<UInt64> {
    parts[part].start..<(part + 1 < parts.count ? parts[part + 1].start : size)
  }

  /// Whether a range is inside one part.
  package func holds(_ range: Range<UInt64>) -> Bool {
    range.upperBound <= size && range.upperBound <= self.range(of: part(holding: range.lowerBound)).upperBound
  }

  /// Throws unless all copies of a head are inside parts, and its extra ranges in the string.
  ///
  /// - Parameter isOfList: Whether those of the list are checked, or those of the new contents.
  func check(_ head: DeltaHead, ofList isOfList: Bool) throws(PackError) {
    for copy in isOfList ? head.copies.list : head.copies.contents {
      let range = copy.place..<copy.place + UInt64(copy.length)
      guard holds(range) else { throw Self.missing(range) }
    }
    let windows = isOfList ? head.windows.prefix(head.listWindows) : head.windows.dropFirst(head.listWindows)
    for window in windows {
      guard case .extended(let ranges) = window.prefix else { continue }
      for range in head.extras[ranges] where range.upperBound > size { throw Self.missing(range) }
    }
  }

  private static func missing(_ range: Range<UInt64>) -> PackError {
    PackError(.damagedPayload, "the delta needs \(range.count) bytes at \(range.lowerBound) of its bases, where no content has them")
  }
}

/// Reads the base string of a delta. Used by one worker at a time.
///
/// Of packs, it decompresses at most three times as many bytes as they have, and 64 MiB: a delta that needs more costs more than it saves.
///
/// Memory: what a reader of each base takes.
package final class BaseStringReader {
  private let string: BaseString
  private let bases: [any DeltaBase]
  private var readers: [(any BaseReader)?]
  private let mostWork: UInt64
  private let visit: FrameVisitor?

  /// Receives a frame of a base that is decompressed: the number of the base, which bytes of its tar the frame has, and its content.
  package typealias FrameVisitor = (_ base: Int, _ place: Range<UInt64>, _ content: Span<UInt8>) -> Void

  package init(_ string: BaseString, _ bases: [any DeltaBase], visit: FrameVisitor? = nil) {
    self.string = string
    self.bases = bases
    self.visit = visit
    readers = [(any BaseReader)?](repeating: nil, count: bases.count)
    mostWork = Self.mostWork(bases.reduce(0) { $0.adding(($1 as? Pack)?.table.tarSize ?? 0) })
  }

  /// Returns how many bytes of frames may be decompressed of packs whose tars have so many (FORMAT.md §6).
  package static func mostWork(_ tarSize: UInt64) -> UInt64 { tarSize.times(3).adding(64 << 20) }

  /// Bytes of the string, and where they go in a buffer.
  struct Piece {
    var range: Range<UInt64>
    var target: Int
  }

  private struct Source {
    var base: Int
    var offset: UInt64
    var count: Int
    var target: Int
    /// Whether they go to the second buffer.
    var isSecond: Bool
  }

  /// Copies ranges of the string end to end to the beginning of a buffer.
  package func read(_ ranges: [Range<UInt64>], into buffer: inout [UInt8]) throws(PackError) {
    var none: [UInt8] = []
    try read(ranges, into: &buffer, [], into: &none)
  }

  /// Copies ranges of the string end to end to the beginning of one buffer, and pieces to another. Each is inside one part of the string, or touches
  /// the next.
  ///
  /// They are read in the order of the bases, so that each frame is decompressed about once.
  func read(
    _ ranges: [Range<UInt64>], into first: inout [UInt8], _ pieces: [Piece], into second: inout [UInt8]
  ) throws(PackError) {
    var sources: [Source] = []
    var place = 0
    for range in ranges {
      add(Piece(range: range, target: place), to: &sources, &first, isSecond: false)
      place += range.count
    }
    for piece in pieces { add(piece, to: &sources, &second, isSecond: true) }
    sources.sort { ($0.base, $0.offset) < ($1.base, $1.offset) }
    let isBackward = sources.last.map { readers[$0.base]?.holds($0.offset) ?? false } ?? false
    for step in sources.indices {
      // The frame that was read last is used before it is replaced.
      let source = sources[isBackward ? sources.count - 1 - step : step]
      let range = source.offset..<source.offset + UInt64(source.count)
      let reader = try reader(of: source.base)
      if source.isSecond {
        try reader.copy(range, to: &second, at: source.target)
      } else {
        try reader.copy(range, to: &first, at: source.target)
      }
      guard readers.reduce(0, { $0 + ($1?.decompressedBytes ?? 0) }) <= mostWork else {
        throw PackError(
          .limitExceeded, "the delta needs more than \(mostWork) bytes of decompressed frames of its bases", advice: .fetchFullPack)
      }
    }
  }

  /// Adds where the bytes of a piece are. Those of lists are copied at once.
  private func add(_ piece: Piece, to sources: inout [Source], _ buffer: inout [UInt8], isSecond: Bool) {
    var rest = piece
    while !rest.range.isEmpty {
      let number = string.part(holding: rest.range.lowerBound)
      let whole = string.range(of: number)
      let part = string.parts[number]
      let range = rest.range.clamped(to: whole)
      let start = range.lowerBound - whole.lowerBound
      if let offset = part.offset {
        sources.append(Source(base: part.base, offset: offset + start, count: range.count, target: rest.target, isSecond: isSecond))
      } else {
        let list = string.lists[part.base]
        var target = buffer.mutableByteSpan
        copy(list.byteSpan.extracting(Int(start)..<Int(start) + range.count), to: &target, at: rest.target)
      }
      rest = Piece(range: range.upperBound..<rest.range.upperBound, target: rest.target + range.count)
    }
  }

  private func reader(of base: Int) throws(PackError) -> any BaseReader {
    if let known = readers[base] { return known }
    let made = try bases[base].makeContentReader(visit.map { (visit) in { (place, content) in visit(base, place, content) } })
    readers[base] = made
    return made
  }
}
