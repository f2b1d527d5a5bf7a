package import PackBuild
import PackCrypto
import PackFiles
package import PackFormat
import PackProject
package import PackReading

/// Finds out what would make the packs of a configuration smaller, by packing their sources in other ways.
///
/// Each pack is packed up to six times, and once more for each group of packs that share files. Memory: that of packing, and about 200 bytes for each
/// file of 4 KiB or more.
package struct Adviser: Sendable {
  private let build: ReleaseBuild
  private let scratch: String
  /// What browsers loaded.
  package var run: LoadRun?
  /// The names of the packs to look at. If empty, all.
  package var only: Set<String> = []

  /// Savings below this share of a pack are left out, in thousandths.
  private static let leastShare: UInt64 = 10
  /// The sum of the sizes from which files of several packs are worth a shared one, in bytes.
  private static let smallestShared: UInt64 = 64 << 10
  /// The sum of packed sizes from which media of one kind are named, in bytes.
  private static let smallestMedia: UInt64 = 50_000
  /// The time after the first request that counts as the start, in milliseconds.
  package static let start: UInt64 = 5000

  /// - Parameter scratch: an empty directory for trial packs, which the caller removes. It needs room for the largest pack.
  package init(_ build: ReleaseBuild, scratch: String) { (self.build, self.scratch) = (build, scratch) }

  /// What the run had of a pack is of other content than the sources have.
  package struct Result: Sendable {
    /// The proposals, the largest savings first.
    package var advice: [Advice] = []
    /// The packs whose recorded run is of other content than the sources, so that it was not used.
    package var otherRuns: [String] = []
  }

  /// Packs in all ways, and returns what saves something.
  ///
  /// - Throws: the error of a source, ``PackError/Code/noSpace`` or ``PackError/Code/cancelled``.
  package func run(progress: ProgressHandler? = nil) async throws(PackError) -> Result {
    var (result, shares) = (Result(), FileShares())
    for pack in build.configuration.packs where only.isEmpty || only.contains(pack.id.text) {
      try await look(at: pack, &result, &shares, progress: progress)
    }
    for group in shares.groups where group.size >= Self.smallestShared {
      if let advice = try await share(group, progress: progress) { result.advice.append(advice) }
    }
    result.advice = result.advice.enumerated().sorted { ($1.element.saving, $0.offset) < ($0.element.saving, $1.offset) }.map(\.element)
    return result
  }

  private var path: String { "\(scratch)/trial.pack" }

  // MARK: One pack

  private func look(
    at pack: PackerConfiguration.Pack, _ result: inout Result, _ shares: inout FileShares, progress: ProgressHandler?
  ) async throws(PackError) {
    let key = try PackKey.random()
    let clock = ContinuousClock()
    let begin = clock.now
    let base = try await build.trial(of: pack, to: path, key: key, progress: progress)
    let baseTime = clock.now - begin
    let id = pack.id.text
    var found: [Advice] = []
    func add(_ kind: Advice.Kind, _ size: UInt64, _ text: String, _ remedy: String) {
      guard size < base.packSize, (base.packSize - size) * 1000 >= base.packSize * Self.leastShare else { return }
      found.append(
        Advice(kind: kind, packs: [id], text: text, remedy: remedy, saving: base.packSize - size, size: base.packSize))
    }

    let list: FileList
    do {
      let opened = try Pack.open(path, key: key)
      list = try FileList(opened, try PackedSizes(opened))
    }
    shares.add(list, of: pack, size: base.packSize)
    found += media(list, in: id, base.packSize)

    if PackLevel(pack.level)?.zstdLevel ?? 0 < PackLevel.smallest.zstdLevel {
      let begin = clock.now
      let trial = try await build.trial(of: pack, to: path, level: .smallest, key: key, progress: progress)
      let times = (clock.now - begin) / baseTime
      let effort = times < 2 ? "" : ", and packing takes \(Int(times.rounded())) times as long"
      add(
        .level, trial.packSize, "level \(PackLevel.smallestName) makes it smaller\(effort)",
        "set 'level: \(PackLevel.smallestName)' for it in \(build.configuration.path)")
    }
    if pack.frameSize != nil {
      let trial = try await build.trial(of: pack, to: path, frameSize: false, key: key, progress: progress)
      add(
        .frames, trial.packSize, "the frame size of the level makes it smaller", "remove 'frameSize', unless single files must be read fast"
      )
    }
    if !base.unneeded.isEmpty {
      let patterns = base.unneeded.map(\.pattern)
      let trial = try await build.trial(of: pack, to: path, excluding: patterns, key: key, progress: progress)
      let count = base.unneeded.reduce(0) { $0 + $1.files }
      let reasons = base.unneeded.prefix(3).map { "\($0.pattern) (\($0.reason))" }.joined(separator: ", ")
      add(
        .unneeded, trial.packSize, "players hardly need \(count == 1 ? "1 file" : "\(count) files"): \(reasons)",
        "exclude: [\(patterns.map { "\"\($0)\"" }.joined(separator: ", "))]")
    }
    if let run = run?.packs.first(where: { $0.id == id }) {
      if run.contentRoot == base.contentRoot {
        try await look(at: run, list, of: pack, base.packSize, key, &found, progress: progress)
      } else {
        result.otherRuns.append(id)
      }
    }
    result.advice += found
  }

  /// What a recorded run says about a pack.
  private func look(
    at run: LoadRun.Pack, _ list: FileList, of pack: PackerConfiguration.Pack, _ size: UInt64, _ key: borrowing PackKey,
    _ found: inout [Advice], progress: ProgressHandler?
  ) async throws(PackError) {
    let all = Set(list.items.lazy.filter { $0.kind != .directory }.map(\.path))
    let unused = Set((run.unused ?? []).map(\.path)).intersection(all)
    if !unused.isEmpty, unused.count < all.count {
      let trial = try await build.trial(of: pack, to: path, without: unused, key: key, progress: progress)
      if trial.packSize < size {
        found.append(
          Advice(
            kind: .unused, packs: [run.id],
            text: "the recorded run did not load \(unused.count) of \(all.count) files",
            remedy: "make them an onDemand pack, or exclude them",
            saving: size - trial.packSize, size: size))
      }
    }
    let begin = run.requests.map(\.milliseconds).min() ?? 0
    let first = Set(run.requests.lazy.filter { $0.milliseconds < begin.adding(Self.start) }.map(\.path)).intersection(all)
    if !first.isEmpty, first.count < all.count {
      let trial = try await build.trial(of: pack, to: path, without: all.subtracting(first), key: key, progress: progress)
      if trial.packSize < size {
        found.append(
          Advice(
            kind: .start, packs: [run.id],
            text: "the first \(Self.start / 1000) seconds of the recorded run load \(first.count) of \(all.count) files, "
              + "\(ByteCount(trial.packSize)) as a pack of their own",
            remedy: "make these files the essential pack, and the rest a prefetch one",
            saving: size - trial.packSize, size: size))
      }
    }
  }

  /// Formats that are larger than browsers need, by the end of the name.
  private static let media: [(endings: [String], text: String)] = [
    (["wav", "aif", "aiff"], "Opus, AAC or MP3"), (["bmp", "tga", "tif", "tiff"], "PNG or WebP"), (["png"], "WebP or AVIF"),
    (["gif"], "WebP or a video"), (["ttf", "otf"], "WOFF2"),
  ]

  private func media(_ list: FileList, in id: String, _ size: UInt64) -> [Advice] {
    Self.media.compactMap { endings, other in
      let files = list.items.filter { item in
        item.kind != .directory && endings.contains { item.path.lowercased().hasSuffix(".\($0)") }
      }
      let packed = files.reduce(0 as UInt64) { $0.adding($1.packedSize ?? 0) }
      guard packed >= Self.smallestMedia, packed * 20 >= size else { return nil }
      let names = files.count == 1 ? "1 file" : "\(files.count) files"
      return Advice(
        kind: .media, packs: [id], text: "\(names) *.\(endings[0]) take \(ByteCount(packed)) of it", remedy: "try \(other), and compare",
        saving: 0, size: size)
    }
  }

  // MARK: Several packs

  /// Packs the files that a group of packs shares as a pack of their own, and the packs without them.
  private func share(_ group: FileShares.Group, progress: ProgressHandler?) async throws(PackError) -> Advice? {
    let key = try PackKey.random()
    var (before, after) = (0 as UInt64, 0 as UInt64)
    for member in group.members {
      before += member.size
      guard member.paths.count < member.fileCount else { continue }
      after += try await build.trial(of: member.pack, to: path, without: member.paths, key: key, progress: progress).packSize
    }
    guard let first = group.members.first else { return nil }
    after += try await build.trial(of: first.pack, to: path, without: first.others, key: key, progress: progress).packSize
    guard after < before, (before - after) * 1000 >= before * Self.leastShare else { return nil }
    let ids = group.members.map(\.pack.id.text)
    let names = group.contentCount == 1 ? "1 file is" : "\(group.contentCount) files are"
    return Advice(
      kind: .shared, packs: ids, text: "\(names) in each of \(ids.count) packs, such as '\(first.paths.sorted()[0])'",
      remedy: "make a pack of these files, and name it as the 'base' of the others", saving: before - after, size: before)
  }
}
