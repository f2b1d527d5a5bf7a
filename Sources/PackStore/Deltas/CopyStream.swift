/// One of the two streams of a delta, its list or its new contents: what is copied from the base string, and the literals between (FORMAT.md §13.5).
///
/// Memory: 16 bytes for each copy besides the copies.
package struct CopyStream: Sendable {
  /// The length of the stream in bytes.
  package let size: UInt64
  package let copies: [DeltaHead.Copy]
  /// For each copy, how many literals come before, and how many copied bytes; and both for the end.
  private let literals: [UInt64]
  private let copied: [UInt64]

  package init(size: UInt64, _ copies: [DeltaHead.Copy]) {
    self.size = size
    self.copies = copies
    var (literals, copied): ([UInt64], [UInt64]) = ([], [0])
    for copy in copies {
      literals.append((literals.last ?? 0) + copy.gap)
      copied.append(copied[copied.count - 1] + UInt64(copy.length))
    }
    literals.append(size - copied[copies.count])
    (self.literals, self.copied) = (literals, copied)
  }

  /// The number of literals.
  package var literalCount: UInt64 { literals[copies.count] }

  /// The literals of the gap before a copy, or behind the last one.
  private func gap(_ number: Int) -> Range<UInt64> { (number == 0 ? 0 : literals[number - 1])..<literals[number] }

  /// How much of a stream a reader makes at once at least, in bytes. The copies in it are read in the order of the bases.
  package static let readSize: UInt64 = 4 << 20

  // MARK: Context

  private static let contextWidths: ClosedRange<UInt64> = 256...1 << 18
  /// By what the width of context is divided if it does not fit otherwise.
  package static let narrowings: [UInt64] = [1, 2, 4, 8]

  /// Returns the ranges of the base string that are a window's context.
  ///
  /// - Parameters:
  ///   - window: The literals of the window.
  ///   - room: How many bytes they may have.
  package func context(of window: Range<UInt64>, in string: BaseString, room: UInt64) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    for narrowing in Self.narrowings {
      ranges = context(of: window, in: string, narrowing: narrowing)
      if ranges.total <= room { return ranges }
    }
    return ranges.fitting(room)
  }

  /// Returns the ranges around the gaps of a window, joined where they touch, whatever they add up to.
  package func context(of window: Range<UInt64>, in string: BaseString, narrowing: UInt64) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var number = literals.partitioningIndex { $0 > window.lowerBound }
    while number <= copies.count, gap(number).lowerBound < window.upperBound {
      let gap = gap(number)
      if !gap.isEmpty { add(around: number, 2 * UInt64(gap.count) / narrowing, string, &ranges) }
      number += 1
    }
    return ranges.joined(over: 0)
  }

  /// Adds what is around a gap in the base string: behind the end of the copy before, and before the start of the copy after.
  private func add(around number: Int, _ width: UInt64, _ string: BaseString, _ ranges: inout [Range<UInt64>]) {
    let width = min(max(width, Self.contextWidths.lowerBound), Self.contextWidths.upperBound)
    if number > 0 {
      let copy = copies[number - 1]
      let end = copy.place + UInt64(copy.length)
      let part = string.range(of: string.part(holding: end - 1))
      ranges.append(max(part.lowerBound, end - min(end, width / 2))..<min(part.upperBound, end + width))
    }
    if number < copies.count {
      let start = copies[number].place
      let part = string.range(of: string.part(holding: start))
      ranges.append(max(part.lowerBound, start - min(start, width))..<min(part.upperBound, start + width / 2))
    }
  }

  // MARK: Order

  /// Returns the literals in a range of the stream.
  func literals(in range: Range<UInt64>) -> Range<UInt64> { literal(at: range.lowerBound)..<literal(at: range.upperBound) }

  /// Returns the number of literals before a place in the stream.
  private func literal(at place: UInt64) -> UInt64 {
    // The copy that begins before the place, or behind which it is.
    let number = copies.indices.partitioningIndex { literals[$0] + copied[$0] >= place } - 1
    guard number >= 0 else { return min(place, literals[0]) }
    return literals[number] + (place - min(place, literals[number] + copied[number + 1]))
  }

  /// Calls `body` with each run of literals of a range: where it is in the stream, and which literals it has.
  package func forEachRun(
    of range: Range<UInt64>, _ body: (_ run: Range<UInt64>, _ literals: Range<UInt64>) throws(PackError) -> Void
  ) throws(PackError) {
    var number = literals.partitioningIndex { $0 > range.lowerBound }
    while number <= copies.count, gap(number).lowerBound < range.upperBound {
      let gap = gap(number)
      let part = gap.clamped(to: range)
      let start = copied[number] + part.lowerBound
      if !part.isEmpty { try body(start..<start + UInt64(part.count), part) }
      number += 1
    }
  }

  /// A part of the stream.
  package enum Segment: Sendable {
    case literals(Range<UInt64>)
    /// A place in the base string.
    case copy(Range<UInt64>)

    var range: Range<UInt64> {
      switch self {
      case .literals(let range), .copy(let range): range
      }
    }
  }

  /// Returns the segment with a number: a gap, then the copy behind it, and so on.
  func segment(_ number: Int) -> Segment {
    guard number % 2 == 1 else { return .literals(gap(number / 2)) }
    let copy = copies[number / 2]
    return .copy(copy.place..<copy.place + UInt64(copy.length))
  }

  var segmentCount: Int { 2 * copies.count + 1 }
}
