/// A search for content that repeats at distances beyond one frame, and the frames to join because of it (FORMAT.md §4.3).
///
/// Only samples of files from 16 KiB on are read: one block of 8 KiB in 8, or in 16 if the tar has 32 MiB or more. In them, positions are chosen by the
/// four bytes there, so that equal content gives equal positions wherever it is. The 64 bytes at a position are its content. The result depends only
/// on the layout and the content.
final class RepetitionSearch: Sendable {
  /// How much content was sampled and found again, by frame.
  struct Findings: Hashable, Sendable {
    /// The numbers of different contents in each frame.
    var samples: [Int]
    /// For each frame, how many of them were last seen one frame before, two frames before, and so on.
    var repetitions: [[Int]]

    init(frames: Int) {
      samples = [Int](repeating: 0, count: frames)
      repetitions = [[Int]](repeating: [Int](repeating: 0, count: RepetitionSearch.reach), count: frames)
    }
  }

  /// The samples of one file that are taken at once.
  private struct Batch: Sendable {
    var item: Int
    var blocks: Range<UInt64>
  }

  private struct Sample: Sendable {
    var position: UInt64
    var content: UInt64
  }

  /// The most frames that are joined to one.
  static let reach = 16
  private static let smallestFile: UInt64 = 16 << 10
  /// The start of a file is often a header that many files of its kind have, so it is not sampled.
  private static let firstBlock: UInt64 = 1
  private static let largeTar: UInt64 = 32 << 20
  private static let blockSize: UInt64 = 8 << 10
  private static let blocksPerBatch: UInt64 = 1024
  private static let contentSize = 64
  /// One position in 128 is chosen.
  private static let choiceBits: UInt16 = 7
  private static let placesAtOnce = 16
  private static let tableBits = 15
  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// Frames are joined from this many repetitions on, and if one sample in this many repeats.
  private static let fewestRepetitions = 4
  private static let samplesPerRepetition = 1000

  private let layout: TarLayout
  private let reader: SourceReader
  /// One block in this many is read.
  private let spacing: UInt64

  private init(_ layout: TarLayout, reader: SourceReader) {
    self.layout = layout
    self.reader = reader
    spacing = layout.tarSize < Self.largeTar ? 8 : 16
  }

  /// Returns the ranges of frames to join, ascending. Files that cannot be read are added to the reader's `sourceProblems`.
  static func run(_ layout: TarLayout, reader: SourceReader, jobs: Int) async throws(PackError) -> [Range<Int>] {
    guard layout.frames.count > 1 else { return [] }
    let findings = try await RepetitionSearch(layout, reader: reader).find(jobs: jobs)
    return groups(of: layout.frames.map { $0.range.upperBound - $0.range.lowerBound }, findings)
  }

  // MARK: Sampling

  private func find(jobs: Int) async throws(PackError) -> Findings {
    let batches = batches()
    let counter = Monitor(RepetitionCounter(layout.frames.map(\.range.upperBound)))
    guard !batches.isEmpty else { return Findings(frames: layout.frames.count) }
    try await WorkerPool.run(min(jobs, batches.count)) { pool in
      OrderedParallelMap<[Sample]>(count: batches.count, window: 4 * jobs, pool: pool)
    } work: { [self] (_, map) throws(PackError) in
      var buffer = [UInt8](repeating: 0, count: Int(Self.blockSize))
      try map.work { (number) throws(PackError) in
        samples(batches[number], &buffer)
      } take: { (_, samples) throws(PackError) in
        counter.withLock { counter in
          for sample in samples { counter.add(sample.content, at: sample.position) }
        }
      }
    }
    return counter.withLock { $0.findings }
  }

  private func batches() -> [Batch] {
    var batches: [Batch] = []
    for (number, item) in layout.items.enumerated() where item.entry.kind != .directory && item.contentSize >= Self.smallestFile {
      let blocks = (item.contentSize + Self.blockSize - 1) / Self.blockSize
      for first in stride(from: Self.firstBlock, to: blocks, by: Int(Self.blocksPerBatch)) {
        batches.append(Batch(item: number, blocks: first..<min(blocks, first + Self.blocksPerBatch)))
      }
    }
    return batches
  }

  /// Whether a block of a file is read. At equal distances, the blocks of a file and of the same content moved by a few kilobytes would never meet.
  private func isChosen(_ block: UInt64) -> Bool {
    var number = block &* Self.factor
    number = (number ^ number >> 29) &* Self.factor
    return block == Self.firstBlock || (number >> 32) % spacing == 0
  }

  private func samples(_ batch: Batch, _ buffer: inout [UInt8]) -> [Sample] {
    let item = layout.items[batch.item]
    // Whether the file has changed is checked when it is packed.
    guard let file = reader.open(item.entry, toReadAtOnce: true) else { return [] }
    var samples: [Sample] = []
    for block in batch.blocks where isChosen(block) {
      let offset = block * Self.blockSize
      guard offset + UInt64(Self.contentSize) <= item.contentSize else { break }
      let size = Int(min(Self.blockSize, item.contentSize - offset))
      var whole = buffer.mutableByteSpan
      var target = whole._mutatingExtracting(first: size)
      guard reader.read(file, item.entry, at: offset, into: &target) else { break }
      Self.choose(buffer.byteSpan.extracting(first: size)) { (place, content) in
        samples.append(Sample(position: item.dataOffset + offset + UInt64(place), content: content))
      }
    }
    return samples
  }

