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

  /// Returns the time that it is by the clock of this machine and by that of the server.
  ///
  /// - Throws: ``PackError/Code/wrongClock``, ``PackError/Code/serverUnreachable``, or ``PackError/Code/usage`` if no server is known.
  func agreedTime(_ configuration: PackerConfiguration?) async throws(PackError) -> ManifestTime {
    let folder = try live.place.map { (text) throws(PackError) in try LiveAddress(folder: text).text + ReleaseFile.manifest }
    guard let address = folder ?? configuration?.serve.manifestURL else {
      throw PackError(.usage, "the server whose clock counts is not known", hint: "give packer.yml with -c")
    }
    return try await ServerClock.read(at: address).agreed(with: ManifestTime.now())
  }

  /// Throws if an opener is to be uploaded before its time by either clock.
  private func checkTimes(_ plan: Publication.Plan, _ files: ReleaseFiles, _ configuration: PackerConfiguration?) async throws(PackError) {
    guard let last = plan.missing.compactMap({ files.openers[$0] }).max() else { return }
    let now = try await agreedTime(configuration)
    guard last <= now else {
      throw PackError(
        .wrongClock, of: files.directory, "has the opener of a pack that opens at \(last), and now it is \(now)",
        hint: "build again when the clock is right; nothing was uploaded")
    }
  }

  /// Returns the directory of a release.
  func directory(_ named: String?, _ configuration: PackerConfiguration?) -> String {
    ReleasePlaces.directory(of: release(named, configuration))
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
    let console = session.console
    if plan.publishedVersion == nil, files.manifest.version > 1 {
      console.warning(
        "\(place.title) has no manifest, and earlier releases than manifest \(files.manifest.version) were published somewhere",
        hint: "see that it is the right place")
    }
    let changed = extent == .plan ? try publication.changed(plan) : []
    tell(plan, files, changed, at: place.title, isTrial: extent == .plan, on: console)
    // It follows when it is known whether the release was published.
    func json(isPublished: Bool) -> JSON {
      Self.json(plan, files, changed, at: place.title, isTrial: extent == .plan, isPublished: isPublished)
    }
    guard extent != .plan else {
      console.result(json(isPublished: plan.isPublished))
      return .done
    }
    try await checkTimes(plan, files, configuration)
    // What devices see after a signal; nil while the manifest is replaced.
    var isReplaced: Bool? = plan.isPublished
    defer { if Task.isCancelled { Self.tellSight(of: files.manifest.version, isReplaced, at: place.title, on: console) } }
    if extent == .unrecorded, let configuration { try own.checkLast(files, in: lockPath(configuration)) }
    // Otherwise it would be noticed after everything is uploaded.
    if extent == .whole, let configuration, (try? own.checkLast(files, in: lockPath(configuration))) == nil {
      _ = try OutputFile(SystemFiles().target(of: lockPath(configuration)), files: SystemFiles())
    }
    let uploaded = try publication.upload(plan, isAnnounced: extent != .files) { names in
      console.warning(
        "\(place.title) has other bytes in \(names.listed()), and they are replaced",
        hint: "an upload that was stopped may have left them; otherwise see who can write there")
    }
    if uploaded > 0 { console.note("uploaded and compared \(Table.count(uploaded, "file", "files"))") }
    guard extent != .files else {
      console.result(json(isPublished: plan.isPublished))
      return .done
    }
    try Task.checkpoint()
    var recording: (recording: ReleaseRecording, report: ReleaseRecording.Report)?
    do throws(PackError) {
      recording = extent == .whole ? try self.record(files, configuration, in: session) : nil
    } catch {
      console.note("\(place.title) has the files of this release, and the manifest there is as before")
      throw error
    }
    do throws(PackError) {
      if !plan.isPublished { isReplaced = nil }
      try publication.publish(plan) { isReplaced = true }
    } catch {
      if error.code == .releaseConflict, let recording { try takeBack(recording, isReplaced: isReplaced == true, on: console) }
      throw error
    }
    console.note(
      plan.isPublished ? "manifest \(files.manifest.version) is published already" : "published manifest \(files.manifest.version)")
    if place.isPrivate {
      console.warning(
        "only its owner can read what is in \(place.title), so that a web server of another user serves nothing",
        hint: "chmod -R go+rX \(ShellWord.path(place.title)), and publish with umask 022")
    }
    console.result(json(isPublished: true))
    guard live.asks else { return .done }
    var gate = gate
    (gate.live, gate.patience, gate.only) = (live, Self.patience, ["PK7"])
    return try await gate.run(release, in: session)
  }

  private static func tellSight(of version: UInt64, _ isReplaced: Bool?, at place: String, on console: Console) {
    let rest = "run it again, and it goes on"
    switch isReplaced {
    case true?: console.note("devices see manifest \(version) at \(place); \(rest)")
    case false?: console.note("devices see no change at \(place); \(rest)")
    case nil: console.note("devices see manifest \(version) at \(place), or no change; \(rest)")
    }
  }

  /// How long to wait for caches, in seconds: they may keep a manifest for one minute, and those of some servers keep it longer.
  static let patience = 120

  /// Takes back what was recorded, so that it is not pushed.
  ///
  /// - Parameter isReplaced: whether devices may have the release.
  func takeBack(
    _ recorded: (recording: ReleaseRecording, report: ReleaseRecording.Report), isReplaced: Bool, on console: Console
  ) throws(PackError) {
    guard !isReplaced, !recorded.report.isUnchanged else {
      return console.warning("the lock file has this release, which is not the published one", hint: ReleaseLock.renewal)
    }
    try recorded.recording.takeBack(recorded.report)
    console.note("\(recorded.recording.lockPath) is as it was before")
  }

  /// Returns what was recorded, and how to take it back; nil if there is no lock file to record it in.
  ///
  /// - Parameter published: the manifest that is published in the place of that of the release.
  func record(
    _ files: ReleaseFiles, _ configuration: PackerConfiguration?, as published: BuildRecord.Manifest? = nil,
    offering candidates: Set<String> = [], in session: Session
  ) throws(PackError) -> (recording: ReleaseRecording, report: ReleaseRecording.Report)? {
    guard let configuration else {
      session.console.warning(
        "there is no packer.yml, so the release is not recorded", hint: "packer release record, where the lock file is")
      return nil
    }
    let recorded = ReleaseFolder.path(ReleaseFile.manifest, in: files.directory)
    guard try SystemFiles().contents(of: recorded, limit: Manifest.largestSize) == files.manifestBytes else {
      throw PackError(
        .usage, "\(recorded) is another manifest than the one to publish, so the release cannot be recorded",
        hint: "name \(files.directory)")
    }
    var recording = ReleaseRecording(dist: files.directory, lockPath: lockPath(configuration))
    recording.configuration = configuration
    (recording.published, recording.candidates) = (published, candidates)
    recording.origin = RecordOrigin.current(time: try BuildTime.fromEnvironment().now) { ProcessEnvironment.text(of: $0) }
    recording.trustedKeys = try session.trustedKeys([], configuration).signingKeys
    let report = try recording.record()
    if let error = report.unkept {
      session.console.warning("the packs were not kept for deltas: \(error.message)", hint: error.hint)
    }
    if !report.isUnchanged { session.console.note("recorded in \(recording.lockPath): commit it") }
    return (recording, report)
  }

  private func tell(
    _ plan: Publication.Plan, _ files: ReleaseFiles, _ changed: [String], at place: String, isTrial: Bool, on console: Console
  ) {
    guard !console.isJSON else { return }
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
    if !changed.isEmpty {
      lines.append("  \(Table.count(changed.count, "file", "files")) there with other bytes, to be replaced: \(changed.listed())")
    }
    if plan.others.count > 0 {
      lines.append("  stays: \(Table.count(plan.others.count, "file", "files")) of other releases, \(ByteCount(plan.others.size))")
    }
    let before = plan.publishedVersion.map { "\($0)" } ?? "none"
    lines.append(plan.isPublished ? "  manifest \(version) is published already" : "  manifest \(version) in place of \(before)")
    console.output(lines: lines)
    console.flushOutput()
  }

  private static func json(
    _ plan: Publication.Plan, _ files: ReleaseFiles, _ changed: [String], at place: String, isTrial: Bool, isPublished: Bool
  ) -> JSON {
    [
      "type": "publication", "to": .text(place), "manifest": .number(files.manifest.version),
      "publishedManifest": .number(plan.publishedVersion), "isPublished": .flag(isPublished), "files": .number(plan.missing.count),
      "size": .number(plan.missing.reduce(0 as UInt64) { $0.adding($1.size) }),
      "present": .number(plan.present.count), "changed": .number(changed.count), "others": .number(plan.others.count),
      "othersSize": .number(plan.others.size), "isDryRun": .flag(isTrial),
    ]
  }

  private static let mostNames = 100
}

extension [String] {
  /// Returns the first texts, and how many more there are.
  func listed(most: Int = 5) -> String { prefix(most).joined(separator: ", ") + (count > most ? " and \(count - most) more" : "") }
}
