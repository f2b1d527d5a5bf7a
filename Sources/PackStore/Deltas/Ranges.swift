/// Ranges of the base string of a delta.
extension [Range<UInt64>] {
  /// The sum of their lengths in bytes.
  package var total: UInt64 { reduce(0) { $0.adding(UInt64($1.count)) } }

  /// Returns them in ascending order, those joined that overlap, touch, or have at most so many bytes between them.
  package func joined(over hole: UInt64) -> Self {
    var joined: Self = []
    for range in sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
      if let last = joined.last, range.lowerBound <= last.upperBound.adding(hole) {
        joined[joined.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  /// Returns each, in order, that fits into what the ones before leave of `room`.
  package func fitting(_ room: UInt64) -> Self {
    var left = room
    return filter { range in
      guard UInt64(range.count) <= left else { return false }
      left -= UInt64(range.count)
      return true
    }
  }

  /// Returns what fits into `room` of them, in order: the last one perhaps not whole.
  package func cut(to room: UInt64) -> Self {
    var left = room
    var cut: Self = []
    for range in self where left > 0 {
      cut.append(range.lowerBound..<range.lowerBound + Swift.min(left, UInt64(range.count)))
      left -= Swift.min(left, UInt64(range.count))
    }
    return cut
  }

  /// Returns what others do not have of them. Both are ascending, and none overlap.
  package func without(_ others: Self) -> Self {
    var rest: Self = []
    var next = 0
    for range in self {
      var start = range.lowerBound
      while next < others.count, others[next].upperBound <= start { next += 1 }
      var number = next
      while number < others.count, others[number].lowerBound < range.upperBound {
        if start < others[number].lowerBound { rest.append(start..<others[number].lowerBound) }
        start = Swift.max(start, others[number].upperBound)
        number += 1
      }
      if start < range.upperBound { rest.append(start..<range.upperBound) }
    }
    return rest
  }
}
