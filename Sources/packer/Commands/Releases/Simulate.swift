import ArgumentParser

/// The commands that simulate deliveries.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulates the delivery of a release to a device: system, extension, app, and faults.",
    discussion: """
      The system is simulated. Extension and app run the shipping code, on real files. There is no network and no waiting, and the same \
      arguments print the same output. Each line has an actor, an action, the BAErrorDomain error that the system would report, if any, and \
      the reaction. The simulation runs day after day until nothing is left to do.

      Findings are failures: a pack that is lost, a state that cannot be left, content that is missing when the app needs it. If the app \
      recovers from a requested fault, the fault is printed, but is not a finding.

      --fail takes PACK:FAULT. PACK may also be 'manifest', 'catalogue' or 'all'. FAULT is one of truncate, size, offline, host, memory, lock and \
      forgotten. size=BYTES sets the size of the file on the server, and *N at the end sets how often the fault occurs.

      Examples:
        packer simulate install dist --plist App/Info.plist
        packer simulate install dist --app-version 1.0.0 --link 5Mbit/s,50ms
        packer simulate install dist --fail core:truncate --fail all:offline
        packer simulate update dist --from old/dist --kill-extension 20
        packer simulate update dist --from old/dist --then next/dist
        packer simulate periodic dist --low-power --ask voices-de
        packer simulate rollout dist --from old/dist --step 0h:5 --step 24h:halt
      """,
    shouldDisplay: HelpText.isWhole,
    subcommands: [SimulateInstall.self, SimulateUpdate.self, SimulatePeriodic.self, SimulateRollout.self])
}

/// A command that simulates. It creates the directory of a device, which must be removed if the command is interrupted.
protocol SimulateVerb: Verb {
  var options: SimulateOptions { get }
}

extension SimulateVerb {
  var isQuiet: Bool { options.output.isQuiet }
}

/// `packer simulate install`
struct SimulateInstall: SimulateVerb {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Installs the app and starts it for the first time.",
    discussion: """
      Before the first start, the limits of the Info.plist apply: how much may be downloaded, and from which hosts. Essential packs are \
      downloaded before the app can be opened.

      Example:
        packer simulate install dist --plist App/Info.plist
      """)

  @Flag(
    name: .customLong("in-app-content-off"), help: "In-app content is switched off: nothing is downloaded before the first start.")
  var isContentOff = false

  @Flag(
    name: .customLong("ignore-allowance"), help: "The extension ignores the remaining allowance that the system reports.")
  var ignoresAllowance = false

  @OptionGroup var options: SimulateOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try await Rehearsal(options: options).run(.install, from: nil, in: session) { settings in
      settings.isContentOff = isContentOff
      settings.ignoresAllowance = ignoresAllowance
    }
  }
}

/// `packer simulate update`
struct SimulateUpdate: SimulateVerb {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Updates the app, with an earlier release on the device.",
    discussion: """
      Essential packs are downloaded before the app can be opened. No limits apply, because the app was started before.

      Example:
        packer simulate update dist --from old/dist --plist App/Info.plist
      """)

  @OptionGroup var earlier: EarlierReleaseOption

  @OptionGroup var options: SimulateOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard let from = earlier.from else {
      throw PackError(
        .usage, "an update needs an earlier release, and --from is missing",
        hint: "keep the directory of each release, and give the one that is on the devices: --from old/dist")
    }
    return try await Rehearsal(options: options).run(.update, from: from, in: session) { _ in }
  }
}

/// `packer simulate periodic`
struct SimulatePeriodic: SimulateVerb {
  static let configuration = CommandConfiguration(
    commandName: "periodic", abstract: "Runs a periodic background check for new packs.",
    discussion: """
      The app was started before, so no limits apply, and no pack is essential. Without --from, the device has no packs yet.

      Example:
        packer simulate periodic dist --from old/dist --low-power
      """)

  @OptionGroup var earlier: EarlierReleaseOption

