import ArgumentParser

/// `packer publish`
struct Publish: Verb {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Checks a release, uploads what is new of it, records it, and replaces the manifest last.",
    discussion: HelpText.text(
      """
      The release is checked as by 'packer verify', with the same options, and nothing is uploaded if that finds a fault. Then packs, deltas and \
      shards are uploaded, which have a name of their own for ever, and compared with those in the directory. Then 'packer release record' records \
      the release; then the manifest is replaced. Stopped anywhere, the place has the earlier release or the new one, whole; run it again, and \
      it goes on. If the release is published already, its files are compared where the place has digests of them, and replaced if they are others. A \
      manifest that is older than the published one is refused. A copy of each manifest stays, for 'packer prune'.

      --open publishes nothing else than the openers of published packs whose time ('opens' in packer.yml) has come, by the clock of this machine and \
      that of the server, which may differ by five minutes. It needs the root key, and no release; what is open stays. Run it at that time.
      """,
      more: """
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
        """,
      examples: """
        Examples:
          packer publish --to games:bucket/packs --plist App/Info.plist --dry-run
          packer publish --to games:bucket/packs --plist App/Info.plist --live
          packer publish dist --to /srv/www/packs --quick
          packer publish --open
        """))

  @Argument(help: "A release directory. (default: dist beside packer.yml)", completion: .directory)
  var release: String?

  @Flag(name: .customLong("dry-run"), help: "Show what would be uploaded, and upload nothing.")
  var isTrial = false

  @Flag(name: .customLong("files-only"), help: "Upload packs, deltas and shards, but not the manifest.")
  var isFilesOnly = false

  @Flag(name: .customLong("no-record"), help: "Do not record the release in the lock file: it was recorded before.")
  var isUnrecorded = false

  @Flag(name: .customLong("open"), help: "Publish only the files that open packs whose time has come.")
  var isOpening = false

  @OptionGroup var options: PublicationOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { isTrial ? .none : .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if isOpening { return try await open(in: session) }
    try options.checkLive(publishes: !isTrial && !isFilesOnly)
    guard !isFilesOnly || !isTrial else { throw PackError(.usage, "--dry-run uploads nothing, so --files-only does not apply") }
    let configuration = try options.configuration()
    let place = try options.place(for: release, configuration, in: session)
    let gate = try options.releaseGate()
    let outcome = try await gate.run(release, in: session)
    guard case .done = outcome else { return outcome }
    let extent: PublicationOptions.Extent = isTrial ? .plan : isFilesOnly ? .files : isUnrecorded ? .unrecorded : .whole
    return try await options.publish(release, configuration, to: place, extent, checkedBy: gate, in: session)
  }

  /// Publishes the openers that are due.
  private func open(in session: Session) async throws(PackError) -> Outcome {
    guard !isFilesOnly, !isUnrecorded, release == nil, options.replace == nil else {
      throw PackError(.usage, "--open is about the published release: it takes no other, and records nothing")
    }
    let configuration = try options.configuration()
    let place = try options.place(for: nil, configuration, in: session)
    let own = try options.gate.inputs.ownManifests(configuration, of: options.directory(nil, configuration), in: session)
    let now = try await options.agreedTime(configuration)
    let opening = Opening(at: place, own: own)
    let plan = try opening.plan(at: now)
    if let early = plan.early.first {
      session.console.warning(
        "\(place.title) has the opener of pack '\(early.id)', which is to open at \(early.opens.map { "\($0)" } ?? "")",
        hint: "packer explain PK7023")
    }
    if !isTrial, !plan.due.isEmpty {
      try opening.run(plan, root: try session.key(options.key, configured: configuration))
    }
    session.console.result(
      [
        "type": "opening", "to": .text(place.title), "manifest": .number(plan.manifest), "opened": .texts(plan.due.map(\.id)),
        "isOpen": .texts(plan.open.map(\.id)),
        "later": .list(plan.later.map { ["id": .text($0.id), "version": .number($0.version), "opens": .text($0.opens.map { "\($0)" })] }),
        "isDryRun": .flag(isTrial),
      ], lines(plan, at: place.title))
    return .done
  }

  private func lines(_ plan: Opening.Plan, at place: String) -> [String] {
    func title(_ edition: Opening.Edition) -> String { "'\(edition.id)' version \(edition.version)" }
    var lines = plan.due.map { "\(place): \(isTrial ? "would open" : "opened") \(title($0))" }
    if !plan.open.isEmpty { lines.append("\(place): \(Table.count(plan.open.count, "pack", "packs")) open already") }
    lines += plan.later.map { "\(place): \(title($0)) opens at \($0.opens.map { "\($0)" } ?? "")" }
    return lines.isEmpty ? ["\(place): no pack of manifest \(plan.manifest) opens later"] : lines
  }
}
