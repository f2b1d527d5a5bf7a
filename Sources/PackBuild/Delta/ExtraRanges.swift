/// Chooses the extra ranges of the windows of a stream (FORMAT.md §13.6): where the base has what is too short for a copy, as far as the context does not
/// have it.
///
/// A reader decompresses each frame of the base that a window needs. So in a large base, the ranges must have the more in common with a window the more
/// windows there are (§13.7).
struct ExtraRanges {
  /// The matches that are not copied, in the order of the stream.
  let matches: [CopySearch.Match]
  let copies: CopyStream
  let base: DeltaBaseReading
  /// The most bytes of frames that a reader of the delta decompresses: less than it allows, because its own frames may be cut otherwise.
  var mostWork: UInt64

  init(matches: [CopySearch.Match], copies: CopyStream, base: DeltaBaseReading) {
    (self.matches, self.copies, self.base) = (matches, copies, base)
    mostWork = BaseStringReader.mostWork(base.tree.pack.table.tarSize) / 16 * 15
  }

  /// The bytes around a match that the encoder may use, too.
  private static let margin: UInt64 = 64
  /// The longest hole that is cheaper in the prefix than a range in the head, in bytes: as much as there is room for.
  private static let holes: [UInt64] = [4096, 1024, 256]
  /// What a range must have in common with the stream, with the margins, to be named in the head, in bytes.
  private static let fewest: UInt64 = 384
  /// The bytes that a window must have in common with a frame outside its context. The last means that none is read.
  private static let leastInFrame: [UInt64] = [0, 1 << 12, 1 << 14, 1 << 16, 1 << 18, .max]

  /// Returns the extra ranges of every window, ascending, and whether a reader may do the work that these and the copies make.
  func chosen() throws(PackError) -> (ranges: [[Range<UInt64>]], isAllowed: Bool) {
    var chosen: [(wanted: Wanted, level: Int, ranges: [Range<UInt64>], work: UInt64)] = []
    for window in windows {
      let wanted = try wanted(window)
      let ranges = extras(of: wanted, 0)
      chosen.append((wanted, 0, ranges, work(of: wanted, ranges)))
    }
    var work = chosen.reduce(copyWork()) { $0 + $1.work }
    while work > mostWork {
      // The window that costs most gets less.
      let most = chosen.indices.filter { chosen[$0].level + 1 < Self.leastInFrame.count }.max { chosen[$0].work < chosen[$1].work }
      guard let most else { break }
      chosen[most].level += 1
      chosen[most].ranges = extras(of: chosen[most].wanted, Self.leastInFrame[chosen[most].level])
      work -= chosen[most].work
      chosen[most].work = self.work(of: chosen[most].wanted, chosen[most].ranges)
      work += chosen[most].work
    }
    return (chosen.map(\.ranges), work <= mostWork)
  }

  private func work(of wanted: Wanted, _ ranges: [Range<UInt64>]) -> UInt64 {
    base.work(of: wanted.context.union(base.frames(of: ranges)))
  }

  /// Returns the matches that the prefix of a window does not have.
  func missed(_ extras: [[Range<UInt64>]]) throws(PackError) -> [CopySearch.Match] {
    var missed: [CopySearch.Match] = []
    for (window, extras) in zip(windows, extras) {
      let context = copies.context(of: window, in: base.string, room: UInt64(Limits.deltaContextSize) - extras.total)
      let prefix = (extras + context).joined(over: 0)
      try forEachMatch(of: window) { match in
        let next = prefix.partitioningIndex { $0.upperBound >= match.range.upperBound }
        if next == prefix.count || prefix[next].lowerBound > match.range.lowerBound { missed.append(match) }
      }
    }
    return missed
  }

  /// The windows of the literals.
  private var windows: [Range<UInt64>] {
    var start: UInt64 = 0
    return DeltaHead.windowSizes(of: copies.literalCount).map { size in
      defer { start += UInt64(size) }
      return start..<start + UInt64(size)
    }
  }

  /// What is wanted of the base for a window of literals.
  private struct Wanted {
    /// Where the base has its matches, and what is around each, ascending, by how much the context is narrowed, and how much that is.
    var ranges: [(ranges: [Range<UInt64>], context: UInt64)]
    /// The frames of the context, at its widest.
    var context: Set<Int>
    /// For each frame, the wanted bytes in it.
    var common: [Int: UInt64]
  }

  private func wanted(_ window: Range<UInt64>) throws(PackError) -> Wanted {
    let all = try matched(window)
    var wanted = Wanted(ranges: [], context: [], common: [:])
    for narrowing in CopyStream.narrowings {
      let context = copies.context(of: window, in: base.string, narrowing: narrowing)
      wanted.ranges.append((all.without(context), context.total))
      if narrowing == 1 { wanted.context = base.frames(of: context) }
    }
    for range in all {
      base.forEachFrame(of: range) { (frame, part) in
        if let frame { wanted.common[frame, default: 0] += UInt64(part.count) }
      }
    }
    return wanted
  }

