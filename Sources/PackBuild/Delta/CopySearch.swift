/// Finds what a stream has in common with the base string, on several threads.
///
/// A match is found by its fingerprints, at the next place where the base has samples, and then compared byte for byte. So an edit in a file ends a match, and
/// another one begins behind it. The result depends on the trees only.
///
/// Memory: 8 MiB for each thread, what ``BaseBytes`` takes, and 24 bytes for each match.
struct CopySearch: Sendable {
  let base: DeltaBaseReading
  let sampled: SampledBase
  /// The shortest match that tells where the base resembles the stream.
  static let shortest = 64
  /// The shortest match that is always copied. The encoder names a shorter one with fewer bytes than the head, if the prefix of its window has it.
  static let longCopy: UInt64 = 4096
  /// The shortest match that is copied if the prefix does not have it.
  static let shortCopy: UInt64 = 128

  /// How much of the stream one thread searches at once, in bytes.
  private static let chunkSize: UInt64 = 4 << 20

  /// A place in the stream, and one in the base string, with the same bytes.
  struct Match: Sendable {
    var start: UInt64
    var place: UInt64
    var length: UInt64

    var end: UInt64 { start + length }
    /// The places in the base string.
    var range: Range<UInt64> { place..<place + length }
  }

  /// Returns the matches of a stream in ascending order, without what overlaps.
  func matches(of stream: DeltaStream, jobs: Int, progress: ProgressHandler?) async throws(PackError) -> [Match] {
    let count = Int((stream.size + Self.chunkSize - 1) / Self.chunkSize)
    guard count > 0, stream.size >= UInt64(Self.shortest) else { return [] }
    let found = Monitor<[Match]>([])
    let counter = ProgressCounter(.hashing, total: stream.size, handler: progress)
    try await WorkerPool.run(min(jobs, count)) { pool in
      OrderedParallelMap<[Match]>(count: count, window: 4 * jobs, pool: pool)
    } work: { (pool, map) throws(PackError) in
      var searcher = try ChunkSearch(base, sampled)
      try map.work { (number) throws(PackError) in
        let start = UInt64(number) * Self.chunkSize
        return try searcher.matches(start..<min(start + Self.chunkSize, stream.size), of: stream, pool)
      } take: { (number, matches) throws(PackError) in
        found.withLock { $0 += matches }
        counter.add(min(Self.chunkSize, stream.size - UInt64(number) * Self.chunkSize))
      }
    }
    return found.withLock { $0 }
  }

  /// Returns the matches that are copied, cut to the length that the format allows, and the rest.
  ///
  /// - Parameter least: Copies have at least this length in bytes. If there are too many, only longer ones are copied.
  static func divided(_ matches: [Match], least: (Match) -> UInt64) -> (copies: [DeltaHead.Copy], rest: [Match]) {
    var most: UInt64 = 1
    while true {
      var copies: [DeltaHead.Copy] = []
      var others: [Match] = []
      var end: UInt64 = 0
      for match in matches {
        guard match.length >= max(least(match), most) else {
          others.append(match)
          continue
        }
        var rest = match
        while rest.length > 0 {
          let count = min(rest.length, Limits.deltaCopyLengths.upperBound)
          // What would remain must not be too short for a copy.
          let isLast = rest.length == count || rest.length - count >= Limits.deltaCopyLengths.lowerBound
          let length = isLast ? count : count - Limits.deltaCopyLengths.lowerBound
          copies.append(DeltaHead.Copy(gap: rest.start - end, place: rest.place, length: UInt32(length)))
          rest = Match(start: rest.start + length, place: rest.place + length, length: rest.length - length)
          end = rest.start
        }
      }
      if copies.count <= mostCopies { return (copies, others) }
      most = max(2 * most, UInt64(shortest))
    }
  }

  /// Each takes about ten bytes in the head, which must have room for the rest, too.
  private static let mostCopies = Limits.deltaHeadSize / 16
}

