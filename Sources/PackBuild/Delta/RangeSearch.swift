/// Chooses the ranges of the base's contents against which one window is compressed (FORMAT.md §13.6). Used by one thread: it reuses its buffers.
///
/// A window is followed along *diagonals*: where a sample of a content occurs in the window, the difference of both places is tried again at the next
/// sample. So an edit in a file interrupts a match, and does not lead to another content with the same text. What was matched becomes ranges, which
/// grow by some surroundings, take in the gaps between them where the prefix has room, and are left out if they cover less than they cost.
struct RangeSearch {
  /// Addresses of a content with the number of samples that occur in the window.
  private struct Run {
    var item: Int
    var range: Range<UInt64>
    var samples: Int
  }

  /// A part of a content that is in one frame of the old pack.
  struct FramePart {
    /// The number of the frame.
    var frame: Int
    /// Addresses.
    var range: Range<UInt64>
  }

  private let contents: BaseContents
  private let index: FingerprintIndex
  private let mostFrames: Int?
  /// Returns the part of an item that holds an address.
  private let part: (_ address: UInt64, _ item: Int) -> FramePart
  /// By item: in how many places of the window a sample of it occurs, at one place in ``scoreStride``.
  private var scores: [Float]
  private var scored: [Int] = []
  /// The addresses of the samples that were matched.
  private var hits: [UInt64] = []
  /// The diagonals that matched most recently: an address less a place in the window. The latest is first.
  private var recent: [Int64] = []

  private static let scoreStride = 5
  /// The farthest place, in bytes, at which a match is sought after an edit.
  private static let nearLimit: Int64 = 64 << 10
  private static let recentDiagonals = 4
  /// A range takes about six bytes in the head, and spares about a quarter of the bytes that it covers.
  private static let fewestBytes = 64
  /// Hits at most this far apart belong together, in bytes, besides what sampling passes over.
  private static let nearness: UInt64 = 128
  /// Bytes before and behind a match that are taken, too: an edit may have changed what is there, and kept a part of it. They cost nothing in the
  /// delta, so there are more than a few words: up to 6 % less in updates of many small edits, and nothing more beyond.
  private static let surroundings: UInt64 = 2048
  /// The largest gap between two ranges that is taken in.
  private static let largestGap: UInt64 = 64 << 10

  /// - Parameters:
  ///   - mostFrames: The largest number of frames of the old pack that a reader needs for a window. Nil if it does not matter.
  ///   - part: Returns the part of an item that holds an address. Called only if frames matter.
  init(
    _ contents: BaseContents, _ index: FingerprintIndex, mostFrames: Int?, part: @escaping (_ address: UInt64, _ item: Int) -> FramePart
  ) {
    self.contents = contents
    self.index = index
    self.mostFrames = mostFrames
    self.part = part
    scores = [Float](repeating: 0, count: contents.items.count)
  }

  /// Returns the pieces for a window, in the order that the format wants.
  mutating func pieces(for window: Span<UInt8>) -> [DeltaHead.Piece] {
    guard window.count >= FingerprintIndex.width else { return [] }
    score(window)
    follow(window)
    for item in scored { scores[item] = 0 }
    scored.removeAll(keepingCapacity: true)
    hits.sort()
    let frames = mostFrames.map(bestFrames)
    if let frames { keepHits(in: frames) }
    var chosen = fitting(grown(runs()))
    if let frames { chosen = clipped(chosen, to: frames) }
    return chosen.map { run in
      let item = contents.items[run.item]
      return DeltaHead.Piece(
        content: UInt32(item.number), offset: run.range.lowerBound - item.start, length: UInt32(run.range.count))
    }
  }

  // MARK: Matching

  /// Counts for each content how much of the window it may have.
  private mutating func score(_ window: Span<UInt8>) {
    index.forEachShare(in: window, stride: Self.scoreStride) { address, share in
      let item = contents.index(holding: address)
      if scores[item] == 0 { scored.append(item) }
      scores[item] += share
    }
  }

