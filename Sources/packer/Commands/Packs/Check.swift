import ArgumentParser

/// `packer check`
struct Check: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks every byte of packs.",
    discussion: """
      Every tag and every digest is checked, and the index is compared with the archive as an independent reader sees it. With --against, every \
      difference from the directory is a finding. With --include only matching files are read and compared with their digests, and the index is not \
      compared with the archive. Of a delta, every tag is checked and what it says about itself; what it makes is checked when it is applied \
      ('packer unpack'). The exit status is the largest of all packs. 'packer verify' checks a release.

      Examples:
        packer check game.pack --key game.key
        packer check game.pack --key game.key --against build/game
      """)

  @Argument(help: "The packs.", completion: .file())
  var files: [String]

  @OptionGroup var part: PartOption

  @Option(name: .customLong("against"), help: "The directory that the pack was made from.", completion: .directory)
  var tree: String?

  @OptionGroup var exclusion: ExcludeOption

  @Flag(name: .customLong("follow-symlinks"), help: "Follow symbolic links in that directory, as 'packer pack' did.")
  var followsSymlinks = false

  @OptionGroup var check: CheckOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard tree != nil || exclusion.globs.isEmpty && !followsSymlinks else {
      throw PackError(
        .usage, "--exclude and --follow-symlinks need a directory to compare with",
        hint: "give it with --against DIR")
    }
    guard tree == nil || part.includes.isEmpty else {
      throw PackError(.usage, "--against compares whole packs, and --include was given", hint: "give one of them")
    }
    if let release = files.first(where: ReleasePlaces.isReleasePath) {
      throw PackError(.usage, "'\(release)' is a release, not a pack", hint: "packer verify \(ShellWord.path(release))")
    }
    let jobs = try threads.count()
    let name = try check.name()
    let selection = try part.selection()
    let excludes = try exclusion.patterns()
    // Before a key is read.
    if files.count == 1, !ReleasePlaces.exists(files[0]) {
      throw PackError(.missingInput, of: files[0], "does not exist", hint: "name a pack, as in dist/*.pack")
    }
    let resolved = try session.key(key, for: files[0])
    var outcomes = Outcomes()
    for file in files {
      try Task.checkCancelled()
      do throws(PackError) {
        let checked: Checked = try await naming(file) { () async throws(PackError) in
          try await session.withProgress { (progress) async throws(PackError) in
            if let delta = try DeltaPack.ifPresent(file, key: resolved) { return .delta(try check(delta, name, progress)) }
            let pack = try Pack.open(file, key: resolved)
            if let name { try pack.source.checkName(name) }
            let allowsUnportablePaths = try check.allowsUnportablePaths(in: file)
            if let selection {
              let part = try PackPart(pack, selection)
              try await part.verify(allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
              return .part(part, pack)
            }
            let report = try await PackVerification.run(
              pack, against: tree, excludes: excludes, followsSymlinks: followsSymlinks, allowsUnportablePaths: allowsUnportablePaths,
              jobs: jobs, progress: progress)
            return .whole(report)
          }
        }
        outcomes.add(show(checked, of: file, on: session.console))
      } catch {
        try outcomes.add(error, of: file, to: session.console)
      }
    }
    return outcomes.worst
  }

  /// What was checked.
  private enum Checked {
    case whole(VerificationReport)
    case part(PackPart, Pack)
    case delta(DeltaPack)
  }

  private func check(_ delta: DeltaPack, _ name: PackName?, _ progress: ProgressHandler?) throws(PackError) -> DeltaPack {
    guard tree == nil, part.includes.isEmpty else {
      throw PackError(.usage, of: delta.source.path, "is a delta, which has no files before it is applied", advice: .chooseBase)
    }
    if let name { try delta.source.checkName(name) }
    let size = delta.source.layout.payloadSize
    try delta.authenticate { (done) throws(PackError) in
      try Task.checkCancelled()
      progress?(PackProgress(phase: .verifying, done: done, total: size))
    }
    return delta
  }

  private func show(_ checked: Checked, of file: String, on console: Console) -> Outcome {
    switch checked {
    case .whole(let report): show(report, of: file, on: console)
    case .part(let part, let pack): show(part, of: pack, file, on: console)
    case .delta(let delta): show(delta, file, on: console)
    }
  }

  private func show(_ delta: DeltaPack, _ file: String, on console: Console) -> Outcome {
    let layout = delta.source.layout
    console.result(
      [
        "type": "file", "file": .text(file), "ok": true, "packSize": .number(layout.packSize), "segments": .number(layout.segmentCount),
        "delta": delta.json,
      ],
      [
        "\(file): ok, a delta, \(Table.count(layout.segmentCount, "segment", "segments")), "
          + (delta.head.bases.map { "over content \($0.hex)" } + ["makes content \(delta.head.target.hex)"]).joined(separator: ", ")
      ])
    return .done
  }

  private func show(_ part: PackPart, of pack: Pack, _ file: String, on console: Console) -> Outcome {
    let counts = "\(part.entryCount) of \(Table.count(pack.entryCount, "entry", "entries"))"
    console.result(
      [
        "type": "file", "file": .text(file), "ok": true, "entries": .number(part.entryCount), "entriesOfPack": .number(pack.entryCount),
        "contentSize": .number(part.contentSize),
      ], ["\(file): ok, \(counts), \(ByteCount(part.contentSize))"])
    return .done
  }

  private func show(_ report: VerificationReport, of file: String, on console: Console) -> Outcome {
    for finding in report.findings {
      console.result(
        finding.json(of: file), ["\(file): \(finding.kind.rawValue): \(finding.path) \(finding.message)"])
    }
    let isSame = report.findings.isEmpty
    let differences = Table.count(report.findings.count, "difference", "differences")
    let verdict = isSame ? "ok" : "undamaged, but with \(differences) from \(tree ?? "the directory")"
    let facts = [
      Table.count(report.entries, "entry", "entries"), "\(ByteCount(report.contentSize))",
      Table.count(report.segments, "segment", "segments"), "content root \(report.contentRoot.hex)",
    ]
    console.result(report.json(of: file), ["\(file): \(verdict), \(facts.joined(separator: ", "))"])
    return isSame ? .done : .findings("\(file): \(differences) from \(tree ?? "the directory")")
  }
}
