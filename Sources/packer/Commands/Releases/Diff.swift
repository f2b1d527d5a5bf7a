import ArgumentParser

/// `packer diff`
struct Diff: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows what differs between two releases, packs or folders, and what it costs.",
    discussion: HelpText.text(
      """
      Each side is a release (its directory or manifest), a pack, a folder with files, or a packer.yml for the folders that it packs. Without \
      arguments, the last recorded release is the side before, and dist the side after, or the sources if there is no dist. One argument is the \
      side before.
      """,
      more: """
        Files that were added, removed, renamed or changed are listed for each pack, the most expensive first: with their sizes, what they take in the \
        pack, and what players who have the release before download of them. Files are compressed together, and the bytes of a frame or a part of a \
        delta are divided by the lengths of the files: a small change in a large file beside a new file counts too much, the new file too little.

        Also shows what players of recorded releases download, without manifests and shards, if they have all its packs, and what is left of the \
        budgets of released apps. Differences do not change the exit status, and signatures are not checked: 'packer verify' checks.
        """,
      examples: """
        Examples:
          packer diff
          packer diff --since 12 --format markdown > comment.md
          packer diff old/dist dist --key game.key --all
          packer diff game-1.pack game-2.pack --key game.key
          packer diff dist packer.yml --json
        """))

  @Argument(help: ArgumentHelp("The one side, then the other.", valueName: "before> <after"), completion: .file())
  var sides: [String] = []

  @Option(help: ArgumentHelp("Compare with the recorded release with this manifest version. (default: the last one)", valueName: "version"))
  var since: UInt64?

  @Option(
    help: ArgumentHelp("What to print: text, or markdown for a pull request.", valueName: "format"),
    completion: .list(Format.allCases.map(\.rawValue)))
  var format = Format.text

  @Flag(name: .customLong("all"), help: "List all files, not only the most expensive ones.")
  var showsAll = false

  @OptionGroup var exclusion: ExcludeOption

  @Flag(name: .customLong("follow-symlinks"), help: "Follow symbolic links inside folders.")
  var followsSymlinks = false

  @OptionGroup var configuration: ConfigurationOption

  @OptionGroup var lockFile: LockOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var output: OutputOptions

  /// The forms of the report.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case text
    case markdown
  }

  func validate() throws {
    guard sides.count <= 2 else { throw ValidationError("'\(sides[2])' is a third side: name two") }
    guard since == nil || sides.count < 2 else { throw ValidationError("--since names the side before, and both sides were given") }
    guard !output.isJSON || format == .text else { throw ValidationError("--json and --format markdown exclude each other") }
  }

  /// The largest number of bytes of a report in Markdown without `--all`. GitHub takes comments of 65,536 characters.
  private static let longestComment = 60_000
  /// The largest number of files that are listed for each pack without `--all`.
  private static let mostFiles = 10

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let side = sides.first(where: \.isEmpty) {
      throw PackError(.usage, "a side is '\(side)'", hint: "name a release, a pack or a folder")
    }
    let configuration = try readConfiguration()
    let jobs = try threads.count()
    let place = sides.count == 2 || since != nil && sides.count == 1 ? sides[sides.count - 1] : nil
    let built = ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    // Without a release, the sources: a pull request from a fork has no keys, and nothing is built.
    let sources = ReleasePlaces.exists(built) ? nil : configuration?.path
    let target = place ?? sources ?? built
    if place == nil, sources == nil { try ReleasePlaces.checkPresence(of: nil, configuration: configuration) }
    let earlier = sides.count == 2 || since == nil && sides.count == 1 ? sides[0] : nil
    // That of another project says nothing about two sides that were named.
    let hasLock = configuration != nil || lockFile.lock != nil || sides.isEmpty
    let lockPath = hasLock ? ReleasePlaces.lockFile(lockFile.lock, beside: configuration, of: target) : nil
    let lock = try lockPath.map { (path) throws(PackError) in try ReleaseLock.read(path) }
    let resolved = try key(configuration, earlier, target, in: session)
    let before =
      if let earlier { try side(earlier, resolved) } else {
        Comparison.Side.release(try recorded(lock, configuration, target))
      }
    let after = try side(target, resolved)
    var comparison = Comparison(from: before, to: after, key: resolved)
    (comparison.excludes, comparison.followsSymlinks) = (try exclusion.patterns(), followsSymlinks)
    comparison.jobs = jobs ?? WorkerPool.defaultSize
    if let lock {
      comparison.apps = lock.apps
      comparison.history = configuration.flatMap { ReleaseHistory(lock, $0) }
    }
    let report = try await session.withProgress { [comparison] (progress) async throws(PackError) in
      try await comparison.run(progress: progress)
    }
    show(report, on: session.console)
    return .done
  }

  // MARK: Sides

  /// Reads the configuration: the one that was named, a side that is one, that above a release that is a side, or without sides the one in the working
  /// directory. Returns nil if there is none.
  private func readConfiguration() throws(PackError) -> PackerConfiguration? {
    if configuration.path != nil { return try configuration.read() }
    if let side = sides.last(where: ReleasePlaces.isConfigurationPath) { return try ReleasePlaces.configuration(at: side) }
    if sides.count < 2 { return try ReleasePlaces.configuration(at: nil) }
    let releases = sides.reversed().filter { $0.hasSuffix(".json") || isRelease($0) }
    guard let path = releases.lazy.compactMap(ReleasePlaces.configuration(above:)).first else { return nil }
    return try ReleasePlaces.configuration(at: path)
  }

  /// Whether a path is that of one pack, which has to be opened.
  private func isPack(_ path: String) -> Bool {
    !ReleasePlaces.isReleasePath(path) && !ReleasePlaces.isConfigurationPath(path)
  }

  /// Returns the key. Packs that were named need it; without it, the files of releases are not compared.
  private func key(
    _ configuration: PackerConfiguration?, _ before: String?, _ after: String, in session: Session
  ) throws(PackError) -> Shared<PackKey>? {
    if let pack = [before, after].compactMap(\.self).first(where: isPack) {
      guard configuration?.key == nil || !key.references.isEmpty else {
        return Shared(try session.key(key, configured: configuration))
      }
      return Shared(try session.key(key, for: pack))
    }
    if let before, [before, after].allSatisfy({ ReleasePlaces.isConfigurationPath($0) || ReleasePlaces.isDirectory($0) && !isRelease($0) })
    {
      return nil
    }
    do throws(PackError) {
      return Shared(try session.key(key, configured: configuration))
    } catch {
      guard key.references.isEmpty, error.code == .noKey || error.code == .missingInput else { throw error }
      session.console.warning(
        "files are not compared, only packs: \(error.message)", hint: "give the key with --key REF, or name it in packer.yml")
      return nil
    }
  }

  private func isRelease(_ path: String) -> Bool {
    ReleasePlaces.exists(path.hasSuffix("/") ? path + ReleaseFile.manifest : "\(path)/\(ReleaseFile.manifest)")
  }

  private func side(_ path: String, _ key: Shared<PackKey>?) throws(PackError) -> Comparison.Side {
    if ReleasePlaces.isConfigurationPath(path) { return .sources(try PackerConfiguration.read(path)) }
    if path.hasSuffix(".json") || isRelease(path) { return .release(try ComparedRelease(reading: path)) }
    if ReleasePlaces.isDirectory(path) { return .folder(path) }
    guard let key else { throw PackError(.noKey, "no key was given", hint: "give the key of \(path) with --key REF") }
    let pack = try naming(path) { () throws(PackError) in try Pack.open(path, key: key.key) }
    return .pack(pack, path: path)
  }

  /// Returns the recorded release that `--since` names, or the last one.
  private func recorded(
    _ lock: ReleaseLock?, _ configuration: PackerConfiguration?, _ target: String
  ) throws(PackError) -> ComparedRelease {
    guard let lock, let last = lock.released else {
      throw PackError(
        .missingInput, "no release was recorded, so there is none to compare \(target) with",
        hint: "name both sides, as in: packer diff old/dist dist")
    }
    let folder = ReleasedPacks(of: configuration)
    let release = try since.map { (version) throws(PackError) in try folder.release(version, orLast: last) } ?? last
    return ComparedRelease(release, in: folder, or: ReleasePlaces.directory(of: target))
  }

  // MARK: Output

  private func show(_ report: DifferenceReport, on console: Console) {
    if report.isOutOfOrder {
      console.warning("\(report.after) is older than \(report.before): devices refuse it", hint: "name the older release first")
    }
    if format == .markdown {
      console.lines(report.markdown(mostFiles: showsAll ? .max : Self.mostFiles, limit: showsAll ? .max : Self.longestComment))
      return
    }
    console.result(report.json, ["before: \(report.before)", "after:  \(report.after)", report.summary])
    for pack in report.packs where pack.isChanged {
      let text = DifferenceText(pack, mostFiles: showsAll ? .max : Self.mostFiles)
      console.result(pack.json, text.heading + text.files)
      if console.isJSON {
        for change in pack.changes { console.result(change) }
      }
    }
    let downloads = report.downloads.map { update in
      let (size, full) = ("\(ByteCount(update.size))", "\(ByteCount(update.packSize))")
      let whole = size == full ? "" : "instead of \(full)"
      let app = update.sizeWithApp > update.size ? "\(ByteCount(update.sizeWithApp)) with a new app" : ""
      return ["manifest \(update.manifest)", size, whole, app]
    }
    if !downloads.isEmpty, !console.isJSON { console.output(lines: ["download by players who have all packs of"]) }
    for (update, line) in zip(report.downloads, Table.columns(downloads, numbers: [1])) {
      console.result(update.json, [line])
    }
    let rows = report.room.flatMap { room in room.amounts.map { [room.title, $0.key, DifferenceText.room($0)] } }
    if !rows.isEmpty, !console.isJSON { console.output(lines: ["left in released apps"] + Table.columns(rows, numbers: [])) }
    if console.isJSON { for room in report.room { console.result(room.json) } }
  }
}

