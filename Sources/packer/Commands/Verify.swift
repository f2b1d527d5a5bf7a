import ArgumentParser

/// `packer verify`
struct Verify: Verb {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a release before it is published, or every byte of packs.",
    discussion: """
      For a release (a directory, or its manifest), prints everything that would fail on a phone. Files are compared with the manifest, packs \
      are opened and read whole, budgets are compared with the Info.plist and every app version of the lock file, and hosts, versions and \
      signature are checked. With --app, the Info.plist is that of a built app, and its extension, app groups and files are checked too. \
      'packer explain' lists the rules.

      With --live, the server is asked for the published release as a phone does, with curl: every file, four at a time, each from its own \
      address. --quick reads large files only in part. --only PK7 checks nothing else, and needs no key. Without --live, nothing is sent anywhere.

      For single packs, every tag and every digest is checked, and the index is compared with the archive as an independent reader sees it. \
      With --against, every difference from the directory is a finding. A delta is checked over its bases, which --base or the other arguments name: \
      all of the delta, and what it takes from them. With --include only matching files are read and compared with their digests, and the index is not compared with the archive. The exit \
      status is the largest of all packs.

      Exit status of a release, the first that applies: 11 wrong key, 14 signature not trusted, 12 damaged, 13 truncated, 3 would not fit an \
      app version already released, 20 faults at the server, 1 findings, 2 only budgets of the team exceeded, 0 none of these. 65 means that the configuration is wrong, 21 \
      that the server does not answer.

      Examples:
        packer verify
        packer verify dist --plist App/Info.plist
        packer verify dist --app build/Game.ipa
        packer verify dist --quick --format github --report junit=verify.xml
        packer verify dist --live --only PK7 --live-state live.txt
        packer verify game.pack --key game.key --against build/game
        packer verify game-2.delta.pack --base game-1.pack --key game.key
      """)

  @Argument(help: "A release directory or manifest, or packs. (default: dist beside packer.yml)", completion: .file())
  var files: [String] = []

  @OptionGroup var part: PartOption

  @Option(name: .customLong("against"), help: "The directory that the pack was made from.", completion: .directory)
  var tree: String?

  @Option(
    name: .customLong("exclude"),
    help: ArgumentHelp("Exclude matching paths of that directory, as 'packer pack' did. Repeatable.", valueName: "glob"))
  var excludes: [String] = []

  @Flag(name: .customLong("follow-symlinks"), help: "Follow symbolic links in that directory, as 'packer pack' did.")
  var followsSymlinks = false

  @OptionGroup var check: CheckOptions
  @OptionGroup var release: GateOptions
  @OptionGroup var live: LiveOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var bases: BaseOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard tree != nil || excludes.isEmpty && !followsSymlinks else {
      throw PackError(
        .usage, "--exclude and --follow-symlinks need a directory to compare with",
        hint: "give it with --against DIR")
    }
    guard tree == nil || part.includes.isEmpty else {
      throw PackError(.usage, "--against compares whole packs, and --include was given", hint: "give one of them")
    }
    guard try isRelease() else { return try await verifyPacks(in: session) }
    let gate = ReleaseGate(options: release, live: live, key: key, jobs: try threads.count(), isJSON: output.isJSON)
    return try await gate.run(files.first, in: session)
  }

  /// Returns whether the arguments name a release. Throws if options for a release and for packs are mixed.
  private func isRelease() throws(PackError) -> Bool {
    if let file = files.first(where: { $0.hasSuffix(".yml") || $0.hasSuffix(".yaml") }), ReleasePlaces.exists(file) {
      throw PackError(
        .usage, "\(file) is a configuration, not a release or a pack", hint: "packer verify -c \(ShellWord.path(file))")
    }
    let releases = files.filter { $0.hasSuffix(".json") || $0.hasSuffix("/") || ReleasePlaces.isDirectory($0) }
    guard !files.isEmpty, releases.isEmpty else {
      guard files.count <= 1 else {
        throw PackError(.usage, "'\(releases[0])' is a release, and another path was given", hint: "check one release at a time")
      }
      let options = [
        ("--base", !bases.bases.isEmpty), ("--against", tree != nil), ("--name", check.nameText != nil),
        ("--allow-unportable-paths", check.allowsUnportablePaths),
      ]
      if !part.includes.isEmpty {
        throw PackError(
          .usage, "--include is for single packs, and a release was given", hint: "name its packs, as in dist/*.pack")
      }
      if let option = options.first(where: { $0.1 })?.0 {
        throw PackError(
          .usage, "\(option) is for single packs, and a release was given", hint: "packer.yml sets it for each pack of a release")
      }
      return true
    }
    if let option = release.given ?? live.given {
      throw PackError(
        .usage, "\(option) is for a release, and packs were given", hint: "give the directory of the release or its manifest")
    }
    return false
  }

  // MARK: Packs

  private func verifyPacks(in session: Session) async throws(PackError) -> Outcome {
    let jobs = try threads.count()
    let name = try check.name()
    let selection = try part.selection()
    // Before a key is read.
    if files.count == 1, !ReleasePlaces.exists(files[0]) {
      throw PackError(.missingInput, of: files[0], "does not exist", hint: "make a release with 'packer build', or name a pack")
    }
    let resolved = try session.key(key, for: files[0])
    var outcomes = Outcomes()
    for file in files {
      try Task.checkCancelled()
      do throws(PackError) {
        let checked: Checked = try await naming(file) { () async throws(PackError) in
          try await session.withProgress { (progress) async throws(PackError) in
            let pack = try bases.open(file, key: resolved.key, besides: files.filter { $0 != file })
            if let name { try pack.checkName(name) }
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
  }

  private func show(_ checked: Checked, of file: String, on console: Console) -> Outcome {
    switch checked {
    case .whole(let report): show(report, of: file, on: console)
    case .part(let part, let pack): show(part, of: pack, file, on: console)
    }
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
    let bases = report.baseRoots.map { "over content \($0.hex)" }
    console.result(report.json(of: file), ["\(file): \(verdict), \((facts + bases).joined(separator: ", "))"])
    return isSame ? .done : .findings("\(file): \(differences) from \(tree ?? "the directory")")
  }
}
