import ArgumentParser

/// The options of the commands that publish a release.
struct PublicationOptions: ParsableArguments {
  @OptionGroup var place: PlaceOption

  @Option(
    help: ArgumentHelp(
      "Replace the manifest of this version there, although it is another product's, or a thief's.", valueName: "version"))
  var replace: UInt64?

  @OptionGroup var gate: GateOptions
  @OptionGroup var live: LiveOptions
  @OptionGroup(visibility: .hidden) var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  /// How much of a publication is done.
  enum Extent { case plan, files, unrecorded, whole }

  /// Throws if the options about the published release do not make sense.
  func checkLive(publishes: Bool) throws(PackError) {
    guard !live.asks || publishes else { throw PackError(.usage, "--live asks for the published release, and nothing is published") }
    try live.check()
  }

  func configuration() throws(PackError) -> PackerConfiguration? { try gate.inputs.configuration.read() }

  func lockPath(_ configuration: PackerConfiguration) -> String {
    gate.inputs.lockFile.lock ?? configuration.path(of: ReleaseFile.lock)
  }

  private func release(_ named: String?, _ configuration: PackerConfiguration?) -> String {
    named ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
  }

  /// Returns the place, which is not a directory of the release or its sources.
  func place(for release: String?, _ configuration: PackerConfiguration?, in session: Session) throws(PackError) -> any PublishingPlace {
    try place.check(configuration, release: self.release(release, configuration))
    return try place.place(
      configuration, starting: session.programs, showsProgress: session.console.hasMovableCursor && !output.isQuiet && !output.isJSON)
  }

  func releaseGate() throws(PackError) -> ReleaseGate {
    ReleaseGate(options: gate, key: key, jobs: try threads.count(), isJSON: output.isJSON)
  }

  /// Uploads a release that was checked, records it, and replaces the manifest.
  ///
  /// - Parameter gate: what checked it, which checks it again at the server if that is wanted.
  func publish(
    _ release: String?, _ configuration: PackerConfiguration?, to place: any PublishingPlace, _ extent: Extent, checkedBy gate: ReleaseGate,
    in session: Session
  ) async throws(PackError) -> Outcome {
    guard configuration?.hosting ?? .unmanaged == .unmanaged else {
      throw PackError(
        .usage,
        "the system downloads the packs of this release, as \(configuration?.path ?? "packer.yml") says, and others are uploaded for it",
        hint: "Documentation/MANAGED_PACKS.md describes it")
    }
    let files = try ReleaseFiles(self.release(release, configuration))
    let own = try gate.options.inputs.ownManifests(configuration, of: files.directory, in: session)
    let publication = Publication(files, at: place, own: own, replacing: replace)
    let plan = try publication.plan()
    tell(plan, files, at: place.title, isTrial: extent == .plan, on: session.console)
    guard extent != .plan else { return .done }
    if extent == .unrecorded, let configuration { try own.checkLast(files, in: lockPath(configuration)) }
    let console = session.console
    let uploaded = try publication.upload(plan, isAnnounced: extent != .files) { names in
      console.warning(
        "\(place.title) has other bytes in \(names.listed()), and they are replaced",
        hint: "an upload that was stopped may have left them; otherwise see who can write there")
    }
    if uploaded > 0 { session.console.note("uploaded and compared \(Table.count(uploaded, "file", "files"))") }
    guard extent != .files else { return .done }
    try Task.checkpoint()
    let isRecorded = extent == .whole ? try record(files, configuration, in: session) : false
    do throws(PackError) {
      try publication.publish(plan)
    } catch {
      if isRecorded, error.code == .releaseConflict {
        session.console.warning(
          "the lock file has this release, which was not published",
          hint: "bring \(ReleaseFile.lock) and the record back from version control, get the newest, and build again")
      }
      throw error
    }
    session.console.note(
      plan.isPublished ? "manifest \(files.manifest.version) is published already" : "published manifest \(files.manifest.version)")
    guard live.asks else { return .done }
    var gate = gate
    (gate.live, gate.patience, gate.only) = (live, Self.patience, ["PK7"])
    return try await gate.run(release, in: session)
  }

  /// How long to wait for caches, in seconds: they may keep a manifest for one minute, and those of some servers keep it longer.
  private static let patience = 120

  /// Returns whether the lock file changed.
  private func record(_ files: ReleaseFiles, _ configuration: PackerConfiguration?, in session: Session) throws(PackError) -> Bool {
    guard let configuration else {
      session.console.warning(
        "there is no packer.yml, so the release is not recorded", hint: "packer release record, where the lock file is")
      return false
    }
    let recorded = ReleaseFolder.path(ReleaseFile.manifest, in: files.directory)
    guard try SystemFiles().contents(of: recorded, limit: Manifest.largestSize) == files.manifestBytes else {
      throw PackError(
        .usage, "\(recorded) is another manifest than the one to publish, so the release cannot be recorded",
        hint: "name \(files.directory)")
    }
    var recording = ReleaseRecording(dist: files.directory, lockPath: lockPath(configuration))
    recording.configuration = configuration
    recording.origin = RecordOrigin.current(time: try BuildTime.fromEnvironment().now) { ProcessEnvironment.text(of: $0) }
    recording.trustedKeys = try session.trustedKeys([], configuration).signingKeys
    let report = try recording.record()
    if let error = report.unkept {
      session.console.warning("the packs were not kept for deltas: \(error.message)", hint: error.hint)
    }
    if !report.isUnchanged { session.console.note("recorded in \(recording.lockPath): commit it") }
    return !report.isUnchanged
  }

  private func tell(_ plan: Publication.Plan, _ files: ReleaseFiles, at place: String, isTrial: Bool, on console: Console) {
    let size = plan.missing.reduce(0 as UInt64) { $0.adding($1.size) }
    let version = files.manifest.version
    var lines = [
      "\(place): \(Table.count(plan.missing.count, "file", "files")) to upload, \(ByteCount(size)); "
        + "\(plan.present.count) there already, \(ByteCount(plan.present.size))"
    ]
    if isTrial {
      lines += plan.missing.prefix(Self.mostNames).map { "  \($0.name)  \(ByteCount($0.size))" }
      if plan.missing.count > Self.mostNames { lines.append("  and \(plan.missing.count - Self.mostNames) more") }
    }
    if plan.others.count > 0 {
      lines.append("  stays: \(Table.count(plan.others.count, "file", "files")) of other releases, \(ByteCount(plan.others.size))")
    }
    let before = plan.publishedVersion.map { "\($0)" } ?? "none"
    lines.append(plan.isPublished ? "  manifest \(version) is published already" : "  manifest \(version) in place of \(before)")
    console.result(
      [
        "type": "publication", "to": .text(place), "manifest": .number(version),
        "publishedManifest": .number(plan.publishedVersion), "isPublished": .flag(plan.isPublished),
        "files": .number(plan.missing.count), "size": .number(size), "present": .number(plan.present.count),
        "others": .number(plan.others.count), "othersSize": .number(plan.others.size), "isDryRun": .flag(isTrial),
      ], lines)
    console.flushOutput()
  }

  private static let mostNames = 100
}

extension [String] {
  /// Returns the first texts, and how many more there are.
  func listed(most: Int = 5) -> String { prefix(most).joined(separator: ", ") + (count > most ? " and \(count - most) more" : "") }
}
