import ArgumentParser
import PackDelivery
import PackFormat
import PackSimulator

/// The commands that rehearse deliveries.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Rehearses how a release comes to a device: the system's rules, the extension, the app, and what goes wrong.",
    discussion: """
      The system is played; extension and app run the code that ships, on real files. Nothing is sent anywhere, no time passes, and the same \
      arguments tell the same story. Each line says who did what, the error of BAErrorDomain where the system would report one, and what was done \
      about it. The device is played on, day after day, until nothing is left to do.

      Findings are what must not happen: a pack that is lost, a state that nothing leads out of, content that is not there when the app needs it. A \
      fault that was asked for and is got over is told, and is no finding.

      --fail takes PACK:FAULT. PACK may be 'manifest' or 'all', and FAULT is one of truncate, size, offline, host, memory, lock and forgotten; \
      size=BYTES says how large the file at the server is, and *N behind it all how often it strikes.

      Examples:
        packer simulate install dist --plist App/Info.plist
        packer simulate install dist --app-version 1.0.0 --speed 3g
        packer simulate install dist --fail core:truncate --fail all:offline
        packer simulate update dist --from old/dist --kill-extension 20
        packer simulate update dist --from old/dist --then next/dist
        packer simulate periodic dist --low-power --ask voices-de
      """,
    subcommands: [SimulateInstall.self, SimulateUpdate.self, SimulatePeriodic.self])
}

/// A command that rehearses: it makes a device, which an interruption must not leave behind.
protocol SimulateVerb: Verb {
  var options: SimulateOptions { get }
}

extension SimulateVerb {
  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { options.output.isQuiet }
}

/// `packer simulate install`
struct SimulateInstall: SimulateVerb {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "The app is installed, and started for the first time.",
    discussion: """
      Before the first start the bounds of the Info.plist hold: what may be downloaded, and from which hosts. Essential packs come before the app \
      can be opened.

      Example:
        packer simulate install dist --plist App/Info.plist
      """)

  @Flag(
    name: .customLong("in-app-content-off"), help: "The person switched in-app content off: nothing is downloaded before the first start.")
  var isContentOff = false

  @Flag(
    name: .customLong("ignore-allowance"), help: "The extension plans without the numbers that the system says are left.")
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
    commandName: "update", abstract: "The app is updated, with an earlier release on the device.",
    discussion: """
      Essential packs come before the app can be opened. No bounds hold any more, because the app was started before.

      Example:
        packer simulate update dist --from old/dist --plist App/Info.plist
      """)

  @OptionGroup var earlier: EarlierReleaseOption

  @OptionGroup var options: SimulateOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard let from = earlier.from else {
      throw PackError(
        .usage, "an update starts from an earlier release, and --from names none",
        hint: "keep the directory of each release, and give the one that is on the devices: --from old/dist")
    }
    return try await Rehearsal(options: options).run(.update, from: from, in: session) { _ in }
  }
}

/// `packer simulate periodic`
struct SimulatePeriodic: SimulateVerb {
  static let configuration = CommandConfiguration(
    commandName: "periodic", abstract: "The system looks for something new in the background.",
    discussion: """
      The app was started before, so no bounds hold, and nothing is essential. Without --from, the device has nothing yet.

      Example:
        packer simulate periodic dist --from old/dist --low-power
      """)

  @OptionGroup var earlier: EarlierReleaseOption

  @Flag(
    name: .customLong("misread-request"), help: "The extension takes the request for an update, as one does that does not know its kind.")
  var misreadsRequest = false

  @OptionGroup var options: SimulateOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try await Rehearsal(options: options).run(.periodic, from: earlier.from, in: session) { settings in
      settings.misreadsRequest = misreadsRequest
    }
  }
}

/// What the device had before.
struct EarlierReleaseOption: ParsableArguments {
  @Option(help: ArgumentHelp("The release that the device has: a directory, or its manifest.", valueName: "dist"), completion: .file())
  var from: String?
}

/// What all simulations take.
struct SimulateOptions: ParsableArguments {
  @Argument(help: "A release's directory, or its manifest. (default: dist beside packer.yml)", completion: .file())
  var release: String?

  @Option(
    help: ArgumentHelp("The app's Info.plist. (default: the part of one that the build wrote beside the packs)", valueName: "file"),
    completion: .file())
  var plist: String?

  @Option(
    name: .customLong("app-version"),
    help: ArgumentHelp("Take budget, hosts and keys of this app version from the lock file.", valueName: "version"))
  var appVersion: String?

  @OptionGroup var lockFile: LockOption
  @OptionGroup var trust: TrustOptions

  @Option(help: ArgumentHelp("Have the app ask for a pack, or for all with a tag. Repeatable.", valueName: "pack|tag"))
  var ask: [String] = []

  @Option(help: ArgumentHelp("Let something go wrong, as in core:truncate. Repeatable.", valueName: "pack:fault"))
  var fail: [String] = []

  @Option(name: .customLong("kill-extension"), help: ArgumentHelp("Kill the extension at this file operation, from 1.", valueName: "n"))
  var extensionDeath: Int?

  @Option(
    name: .customLong("extension-call"),
    help: ArgumentHelp("What a call of the extension counts for, in milliseconds. (default: 100)", valueName: "ms"))
  var callMilliseconds: UInt64?

  @Option(
    name: .customLong("extension-memory"),
    help: ArgumentHelp("What the extension may have of memory, as in 4MB. (default: 6MB)", valueName: "size"))
  var memory: String?

  @Option(
    name: .customLong("then"), help: ArgumentHelp("Have the server offer this release in the middle of it.", valueName: "dist"),
    completion: .file())
  var later: String?

  @Option(
    name: .customLong("replace-manifest-after"),
    help: ArgumentHelp("The files after which it does, with --then. (default: 1)", valueName: "n"))
  var changesAfter: Int?

  @Flag(name: .customLong("low-power"), help: "The device is in low power mode until the app is started.")
  var isLowPower = false

  @Option(help: ArgumentHelp("How fast files come: 3g, 4g, wifi, or bytes in a second. (default: wifi)", valueName: "speed"))
  var speed: String?

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp("The time at the beginning, as in 2026-12-24T18:00:00Z. (default: when the manifest was made)", valueName: "time"))
  var time: String?

  @Option(help: ArgumentHelp("Leave the device in this directory, when all is played.", valueName: "dir"), completion: .directory)
  var keep: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions
}