/// Searches parts of a stream. Used by one thread.
private struct ChunkSearch {
  private let index: FingerprintIndex
  private let contents: BaseContents
  private let bytes: BaseBytes
  private var buffer: [UInt8] = []
  /// The address that would follow if the last copy went on, less the place in the buffer.
  private var diagonal: Int64?

  /// How many samples are beside each other at least in a match, and how many are compared to choose between candidates.
  private let samples: ClosedRange<Int>

  init(_ base: DeltaBaseReading, _ sampled: SampledBase) throws(PackError) {
    index = sampled.index
    contents = sampled.contents
    bytes = try BaseBytes(base)
    let spacing = Int(contents.spacing)
    samples = max(1, (CopySearch.shortest - spacing - FingerprintIndex.width) / spacing)...max(1, 1024 / spacing)
  }

  mutating func matches(_ range: Range<UInt64>, of stream: DeltaStream, _ pool: WorkerPool) throws(PackError) -> [CopySearch.Match] {
    if buffer.count < range.count { buffer = [UInt8](repeating: 0, count: range.count) }
    try stream.read(range, into: &buffer, at: 0)
    diagonal = nil
    let own = buffer
    return try search(own.byteSpan.extracting(first: range.count), from: range.lowerBound, pool)
  }

  private mutating func search(_ window: Span<UInt8>, from start: UInt64, _ pool: WorkerPool) throws(PackError) -> [CopySearch.Match] {
    var matches: [CopySearch.Match] = []
    var at = 0
    var place = 0
    let end = window.count - FingerprintIndex.width
    while place <= end {
      guard let address = candidate(window, at: place) else {
        place += 1
        continue
      }
      try pool.checkpoint()
      let item = contents.items[contents.index(holding: address)]
      let ahead = try bytes.common(window, from: place, with: address, in: item)
      let back = try bytes.commonBefore(window, from: place, downTo: at, with: address, in: item)
      guard back + ahead >= CopySearch.shortest else {
        place += max(1, ahead - FingerprintIndex.width)
        continue
      }
      let first = item.range.lowerBound + (address - item.start) - UInt64(back)
      matches.append(
        CopySearch.Match(start: start + UInt64(place - back), place: first, length: UInt64(back + ahead)))
      place += ahead
      at = place
      diagonal = Int64(address) + Int64(ahead) - Int64(place)
    }
    return matches
  }

  /// Returns the address of the best candidate for a place: the one on the diagonal of the last copy, or the one with the most samples that follow.
  private func candidate(_ window: Span<UInt8>, at place: Int) -> UInt64? {
    let fingerprint = FingerprintIndex.fingerprint(window, at: place)
    if let diagonal, index.hasSample(fingerprint, at: Int64(place) + diagonal) { return UInt64(Int64(place) + diagonal) }
    var best: (address: UInt64, count: Int, distance: UInt64)?
    index.forEachCandidate(fingerprint) { address in
      let count = sampleCount(window, from: place, with: address)
      let distance = diagonal.map { UInt64(abs(Int64(address) - Int64(place) - $0)) } ?? address
      if best.map({ count > $0.count || count == $0.count && distance < $0.distance }) ?? true {
        best = (address, count, distance)
      }
    }
    return best.flatMap { $0.count >= samples.lowerBound ? $0.address : nil }
  }

  /// Returns how many samples follow each other on the diagonal of a candidate, before and behind it.
  private func sampleCount(_ window: Span<UInt8>, from place: Int, with address: UInt64) -> Int {
    let spacing = Int(contents.spacing)
    let end = window.count - FingerprintIndex.width
    var count = 1
    for step in [spacing, -spacing] {
      var next = place + step
      while count < samples.upperBound, next >= 0, next <= end,
        index.hasSample(FingerprintIndex.fingerprint(window, at: next), at: Int64(address) + Int64(next - place))
      {
        count += 1
        next += step
      }
    }
    return count
  }
}

