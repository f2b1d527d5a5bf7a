/// What another compression level would bring for a pack, estimated from samples.
package struct LevelEstimate: Sendable {
  /// The name the pack is published under.
  package let id: String
  /// The size of its files in bytes.
  package let contentSize: UInt64
  /// Whether the pack was made, so that its size is known. Otherwise only the share of the saving is certain enough to print.
  package let isMade: Bool
  /// The size of the pack at its own level in bytes.
  package let size: UInt64
  /// The size at the other level in bytes.
  package let otherSize: UInt64
  /// The time that packing at the other level takes on this machine, in seconds.
  package let seconds: Double

  /// The bytes that the other level saves.
  package var saving: UInt64 { size - min(size, otherSize) }
}

extension ReleaseBuild {
  /// The size in bytes from which a pack is worth an estimate.
  package static let smallestForEstimate: UInt64 = 1_000_000

  /// The size of one sample in bytes. Smaller frames would be compressed without a trial.
  private static let sampleSize = 512 << 10

  /// Estimates for each large pack what another level would bring. Packs that are at this level are left out.
  ///
  /// On ten public games, the estimated size for the smallest level was at most 3 % of the pack too small and 11 % too large: large where content
  /// repeats at distances beyond a sample. Takes about as long as packing the samples at the other level. Small packs, and small ones among very many packs, are left out.
  ///
  /// - Parameters:
  ///   - sizes: the sizes of the packs that were made, by id.
  ///   - share: one in how many bytes is sampled.
  ///   - limit: the most bytes that are sampled in all packs together.
  /// - Returns: the estimates, the largest saving first.
  package func compare(
    with level: PackLevel, sizes: [String: UInt64] = [:], share: Int, limit: Int, progress: ProgressHandler? = nil
  ) async throws(PackError) -> [LevelEstimate] {
    var found: [(job: PackJob, order: TarLayout.Order, contentSize: UInt64)] = []
    for pack in configuration.packs where wanted.isEmpty || wanted.contains(pack.id.text) {
      try Task.checkpoint()
      let job = job(for: pack)
      guard job.settings.level != level else { continue }
      let scan = try await DirectoryScan.run(
        job.source, job.settings, files: job.files, sourceProblems: SourceProblems(job.words),
        jobs: try WorkerPool.size(for: jobs))
      guard scan.contentSize >= Self.smallestForEstimate else { continue }
      found.append((job, TarLayout.order(scan.entries), scan.contentSize))
    }
    found.sort { ($1.contentSize, $0.job.name.text) < ($0.contentSize, $1.job.name.text) }
    found = Array(found.prefix(max(1, limit / Self.sampleSize)))
    let total = found.reduce(0) { $0 + $1.contentSize }
    // Rounded up to whole samples below.
    let sampled = min(total / UInt64(share), UInt64(limit))
    var estimates: [LevelEstimate] = []
    for (job, order, contentSize) in found {
      try Task.checkpoint()
      let count = max(1, Int((Double(sampled) * Double(contentSize) / Double(total) / Double(Self.sampleSize)).rounded()))
      let result = try await sample(job, order, count: count, other: level)
      guard result.content > 0, result.size > 0 else { continue }
      let scale = Double(result.tarSize) / Double(result.content)
      let made = sizes[job.name.text]
      let size = made ?? UInt64(Double(result.size) * scale)
      estimates.append(
        LevelEstimate(
          id: job.name.text, contentSize: contentSize, isMade: made != nil, size: size,
          otherSize: UInt64(Double(size) * Double(result.otherSize) / Double(result.size)), seconds: result.seconds * scale))
    }
    return estimates.sorted { ($1.saving, $0.id) < ($0.saving, $1.id) }
  }

  /// The sums of the samples of one pack.
  private struct Samples: Sendable {
    var content = 0
    var size = 0
    var otherSize = 0
    var seconds = 0.0
    var tarSize: UInt64 = 0
  }

  private func sample(
    _ job: PackJob, _ order: TarLayout.Order, count: Int, other: PackLevel
  ) async throws(PackError) -> Samples {
    let problems = SourceProblems(job.words)
    let reader = try SourceReader(root: job.source, job.settings, files: files, sourceProblems: problems)
    let layout = try TarLayout(order, originals: order.entries.map { _ in -1 }, frameSize: Self.sampleSize)
    // Spread evenly over the tar, which is ordered by kind of file.
    let count = min(count, layout.frames.count)
    let chosen = (0..<count).map { layout.frames[(2 * $0 + 1) * layout.frames.count / (2 * count)] }
    let next = Monitor(0)
    let sums = Monitor(Samples(tarSize: layout.tarSize))
    let workers = min(try WorkerPool.size(for: jobs), count)
    try await WorkerPool.run(workers) { (pool, _) throws(PackError) in
      let own = try FrameCompressor(FrameStrengths(job.settings.level, for: layout))
      let others = try FrameCompressor(FrameStrengths(other, for: layout))
      var content = [UInt8](repeating: 0, count: Self.sampleSize)
      var compressed = [UInt8](repeating: 0, count: Limits.compressBound(Self.sampleSize))
      while let number = next.count(below: chosen.count) {
        try pool.checkpoint()
        let size = chosen[number].range.count
        guard layout.read(chosen[number], from: reader, into: &content) else { continue }
        var target = compressed.mutableByteSpan
        let ownSize = try own.compress(content.byteSpan.extracting(first: size), into: &target)
        let start = ContinuousClock.now
        let otherSize = try others.compress(content.byteSpan.extracting(first: size), into: &target)
        let time = (ContinuousClock.now - start).microseconds
        sums.withLock { sums in
          sums.content += size
          sums.size += ownSize
          sums.otherSize += otherSize
          sums.seconds += Double(time) / 1e6
        }
      }
    }
    return sums.withLock { sums in
      sums.seconds /= Double(workers)
      return sums
    }
  }
}

extension TarLayout {
  /// Fills `content` with the files of a frame at their places, and with zeros elsewhere. Returns false if a file cannot be read.
  fileprivate func read(_ frame: Frame, from reader: SourceReader, into content: inout [UInt8]) -> Bool {
    for index in content.indices { content[index] = 0 }
    for number in frame.items {
      let item = items[number]
      let part = item.dataRange.clamped(to: frame.range)
      guard item.entry.kind != .directory, !part.isEmpty else { continue }
      guard let file = reader.open(item.entry, toReadAtOnce: true) else { return false }
      var whole = content.mutableByteSpan
      var target = whole._mutatingExtracting(
        Int(part.lowerBound - frame.range.lowerBound)..<Int(part.upperBound - frame.range.lowerBound))
      guard reader.read(file, item.entry, at: part.lowerBound - item.dataOffset, into: &target) else { return false }
    }
    return true
  }
}

extension LevelEstimate {
  /// `otherSize` is an estimate, and so is `packSize` of a pack that was not made.
  package func json(level: String) -> JSON {
    [
      "type": "level-estimate", "id": .text(id), "level": .text(level), "contentSize": .number(contentSize), "isMade": .flag(isMade),
      "packSize": .number(size), "otherSize": .number(otherSize), "seconds": .number(Int(seconds.rounded())),
    ]
  }
}