/// Formats what differs in a pack as lines of text.
struct DifferenceText {
  let heading: [String]
  let files: [String]

  init(_ pack: PackDifference, mostFiles: Int) {
    heading = Self.heading(pack)
    let changes = pack.files?.changes ?? []
    let obstacle = pack.updateObstacle.map { ["  what players download of each file is not known: \($0)"] } ?? []
    guard !changes.isEmpty else {
      files = (pack.obstacle.map { ["  files are not compared: \($0)"] } ?? []) + obstacle
      return
    }
    let hasPack = changes.contains { $0.after?.packedSize != nil }
    let hasUpdate = changes.contains { $0.updateSize != nil }
    var rows = [["", "", "size"] + (hasPack ? ["in the pack"] : []) + (hasUpdate ? ["update"] : []) + ["path"]]
    for change in changes.prefix(mostFiles) {
      let growth = change.before.flatMap { before in change.after.map { Self.growth(before.size, $0.size) } } ?? ""
      func cell(_ size: UInt64?) -> String { change.isDirectory ? "" : size.map { "\(ByteCount($0))" } ?? "" }
      var row = [change.kind.rawValue, growth, cell((change.after ?? change.before)?.size)]
      if hasPack { row.append(cell(change.after?.packedSize)) }
      if hasUpdate { row.append(cell(change.updateSize)) }
      let path = change.path + (change.isDirectory ? "/" : "")
      let moved = change.kind == .renamed ? "\(change.before?.path ?? "") -> \(path)" : path
      rows.append(row + [moved + (change.note.map { " (\($0))" } ?? "")])
    }
    var lines = Table.columns(rows, numbers: hasPack && hasUpdate ? [1, 2, 3, 4] : hasPack || hasUpdate ? [1, 2, 3] : [1, 2])
    let rest = changes.dropFirst(mostFiles)
    if !rest.isEmpty {
      let sum = TreeChanges.sum(rest)
      var parts: [String] = []
      if sum.count > 0 {
        parts.append("\(ByteCount(sum.size)) in \(sum.count)")
        if hasPack { parts.append("\(ByteCount(sum.packedSize)) in the pack") }
        if hasUpdate { parts.append("\(ByteCount(sum.updateSize)) to download") }
      }
      if sum.removed > 0 { parts.append("\(sum.removed) removed, \(ByteCount(sum.removedSize))") }
      lines.append("  and \(rest.count) more: \(parts.joined(separator: ", "))")
    }
    files = lines + obstacle
  }

