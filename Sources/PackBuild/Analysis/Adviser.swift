/// Finds out what would make the packs of a configuration smaller, by packing their sources in other ways.
///
/// Each pack is packed up to eleven times, and once more for each group of packs that share files. Memory: that of packing, and about 200 bytes for each
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
  /// The bytes that media of one kind take at least to be named.
  private static let smallestMedia: UInt64 = 50_000
  /// The time after the first request that counts as the start, in milliseconds.
  package static let start = LoadOrder.assumedLaunch

  /// - Parameter scratch: an empty directory for trial packs, which the caller removes. It needs room for the largest pack.
  package init(_ build: ReleaseBuild, scratch: String) { (self.build, self.scratch) = (build, scratch) }

  /// What was found.
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
    result.advice = result.advice.enumerated().sorted { (Self.rank($1.element), $0.offset) < (Self.rank($0.element), $1.offset) }.map(
      \.element)
    return result
  }

  private var path: String { "\(scratch)/trial.pack" }

  /// Savings come first, then what comes later, then what was not tried.
  private static func rank(_ advice: Advice) -> UInt64 {
    advice.kind.isSaving ? advice.bytes.adding(1 << 62) : advice.kind == .media ? 0 : advice.bytes
  }

  private static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }

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
        Advice(kind: kind, packs: [id], text: text, remedy: remedy, bytes: base.packSize - size, size: base.packSize))
    }

    let opened = try Pack.open(path, key: key)
    let list = try FileList(opened, nil)
    let unneeded = base.unneeded.map(\.pattern)
    shares.add(list, of: pack, size: base.packSize) { DirectoryScan.doesExclude($0, isDirectory: false, by: unneeded) }
    for (endings, other) in Self.media {
      if let advice = try await media(endings, other, list, of: pack, base.packSize, key, progress: progress) { found.append(advice) }
    }

    if pack.settings.level.zstdLevel < PackLevel.smallest.zstdLevel {
      let begin = clock.now
      let trial = try await build.trial(of: pack, to: path, level: .smallest, key: key, progress: progress)
      let times = (clock.now - begin) / baseTime
      // Short times are mostly those of the disk.
      let effort = times < 2 || baseTime < .seconds(1) ? "" : ", and packing takes \(Int(times.rounded())) times as long"
      add(
        .level, trial.packSize, "level \(PackLevel.smallestName) makes it smaller\(effort)",
        "set 'level: \(PackLevel.smallestName)' for it in \(build.configuration.path)")
    }
    if !unneeded.isEmpty {
      let trial = try await build.trial(of: pack, to: path, excluding: unneeded, key: key, progress: progress)
      let count = base.unneeded.reduce(0) { $0 + $1.files }
      let reasons = base.unneeded.prefix(3).map { "\($0.pattern) (\($0.reason))" }.joined(separator: ", ")
      add(
        .unneeded, trial.packSize, "players hardly need \(Self.files(count)): \(reasons)",
        "exclude: [\(unneeded.map { "\"\($0)\"" }.joined(separator: ", "))]")
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

  /// What the launch would read less if the pack were laid out by it.
  private func layout(
    _ order: LoadOrder, of pack: PackerConfiguration.Pack, _ size: UInt64, _ key: borrowing PackKey, progress: ProgressHandler?
  ) async throws(PackError) -> Advice? {
    func launchSize(_ layout: LoadOrder?, _ key: borrowing PackKey) async throws(PackError) -> UInt64 {
      _ = try await build.trial(of: pack, to: path, order: layout, key: key, progress: progress)
      return try order.launchSize(in: try Pack.open(path, key: key))
    }
    let (before, after) = (try await launchSize(nil, key), try await launchSize(order, key))
    guard after < before, (before - after) * 1000 >= size * Self.leastShare else { return nil }
    return Advice(
      kind: .layout, packs: [pack.id.text],
      text: "the launch of the recorded run reads \(ByteCount(before)) of the pack, and \(ByteCount(after)) if its files come first",
      remedy: "record some runs with 'packer serve --layout \(pack.id).order', and set 'layout: \(pack.id).order' for it",
      bytes: before - after, size: size)
  }

  /// What a recorded run says about a pack.
  private func look(
    at run: LoadRun.Pack, _ list: FileList, of pack: PackerConfiguration.Pack, _ size: UInt64, _ key: borrowing PackKey,
    _ found: inout [Advice], progress: ProgressHandler?
  ) async throws(PackError) {
    let all = Set(list.files.map(\.path))
    func add(_ kind: Advice.Kind, without files: Set<String>, _ text: (UInt64) -> String, _ remedy: String) async throws(PackError) {
      guard !files.isEmpty, files.count < all.count else { return }
      let rest = try await build.trial(of: pack, to: path, without: files, key: key, progress: progress).packSize
      guard rest < size else { return }
      found.append(
        Advice(
          kind: kind, packs: [run.id], text: text(rest), remedy: remedy, bytes: size - rest, size: size,
          files: (kind == .start ? all.subtracting(files) : files).sorted { $0.precedes($1) }))
    }
    if pack.layout == nil, let advice = try await layout(LoadOrder(run), of: pack, size, key, progress: progress) { found.append(advice) }
    let begin = run.requests.map(\.milliseconds).min() ?? 0
    let first = Set(run.requests.lazy.filter { $0.milliseconds < begin.adding(Self.start) }.map(\.path)).intersection(all)
    let unused = Set((run.unused ?? []).map(\.path)).intersection(all)
    try await add(
      .start, without: all.subtracting(first),
      { rest in
        "the first \(Self.start / 1000) seconds of the recorded run load \(first.count) of \(all.count) files, "
          + "\(ByteCount(rest)) as a pack of their own"
      },
      "if players wait for this game, make the other files a pack, and mount it in a directory of the game: SERVING.md, Several packs on one page"
    )
    guard unused != all.subtracting(first) else { return }
    try await add(
      .unused, without: unused, { _ in "the recorded run did not load \(unused.count) of \(all.count) files" },
      "if the run was a long one, make them an onDemand pack")
  }

  /// Formats that are larger than browsers need, by the end of the name.
  private static let media: [(endings: [String], text: String)] = [
    (["wav", "aif", "aiff"], "Opus, AAC or MP3"), (["bmp", "tga", "tif", "tiff"], "PNG or WebP"), (["png"], "WebP or AVIF"),
    (["gif"], "WebP or a video"), (["ttf", "otf"], "WOFF2"),
  ]

  private func media(
    _ endings: [String], _ other: String, _ list: FileList, of pack: PackerConfiguration.Pack, _ size: UInt64, _ key: borrowing PackKey,
    progress: ProgressHandler?
  ) async throws(PackError) -> Advice? {
    let all = list.files
    let files = all.filter { item in endings.contains { item.path.lowercased().hasSuffix(".\($0)") } }
    let content = files.reduce(0 as UInt64) { $0.adding($1.size) }
    guard content >= Self.smallestMedia, content * 20 >= size else { return nil }
    let paths = Set(files.map(\.path))
    let rest =
      files.count == all.count
      ? 0 : try await build.trial(of: pack, to: path, without: paths, key: key, progress: progress).packSize
    guard rest < size, size - rest >= Self.smallestMedia, (size - rest) * 20 >= size else { return nil }
    let found = Set(paths.compactMap { path in endings.first { path.lowercased().hasSuffix(".\($0)") } }).sorted()
    let names = found.map { "*.\($0)" }.joined(separator: ", ")
    return Advice(
      kind: .media, packs: [pack.id.text],
      text:
        "\(Self.files(files.count)), \(names), take\(files.count == 1 ? "s" : "") \(ByteCount(size - rest)) of it",
      remedy: "try \(other), and compare", bytes: size - rest, size: size, files: paths.sorted { $0.precedes($1) })
  }

  // MARK: Several packs

  /// Packs the files that a group of packs shares as a pack of their own, and the packs as deltas over it.
  private func share(_ group: FileShares.Group, progress: ProgressHandler?) async throws(PackError) -> Advice? {
    let key = try PackKey.random()
    guard let first = group.members.first else { return nil }
    let shared = "\(scratch)/shared.pack"
    let sharedSize = try await build.trial(of: first.pack, to: shared, without: first.others, key: key, progress: progress).packSize
    var after = sharedSize
    let base = try Pack.open(shared, key: key)
    for member in group.members {
      _ = try await build.trial(of: member.pack, to: path, key: key, progress: progress)
      var job = DeltaJob(from: base, to: try Pack.open(path, key: key), output: "\(scratch)/trial.delta")
      job.jobs = build.jobs
      let delta = try await job.run(key: key, progress: progress).deltaSize
      after += build.isWorth(delta, insteadOf: member.size) ? delta : member.size
    }
    let before = group.members.reduce(0 as UInt64) { $0.adding($1.size) }
    guard after < before, (before - after) * 1000 >= before * Self.leastShare else { return nil }
    let paths = first.paths.sorted { $0.precedes($1) }
    let isEssential = group.members.contains { $0.pack.delivery == .essential && $0.pack.settings.order == nil }
    let essential = isEssential ? "; essential packs still come whole with a new app" : ""
    return Advice(
      kind: .shared, packs: group.members.map(\.pack.id.text),
      text:
        "\(Self.files(group.contentCount)) \(group.contentCount == 1 ? "is" : "are") in each of \(group.members.count) packs, such as '\(paths[0])'",
      remedy:
        "copy them into a pack of their own, such as 'shared', and set 'base: shared' for the others, which keep them: "
        + "players download less, allowances and devices need \(ByteCount(sharedSize)) more\(essential)",
      bytes: before - after, size: before,
      files: paths)
  }
}
