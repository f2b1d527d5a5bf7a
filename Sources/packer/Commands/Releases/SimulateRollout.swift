import ArgumentParser

/// `packer simulate rollout`
struct SimulateRollout: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "rollout", abstract: "Gives a release to many devices by degrees, and shows who has it when.",
    discussion: """
      The devices run the code of devices, in virtual time. Each starts the app several times a day, asks once a day in the background, and has \
      a network most of the time. A step is a time after the beginning and what is done then: a share in percent, pause, resume, halt or finish. The \
      first one starts the rollout. As with 'packer rollout', 24 hours after a step no further device begins.

      Each line of the picture shows all devices: those that run a candidate (#), have one that does not run (+), on which one failed (x), and the others (.). \
      On-demand packs count as if all devices had them.

      Examples:
        packer simulate rollout dist --from old/dist
        packer simulate rollout --from old/dist --step 0h:1 --step 30h:halt
        packer simulate rollout --from old/dist --devices 100000 --crashes 5
      """)

  @Argument(help: "A release directory, or its manifest. (default: dist beside packer.yml)", completion: .file())
  var release: String?

  @OptionGroup var earlier: EarlierReleaseOption

  @Option(
    name: .customLong("step"),
    help: ArgumentHelp(
      "What is done after so many hours or days. Repeatable. (default: 0h:1, 24h:10, 48h:50, 72h:finish)", valueName: "time:what"))
  var steps: [String] = []

  @Option(help: ArgumentHelp("The number of devices.", valueName: "n"))
  var devices = 10_000

  @Option(help: ArgumentHelp("The days to simulate. (default: two after the last step)", valueName: "n"))
  var days: Int?

  @Option(help: ArgumentHelp("How often a device starts the app, on average.", valueName: "per day"))
  var starts = 4

  @Option(help: ArgumentHelp("How often there is no network, in percent. (default: 10)", valueName: "percent"))
  var offline: String?

  @Option(
    name: .customLong("wrong-clocks"),
    help: ArgumentHelp("The share of devices whose clock is up to three days wrong, in percent. (default: 2)", valueName: "percent"))
  var wrongClocks: String?

  @Option(help: ArgumentHelp("The share of devices on which the candidates crash, in percent. (default: 0)", valueName: "percent"))
  var crashes: String?

  @Option(help: ArgumentHelp("The share of devices that are in the group of testers, in percent. (default: 0)", valueName: "percent"))
  var testers: String?

  @Option(name: .customLong("max-age"), help: ArgumentHelp("For how long edges keep a manifest.", valueName: "seconds"))
  var edgeSeconds = 60

  @Option(help: ArgumentHelp("The random seed.", valueName: "n"))
  var seed: UInt64 = 1

  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try trust.configuration.read()
    try ReleasePlaces.checkPresence(of: release, configuration: configuration)
    let target = release ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    guard let from = earlier.from else {
      throw PackError(
        .usage, "a rollout needs the release before it, and --from is missing", hint: "give what is published: --from old/dist")
    }
    let plan = try RolloutPlan(
      try SimulatedRelease(reading: target), after: try SimulatedRelease(reading: from), steps: steps.isEmpty ? RolloutPlan.usual : steps)
    let settings = try settings()
    let seconds = try duration(after: plan)
    let interval = Self.interval(seconds)
    let fleet = try Fleet(settings, plan.publications, startingAt: plan.start, duration: seconds, countingEvery: interval)
    for part in FleetText(try fleet.run(), plan, settings, interval: interval).parts { session.console.result(part.record, part.lines) }
    return .done
  }

  private func settings() throws(PackError) -> Fleet.Settings {
    var settings = Fleet.Settings()
    try Bounds.check(devices, "--devices", in: 1...1_000_000)
    try Bounds.check(starts, "--starts", in: 1...1000)
    try Bounds.check(edgeSeconds, "--max-age", in: 0...604_800)
    (settings.devices, settings.startsPerDay, settings.edgeSeconds, settings.seed) = (devices, starts, Int64(edgeSeconds), seed)
    if let offline { settings.offline = try Self.share(offline) }
    if let wrongClocks { settings.wrongClocks = try Self.share(wrongClocks) }
    if let crashes { settings.crashes = try Self.share(crashes) }
    if let testers { settings.testers = try Self.share(testers) }
    return settings
  }

  private static func share(_ text: String) throws(PackError) -> Double { Double(try RolloutText.share(text)) / Double(Rollout.wholeShare) }

  private func duration(after plan: RolloutPlan) throws(PackError) -> Int64 {
    guard let days else { return plan.end + 2 * 86_400 }
    try Bounds.check(days, "--days", in: 1...366)
    return Int64(days) * 86_400
  }

  /// The seconds between two lines of the picture: whole hours, so that there are at most 48.
  private static func interval(_ duration: Int64) -> Int64 { (duration + 48 * 3600 - 1) / (48 * 3600) * 3600 }
}

