/// Reads the sources, compresses them frame by frame on all cores, and appends the payload to the draft (FORMAT.md §4).
final class PayloadBuilder: Sendable {
  struct Result: Sendable {
    var contentRoot: [UInt8]
    var largestFrame: UInt32
    /// The bytes of the frames that a game waits for.
    var launchSize: UInt64
    /// The size of index and seek table in bytes.
    var indexSize: UInt64
  }

  /// A compressed frame in a buffer that is reused afterwards.
  private struct CompressedFrame: Sendable {
    var buffer: [UInt8]
    var compressedSize: Int
    var size: Int
  }

  private let layout: TarLayout
  private let reader: SourceReader
  private let draft: PackDraft
  private let strengths: FrameStrengths
  private let isSlow: Bool
  /// The size of the largest frame in bytes, and of the largest that is not joined.
  private let frameSize: Int
  private let usualFrameSize: Int
  private let knownDigests: [Int32: [UInt8]]
  private let backend: any CryptoBackend

  private let spareBuffers = Monitor<[[UInt8]]>([])
  private let table = Monitor<[(compressed: UInt32, content: UInt32)]>([])
  /// The digests of all items, concatenated.
  private let digests: Monitor<[UInt8]>

  init(
    layout: TarLayout, reader: SourceReader, draft: PackDraft, level: PackLevel, knownDigests: [Int32: [UInt8]],
    backend: any CryptoBackend
  ) {
    self.layout = layout
    self.reader = reader
    self.draft = draft
    strengths = FrameStrengths(level, for: layout)
    isSlow = level.zstdLevel >= 10
    frameSize = layout.largestFrame()
    usualFrameSize = layout.largestFrame { !$0.isJoined }
    self.knownDigests = knownDigests
    self.backend = backend
    digests = Monitor([UInt8](repeating: 0, count: 32 * layout.items.count))
  }

  func build(
    jobs: Int, contentSize: UInt64, source: String, progress: ProgressHandler?
  ) async throws(PackError) -> Result {
    try await packFrames(jobs: jobs, contentSize: contentSize, progress: progress)
    // Copies of a file were not read, but may have the same problems, also where they are allowed in the original.
    let hasProblems = !reader.sourceProblems.isEmpty
    for item in layout.items where item.isLink && (hasProblems || reader.mayAllow(layout.items[Int(item.original)].entry)) {
      reader.look(at: item.entry)
    }
    try reader.sourceProblems.check(source)
    for (number, item) in layout.items.enumerated() where item.isLink {
      if let digest = knownDigests[item.original] { store(digest, for: number) }
    }
    return try await writeIndex(jobs: jobs)
  }

  // MARK: Frames

  private func packFrames(jobs: Int, contentSize: UInt64, progress: ProgressHandler?) async throws(PackError) {
    let counter = ProgressCounter(.packing, total: contentSize, handler: progress)
    try await WorkerPool.run(min(jobs, layout.frames.count)) { [self] pool in
      (
        frames: OrderedParallelMap<CompressedFrame>(count: layout.frames.count, window: window(jobs), pool: pool),
        spanning: SpanningDigests(backend: backend, pool: pool)
      )
    } work: { [self] (_, shared) throws(PackError) in
      let worker = try FrameWorker(self, spanning: shared.spanning)
      try shared.frames.work { (number) throws(PackError) in
        try worker.make(layout.frames[number])
      } take: { (number, frame) throws(PackError) in
        try draft.append(frame.buffer.byteSpan.extracting(first: frame.compressedSize))
        table.withLock { $0.append((UInt32(frame.compressedSize), UInt32(frame.size))) }
        spareBuffers.withLock { $0.append(frame.buffer) }
        counter.add(layout.contentSize(of: layout.frames[number]))
      }
    }
  }

  /// Returns how many frames may be in progress. Each needs a buffer, but with too few of them threads would wait for a frame that takes long.
  private func window(_ jobs: Int) -> Int {
    isSlow ? 2 * jobs : jobs + 1
  }

  private func store(_ digest: [UInt8], for number: Int) {
    digests.withLock { $0.replaceSubrange(32 * number..<32 * number + 32, with: digest) }
  }

  /// The state that one thread needs to make frames.
  private final class FrameWorker {
    private let builder: PayloadBuilder
    private let layout: TarLayout
    private let reader: SourceReader
    private let spanning: SpanningDigests
    private let encoder: FrameCompressor
    private let digest: any DigestContext
    private var content: [UInt8]
    private var header: [UInt8] = []
    private var openFile: (number: Int, file: OpenFile)?
    /// The items that were read whole into the frame, with their places, if they are to be searched for secrets.
    private var filled: [(number: Int, range: Range<Int>)] = []

    init(_ builder: PayloadBuilder, spanning: SpanningDigests) throws(PackError) {
      self.builder = builder
      layout = builder.layout
      reader = builder.reader
      self.spanning = spanning
      encoder = try FrameCompressor(builder.strengths)
      digest = try builder.backend.makeDigest()
      content = []
    }

    deinit {
      wipe(&content)
    }