  @Flag(
    name: .customLong("misread-request"), help: "The extension handles the request as an update, as if it did not know this kind.")
  var misreadsRequest = false

  @OptionGroup var options: SimulateOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try await Rehearsal(options: options).run(.periodic, from: earlier.from, in: session) { settings in
      settings.misreadsRequest = misreadsRequest
    }
  }
}

/// The option that names the release on the device.
struct EarlierReleaseOption: ParsableArguments {
  @Option(help: ArgumentHelp("The release on the device: a directory, or its manifest.", valueName: "dist"), completion: .file())
  var from: String?
}

/// The options of all simulations.
struct SimulateOptions: ParsableArguments {
  @Argument(help: "A release directory, or its manifest. (default: dist beside packer.yml)", completion: .file())
  var release: String?

  @Option(
    help: ArgumentHelp("The app's Info.plist. (default: Info.fragment.plist of the release)", valueName: "file"),
    completion: .file())
  var plist: String?

  @Option(
    name: .customLong("app-version"),
    help: ArgumentHelp("Take budget, hosts and keys of this app version from the lock file.", valueName: "version"))
  var appVersion: String?

  @OptionGroup(visibility: .hidden) var lockFile: LockOption
  @OptionGroup(visibility: .hidden) var trust: TrustOptions

  @Option(
    help: ArgumentHelp("Platform of the device: iOS, macOS, tvOS or visionOS. (default: iOS)", valueName: "platform"),
    completion: .list(DeviceProfile.Platform.allCases.map(\.rawValue)))
  var platform: String?

  @Option(
    name: .customLong("language"),
    help: ArgumentHelp("Language of the device, as in pt-BR. Repeatable. (default: that of the first pack that has one)", valueName: "tag"))
  var languages: [String] = []

  @Option(help: ArgumentHelp("Let the app request a pack, or all packs with a tag. Repeatable.", valueName: "pack|tag"))
  var ask: [String] = []

  @Option(help: ArgumentHelp("Add a fault, as in core:truncate. Repeatable.", valueName: "pack:fault"))
  var fail: [String] = []

  @Option(
    name: .customLong("kill-extension"),
    help: ArgumentHelp("Kill the extension at its n-th file operation, counted from 1.", valueName: "n", visibility: .hidden))
  var extensionDeath: Int?

  @Option(
    name: .customLong("extension-call"),
    help: ArgumentHelp(
      "Run time to count for each call of the extension, in milliseconds. (default: 100)", valueName: "ms", visibility: .hidden))
  var callMilliseconds: UInt64?

  @Option(
    name: .customLong("extension-memory"),
    help: ArgumentHelp("Memory limit of the extension, as in 4MB. (default: 6MB)", valueName: "size", visibility: .hidden))
  var memory: String?

  @Option(
    name: .customLong("then"),
    help: ArgumentHelp("Let the server switch to this release during the simulation.", valueName: "dist", visibility: .hidden),
    completion: .file())
  var later: String?

  @Option(
    name: .customLong("replace-manifest-after"),
    help: ArgumentHelp("With --then: switch after this many files. (default: 1)", valueName: "n", visibility: .hidden))
  var changesAfter: Int?

  @Flag(name: .customLong("low-power"), help: "The device is in low power mode until the app is started.")
  var isLowPower = false

  @Option(help: ArgumentHelp("The rate of the network, and its round trip.", valueName: "rate,time"))
  var link = NetworkLink.usual.text

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp(
      "Start time, as in 2026-12-24T18:00:00Z. (default: the time the manifest was made)", valueName: "time", visibility: .hidden))
  var time: String?

  @Option(
    help: ArgumentHelp("Keep the files of the simulated device in this directory.", valueName: "dir", visibility: .hidden),
    completion: .directory)
  var keep: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  /// The platform that was named; nil if none was.
  ///
  /// - Throws: `PackError.Code.usage` for an unknown one.
  func namedPlatform() throws(PackError) -> DeviceProfile.Platform? { try platform.map(DeviceProfile.Platform.init(option:)) }
}
