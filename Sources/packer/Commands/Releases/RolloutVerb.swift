import ArgumentParser

/// The commands about rollouts.
struct RolloutVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollout",
    abstract: "Gives a release to some devices first, raises their share, stops it, or takes it back.",
    discussion: """
      A rollout offers the changed packs of a release as candidates beside the published ones. Each device decides for itself, by random bytes that never \
      leave it, so no server is needed. What a device has confirmed it keeps, and a halt takes it back to the version before, which it still has. \
      After 24 hours without one of these commands, no further device begins.

      Examples:
        packer build && packer rollout start winter --share 5
        packer rollout share winter 25
        packer rollout halt winter
        packer rollout finish winter
        packer rollout show
      """,
    subcommands: [
      RolloutStart.self, RolloutShare.self, RolloutPause.self, RolloutResume.self, RolloutHalt.self, RolloutFinish.self, RolloutShow.self,
    ])
}

/// The options of the commands that change a rollout under way.
struct RolloutOptions: ParsableArguments {
  @OptionGroup var place: PlaceOption

  @Flag(name: .customLong("dry-run"), help: "Show what would change, and change nothing.")
  var isTrial = false

  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { isTrial ? .none : .trusted }

  /// Changes a rollout, and publishes the manifest.
  func change(_ id: String, _ change: RolloutDraft.Change, in session: Session) throws(PackError) -> Outcome {
    let configuration = try RolloutText.configuration(trust)
    let signers = try RolloutText.signers(signKey, configuration, isTrial: isTrial, in: session)
    let place = try place.place(configuration, starting: session.programs, showsProgress: false)
    let lockPath = configuration.path(of: ReleaseFile.lock)
    let own = OwnManifests(
      trusted: try trust.keys(configuration, isNeeded: false, in: session), lock: try ReleaseLock.readIfPresent(lockPath),
      records: ReleasedPacks(of: configuration))
    let publication = RolloutPublication(at: place, own: own, of: configuration, at: try ManifestTime.now())
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let plan = try publication.plan(in: scratch.path) { (draft) throws(PackError) in try draft.change(id, change) }
    let written = try signers.map { (signers) throws(PackError) in try publication.write(plan, signedBy: signers, in: scratch.path) }
    if !isTrial, let (files, record) = written {
      let upload = publication.publication(of: files, plan)
      let next = try upload.plan()
      _ = try upload.upload(next)
      // What takes back comes first; the lock file follows.
      try upload.publish(next)
      let isRecorded = try ReleaseRecording.renew(
        record, offering: (plan.draft.packs, plan.draft.manifest.rollouts), after: try plan.published.signedDigest(), shards: plan.shards,
        in: lockPath, of: configuration,
        origin: RecordOrigin.current(time: try BuildTime.fromEnvironment().now) { ProcessEnvironment.text(of: $0) })
      if isRecorded {
        session.console.note("recorded in \(lockPath): commit it")
      } else {
        session.console.warning(
          "\(lockPath) does not have manifest \(plan.published.manifest.version) as its last, so this one is not recorded",
          hint: "packer release recover writes it anew from the place; then commit it")
      }
    }
    RolloutText.show(plan.draft, from: plan.published, at: place.title, isTrial: isTrial, on: session.console)
    return .done
  }
}

/// What the commands about rollouts read and print.
enum RolloutText {
  /// Reads the configuration, which is needed.
  static func configuration(_ trust: TrustOptions) throws(PackError) -> PackerConfiguration {
    guard let configuration = try trust.configuration.read() else {
      throw PackError(.missingInput, of: PackerConfiguration.defaultPath, "does not exist", hint: "name it with -c")
    }
    return configuration
  }

  /// Reads the signing keys.
  ///
  /// - Parameter isTrial: whether nothing is published. Then a key that cannot be read is only said, and nil is returned: people and machines without it may
  ///   look at what a change does.
  static func signers(
    _ options: SignKeyOptions, _ configuration: PackerConfiguration, isTrial: Bool, in session: Session
  ) throws(PackError) -> [ReleaseSigner]? {
    do throws(PackError) {
      return try session.signers(options, configured: configuration)
    } catch {
      guard isTrial, [.noKey, .missingInput, .cannotRead].contains(error.code) else { throw error }
      session.console.warning("the signing key was not tried: \(error.message)", hint: nil)
      return nil
    }
  }

  /// Reads a share in percent.
  static func share(_ text: String) throws(PackError) -> UInt64 {
    guard let share = PercentText.basisPoints(text.hasSuffix("%") ? String(text.dropLast()) : text) else {
      throw PackError(
        .usage, "'\(printable(text.utf8))' is not a share from 0 to 100 percent with at most two decimals", hint: "write 5, or 0.25")
    }
    return share
  }

  /// Returns the time until which new devices begin.
  static func until(_ text: String?, from now: ManifestTime) throws(PackError) -> ManifestTime {
    guard let seconds = text.map(DurationText.seconds) ?? RolloutDraft.defaultSeconds, seconds > 0,
      let until = ManifestTime(secondsSince1970: now.secondsSince1970 + Int64(clamping: min(seconds, 1 << 32)))
    else {
      throw PackError(.usage, "'\(printable((text ?? "").utf8))' is not a duration", hint: "write '12 hours', '3 days' or '1 week'")
    }
    return until
  }

  /// Prints the rollouts of the next manifest.
  static func show(
    _ draft: RolloutDraft, from published: PlacedRelease, at place: String, isTrial: Bool, on console: Console
  ) {
    for note in draft.notes { console.note(note) }
    let before = published.manifest.version
    show(
      draft.manifest, draft.packs, at: place, on: console,
      "\(place): manifest \(draft.manifest.version) \(isTrial ? "would be" : "is") published in place of manifest \(before)",
      isTrial: isTrial)
  }

  /// Prints the rollouts of a manifest.
  static func show(
    _ manifest: Manifest, _ packs: [ManifestPack], at place: String, on console: Console, _ heading: String, isTrial: Bool? = nil
  ) {
    var lines = [heading]
    var list: [JSON] = []
    for rollout in manifest.rollouts {
      let candidates = packs.filter { $0.candidate?.rollout == rollout.id }
      let groups = rollout.groups.isEmpty ? "" : ", and \(rollout.groups.joined(separator: ", "))"
      let end = rollout.state == .running ? ", begins until \(rollout.until)" : ""
      lines.append("  \(rollout.id)  \(rollout.state.rawValue)  \(PercentText.text(rollout.share))\(groups)\(end)")
      lines += candidates.prefix(mostLines).map { "    \($0.id): version \($0.version), candidate \($0.candidate?.version ?? 0)" }
      if candidates.count > mostLines { lines.append("    and \(candidates.count - mostLines) more") }
      let versions = candidates.map { pack -> JSON in
        ["id": .text(pack.id), "version": .number(pack.version), "candidate": .number(pack.candidate?.version)]
      }
      list.append(["rollout": rollout.json, "packs": .list(versions)])
    }
    if manifest.rollouts.isEmpty { lines.append("  no rollout is under way") }
    console.result(
      [
        "type": "rollouts", "to": .text(place), "manifest": .number(manifest.version), "rollouts": .list(list),
        "isDryRun": isTrial.map { .flag($0) },
      ], lines)
  }

  private static let mostLines = 20
}