/// What is published in the course of a rollout.
struct RolloutPlan {
  struct Step {
    /// Seconds after the beginning.
    let time: Int64
    /// What is done. A share is the start if it is the first step.
    let change: RolloutDraft.Change
    var isStart = false

    var text: String {
      switch change {
      case .share(let share, _): "\(isStart ? "start" : "share") \(PercentText.text(share))"
      case .pause: "pause"
      case .resume: "resume"
      case .halt: "halt"
      case .finish: "finish"
      }
    }
  }

  let steps: [Step]
  let publications: [Fleet.Publication]
  /// The time at the beginning, in seconds since 1970.
  let start: Int64
  /// The candidates, and their sizes.
  let candidates: [(id: String, from: UInt64, to: UInt64, size: UInt64)]
  let title: String

  static let usual = ["0h:1", "24h:10", "48h:50", "72h:finish"]

  /// The time of the last step, in seconds after the beginning.
  var end: Int64 { steps.last?.time ?? 0 }

  init(_ release: SimulatedRelease, after published: SimulatedRelease, steps texts: [String]) throws(PackError) {
    let start = (release.manifest.issued ?? published.manifest.issued)?.secondsSince1970 ?? 1_800_000_000
    self.start = start
    title = "\(release.path), manifest \(release.manifest.version), after \(published.path), manifest \(published.manifest.version)"
    var draft = RolloutDraft(published.manifest, published.packs)
    var drafts = [(time: Int64(0), draft: draft)]
    var steps: [Step] = []
    for text in texts {
      var step = try Self.step(text, startingAt: start)
      guard step.time >= steps.last?.time ?? 0 else {
        throw PackError(
          .usage, "--step '\(printable(text.utf8))' is before the one that stands before it", hint: "write them in their order")
      }
      if steps.isEmpty {
        guard case .share(let share, .atLeast(let until)) = step.change else {
          throw PackError(.usage, "the first --step is no share", hint: "start the rollout with one: --step 0h:1")
        }
        step.isStart = true
        let rollout = Rollout(
          id: Self.name, salt: Array(repeating: 1, count: Rollout.saltSize), share: share, groups: [Self.testers], state: .running,
          until: until)
        try draft.start(rollout, offering: (release.manifest, release.packs))
      } else {
        try draft.change(Self.name, step.change)
      }
      steps.append(step)
      drafts.append((step.time, draft))
    }
    let candidates = drafts.count > 1 ? drafts[1].draft.packs.filter { $0.candidate != nil } : []
    self.candidates = candidates.map { ($0.id, $0.version, $0.candidate?.version ?? 0, $0.candidate?.size ?? 0) }
    let ids = Set(candidates.map(\.id))
    var publications: [Fleet.Publication] = []
    for (number, (time, draft)) in drafts.enumerated() {
      publications.append(try Self.publication(draft, ids, version: published.manifest.version + UInt64(number), at: time))
    }
    (self.steps, self.publications) = (steps, publications)
  }

  private static let (name, testers) = ("rollout", "testers")

  /// Returns a publication with the packs that have candidates, as if the manifest itself listed all of them.
  private static func publication(
    _ draft: RolloutDraft, _ ids: Set<String>, version: UInt64, at time: Int64
  ) throws(PackError) -> Fleet.Publication {
    var manifest = draft.manifest
    manifest.version = version
    (manifest.catalogue, manifest.budget) = ([], nil)
    manifest.packs = draft.packs.filter { ids.contains($0.id) }
    for index in manifest.packs.indices where manifest.packs[index].delivery == .onDemand { manifest.packs[index].delivery = .prefetch }
    return try Fleet.Publication(manifest, at: time)
  }

  private static func moment(_ seconds: Int64) throws(PackError) -> ManifestTime {
    guard let time = ManifestTime(secondsSince1970: seconds) else { throw PackError(.usage, "a --step is after the year 9999") }
    return time
  }

  // MARK: Steps

  /// Reads a step, as `24h:25`, `2d:halt` or `90m:pause`.
  private static func step(_ text: String, startingAt start: Int64) throws(PackError) -> Step {
    let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, let last = parts[0].last, let unit = units[last], let number = UInt32(parts[0].dropLast()), number <= 100_000 {
      let time = Int64(number) * unit
      let until = RolloutDraft.Term.atLeast(try RolloutText.until(nil, from: moment(start + time)))
      let change: RolloutDraft.Change =
        switch parts[1] {
        case "pause": .pause
        case "resume": .resume(until: until)
        case "halt": .halt
        case "finish": .finish
        default: .share(try RolloutText.share(String(parts[1])), until: until)
        }
      return Step(time: time, change: change)
    }
    throw PackError(
      .usage, "--step is '\(printable(text.utf8))', which is not a time and what is done then",
      hint: "write minutes, hours or days, and a share in percent, pause, resume, halt or finish: 24h:25")
  }
}
