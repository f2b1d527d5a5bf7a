import ArgumentParser

/// `packer report`
struct Report: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Writes an HTML page that shows what a release contains and costs.",
    discussion: HelpText.text(
      """
      The page is one file that loads nothing else: every file by what it takes in its pack, contents that several packs store, budgets of the \
      Info.plist and of released apps, sizes of earlier releases, what their players download, and what 'packer verify' found, with its advice.
      """,
      more: """
        It also shows what 'packer serve --record' and 'packer simulate --json' wrote. Earlier releases are those that 'packer release record' \
        recorded. The key is needed for the files; without it, and with --quick, packs are not opened. Findings do not change the exit status.

        The page names all files of the packs, and is not encrypted.
        """,
      examples: """
        Examples:
          packer report --plist App/Info.plist
          packer report dist -o build/report.html --quick
          packer report --run run.json --rehearsal install.jsonl
          packer report --observation observed.jsonl
        """))

  @Argument(help: "A release directory or manifest. (default: dist beside packer.yml)", completion: .file())
  var release: String?

  @Option(
    name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The page, which may exist.", valueName: "file"),
    completion: .file())
  var page = "report.html"

  @Option(
    name: .customLong("rehearsal"), help: ArgumentHelp("Also show what 'packer simulate --json' printed. Repeatable.", valueName: "file"),
    completion: .file())
  var rehearsals: [String] = []

  @Option(
    name: .customLong("observation"), help: ArgumentHelp("Also show what 'packer observe --json' printed. Repeatable.", valueName: "file"),
    completion: .file())
  var observations: [String] = []

  @Flag(name: .customLong("quick"), help: "Skip the files, and the checks that read pack contents.")
  var isQuick = false

  @Flag(name: .customLong("advise"), help: "Also try what 'packer advise' tries, which takes long.")
  var advises = false

  @OptionGroup var inputs: GateInputs
  @OptionGroup(visibility: .hidden) var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let jobs = try threads.count()
    var verification = try inputs.verification(of: release, for: "report", hasKey: !key.references.isEmpty, in: session)
    let configuration = verification.configuration
    try ReportFile.check(
      page,
      against: inputs.files(verification) + rehearsals + observations + [ReleasePlaces.place(ReleaseFile.lock, beside: configuration)],
      release: ReleasePlaces.directory(of: verification.target), sources: configuration?.packs ?? [])
    let lock = try verification.lock.map { (path) throws(PackError) in try ReleaseLock.read(path) }
    let compared = try ComparedRelease(reading: verification.target)
    let simulated = try rehearsals.map { (path) throws(PackError) in try RecordedRehearsal.read(path) }
    let observed = try observations.map { (path) throws(PackError) in try RecordedObservation.read(path) }
    let resolved = isQuick ? nil : try inputs.contentKey(key, isNeeded: false, for: release, configuration, "report", in: session)
    if resolved == nil, !isQuick {
      session.console.warning(
        "no key was given: files are not shown, and contents are not checked", hint: "give the key with --key REF, or --quick")
    }
    verification.isQuick = resolved == nil
    verification.jobs = jobs
    let report = try await session.withProgress { [verification] (progress) async throws(PackError) in
      try await verification.run(key: resolved, progress: progress)
    }
    var page = HTMLReport(of: compared)
    (page.key, page.lock, page.run) = (resolved, lock, verification.run)
    (page.rehearsals, page.observations) = (simulated, observed)
    page.released = ReleasedPacks(of: configuration)
    page.version = Version.number
    if advises {
      guard let configuration else {
        throw PackError(.usage, "--advise packs the sources in other ways, and no configuration names them", hint: "name it with --config")
      }
      page.advice = try await Advise.advice(configuration, verification.run, jobs: jobs, in: session).advice
    }
    let bytes = try await session.withProgress { [page] (progress) async throws(PackError) in try page.document(report, progress: progress)
    }
    try ReportFile.write(bytes, to: self.page)
    session.console.result(
      [
        "type": "report", "file": .text(self.page), "size": .number(bytes.count), "findings": .number(report.findings.count),
      ],
      ["\(self.page): \(ByteCount(UInt64(bytes.count))), \(report.summary ?? "no findings")"])
    return .done
  }
}