  /// Finds matches from the beginning of the window to its end, and adds their samples to the hits.
  private mutating func follow(_ window: Span<UInt8>) {
    hits.removeAll(keepingCapacity: true)
    recent.removeAll(keepingCapacity: true)
    let end = window.count - FingerprintIndex.width
    let spacing = Int(contents.spacing)
    var place = 0
    while place <= end {
      guard let (start, diagonal) = match(window, at: place) else {
        place += 1
        continue
      }
      remember(diagonal)
      place = start
      hits.append(UInt64(Int64(place) + diagonal))
      while place + spacing <= end, isOn(diagonal, window, at: place + spacing) {
        place += spacing
        hits.append(UInt64(Int64(place) + diagonal))
      }
      place += FingerprintIndex.width
    }
  }

  /// Returns the diagonal of a match at a place, or of one a little later on a recent diagonal if that is the better one.
  private func match(_ window: Span<UInt8>, at place: Int) -> (place: Int, diagonal: Int64)? {
    if let diagonal = recentDiagonal(window, at: place) { return (place, diagonal) }
    guard let diagonal = bestCandidate(FingerprintIndex.fingerprint(window, at: place), at: place) else { return nil }
    let spacing = Int(contents.spacing)
    let end = window.count - FingerprintIndex.width
    for later in place + 1..<place + spacing where later + spacing <= end {
      if let known = recentDiagonal(window, at: later), isOn(known, window, at: later + spacing) { return (later, known) }
    }
    return (place, diagonal)
  }

  private func isOn(_ diagonal: Int64, _ window: Span<UInt8>, at place: Int) -> Bool {
    index.hasSample(FingerprintIndex.fingerprint(window, at: place), at: Int64(place) + diagonal)
  }

  private func recentDiagonal(_ window: Span<UInt8>, at place: Int) -> Int64? {
    let fingerprint = FingerprintIndex.fingerprint(window, at: place)
    return recent.first { index.hasSample(fingerprint, at: Int64(place) + $0) }
  }

  /// Returns the diagonal of the candidate nearest to the latest one, or of the one in the content with the highest score if none is near.
  private func bestCandidate(_ fingerprint: UInt32, at place: Int) -> Int64? {
    let expected = recent.first.map { Int64(place) + $0 }
    var best: Int64?
    var bestScore: Float = -1
    index.forEachCandidate(fingerprint) { address in
      let distance = expected.map { abs(Int64(address) - $0) } ?? .max
      let score = distance < Self.nearLimit ? Float(1 << 30) - Float(distance) * 64 : scores[contents.index(holding: address)]
      if score > bestScore {
        bestScore = score
        best = Int64(address) - Int64(place)
      }
    }
    return best
  }

  private mutating func remember(_ diagonal: Int64) {
    if let known = recent.firstIndex(of: diagonal) {
      recent.remove(at: known)
    } else if recent.count == Self.recentDiagonals {
      recent.removeLast()
    }
    recent.insert(diagonal, at: 0)
  }

  // MARK: Frames

  /// Calls `body` with each part of a content that has hits, and with those hits as a range of ``hits``.
  private func forEachPart(_ body: (FramePart, Range<Int>) -> Void) {
    var first = 0
    while first < hits.count {
      let part = part(hits[first], contents.index(holding: hits[first]))
      var next = first + 1
      while next < hits.count, hits[next] < part.range.upperBound { next += 1 }
      body(part, first..<next)
      first = next
    }
  }

  /// Returns the frames with the most hits.
  private func bestFrames(_ most: Int) -> Set<Int> {
    var counts: [Int: Int] = [:]
    forEachPart { counts[$0.frame, default: 0] += $1.count }
    return Set(counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(most).map(\.key))
  }

  private mutating func keepHits(in frames: Set<Int>) {
    var kept: [UInt64] = []
    kept.reserveCapacity(hits.count)
    forEachPart { if frames.contains($0.frame) { kept += hits[$1] } }
    hits = kept
  }

