import ArgumentParser
import PackBuild
import PackFormat
import PackProject

/// `packer assemble`
struct Assemble: Verb {
  static let configuration = CommandConfiguration(
    commandName: "assemble",
    abstract: "Makes the release of a plan from the packs that workers built.",
    discussion: """
      'packer build --plan FILE' writes the plan, 'packer build --plan FILE --unit N' makes packs. The parts are the directories that workers \
      filled, or single units in them. The release is the one that 'packer build' would have made at the time of the plan, byte for byte, if the \
      sources, packer.yml, the lock file and the last release are still those of the plan, and the workers used this packer. Deltas are made here.

      Every pack is decrypted and compared with the sources. A part of another plan or of other sources is refused, and so is a damaged one. \
      Two equal parts of a unit are one. If units are missing, they are named, and nothing is written.

      Examples:
        packer assemble parts
        packer assemble worker1/parts worker2/parts --plan plan.json -o public
      """)

  @Argument(help: ArgumentHelp("The directories with units.", valueName: "part"), completion: .directory)
  var parts: [String] = []

  @Option(
    name: .customLong("plan"), help: ArgumentHelp("The plan. (default: plan.json beside the configuration)", valueName: "file"),
    completion: .file())
  var planPath: String?

  @OptionGroup var release: ReleaseOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { release.output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try PackerConfiguration.read(release.project.path)
    let planPath = planPath ?? configuration.path(of: BuildPlan.fileName)
    let plan = try BuildPlan(reading: planPath)
    var build = try release.build(configuration)
    try plan.check(configuration, maker: Version.number, files: build.files)
    try plan.checkLock(of: build)
    let ready = try UnitParts(parts, of: plan, at: planPath)
    build.time = BuildTime(plan.time, isFixed: plan.isTimeFixed, clock: build.time.clock)
    build.wanted = plan.wanted
    build.ready = ready
    if !ready.doubled.isEmpty { session.console.note("built twice, with the same result: \(UnitNumbers.text(ready.doubled))") }
    return try await release.run(build, in: session)
  }
}