  /// Calls `body` with the chosen positions in `bytes`, and with a digest of the content at each.
  private static func choose(_ bytes: Span<UInt8>, _ body: (Int, UInt64) -> Void) {
    let end = bytes.count - contentSize + 1
    var last: UInt64 = 0
    var block = 0
    while block < end {
      let next = min(block + placesAtOnce, end)
      // Behind the last block of places, there are more bytes of content than a vector has.
      if mayChoose(bytes, in: block) {
        for place in block..<next where isChosen(bytes, at: place) {
          let word = Self.word(bytes, at: place)
          // In a run of equal bytes, all positions or none would be chosen.
          guard word != last else { continue }
          last = word
          var content: UInt64 = 0
          for offset in stride(from: 0, to: contentSize, by: 8) {
            content = (content ^ Self.word(bytes, at: place + offset)) &* factor
            content ^= content >> 29
          }
          body(place, content)
        }
      }
      block = next
    }
  }

  /// A hash of four bytes, as two numbers of two bytes each, in every lane.
  private static func hash(_ first: SIMD8<UInt16>, _ second: SIMD8<UInt16>) -> SIMD8<UInt16> {
    (first ^ 0x5A17) &* 0x9E37 &+ second &* 0x79B9
  }

  private static func isChosen(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    let first = UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
    let second = UInt16(bytes[place + 2]) | UInt16(bytes[place + 3]) << 8
    return ((first ^ 0x5A17) &* 0x9E37 &+ second &* 0x79B9) >> (16 - choiceBits) == 0
  }

  private static func word(_ bytes: Span<UInt8>, at place: Int) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
  }

  /// Whether any of the places from `start` on is chosen. Takes a fifth of the time of looking at each.
  private static func mayChoose(_ bytes: Span<UInt8>, in start: Int) -> Bool {
    unsafe bytes.withUnsafeBytes { (bytes) -> Bool in
      func load(_ offset: Int) -> SIMD8<UInt16> {
        unsafe bytes.loadUnaligned(fromByteOffset: start + offset, as: SIMD8<UInt16>.self)
      }
      let none = SIMD8<UInt16>(repeating: 0)
      let upper = SIMD8<UInt16>(repeating: ~UInt16(0) << (16 - choiceBits))
      let chosen = (hash(load(0), load(2)) & upper .== none) .| (hash(load(1), load(3)) & upper .== none)
      return any(chosen)
    }
  }

  /// Counts samples, which are added in the order of the tar. Remembers about as many as the joined frames of one group have.
  private struct RepetitionCounter {
    private struct Slot {
      var content: UInt64 = 0
      /// The frame, counted from 1; 0 for an empty slot.
      var frame: Int = 0
    }

    private(set) var findings: Findings
    private let ends: [UInt64]
    private var frame = 0
    private var slots = [Slot](repeating: Slot(), count: 1 << tableBits)

    init(_ ends: [UInt64]) {
      self.ends = ends
      findings = Findings(frames: ends.count)
    }

    mutating func add(_ content: UInt64, at position: UInt64) {
      while ends[frame] <= position { frame += 1 }
      let number = Int(truncatingIfNeeded: (content &* factor) >> (64 - tableBits))
      let slot = slots[number]
      let isKnown = slot.frame > 0 && slot.content == content
      guard !isKnown || slot.frame <= frame else { return }
      slots[number] = Slot(content: content, frame: frame + 1)
      findings.samples[frame] += 1
      let distance = frame + 1 - slot.frame
      if isKnown, distance < RepetitionSearch.reach { findings.repetitions[frame][distance] += 1 }
    }
  }

  // MARK: Joining

  /// Returns the ranges of consecutive frames to join, so that as many samples as possible repeat inside a frame, and every range repeats enough.
  static func groups(of sizes: [UInt64], _ findings: Findings) -> [Range<Int>] {
    // For each number of frames, the value of their best division, and where its last range starts.
    var best: [(value: Int, start: Int)] = [(0, 0)]
    for end in 1...sizes.count {
      var choice = (value: best[end - 1].value, start: end - 1)
      var size = sizes[end - 1]
      var samples = findings.samples[end - 1]
      var start = end - 1
      var repeated = 0
      while start > 0, end - start < reach {
        start -= 1
        size += sizes[start]
        guard size <= UInt64(Limits.frameSize) else { break }
        samples += findings.samples[start]
        // What the frames of the range have seen in its first frame.
        for frame in start + 1..<end { repeated += findings.repetitions[frame][frame - start] }
        guard repeated >= fewestRepetitions else { continue }
        let value = best[start].value + samplesPerRepetition * repeated - samples
        if value > choice.value { choice = (value, start) }
      }
      best.append(choice)
    }
    var groups: [Range<Int>] = []
    var end = sizes.count
    while end > 0 {
      let start = best[end].start
      if end - start > 1 { groups.append(start..<end) }
      end = start
    }
    return groups.reversed()
  }
}