    func make(_ frame: TarLayout.Frame) throws(PackError) -> CompressedFrame {
      var content: [UInt8] = []
      swap(&content, &self.content)
      defer { swap(&content, &self.content) }
      let size = Int(frame.range.upperBound - frame.range.lowerBound)
      if size > content.count {
        wipe(&content)
        content = Self.untouched(frame.isJoined ? builder.frameSize : builder.usualFrameSize)
      }
      for number in frame.items {
        try fill(&content, with: number, of: frame)
      }
      let end = layout.tarSize - UInt64(TarHeader.endSize)
      clear(&content, end..<layout.tarSize, of: frame)
      checkSecrets(content.byteSpan.extracting(first: size))
      let capacity = Limits.compressBound(builder.frameSize)
      var buffer = builder.spareBuffers.withLock { $0.popLast() } ?? Self.untouched(capacity)
      guard reader.sourceProblems.isEmpty else {
        // No pack will be made. The other files are only checked.
        return CompressedFrame(buffer: buffer, compressedSize: 0, size: size)
      }
      var target = buffer.mutableByteSpan
      let compressedSize = try encoder.compress(content.byteSpan.extracting(first: size), frame.kind, into: &target)
      return CompressedFrame(buffer: buffer, compressedSize: compressedSize, size: size)
    }

    /// Returns a buffer whose memory the system provides as it is written. A buffer filled with zeros would take all of it at once.
    private static func untouched(_ count: Int) -> [UInt8] {
      var buffer = unsafe [UInt8](unsafeUninitializedCapacity: count) { (_, initialized) in initialized = count }
      if count > Limits.defaultFrameSize * 2 { SystemMemory.preferLargePages(in: &buffer) }
      return buffer
    }

    /// Writes the part of an item that is in a frame: header, content and padding.
    private func fill(_ content: inout [UInt8], with number: Int, of frame: TarLayout.Frame) throws(PackError) {
      let item = layout.items[number]
      let headerRange = (item.start..<item.dataOffset).clamped(to: frame.range)
      if !headerRange.isEmpty {
        header.removeAll(keepingCapacity: true)
        layout.header(of: item).append(to: &header)
        guard header.count == Int(item.headerSize) else {
          throw PackError(.internalError, "the tar header of '\(item.entry.path)' is \(header.count) bytes, not \(item.headerSize)")
        }
        let from = Int(headerRange.lowerBound - item.start)
        let to = Int(headerRange.lowerBound - frame.range.lowerBound)
        var whole = content.mutableByteSpan
        var target = whole._mutatingExtracting(to..<to + headerRange.count)
        copy(header.byteSpan.extracting(from..<from + headerRange.count), to: &target)
      }
      if item.entry.kind != .directory, !item.isLink {
        let part = item.dataRange.clamped(to: frame.range)
        if !part.isEmpty || item.entry.size == 0 {
          let isRead = try read(item, number, part, of: frame, into: &content)
          // Without this part there is no digest, so other workers must not wait for it.
          if !isRead, part != item.dataRange { try spanning.abandon(item.dataRange) }
        }
      }
      clear(&content, item.dataRange.upperBound..<item.end, of: frame)
    }

    /// Reads a part of a file's content, and returns whether it could. Problems are added to `sourceProblems`.
    private func read(
      _ item: TarLayout.Item, _ number: Int, _ part: Range<UInt64>, of frame: TarLayout.Frame, into content: inout [UInt8]
    ) throws(PackError) -> Bool {
      if openFile?.number != number {
        openFile = reader.open(item.entry, toReadAtOnce: part == item.dataRange).map { (number, $0) }
      }
      guard let file = openFile?.file else { return false }
      let range = part.isEmpty ? 0..<0 : Int(part.lowerBound - frame.range.lowerBound)..<Int(part.upperBound - frame.range.lowerBound)
      do {
        var whole = content.mutableByteSpan
        var target = whole._mutatingExtracting(range)
        guard reader.read(file, item.entry, at: part.lowerBound - item.dataOffset, into: &target) else { return false }
      }
      let bytes = content.byteSpan.extracting(range)
      if !reader.settings.allowsSecrets {
        if part.lowerBound == item.dataOffset { reader.checkSecrets(item.entry, start: bytes) }
        if part == item.dataRange { filled.append((number, range)) } else { checkSecrets(item, part, bytes, in: file) }
      }
      var result: [UInt8]?
      if part == item.dataRange {
        try digest.update(bytes)
        result = try digest.finish()
      } else {
        result = try spanning.add(bytes, part, of: item.dataRange)
      }
      guard let result, reader.confirm(file, item.entry) else { return true }
      if let known = builder.knownDigests[Int32(number)], known != result {
        reader.reportChange(item.entry)
      }
      builder.store(result, for: number)
      return true
    }

