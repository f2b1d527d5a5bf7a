import ArgumentParser

/// `packer advise`
struct Advise: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "advise",
    abstract: "Shows what would make the packs of packer.yml smaller, measured by packing them that way.",
    discussion: """
      Tries the level 'smallest', the frames of the level, packs without files that no player needs, and a shared pack, as 'base', for files that several packs \
      have. Each number of bytes is what the packs then lack, as served. Nothing is changed, and no key is needed. Takes as long as packing \
      everything several times, mostly for the level.

      With --run also what 'packer serve --record' wrote: a pack without files that were not loaded, one of the files that the first 5 seconds \
      loaded, as the proposal for the essential pack, and one laid out in the order of the run. Formats that browsers do not need, such as WAV, are named with what they take; they are not \
      converted, so what that saves is not known.

      Examples:
        packer advise
        packer advise --only game-kart --run run.json
        packer advise --json | jq 'select(.type == "advice")'
      """,
    shouldDisplay: HelpText.isWhole)

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("The configuration. (default: packer.yml)", valueName: "file"), completion: .file())
  var configuration: String?

  @Option(help: ArgumentHelp("Look only at this pack. Repeatable.", valueName: "id"))
  var only: [String] = []

  @Option(
    name: .customLong("run"), help: ArgumentHelp("Also use what 'packer serve --record' recorded.", valueName: "file"), completion: .file())
  var runPath: String?

  @OptionGroup var threads: JobsOption
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try PackerConfiguration.read(self.configuration ?? PackerConfiguration.defaultPath)
    let ids = Set(configuration.packs.map(\.id.text))
    if let id = only.first(where: { !ids.contains($0) }) {
      throw PackError(.usage, "\(configuration.path) has no pack '\(id)'", hint: "packer build --dry-run lists them")
    }
    let jobs = try threads.count()
    let run = try runPath.map { (path) throws(PackError) in try LoadRun.read(path) }
    let result = try await Self.advice(configuration, run, only: Set(only), jobs: jobs, in: session)
    show(result, on: session.console)
    return .done
  }

  /// Runs an adviser in a temporary folder.
  static func advice(
    _ configuration: PackerConfiguration, _ run: LoadRun?, only: Set<String> = [], jobs: Int?, in session: Session
  ) async throws(PackError) -> Adviser.Result {
    var build = ReleaseBuild(configuration, time: try BuildTime.fromEnvironment())
    build.jobs = jobs
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    var adviser = Adviser(build, scratch: scratch.path)
    (adviser.run, adviser.only) = (run, only)
    let result = try await session.withProgress { [adviser] (progress) async throws(PackError) in try await adviser.run(progress: progress)
    }
    for id in result.otherRuns {
      session.console.warning("the recorded run is of another content of '\(id)', and was not used", hint: "record it again")
    }
    return result
  }

  private func show(_ result: Adviser.Result, on console: Console) {
    for advice in result.advice {
      let what = "\(advice.packs.joined(separator: ", ")): \(advice.text)"
      let amount = "\(ByteCount(advice.bytes)) of \(ByteCount(advice.size))"
      let saving =
        switch advice.kind {
        case .level, .unneeded, .shared: "\n  saves \(amount)"
        case .media, .layout: ""
        case .unused, .start: "\n  \(amount) may come later"
        }
      console.result(advice.json, (what + saving + "\n  \(advice.remedy)").split(separator: "\n").map(String.init))
    }
    if result.advice.filter(\.kind.isSaving).count > 1, !console.isJSON {
      console.note("each saving was measured by itself, and together they may be less; --json lists the files")
    }
    if result.advice.isEmpty, !console.isJSON { console.output(lines: ["nothing found that makes a pack smaller by 1 % or more"]) }
  }
}