  /// Returns where the base has the matches of a window, and what is around each, ascending.
  private func matched(_ window: Range<UInt64>) throws(PackError) -> [Range<UInt64>] {
    var matched: [Range<UInt64>] = []
    try forEachMatch(of: window) { match in
      let part = base.string.range(of: base.string.part(holding: match.place))
      matched.append((match.place - min(match.place, Self.margin)..<match.range.upperBound + Self.margin).clamped(to: part))
    }
    return matched.joined(over: 0)
  }

  private func forEachMatch(of window: Range<UInt64>, _ body: (CopySearch.Match) -> Void) throws(PackError) {
    try copies.forEachRun(of: window) { (run, _) in
      var number = matches.partitioningIndex { $0.end > run.lowerBound }
      while number < matches.count, matches[number].start < run.upperBound {
        body(matches[number])
        number += 1
      }
    }
  }

  /// Returns the first ranges that fit beside the context, or those with the most of what is wanted.
  private func extras(of wanted: Wanted, _ least: UInt64) -> [Range<UInt64>] {
    let room = UInt64(Limits.deltaContextSize)
    var best: (ranges: [Range<UInt64>], common: UInt64) = ([], 0)
    for (ranges, context) in wanted.ranges {
      var useful: [Range<UInt64>] = []
      for range in ranges {
        base.forEachFrame(of: range) { (frame, part) in
          if frame.map({ wanted.context.contains($0) || wanted.common[$0, default: 0] >= least }) ?? true { useful.append(part) }
        }
      }
      for hole in Self.holes {
        let all = Self.joined(useful, over: hole)
        let fitting = Self.most(all).cut(to: room - min(room, context))
        if fitting == all { return all }
        let common = useful.total - useful.without(fitting).total
        if common > best.common { best = (fitting, common) }
      }
    }
    return best.ranges
  }

  /// Leaves out the shortest ranges if there are too many.
  private static func most(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
    guard ranges.count > Limits.deltaRanges else { return ranges }
    let longest = ranges.sorted { ($0.count, $1.lowerBound) > ($1.count, $0.lowerBound) }
    return longest.prefix(Limits.deltaRanges).sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Joins ranges over small holes, and leaves out those with little in them.
  private static func joined(_ ranges: [Range<UInt64>], over hole: UInt64) -> [Range<UInt64>] {
    var next = 0
    return ranges.joined(over: hole).filter { range in
      var common: UInt64 = 0
      while next < ranges.count, ranges[next].lowerBound < range.upperBound {
        common += UInt64(ranges[next].count)
        next += 1
      }
      return common >= fewest
    }
  }

  /// Returns about how many bytes of frames a reader decompresses for the copies.
  private func copyWork() -> UInt64 {
    var (work, position, read): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var frames: Set<Int> = []
    for copy in copies.copies {
      position += copy.gap
      var rest = copy.place..<copy.place + UInt64(copy.length)
      while !rest.isEmpty {
        if position / CopyStream.readSize != read {
          work += base.work(of: frames)
          (frames, read) = ([], position / CopyStream.readSize)
        }
        let part = rest.prefix(min(rest.count, Int((read + 1) * CopyStream.readSize - position)))
        frames.formUnion(base.frames(of: [part]))
        rest = part.upperBound..<rest.upperBound
        position += UInt64(part.count)
      }
    }
    return work + base.work(of: frames)
  }
}

extension DeltaBaseReading {
  /// Calls `body` with each part of a range that is in one frame, and with the number of that frame, or in a list.
  fileprivate func forEachFrame(of range: Range<UInt64>, _ body: (_ frame: Int?, _ part: Range<UInt64>) -> Void) {
    let table = tree.pack.table
    var start = range.lowerBound
    while start < range.upperBound {
      let number = string.part(holding: start)
      let whole = string.range(of: number)
      var end = min(range.upperBound, whole.upperBound)
      var frame: Int?
      if let offset = string.parts[number].offset {
        let place = offset + (start - whole.lowerBound)
        let own = table.frame(holding: place)
        end = min(end, start + (table[own].tarRange.upperBound - place))
        frame = own
      }
      body(frame, start..<end)
      start = end
    }
  }

  fileprivate func frames(of ranges: [Range<UInt64>]) -> Set<Int> {
    var frames: Set<Int> = []
    for range in ranges {
      forEachFrame(of: range) { (frame, _) in
        if let frame { frames.insert(frame) }
      }
    }
    return frames
  }

  fileprivate func work(of frames: Set<Int>) -> UInt64 { frames.reduce(0) { $0 + UInt64(tree.pack.table[$1].size) } }
}