  /// Returns the parts of runs that are in some frames.
  private func clipped(_ runs: [Run], to frames: Set<Int>) -> [Run] {
    var clipped: [Run] = []
    for run in runs {
      var start = run.range.lowerBound
      while start < run.range.upperBound {
        let part = part(start, run.item)
        let end = min(part.range.upperBound, run.range.upperBound)
        if frames.contains(part.frame) { clipped.append(Run(item: run.item, range: start..<end, samples: run.samples)) }
        start = end
      }
    }
    // Parts of one run in frames that follow each other are one again.
    return Self.joined(clipped, gap: 0).filter { $0.range.count >= Self.fewestBytes }
  }

  // MARK: Ranges

  /// Returns the runs of near hits that cover enough bytes. Their ranges reach from the first sample to the last.
  private func runs() -> [Run] {
    let near = contents.spacing + UInt64(FingerprintIndex.width) + Self.nearness
    var runs: [Run] = []
    var item = 0
    var last: UInt64?
    for hit in hits where hit != last {
      last = hit
      if runs.isEmpty || hit >= contents.items[item].end { item = contents.index(holding: hit) }
      let end = hit + UInt64(FingerprintIndex.width)
      if let open = runs.last, open.item == item, hit <= open.range.upperBound + near {
        runs[runs.count - 1] = Run(item: item, range: open.range.lowerBound..<end, samples: open.samples + 1)
      } else {
        runs.append(Run(item: item, range: hit..<end, samples: 1))
      }
    }
    return runs.filter { covered($0) >= Self.fewestBytes }
  }

  /// Returns about how many bytes of the window a run covers.
  private func covered(_ run: Run) -> Int {
    (run.samples - 1) * Int(contents.spacing) + FingerprintIndex.width
  }

  /// Returns the runs with the bytes around their samples that may match, too.
  private func grown(_ runs: [Run]) -> [Run] {
    runs.map { run in
      let item = contents.items[run.item]
      let growth = contents.spacing + Self.surroundings
      let start = run.range.lowerBound - min(growth, run.range.lowerBound - item.start)
      return Run(item: run.item, range: start..<min(item.end, run.range.upperBound + growth), samples: run.samples)
    }
  }

  /// Returns the runs with as large gaps taken in as fit. If they do not fit without gaps, the ones with the fewest samples for their length are
  /// left out.
  private func fitting(_ runs: [Run]) -> [Run] {
    var gap = Self.largestGap
    var joined = Self.joined(runs, gap: gap)
    while !Self.fits(joined), gap > 0 {
      gap = gap < 64 ? 0 : gap / 2
      joined = Self.joined(runs, gap: gap)
    }
    return Self.fits(joined) ? joined : Self.densest(joined)
  }

  private static func fits(_ runs: [Run]) -> Bool {
    runs.count <= Limits.deltaRanges && runs.reduce(0) { $0 + $1.range.count } <= Limits.deltaPrefixSize
  }

  private static func joined(_ runs: [Run], gap: UInt64) -> [Run] {
    var joined: [Run] = []
    for run in runs {
      if let last = joined.last, last.item == run.item, run.range.lowerBound <= last.range.upperBound + gap {
        let range = last.range.lowerBound..<max(last.range.upperBound, run.range.upperBound)
        joined[joined.count - 1] = Run(item: run.item, range: range, samples: last.samples + run.samples)
      } else {
        joined.append(run)
      }
    }
    return joined
  }

  private static func densest(_ runs: [Run]) -> [Run] {
    let order = runs.indices.sorted { left, right in
      let (first, second) = (runs[left].samples * runs[right].range.count, runs[right].samples * runs[left].range.count)
      return first != second ? first > second : left < right
    }
    var kept: [Int] = []
    var size = 0
    for number in order where kept.count < Limits.deltaRanges && size + runs[number].range.count <= Limits.deltaPrefixSize {
      size += runs[number].range.count
      kept.append(number)
    }
    return kept.sorted().map { runs[$0] }
  }
}
