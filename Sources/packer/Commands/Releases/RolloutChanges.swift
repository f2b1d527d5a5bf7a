import ArgumentParser

/// `packer rollout share`
struct RolloutShare: Verb {
  static let configuration = CommandConfiguration(
    commandName: "share",
    abstract: "Sets the share of devices that take the candidates of a rollout, and prolongs its time.",
    discussion: """
      A larger share only adds devices. With a smaller one, devices that run a candidate keep it. Further devices begin for 24 hours from now, or for as \
      long as they would before if that is longer.

      Examples:
        packer rollout share winter 25
        packer rollout share winter 100 --for '3 days'
      """)

  @Argument(help: "The name of the rollout.")
  var name: String

  @Argument(help: "The share in percent, as 25 or 0.5.")
  var share: String

  @OptionGroup var time: RolloutTimeOption
  @OptionGroup var options: RolloutOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { options.programs }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try options.change(name, .share(try RolloutText.share(share), until: try time.term()), in: session)
  }
}

/// The option that says how long a rollout goes on.
struct RolloutTimeOption: ParsableArguments {
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long further devices may begin, in hours, days or weeks. (default: 24 hours)", valueName: "duration"))
  var duration: String?

  /// Returns the time from which on no further device begins.
  func until() throws(PackError) -> ManifestTime { try RolloutText.until(duration, from: try ManifestTime.now()) }

  /// Returns it for a rollout under way, which goes on for as long as it did unless a duration was given.
  func term() throws(PackError) -> RolloutDraft.Term { duration == nil ? .atLeast(try until()) : .exactly(try until()) }
}

/// `packer rollout pause`
struct RolloutPause: Verb {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Lets no further device begin a rollout; who runs a candidate keeps it.",
    discussion: "Example:\n  packer rollout pause winter")

  @Argument(help: "The name of the rollout.")
  var name: String

  @OptionGroup var options: RolloutOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { options.programs }

  func run(in session: Session) async throws(PackError) -> Outcome { try options.change(name, .pause, in: session) }
}

/// `packer rollout resume`
struct RolloutResume: Verb {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Goes on with a rollout that was paused or whose time is over.",
    discussion: "Example:\n  packer rollout resume winter --for '2 days'")

  @Argument(help: "The name of the rollout.")
  var name: String

  @OptionGroup var time: RolloutTimeOption
  @OptionGroup var options: RolloutOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { options.programs }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try options.change(name, .resume(until: try time.term()), in: session)
  }
}

/// `packer rollout halt`
struct RolloutHalt: Verb {
  static let configuration = CommandConfiguration(
    commandName: "halt",
    abstract: "Takes the candidates of a rollout back, for good.",
    discussion: """
      All devices go back to the published versions, which they still have, when they next open the packs. It needs no release and no pack, only \
      packer.yml, the signing key and the place. The withdrawn versions are never used again.

      Examples:
        packer rollout halt winter --dry-run
        packer rollout halt winter
      """)

  @Argument(help: "The name of the rollout.")
  var name: String

  @OptionGroup var options: RolloutOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { options.programs }

  func run(in session: Session) async throws(PackError) -> Outcome { try options.change(name, .halt, in: session) }
}

/// `packer rollout finish`
struct RolloutFinish: Verb {
  static let configuration = CommandConfiguration(
    commandName: "finish",
    abstract: "Gives the candidates of a rollout to all devices, as the published versions.",
    discussion: """
      It ends the rollout, at any share and also if it is paused. A pack that was released beside it goes on as it is.

      Examples:
        packer rollout finish winter --dry-run
        packer rollout finish winter
      """)

  @Argument(help: "The name of the rollout.")
  var name: String

  @OptionGroup var options: RolloutOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { options.programs }

  func run(in session: Session) async throws(PackError) -> Outcome { try options.change(name, .finish, in: session) }
}

/// `packer rollout show`
struct RolloutShow: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows the rollouts of the published manifest.",
    discussion: "Example:\n  packer rollout show --to games:bucket/packs")

  @OptionGroup var place: PlaceOption
  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try RolloutText.configuration(trust)
    let place = try place.place(configuration, starting: session.programs, showsProgress: false)
    let own = OwnManifests(
      trusted: try trust.keys(configuration, isNeeded: false, in: session),
      lock: try ReleaseLock.readIfPresent(configuration.path(of: ReleaseFile.lock)), records: ReleasedPacks(of: configuration))
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let published = try PlacedRelease(at: place, own: own, in: scratch.path)
    RolloutText.show(
      published.manifest, published.packs, at: place.title, on: session.console, "\(place.title): manifest \(published.manifest.version)")
    let (expires, now) = (published.manifest.expires, try ManifestTime.now())
    if expires <= now {
      session.console.warning(
        "it expired at \(expires), so devices do not take it any more",
        hint: "each 'packer rollout' command that changes something renews it")
    }
    return .done
  }
}