/// Reads the bytes of the base for comparisons. Used by one thread.
///
/// Memory: 16 frames of the old pack, and what a reader of it takes.
private final class BaseBytes {
  private let base: DeltaBaseReading
  private let reader: PackReader
  /// The frames that were used last, the latest first.
  private var frames: [(number: Int, bytes: [UInt8])] = []

  private static let mostFrames = 16

  init(_ base: DeltaBaseReading) throws(PackError) {
    self.base = base
    reader = try PackReader(base.tree.pack)
  }

  /// Calls `body` with bytes of an item: those of one frame that hold an address, and the address of the first.
  private func withBytes<Result>(
    at address: UInt64, in item: BaseContents.Item, _ body: (Span<UInt8>, UInt64) -> Result
  ) throws(PackError) -> Result {
    let part = base.string.parts[base.string.part(holding: item.range.lowerBound)]
    guard let offset = part.offset else {
      let list = base.string.lists[part.base]
      return body(list.byteSpan, item.start)
    }
    let place = offset + (address - item.start)
    let number = base.tree.pack.table.frame(holding: place)
    let frame = base.tree.pack.table[number].tarRange
    let own = frame.clamped(to: offset..<offset + item.size)
    try load(number)
    let bytes = frames[0].bytes
    return body(
      bytes.byteSpan.extracting(Int(own.lowerBound - frame.lowerBound)..<Int(own.upperBound - frame.lowerBound)),
      item.start + (own.lowerBound - offset))
  }

  /// Makes a frame the first one.
  private func load(_ number: Int) throws(PackError) {
    guard frames.first?.number != number else { return }
    if let known = frames.firstIndex(where: { $0.number == number }) {
      frames.insert(frames.remove(at: known), at: 0)
      return
    }
    _ = try reader.load(number)
    if frames.count == Self.mostFrames { frames.removeLast() }
    try reader.withFrame { content in frames.insert((number, [UInt8](copying: content)), at: 0) }
  }

  /// Returns how many bytes are the same from a place in the window and an address on.
  func common(
    _ window: Span<UInt8>, from place: Int, with address: UInt64, in item: BaseContents.Item
  ) throws(PackError) -> Int {
    var count = 0
    while place + count < window.count, address + UInt64(count) < item.end {
      let (same, all) = try withBytes(at: address + UInt64(count), in: item) { bytes, start in
        let from = Int(address + UInt64(count) - start)
        let most = min(bytes.count - from, window.count - place - count)
        return (commonPrefix(window.extracting(place + count..<place + count + most), bytes.extracting(from..<from + most)), most)
      }
      count += same
      if same < all { break }
    }
    return count
  }

  /// Returns how many bytes before them are the same, as far as `least` in the window.
  func commonBefore(
    _ window: Span<UInt8>, from place: Int, downTo least: Int, with address: UInt64, in item: BaseContents.Item
  ) throws(PackError) -> Int {
    var count = 0
    while place - count > least, address - UInt64(count) > item.start {
      let (same, all) = try withBytes(at: address - UInt64(count) - 1, in: item) { bytes, start in
        let to = Int(address - UInt64(count) - start)
        let most = min(to, place - count - least)
        var same = 0
        while same < most, window[place - count - 1 - same] == bytes[to - 1 - same] { same += 1 }
        return (same, most)
      }
      count += same
      if same < all { break }
    }
    return count
  }
}

/// Returns how many bytes two spans of the same length begin with in common.
private func commonPrefix(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
  var count = 0
  while count + 8 <= left.count {
    let first = unsafe left.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count, as: UInt64.self)
    let second = unsafe right.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count, as: UInt64.self)
    guard first == second else { return count + UInt64(littleEndian: first ^ second).trailingZeroBitCount / 8 }
    count += 8
  }
  while count < left.count, left[count] == right[count] { count += 1 }
  return count
}