  private static func heading(_ pack: PackDifference) -> [String] {
    // Without packs, there is nothing to say of trees.
    guard let id = pack.id ?? (pack.before?.packSize == nil && pack.after?.packSize == nil ? nil : "pack") else { return [] }
    var parts = ["\(pack.kind == .repacked ? "packed again without changes" : pack.kind.rawValue)"]
    // A directory has neither version nor packed size.
    let before = pack.after == nil || pack.after?.version != nil ? pack.before : nil
    parts +=
      [
        change(before?.version.map { "\($0)" }, pack.after?.version.map { "\($0)" }).map { "version \($0)" },
        change(before?.packSize.map { "\(ByteCount($0))" }, pack.after?.packSize.map { "\(ByteCount($0))" }),
      ].compactMap(\.self)
    if let delivery = pack.delivery { parts.append("\(delivery.before.rawValue) -> \(delivery.after.rawValue)") }
    if let update = pack.update {
      parts.append("players download \(ByteCount(update.size)), \(update.isDelta ? "a delta" : "the whole pack")")
    }
    return ["\(id): \(parts.joined(separator: ", "))"]
  }

  private static func change(_ before: String?, _ after: String?) -> String? {
    guard let before, before != after else { return after }
    return after.map { "\(before) -> \($0)" } ?? before
  }

  private static func growth(_ before: UInt64, _ after: UInt64) -> String {
    before == after ? "" : after > before ? "+\(ByteCount(after - before))" : "-\(ByteCount(before - after))"
  }

  static func room(_ amount: AppRoom.Amount) -> String {
    amount.fits
      ? "\(ByteCount(amount.difference)) of \(ByteCount(amount.limit))"
      : "none: needs \(ByteCount(amount.difference)) more than \(ByteCount(amount.limit))"
  }
}
