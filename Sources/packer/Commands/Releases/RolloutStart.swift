import ArgumentParser

/// `packer rollout start`
struct RolloutStart: Verb {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Publishes a release for a share of devices: its changed packs become candidates beside the published ones.",
    discussion: """
      The release is checked as by 'packer publish', its packs are uploaded, it is recorded, and the manifest is replaced by one that offers both. Packs \
      that are new, or did not change, are for everybody. Budgets count the larger one of both. 'packer publish' refuses to end a rollout: \
      finish or halt it.

      --group names groups of installations that take the candidates whatever the share is: what the app gives its library, as 'testers'.

      Examples:
        packer rollout start winter --share 5 --dry-run
        packer rollout start winter --share 0 --group testers
        packer rollout start winter --share 5 --plist App/Info.plist
      """)

  @Argument(help: "A name for the rollout, such as winter.")
  var name: String

  @Option(help: ArgumentHelp("The share of devices, in percent.", valueName: "percent"))
  var share: String

  @Option(
    name: .customLong("group"), help: ArgumentHelp("A group of installations that take part in any case. Repeatable.", valueName: "name"))
  var groups: [String] = []

  @OptionGroup var time: RolloutTimeOption

  @Option(help: ArgumentHelp("The release directory. (default: dist beside packer.yml)", valueName: "dir"), completion: .directory)
  var dist: String?

  @Flag(name: .customLong("dry-run"), help: "Show what would be published, and change nothing.")
  var isTrial = false

  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var options: PublicationOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { isTrial ? .none : .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try options.checkLive(publishes: !isTrial)
    guard options.replace == nil else { throw PackError(.usage, "--replace is for 'packer publish'") }
    guard let configuration = try options.configuration() else {
      throw PackError(.missingInput, of: PackerConfiguration.defaultPath, "does not exist", hint: "name it with -c")
    }
    let rollout = Rollout(
      id: name, salt: (0..<Rollout.saltSize).map { _ in UInt8.random(in: 0...255) }, share: try RolloutText.share(share),
      groups: Set(groups).sorted { $0.precedes($1) }, state: .running, until: try time.until())
    // First, so that a missing key is said before the release is checked.
    let signers = try RolloutText.signers(signKey, configuration, isTrial: isTrial, in: session)
    let place = try options.place(for: dist, configuration, in: session)
    let directory = options.directory(dist, configuration)
    let own = try options.gate.inputs.ownManifests(configuration, of: directory, in: session)
    try checkName(at: place, own)
    let gate = try options.releaseGate()
    let outcome = try await gate.run(dist, in: session)
    guard case .done = outcome else { return outcome }
    let release = try ReleaseFiles(directory)
    let packs = try ReleaseCatalogue(release.manifest, in: directory).packs
    let publication = RolloutPublication(at: place, own: own, of: configuration, at: try ManifestTime.now())
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let plan = try publication.plan(in: scratch.path, version: release.manifest.version) { (draft) throws(PackError) in
      try draft.start(rollout, offering: (release.manifest, packs))
    }
    try checkBudgets(plan.draft, keysSize: plan.keysSize, configuration)
    let written = try signers.map { (signers) throws(PackError) in try publication.write(plan, signedBy: signers, in: scratch.path) }
    if !isTrial, let (files, record) = written {
      let uploaded = try publication.upload(files.files, of: release)
      if uploaded > 0 { session.console.note("uploaded and compared \(Table.count(uploaded, "file", "files"))") }
      let upload = publication.publication(of: files, plan)
      let next = try upload.plan()
      _ = try upload.upload(next)
      try Task.checkpoint()
      let candidates = Set(plan.draft.packs.filter { $0.candidate?.rollout == name }.map(\.id))
      let recorded = try options.record(release, configuration, as: record, offering: candidates, in: session)
      do throws(PackError) {
        try upload.publish(next)
      } catch {
        if error.code == .releaseConflict, let recorded { try options.takeBack(recorded, isReplaced: false, on: session.console) }
        throw error
      }
    }
    RolloutText.show(plan.draft, from: plan.published, at: place.title, isTrial: isTrial, on: session.console)
    if !isTrial { session.console.note("\(directory) says that the candidates are for everybody: do not put it into an app") }
    guard options.live.asks else { return .done }
    var live = gate
    (live.live, live.patience, live.only) = (options.live, PublicationOptions.patience, ["PK7"])
    return try await live.run(scratch.path, in: session)
  }

  /// Throws if the name cannot be that of a new rollout, before the release is checked, which takes longer.
  private func checkName(at place: any PublishingPlace, _ own: OwnManifests) throws(PackError) {
    guard (try? PackName(name)) != nil else {
      throw PackError(
        .usage, "'\(printable(name.utf8))' is not a name for a rollout", hint: "write it as the name of a pack: winter, or winter-2")
    }
    for group in groups where (try? PackName(group)) == nil {
      throw PackError(.usage, "'\(printable(group.utf8))' is not a name for a group", hint: "write it as the name of a pack: testers")
    }
    try RolloutDraft(try PlacedRelease.manifest(at: place, own: own).manifest, []).checkName(name)
  }

  /// Throws if an app version that players use, or the Info.plist that was given, promises less than both editions of the packs need.
  private func checkBudgets(_ draft: RolloutDraft, keysSize: UInt64, _ configuration: PackerConfiguration) throws(PackError) {
    let lock = try ReleaseLock.readIfPresent(options.lockPath(configuration))
    // Signatures are some hundred bytes.
    let size = UInt64(try draft.manifest.signedBytes().count).adding(keysSize).adding(1024)
    var rooms = AppRoom.all(lock.apps, packs: draft.packs, manifestSize: size).map { (title: "app \($0.title)", amounts: $0.amounts) }
    if let path = options.gate.inputs.plist, let budget = try InfoPlist.read(path).keys.budget {
      rooms.append((path, AppRoom.amounts(of: budget, draft.packs, for: nil, manifestSize: size)))
    }
    for (title, amounts) in rooms {
      guard let amount = amounts.first(where: { !$0.fits }) else { continue }
      throw PackError(
        .releaseConflict,
        "\(title) promises \(amount.key) \(amount.limit), and the larger ones of both editions need \(amount.needed) bytes",
        hint: "make the packs smaller, or ship an app with a larger budget: the manifest of the rollout has its numbers")
    }
  }
}