    /// Searches the items that are whole in a frame for secrets. Most are not looked at one by one.
    private func checkSecrets(_ frame: Span<UInt8>) {
      var candidate = -1
      for (number, range) in filled {
        if candidate < range.lowerBound {
          candidate = SecretScanner.nextCandidate(frame, in: range.lowerBound..<frame.count) ?? frame.count
        }
        let bytes = frame.extracting(range)
        guard candidate < range.upperBound || SecretScanner.mayStart(bytes) else { continue }
        var scanner = SecretScanner()
        scanner.add(bytes, isLast: true)
        let matches = scanner.matches
        if !matches.isEmpty, let file = reader.open(layout.items[number].entry) {
          reader.checkSecrets(layout.items[number].entry, file, found: matches)
        }
      }
      filled.removeAll(keepingCapacity: true)
    }

    /// Searches a part of a file for secrets. The part before it may be with another worker, so the bytes before this part are read again.
    private func checkSecrets(_ item: TarLayout.Item, _ part: Range<UInt64>, _ bytes: Span<UInt8>, in file: OpenFile) {
      let start = part.lowerBound - item.dataOffset
      var scanner = SecretScanner(from: start)
      if start > 0 {
        let count = min(start, SecretScanner.overlap)
        var before = [UInt8](repeating: 0, count: Int(count))
        var target = before.mutableByteSpan
        guard reader.read(file, item.entry, at: start - count, into: &target) else { return }
        scanner.add(before.byteSpan, isLast: false)
      }
      scanner.add(bytes, isLast: part.upperBound == item.dataRange.upperBound)
      reader.checkSecrets(item.entry, file, found: scanner.matches)
    }

    private func clear(_ content: inout [UInt8], _ range: Range<UInt64>, of frame: TarLayout.Frame) {
      let part = range.clamped(to: frame.range)
      guard !part.isEmpty else { return }
      let start = Int(part.lowerBound - frame.range.lowerBound)
      var whole = content.mutableByteSpan
      var target = whole._mutatingExtracting(start..<start + part.count)
      target.update(repeating: 0)
    }
  }

  // MARK: Index

  private func writeIndex(jobs: Int) async throws(PackError) -> Result {
    let order = layout.byPath
    let blockCount = (order.count + Limits.recordsPerBlock - 1) / Limits.recordsPerBlock
    let index = Monitor(IndexEncoder())
    let root = RootDigest(try ContentRoot(backend: backend))
    if blockCount > 0 {
      try await WorkerPool.run(min(jobs, blockCount)) { pool in
        OrderedParallelMap<IndexEncoder.Block>(count: blockCount, window: 2 * jobs, pool: pool)
      } work: { [self] (_, map) throws(PackError) in
        let encoder = try CompressionContext(strengths.index)
        try map.work { (number) throws(PackError) in
          let first = number * Limits.recordsPerBlock
          return try block(order[first..<min(first + Limits.recordsPerBlock, order.count)], encoder: encoder)
        } take: { (_, block) throws(PackError) in
          try root.add(block.rootBytes)
          index.withLock { $0.add(block) }
        }
      }
    }
    let frames = table.withLock { $0 }
    let largest = frames.reduce(0) { max($0, $1.content) }
    let head = IndexHead(
      recordCount: UInt32(order.count), largestFrame: largest,
      contentSize: layout.contentSize, tarSize: layout.tarSize, contentRoot: try root.finish())
    let start = draft.size
    try index.withLock { $0 }.finish(head, frames: frames, by: try CompressionContext(strengths.index)) { (bytes) throws(PackError) in
      try draft.append(bytes)
    }
    let launchSize = zip(layout.frames, frames).reduce(0 as UInt64) { $1.0.kind == .launch ? $0 + UInt64($1.1.compressed) : $0 }
    return Result(contentRoot: head.contentRoot, largestFrame: largest, launchSize: launchSize, indexSize: draft.size - start)
  }

  private func block(_ order: ArraySlice<Int32>, encoder: borrowing CompressionContext) throws(PackError) -> IndexEncoder.Block {
    var block = IndexEncoder.BlockEncoder()
    for number in order.map(Int.init) {
      let item = layout.items[number]
      let size = item.entry.size
      let origin = item.isLink ? layout.items[Int(item.original)] : item
      let digest = digests.withLock { Array($0[32 * number..<32 * number + 32]) }
      block.add(
        IndexRecord(
          path: Array(item.entry.path.utf8), kind: item.entry.kind, size: size, offset: size == 0 ? 0 : origin.dataOffset),
        digest: digest.byteSpan)
    }
    return try block.finish(by: encoder)
  }
}

/// The content root, to which threads add blocks one at a time.
private final class RootDigest: @unchecked Sendable {
  private let root: ContentRoot

  init(_ root: ContentRoot) {
    self.root = root
  }

  func add(_ bytes: [UInt8]) throws(PackError) {
    try root.add(bytes: bytes)
  }

  func finish() throws(PackError) -> [UInt8] {
    try root.finish()
  }
}

extension TarLayout {
  /// Returns the number of content bytes in a frame.
  func contentSize(of frame: Frame) -> UInt64 {
    frame.items.reduce(0) { $0 + UInt64(items[$1].dataRange.clamped(to: frame.range).count) }
  }
}
