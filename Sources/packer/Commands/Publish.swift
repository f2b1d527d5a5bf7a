import ArgumentParser
import PackBuild
import PackFormat
import PackGate
import PackManifest
import PackProject
import PackPublish
import PackTrust

/// `packer publish`
struct Publish: Verb {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Checks a release, uploads what is new of it, records it, and replaces the manifest last.",
    discussion: """
      The release is checked as by 'packer verify', with the same options, and nothing is uploaded if that finds a fault. Then packs, deltas and \
      pages are uploaded, which have a name of their own for ever, and compared with those in the directory. Then 'packer release record' records \
      the release; then the manifest is replaced. Stopped anywhere, the place has the earlier release or the new one, whole; run it again, and \
      it goes on. A manifest that is older than the published one is refused.

      The place is a folder, or a remote of rclone with a colon, as 'games:bucket/packs': S3, R2, GCS, Azure, SFTP and others. rclone finds its \
      configuration and secrets itself. Packs may be cached for ever, the manifest for a minute, where the remote has such headers. On SFTP and \
      other file systems, rclone before 1.63 writes the manifest in place: a device that reads it in that moment refuses it, and tries again.

      One pipeline publishes at a time. Another one that replaces the manifest meanwhile is noticed in a folder; on a remote, the manifest is \
      compared before and after, which leaves a moment.

      --files-only uploads all but the manifest, and records nothing: for a pipeline that must push the lock file first. Nothing is ever deleted.

      Examples:
        packer publish --to games:bucket/packs --plist App/Info.plist --dry-run
        packer publish --to games:bucket/packs --plist App/Info.plist
        packer publish dist --to /srv/www/packs --quick
      """)

  @Argument(help: "A release directory. (default: dist beside packer.yml)", completion: .directory)
  var release: String?

  @Option(name: .customLong("to"), help: ArgumentHelp("The folder, or the remote of rclone, from which devices fetch.", valueName: "place"))
  var placeText: String

  @Flag(name: .customLong("dry-run"), help: "Show what would be uploaded, and upload nothing.")
  var isTrial = false

  @Flag(name: .customLong("files-only"), help: "Upload packs, deltas and pages, but not the manifest.")
  var isFilesOnly = false

  @Flag(name: .customLong("no-record"), help: "Do not record the release in the lock file: it was recorded before.")
  var isUnrecorded = false

  @OptionGroup var gate: GateOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  // A program that uploads may leave a part of a file, which the next run replaces.
  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let place = try place(in: session)
    guard !isFilesOnly || !isTrial else { throw PackError(.usage, "--dry-run uploads nothing, so --files-only does not apply") }
    let outcome = try await ReleaseGate(options: gate, key: key, jobs: try threads.count(), isJSON: output.isJSON).run(release, in: session)
    guard case .done = outcome else { return outcome }
    let configuration = try ReleasePlaces.configuration(at: gate.inputs.configuration)
    guard configuration?.hosting ?? .unmanaged == .unmanaged else {
      throw PackError(
        .usage,
        "the system downloads the packs of this release, as \(configuration?.path ?? "packer.yml") says, and others are uploaded for it",
        hint: "Documentation/MANAGED_PACKS.md describes it")
    }
    let files = try ReleaseFiles(release ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration))
    let publication = Publication(files, at: place)
    let plan = try publication.plan()
    tell(plan, files, on: session.console)
    guard !isTrial else { return .done }
    try publication.upload(plan)
    if !plan.missing.isEmpty { session.console.note("uploaded and compared \(Table.count(plan.missing.count, "file", "files"))") }
    guard !isFilesOnly else { return .done }
    if !isUnrecorded { try record(files, configuration, in: session) }
    try publication.publish(plan)
    session.console.note(
      plan.isPublished ? "manifest \(files.manifest.version) is published already" : "published manifest \(files.manifest.version)")
    return .done
  }

  private func place(in session: Session) throws(PackError) -> any PublishingPlace {
    // As rclone decides it.
    guard placeText.prefix(while: { $0 != "/" }).contains(":") else { return FolderPlace(placeText) }
    return RclonePlace(placeText, showsProgress: session.console.hasMovableCursor && !output.isQuiet && !output.isJSON)
  }

  private func record(_ files: ReleaseFiles, _ configuration: PackerConfiguration?, in session: Session) throws(PackError) {
    guard let configuration else {
      session.console.warning(
        "there is no packer.yml, so the release is not recorded", hint: "packer release record, where the lock file is")
      return
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
  }

  private func tell(_ plan: Publication.Plan, _ files: ReleaseFiles, on console: Console) {
    let size = plan.missing.reduce(0 as UInt64) { $0.adding($1.size) }
    let version = files.manifest.version
    var lines = [
      "\(placeText): \(Table.count(plan.missing.count, "file", "files")) to upload, \(ByteCount(size)); "
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
      RecordValue.sorted([
        "type": .text("publication"), "to": .text(placeText), "manifest": .number(version),
        "publishedManifest": RecordValue.number(plan.publishedVersion), "isPublished": .flag(plan.isPublished),
        "files": RecordValue.number(plan.missing.count), "size": .number(size), "present": RecordValue.number(plan.present.count),
        "others": RecordValue.number(plan.others.count), "othersSize": .number(plan.others.size), "isDryRun": .flag(isTrial),
      ]), lines)
    console.flushOutput()
  }

  private static let mostNames = 100
}
