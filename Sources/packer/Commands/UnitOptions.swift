import ArgumentParser
import PackBuild
import PackFormat
import PackProject

/// The options of `packer build` for several machines.
struct UnitOptions: ParsableArguments {
  @Option(
    name: .customLong("plan"),
    help: ArgumentHelp(
      "Write what has to be packed, as units of work, and make nothing; with --unit or --share, the plan to work on.", valueName: "file"),
    completion: .file())
  var planPath: String?

  @Option(
    name: .customLong("unit"),
    help: ArgumentHelp(
      "Make only the packs of these units of the plan, as 3 or 1,4,7-9, into -o. Repeatable. (default of -o: parts)", valueName: "n"))
  var units: [String] = []

  @Option(
    name: .customLong("share"),
    help: ArgumentHelp("Make the units of one of several shares of equal cost, as 2/10.", valueName: "k/n"))
  var share: String?

  @Option(
    name: .customLong("keys"),
    help: ArgumentHelp(
      "The directory with the key of each pack as ID.key, instead of --key. For --unit and --share.", valueName: "dir"),
    completion: .directory)
  var keyFolder: String?

  var makesUnits: Bool { !units.isEmpty || share != nil }

  /// Writes the plan of a build.
  func write(_ report: ReleaseBuildReport, of build: ReleaseBuild, to path: String, on console: Console) throws(PackError) {
    let plan = try BuildPlan(of: build, report, maker: Version.number)
    try plan.write(to: path, for: build)
    let cost = plan.units.reduce(0 as UInt64) { $0.adding($1.cost) }
    console.result(
      RecordValue.sorted([
        "type": .text("plan"), "plan": .text(path), "units": RecordValue.number(plan.units.count), "cost": .number(cost),
        "packs": RecordValue.number(report.items.count), "largest": .number(plan.units.map(\.cost).max() ?? 0),
      ]),
      [
        "\(path): \(Table.count(plan.units.count, "unit", "units")) for \(plan.units.count) of "
          + "\(Table.count(report.items.count, "pack", "packs")), about \((cost + 999) / 1000) s on one core"
      ])
  }

  /// Makes units. Reads no key but those of their packs, and no signing key.
  func run(_ build: ReleaseBuild, into folder: String, key: KeyOptions, in session: Session) async throws(PackError) -> Outcome {
    let plan = try BuildPlan(reading: planPath ?? build.configuration.path(of: BuildPlan.fileName))
    var numbers: [Int] = []
    for text in units { numbers += try UnitNumbers.parse(text, upTo: plan.units.count) }
    if let share {
      guard units.isEmpty else { throw PackError(.usage, "--unit and --share both choose units", hint: "give one of them") }
      let (number, count) = try UnitNumbers.share(share)
      numbers = plan.units(ofShare: number, of: count)
    }
    let work = try UnitBuild(plan, build, maker: Version.number)
    for number in numbers {
      // Never the configured key if that is a root key: a worker does not have it.
      let resolved =
        if let keyFolder { try packKey(of: plan.units[number - 1], in: keyFolder, session) } else {
          try session.key(key, configured: build.configuration.perPackKeys ? nil : build.configuration.key)
        }
      let (record, wasThere) = try await session.withProgress { (progress) async throws(PackError) in
        try await work.run(number, key: resolved.key, into: folder, progress: progress)
      }
      Build.show(build.cache?.takeRemarks() ?? [], on: session.console)
      session.console.result(
        RecordValue.sorted([
          "type": .text("unit"), "unit": RecordValue.number(number), "id": .text(record.id), "version": .number(record.version),
          "packSize": .number(record.size), "wasThere": .flag(wasThere),
        ]),
        isQuiet(session)
          ? [] : ["  \(number)  \(record.id)  \(Table.grouped(Int64(clamping: record.size)))\(wasThere ? "  there already" : "")"])
    }
    session.console.result(
      RecordValue.sorted(["type": .text("units"), "parts": .text(folder), "units": RecordValue.number(numbers.count)]),
      ["\(folder): \(Table.count(numbers.count, "unit", "units"))"])
    return .done
  }

  private func packKey(of unit: BuildPlan.Unit, in folder: String, _ session: Session) throws(PackError) -> ResolvedKey {
    let path = "\(folder)/\(unit.identity.id).key"
    guard ReleasePlaces.exists(path) else {
      throw PackError(
        .noKey, of: path, "does not exist",
        hint: "on the machine with the root key: packer key derive --plan plan.json -o \(ShellWord.path(folder))")
    }
    return try session.key(KeyReference(parsing: "file:\(path)"))
  }

  private func isQuiet(_ session: Session) -> Bool { session.console.isQuiet }
}
