/// Receives the payload of a pack from its beginning to its end. Used by one thread at a time.
package protocol PayloadSink: AnyObject, Sendable {
  func append(_ bytes: Span<UInt8>) throws(PackError)
}

/// Writes the target of a delta as the payload of a full pack (FORMAT.md §13.8), on several threads.
///
/// Frames of a base that stay as they are are taken over compressed. The others are compressed at zstd's level 3, and decompressed again to be compared.
///
/// Memory: two frames, an encoder, and a reader of the bases for each thread, at most four; ``NewContents``; and about 300 bytes for each record.
package struct PackRewriter: Sendable {
  private let plan: RewritePlan
  private let backend: any CryptoBackend
  private let progress: ProgressHandler?

  /// A compressed frame.
  private struct CodedFrame: Sendable {
    var bytes: [UInt8]
    var size: UInt32
  }

  /// zstd's. Higher ones would cost the device more energy than they save space.
  private static let level = 3
  private static let mostWorkers = 4

  /// Applies a delta to its bases, and writes what it makes as a pack file.
  ///
  /// - Parameters:
  ///   - output: A new file.
  ///   - path: Its path, for errors.
  ///   - key: The key that the delta was made with.
  ///   - limit: The largest size of the file in bytes. A larger one is not made.
  ///   - contentLimit: The largest size of the content in bytes.
  ///   - check: Throws if the tree is not the one that is wanted. Called before anything is written.
  /// - Returns: The SHA-256 and the size of the file, which is on the disk.
  /// - Throws: As ``DeltaApplication``, ``PackError/Code/limitExceeded``, and the errors of writing. The file remains.
  package static func write(
    _ delta: DeltaPack, over bases: [any DeltaBase], to output: OpenFile, path: String, key: consuming PackKey, limit: UInt64,
    contentLimit: UInt64, jobs: Int? = nil, progress: ProgressHandler? = nil,
    check: @escaping @Sendable (borrowing DeltaTarget) throws(PackError) -> Void = { _ in }
  ) async throws(PackError) -> (sha256: [UInt8], size: UInt64) {
    let key = Shared(key)
    let (application, stream, rewriter) = try await WorkerPool.value { (pool) throws(PackError) in
      let application = try DeltaApplication(delta, over: bases, contentLimit: contentLimit, checkpoint: pool.checkpoint)
      try check(application.target)
      let header = try header(of: delta, key: key.key)
      let stream = try SealedStream(
        output, path: path, limit: limit, header: header, key: key.key, files: delta.source.files, backend: delta.source.backend)
      return (application, stream, try PackRewriter(application, progress: progress))
    }
    try await rewriter.run(application, to: stream, jobs: jobs)
    return try await WorkerPool.value { (_) throws(PackError) in (try stream.finish(), stream.size) }
  }

  /// Prepares the rewriting.
  ///
  /// - Throws: The error of a base.
  package init(_ application: DeltaApplication, progress: ProgressHandler? = nil) throws(PackError) {
    plan = try RewritePlan(application)
    backend = application.delta.source.backend
    self.progress = progress
  }

  /// The largest size in bytes of a file that is made instead of one with `size` bytes. Frames that are made are compressed less than published ones,
  /// and a small pack has few that are taken over.
  package static func largestSize(for size: UInt64) -> UInt64 { size.adding(size / 100 * 3).adding(64 << 10) }

  /// Counts the bytes of a payload.
  private final class CountingSink: PayloadSink {
    private let count = Monitor<UInt64>(0)

    var size: UInt64 { count.withLock { $0 } }

    func append(_ bytes: Span<UInt8>) { count.withLock { $0 += UInt64(bytes.count) } }
  }

  /// Returns the size in bytes of the pack that a device makes, by making it without writing anything.
  package func packSize(_ application: DeltaApplication, jobs: Int? = nil) async throws(PackError) -> UInt64 {
    let sink = CountingSink()
    try await run(application, to: sink, jobs: jobs)
    // Its header has the length of the delta's.
    let layout = application.delta.source.layout
    return try SegmentLayout(payloadSize: sink.size, headerSize: Int(layout.bodyOffset), segmentSize: layout.segmentSize).packSize
  }

  /// Returns the header of a full pack with the target of a delta, and with a new salt. It is derived from the content root and 32 random bytes, because
  /// the payload is encrypted before its last byte is known (FORMAT.md §2.4).
  static func header(of delta: DeltaPack, key: borrowing PackKey) throws(PackError) -> PackHeader {
    let (own, backend) = (delta.source.header, delta.source.backend)
    var header = PackHeader(
      segmentSize: own.segmentSize, flags: 0, packVersion: own.packVersion, packID: own.packID, salt: [UInt8](repeating: 0, count: 32))
    var salt = try SaltDerivation(key: key, header: header, backend: backend)
    try salt.update(delta.head.target.byteSpan)
    var random = [UInt8](repeating: 0, count: 32)
    defer { wipe(&random) }
    var target = random.mutableByteSpan
    try backend.fillRandom(&target)
    header.salt = try salt.salt(random: random)
    return header
  }

  /// Writes the payload, and compares the content root of the target before its end.
  ///
  /// - Parameter jobs: The number of threads. Nil means the number of processors that are online; more than four are not used.
  /// - Throws: ``PackError/Code/damagedPayload`` if the target does not have the content root that the head names, and the errors of reading and writing.
  package func run(_ application: DeltaApplication, to sink: any PayloadSink, jobs: Int? = nil) async throws(PackError) {
    guard plan.frames.count <= Limits.frames - 3 else {
      throw PackError(.limitExceeded, of: application.delta.source.path, "needs more than \(Limits.frames) frames")
    }
    let workers = min(try WorkerPool.size(for: jobs), Self.mostWorkers, max(1, plan.frames.count))
    let counter = ProgressCounter(.packing, total: plan.tarSize, handler: progress)
    let new = try NewFrames(application)
    let written = Monitor<[(compressed: UInt32, content: UInt32)]>([])
    try await WorkerPool.run(workers) { [plan] pool in
      new.wakeOnStop(of: pool)
      return OrderedParallelMap<CodedFrame>(count: plan.frames.count, window: 2 * workers, pool: pool)
    } work: { [plan] (pool, map) throws(PackError) in
      let worker = try FrameWorker(application, new, pool)
      try map.work { (number) throws(PackError) in
        try worker.make(plan.frames[number], number)
      } take: { (number, frame) throws(PackError) in
        try sink.append(frame.bytes.byteSpan)
        written.withLock { $0.append((UInt32(frame.bytes.count), frame.size)) }
        counter.add(UInt64(frame.size))
      }
    }
    let digests = new.digests
    try await WorkerPool.value { [plan, backend] (_) throws(PackError) in
      var application = application
      try application.complete(digests)
      try Self.writeIndex(of: application.target, plan, written.withLock { $0 }, root: application.delta.head.target, backend, to: sink)
    }
  }

  private static func writeIndex(
    of target: DeltaTarget, _ plan: RewritePlan, _ frames: [(compressed: UInt32, content: UInt32)], root: [UInt8],
    _ backend: any CryptoBackend, to sink: any PayloadSink
  ) throws(PackError) {
    let encoder = try CompressionContext(level: level)
    var index = IndexEncoder()
    var block = IndexEncoder.BlockEncoder()
    for record in 0..<target.count {
      block.add(
        IndexRecord(
          path: Array(target.path(of: record).utf8), kind: target.kind(of: record), size: target.size(of: record),
          offset: plan.offsets[record]),
        digest: target.digest(of: record).byteSpan)
      guard block.count == Limits.recordsPerBlock || record == target.count - 1 else { continue }
      index.add(try block.finish(by: encoder))
      block = IndexEncoder.BlockEncoder()
    }
    let head = IndexHead(
      recordCount: UInt32(target.count), largestFrame: frames.reduce(0) { max($0, $1.content) }, contentSize: target.contentSize,
      tarSize: plan.tarSize, contentRoot: root)
    try index.finish(head, frames: frames, by: encoder) { (bytes) throws(PackError) in try sink.append(bytes) }
  }

  /// Makes frames. Used by one worker only.
  private final class FrameWorker {
    private let application: DeltaApplication
    private let new: NewFrames
    private let pool: WorkerPool
    private let encoder: CompressionContext
    private let decoder: DecompressionContext
    private var segments: [SegmentReader?]
    private var readers: [(any BaseReader)?]
    private var content = [UInt8](repeating: 0, count: Int(RewritePlan.frameSize))
    private var decoded = [UInt8](repeating: 0, count: Int(RewritePlan.frameSize))
    private var compressed = [UInt8](repeating: 0, count: Limits.compressBound(Int(RewritePlan.frameSize)))

    init(_ application: DeltaApplication, _ new: NewFrames, _ pool: WorkerPool) throws(PackError) {
      self.application = application
      self.new = new
      self.pool = pool
      encoder = try CompressionContext(level: PackRewriter.level)
      decoder = try DecompressionContext()
      segments = [SegmentReader?](repeating: nil, count: application.bases.count)
      readers = [(any BaseReader)?](repeating: nil, count: application.bases.count)
    }

    deinit {
      wipe(&content)
      wipe(&decoded)
      wipe(&compressed)
    }

    func make(_ frame: RewritePlan.Frame, _ number: Int) throws(PackError) -> CodedFrame {
      switch frame {
      case .taken(let base, let place, let size): CodedFrame(bytes: try take(place, of: base), size: size)
      case .coded(let parts, let size, let turn):
        CodedFrame(bytes: try code(parts, size, turn, name: "frame \(number)"), size: UInt32(size))
      }
    }

    /// Reads the compressed frame of a base.
    private func take(_ number: Int, of base: Int) throws(PackError) -> [UInt8] {
      guard let pack = application.bases[base] as? Pack else { preconditionFailure("only packs have frames") }
      let reader = if let known = segments[base] { known } else { try SegmentReader(pack.source) }
      segments[base] = reader
      let frame = pack.table[number]
      var bytes = [UInt8](repeating: 0, count: Int(frame.compressedSize))
      var target = bytes.mutableByteSpan
      try attributing(to: pack.source.path) { () throws(PackError) in try reader.read(at: frame.offset, into: &target) }
      return bytes
    }

    private func code(_ parts: [RewritePlan.Part], _ size: Int, _ turn: Int?, name: String) throws(PackError) -> [UInt8] {
      if let turn {
        try new.withTurn(turn, pool) { (contents) throws(PackError) in try gather(parts, contents) }
      } else {
        try gather(parts, nil)
      }
      // Moved out and back, because spans of a class's own arrays cannot be lent.
      var (frame, copy): ([UInt8], [UInt8]) = ([], [])
      swap(&frame, &compressed)
      swap(&copy, &decoded)
      defer {
        swap(&frame, &compressed)
        swap(&copy, &decoded)
      }
      let content = content
      let count: Int
      do {
        var target = frame.mutableByteSpan
        count = try encoder.compress(content.byteSpan.extracting(first: size), into: &target)
      }
      do {
        var whole = copy.mutableByteSpan
        var target = whole._mutatingExtracting(first: size)
        try decoder.decompress(frame.byteSpan.extracting(first: count), into: &target, name: name)
      }
      guard equal(copy.byteSpan.extracting(first: size), content.byteSpan.extracting(first: size)) else {
        throw PackError(.internalError, "\(name) does not decompress to what was compressed")
      }
      return Array(frame[..<count])
    }

    /// Collects the content of a frame.
    private func gather(_ parts: [RewritePlan.Part], _ contents: NewContents?) throws(PackError) {
      var own: [UInt8] = []
      swap(&own, &content)
      defer { swap(&own, &content) }
      var place = 0
      for part in parts {
        let count = Int(part.size)
        switch part.source {
        case .header(let record, let target):
          let bytes = RewritePlan.header(record, target: target, application.target).bytes
          fill(&own, with: bytes[Int(part.range.lowerBound)..<Int(part.range.upperBound)], at: place)
        case .zeros: fill(&own, with: [UInt8](repeating: 0, count: count)[...], at: place)
        case .old(let base, let start):
          try reader(of: base).copy(start + part.range.lowerBound..<start + part.range.upperBound, to: &own, at: place)
        case .new(let number):
          guard let contents else { preconditionFailure("a frame with new contents has its turn") }
          try contents.skip(to: number, checkpoint: pool.checkpoint)
          var done = 0
          while done < count {
            done += try contents.withNext(count - done) { piece in
              var whole = own.mutableByteSpan
              copy(piece, to: &whole, at: place + done)
              return piece.count
            }
          }
        }
        place += count
      }
    }

    private func fill(_ buffer: inout [UInt8], with bytes: ArraySlice<UInt8>, at place: Int) {
      buffer.replaceSubrange(place..<place + bytes.count, with: bytes)
    }

    private func reader(of base: Int) throws(PackError) -> any BaseReader {
      if let known = readers[base] { return known }
      let made = try application.bases[base].makeContentReader()
      readers[base] = made
      return made
    }
  }
}

/// Lets threads read the new contents of a delta in turn: each frame needs what follows the one before.
private final class NewFrames: Sendable {
  private struct State {
    var turn = 0
  }

  private let contents: TurnContents
  private let state = Monitor(State())

  /// Used only by the thread whose turn it is.
  private final class TurnContents: @unchecked Sendable {
    let value: NewContents

    init(_ value: NewContents) {
      self.value = value
    }
  }

  init(_ application: DeltaApplication) throws(PackError) {
    contents = TurnContents(try NewContents(application))
  }

  /// The SHA-256 of each new content, after all were read.
  var digests: [UInt8] { contents.value.digests }

  func wakeOnStop(of pool: WorkerPool) {
    pool.onStop { [state] in state.wake() }
  }

  /// Waits for a turn, and runs `body` in it.
  func withTurn(_ turn: Int, _ pool: WorkerPool, _ body: (NewContents) throws(PackError) -> Void) throws(PackError) {
    state.wait { state in state.turn == turn || pool.isStopped ? () : nil }
    try pool.checkpoint()
    try body(contents.value)
    state.update { $0.turn += 1 }
  }
}
