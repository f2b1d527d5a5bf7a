import ArgumentParser

/// `packer publish`
struct Publish: Verb {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Checks a release, uploads what is new of it, records it, and replaces the manifest last.",
    discussion: """
      The release is checked as by 'packer verify', with the same options, and nothing is uploaded if that finds a fault. Then packs, deltas and \
      pages are uploaded, which have a name of their own for ever, and compared with those in the directory. Then 'packer release record' records \
      the release; then the manifest is replaced. Stopped anywhere, the place has the earlier release or the new one, whole; run it again, and \
      it goes on. If the release is published already, its files are compared where the place has digests of them, and replaced if they are others. A \
      manifest that is older than the published one is refused. A copy of each manifest stays, for 'packer prune'.

      The place is a folder, or a remote of rclone with a colon, as 'games:bucket/packs': S3, R2, GCS, Azure, SFTP and others. rclone finds its \
      configuration and secrets itself. Packs may be cached for ever, the manifest for a minute, where the remote has such headers. On SFTP and \
      the like, the manifest is renamed into place; if the server cannot rename over a file, there is none for a moment, and devices try again.

      One pipeline publishes at a time. Another one that replaces the manifest meanwhile is noticed in a folder and on S3, which writes it only \
      if it is still the one that was read (not if objects are encrypted with keys of your own there). On other remotes it is compared before and after, which leaves a moment.

      Or the place is a program, cmd:'PROGRAM ARG…'. It gets one of these as its next words, and ends with 0 if that is done: list (prints a \
      line with size, tab and name for each file); get NAME FILE (makes no file if there is none); add FILE NAME; manifest FILE SHA256 \
      (replaces manifest.json at once; the digest is that of the one there, or none); remove NAME.

      --files-only uploads all but the manifest, and records nothing: for a pipeline that must push the lock file first. Nothing is ever deleted.

      With --live, the server is then asked for the release, as by 'packer verify --live'. Caches get two minutes for the new manifest.

      --rollback brings the contents of an earlier release back, under new versions: it takes its packs from the folder of released packs or from \
      the place, and builds a release from them, which is then checked and published. Packs that it did not have stay as they are. Sources do \
      not change: mend them before the next 'packer build'.

      Examples:
        packer publish --to games:bucket/packs --plist App/Info.plist --dry-run
        packer publish --to games:bucket/packs --plist App/Info.plist --live
        packer publish --rollback 12
        packer publish dist --to /srv/www/packs --quick
      """)

  @Argument(help: "A release directory. (default: dist beside packer.yml)", completion: .directory)
  var release: String?

  @OptionGroup var place: PlaceOption

  @Flag(name: .customLong("dry-run"), help: "Show what would be uploaded, and upload nothing.")
  var isTrial = false

  @Flag(name: .customLong("files-only"), help: "Upload packs, deltas and pages, but not the manifest.")
  var isFilesOnly = false

  @Flag(name: .customLong("no-record"), help: "Do not record the release in the lock file: it was recorded before.")
  var isUnrecorded = false

  @Option(name: .customLong("rollback"), help: ArgumentHelp("Bring the contents of this release back.", valueName: "manifest version"))
  var rollback: UInt64?

  @OptionGroup var gate: GateOptions
  @OptionGroup var live: LiveOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var output: OutputOptions

  // A program that uploads may leave a part of a file, which the next run replaces.
  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let option = live.given, isTrial || isFilesOnly {
      throw PackError(.usage, "\(option) asks for the published release, and nothing is published")
    }
    try live.check()
    guard !isFilesOnly || !isTrial else { throw PackError(.usage, "--dry-run uploads nothing, so --files-only does not apply") }
    let other = isTrial ? "--dry-run" : isFilesOnly ? "--files-only" : isUnrecorded ? "--no-record" : nil
    if rollback != nil, let other {
      throw PackError(.usage, "--rollback builds, records and publishes a release, so \(other) does not apply")
    }
    let configuration = try ReleasePlaces.configuration(at: gate.inputs.configuration)
    let target = release ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    try self.place.check(configuration, release: target)
    let place = try place.place(
      configuration, showsProgress: session.console.hasMovableCursor && !output.isQuiet && !output.isJSON)
    var gate = ReleaseGate(options: gate, key: key, jobs: try threads.count(), isJSON: output.isJSON)
    let scratch = try rollback.map { (_) throws(PackError) in try ScratchFolder.make("rollback") }
    defer { if let scratch { try? SystemFiles().removeTree(scratch, in: nil) } }
    if let rollback, let scratch {
      (gate.holder, gate.configuration) = try await restore(rollback, configuration, from: place, scratch, in: session)
    }
    let outcome = try await gate.run(release, in: session)
    // It has the contents of packs, and the upload may take long.
    if let scratch { try? SystemFiles().removeTree(scratch, in: nil) }
    guard case .done = outcome else { return outcome }
    guard configuration?.hosting ?? .unmanaged == .unmanaged else {
      throw PackError(
        .usage,
        "the system downloads the packs of this release, as \(configuration?.path ?? "packer.yml") says, and others are uploaded for it",
        hint: "Documentation/MANAGED_PACKS.md describes it")
    }
    let files = try ReleaseFiles(release ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration))
    let publication = Publication(files, at: place)
    let plan = try publication.plan()
    tell(plan, files, at: place.title, on: session.console)
    guard !isTrial else { return .done }
    let console = session.console
    let uploaded = try publication.upload(plan, isAnnounced: !isFilesOnly) { names in
      console.warning(
        "\(place.title) has other bytes in \(Self.some(of: names)), and they are replaced",
        hint: "an upload that was stopped may have left them; otherwise see who can write there")
    }
    if uploaded > 0 { session.console.note("uploaded and compared \(Table.count(uploaded, "file", "files"))") }
    guard !isFilesOnly else { return .done }
    guard !Task.isCancelled else { throw PackError(.cancelled, "cancelled") }
    let isRecorded = isUnrecorded ? false : try record(files, configuration, in: session)
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
    guard live.given != nil else { return .done }
    (gate.live, gate.patience, gate.only) = (live, Self.patience, ["PK7"])
    // None is needed, and it may be in a place that can be read only once.
    gate.holder = KeyHolder(nil)
    return try await gate.run(release, in: session)
  }

  /// How long it is waited for caches, in seconds: they may have a manifest for one minute, and some servers do for longer.
  private static let patience = 120

  /// Builds a release with the contents of an earlier one.
  ///
  /// - Parameter scratch: an empty directory, which gets the contents.
  /// - Returns: the key, which may come from a place that can be read only once, and the configuration with those contents as its sources.
  private func restore(
    _ version: UInt64, _ configuration: PackerConfiguration?, from place: any PublishingPlace, _ scratch: String,
    in session: Session
  ) async throws(PackError) -> (KeyHolder, PackerConfiguration) {
    guard let configuration else {
      throw PackError(
        .missingInput, of: PackerConfiguration.defaultPath, "does not exist, and --rollback needs it", hint: "name it with -c")
    }
    guard release == nil else { throw PackError(.usage, "--rollback builds the release itself, so no directory is given") }
    let jobs = try threads.count()
    let lockPath = gate.inputs.lockFile.lock ?? configuration.path(of: ReleaseFile.lock)
    let holder = KeyHolder(try session.key(key, configured: configuration.key))
    let restoration = try await Restoration.run(
      version, of: configuration, lockPath: lockPath, from: place, key: holder, in: scratch, jobs: jobs)
    let others = restoration.others
    if !others.isEmpty {
      session.console.note("not in manifest \(version), and unchanged: \(Self.some(of: others))")
    }
    var build = ReleaseBuild(restoration.configuration, time: try .fromEnvironment())
    (build.lockPath, build.jobs) = (lockPath, jobs)
    build.cache = try PackCache(configuration)
    build.keysFile = try configuration.keysFile.map { (path) throws(PackError) in try KeysFile(reading: path) }
    let signers = try session.signers(signKey, configured: configuration.signKeys)
    let work = build
    let report = try await session.withProgress { (progress) async throws(PackError) in
      try await holder.withKey { (key) async throws(PackError) in try await work.run(key: key, signers: signers, progress: progress) }
    }
    for remark in report.remarks where remark.isWarning { session.console.warning(remark.message, hint: remark.hint) }
    session.console.note(
      "\(report.output): has the contents of manifest \(version); the sources are unchanged, and until they are mended, --quick verifies and publishes it without them"
    )
    return (holder, restoration.configuration)
  }

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
    var recording = ReleaseRecording(dist: files.directory, lockPath: gate.inputs.lockFile.lock ?? configuration.path(of: ReleaseFile.lock))
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

  private func tell(_ plan: Publication.Plan, _ files: ReleaseFiles, at place: String, on console: Console) {
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

  /// Returns the first names, and how many more there are.
  private static func some(of names: [String]) -> String {
    names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }
}
