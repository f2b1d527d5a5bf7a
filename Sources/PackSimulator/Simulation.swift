/// A simulation of an app with background downloads. The system and its rules are simulated. Everything that extension and app do is done by the code
/// that ships, on real files: ``ExtensionDelivery``, ``AppDelivery``, the store and the downloads.
///
/// It uses a simulated clock, so it does not wait. The same settings give the same events.
package struct Simulation {
  let settings: SimulationSettings
  let world: SimulatedWorld
  /// The directory of the device: the app group, the app's own directory, the system's downloads.
  let directory: String
  var daemon: DownloadDaemon
  /// The current release on the server.
  var published: SimulatedRelease
  var report = SimulationReport()

  /// The number of files that the system has downloaded since the beginning.
  var filesArrived = 0
  var launches = 0
  /// The start and the accounted time of each call of the extension, in milliseconds, for its limit per day.
  var runtimes: [(at: UInt64, milliseconds: UInt64)] = []
  /// The last error of the system about each pack before the first start, and whether it was requested. The key nil is the manifest.
  var errors: [String?: (error: SystemError, isInjected: Bool)] = [:]
  var readyAt: [String: UInt64] = [:]
  var hereAtLaunch: Set<String> = []
  var lastPlan: DeliveryPlan?
  /// The error that ended the last start of the app early.
  var appRefusal: PackError?
  /// The manifest that the app has.
  var appManifest: Manifest?
  /// The packs that the app found by the requested tags.
  var tagged: Set<String> = []
  /// The errors with which the app last looked for packs, by tag.
  var tagRefusals: [String: PackError] = [:]
  /// The error of the last installation, by pack.
  var installRefusals: [String: PackError] = [:]
  /// The error with which the app refused the manifest that it last fetched.
  var manifestRefusal: PackError?
  /// Why parts of the catalogue could not be fetched at the last attempt; nil if none were missing.
  var catalogueRefusal: PackError?
  /// The error with which the extension last refused the manifest.
  var extensionRefusal: PackError?

  /// The number of starts of the app after which nothing may be left to do.
  static let patience = 12
  /// The time between the moment when the app can be opened and its start, in milliseconds.
  static let launchDelay: UInt64 = 30_000
  /// The time between a periodic request and the next start of the app, in milliseconds.
  static let backgroundLength: UInt64 = 3_600_000
  static let day: UInt64 = 86_400_000

  /// Creates a simulation.
  ///
  /// - Parameter directory: an empty directory for the device. The caller creates and removes it.
  package init(_ settings: SimulationSettings, in directory: String) {
    self.settings = settings
    self.directory = directory
    let first = settings.earlier ?? settings.release
    published = first
    let clock = VirtualClock(start: first.manifest.issued?.secondsSince1970 ?? first.manifest.expires.secondsSince1970 - 86_400 * 30)
    world = SimulatedWorld(clock: clock, link: settings.link)
    daemon = DownloadDaemon(isBackgroundProhibited: false)
  }

  var group: String { "\(directory)/group" }
  var storePath: String { "\(directory)/app/store" }
  var clock: VirtualClock { world.clock }

  // MARK: Run

  /// Runs the simulation.
  ///
  /// - Throws: errors of the real file system, ``PackFormat/PackError/Code/cancelled``, and the reason if `earlier` cannot be on the device. Errors
  ///   on the device are in the report.
  package mutating func run() async throws(PackError) -> SimulationReport {
    try makeDirectory(directory + "/system")
    try await makeDevice()
    begin()
    if settings.event == .install {
      daemon.restrict(settings.rules)
      tell(.system, "installs the app, with the rules of \(settings.rules.source)")
      tell(
        .system, "allows \(daemon.remaining?.essential ?? 0) bytes of essential downloads, and \(daemon.remaining?.other ?? 0) of others")
    } else {
      tell(.system, settings.event == .update ? "updates the app" : "checks for new packs")
    }
    tellDevice()
    try await request(settings.event)
    if settings.event.permitsEssential {
      try await runSystem(onlyEssential: true)
      tell(.system, "allows the app to be opened")
    }
    try await runSystem(until: clock.milliseconds + (settings.event.permitsEssential ? Self.launchDelay : Self.backgroundLength))
    changeServer()
    try await launch()
    while launches < Self.patience, !isSettled {
      try check()
      // The system continues its downloads without the app.
      try await runSystem(until: clock.milliseconds + Self.day)
      try await request(.periodic)
      try await runSystem(until: clock.milliseconds + Self.backgroundLength)
      try await launch()
    }
    try await conclude()
    // The result of a cancelled run would look like a fault of the release.
    try check()
    return report
  }

  /// Says for which device packs are chosen, if that makes a difference.
  private func tellDevice() {
    let others = settings.release.packs(asked: settings.asked, tags: settings.tags).filter { !settings.device.accepts($0) }.map(\.id)
    guard !others.isEmpty else { return }
    let languages = settings.device.languages.map { $0.isEmpty ? "no language" : $0.joined(separator: ", ") } ?? "all languages"
    tell(
      .system,
      "is \(settings.device.platform?.rawValue ?? "any platform") with \(languages): \(others.joined(separator: ", ")) \(others.count == 1 ? "is" : "are") for other devices"
    )
  }

  /// Prepares the device before the event: the app downloads and installs the earlier release.
  private mutating func makeDevice() async throws(PackError) {
    guard let earlier = settings.earlier else { return }
    world.timeline.setRecording(false)
    world.publish(earlier)
    try await launch()
    guard lastPlan != nil, appManifest == earlier.manifest else {
      let refusal = manifestRefusal ?? appRefusal
      let reason = refusal.map { ": \($0.message.replacing(directory, with: "device"))" } ?? ""
      throw PackError(
        refusal?.code ?? .noManifest, of: earlier.path, "cannot be the release on the device\(reason)", advice: refusal?.advice)
    }
    world.timeline.setRecording(true)
  }

  /// Resets the report and publishes the release.
  private mutating func begin() {
    let release = settings.release
    clock.restart(at: settings.start ?? max(clock.secondsSince1970, release.manifest.issued?.secondsSince1970 ?? 0))
    if let earlier = settings.earlier {
      tell(.app, "has manifest \(earlier.manifest.version): \(Table.count(lastPlan?.ready.count ?? 0, "pack is", "packs are")) ready")
    }
    daemon = DownloadDaemon(isBackgroundProhibited: settings.isLowPower)
    published = release
    world.publish(release)
    let releases = [release] + (settings.later.map { [$0] } ?? [])
    let packs = releases.flatMap { $0.packs.map(\.id) + $0.manifest.catalogue.map(\.fileName) }
    world.expect(settings.faults, packs: Set(packs).sorted())
    report = SimulationReport()
    launches = 0
    filesArrived = 0
    errors = [:]
    readyAt = [:]
    hereAtLaunch = []
    runtimes = []
    installRefusals = [:]
    extensionRefusal = nil
  }

  /// Replaces the release on the server, if the settings say so.
  mutating func changeServer() {
    guard let later = settings.later, published.path != later.path else { return }
    published = later
    world.publish(later)
    tell(.server, "replaces the manifest: version \(later.manifest.version)")
  }

  /// Whether nothing is left to do.
  private var isSettled: Bool {
    guard appRefusal == nil, tagRefusals.isEmpty, appManifest == published.manifest, let plan = lastPlan else { return false }
    guard daemon.downloads.isEmpty, plan.downloads.isEmpty, plan.underWay.isEmpty, plan.orphans.isEmpty,
      plan.obsolete.isEmpty, plan.undecided.isEmpty
    else { return false }
    guard plan.handOver.isEmpty || settings.keys == nil else { return false }
    return plan.postponed.allSatisfy { $0.reason == .notAsked }
  }

  // MARK: Helpers

  /// Opens the state that app and extension share.
  func openState(_ files: CrashInjectingFiles = CrashInjectingFiles()) throws(PackError) -> SharedState {
    var state = try SharedState(directory: group, store: storePath, files: files, clock: clock)
    // It is about the stable editions, and the same in each run.
    state.isInRollouts = false
    return state
  }

  func tell(_ actor: TimelineActor, _ text: String, pack: String? = nil) {
    world.timeline.tell(actor, text, pack: pack)
  }

  /// Records an event with an error of the system, and keeps the error until the first start of the app.
  mutating func tell(
    _ actor: TimelineActor, _ text: String, pack: String?, _ error: SystemError, remedy: String?, isInjected: Bool
  ) {
    world.timeline.tell(actor, text, pack: pack, error: error, remedy: remedy, isInjected: isInjected)
    if launches == 0 { errors[pack] = (error, isInjected || errors[pack]?.isInjected == true) }
  }

  /// Returns the text of an error. The directory, which differs in each run, is replaced.
  func words(_ error: PackError) -> String {
    "\(error.code): \(error.message.replacing(directory, with: "device"))"
  }

  /// Returns whether an error comes from the machine that runs the simulation or from a cancellation, and so is no fault of the release.
  static func isOutside(_ error: PackError) -> Bool {
    [.cancelled, .noSpace, .cannotRead, .cannotWrite, .internalError].contains(error.code)
  }

  /// Returns an error that says that the disk of the machine is full.
  func fullDisk(_ message: String) -> PackError {
    PackError(.noSpace, message, hint: "free space, or choose another place with --keep or TMPDIR")
  }

  /// Throws an error if a plan waits for free space on the disk of the machine.
  func checkSpace(_ plan: DeliveryPlan) throws(PackError) {
    for postponement in plan.postponed {
      guard case .space(let needed, let free) = postponement.reason else { continue }
      throw fullDisk("the volume of \(directory) has \(free) bytes free, but \(needed) are needed")
    }
  }

  func check() throws(PackError) {
    try Task.checkpoint()
  }

  func makeDirectory(_ path: String) throws(PackError) {
    try writing(path, unlessExisting(SystemFiles().makeDirectory(path, mode: 0o700, in: nil)))
  }

  /// Writes a file of the system.
  func write(_ bytes: [UInt8], to path: String) throws(PackError) {
    try? SystemFiles().remove(path, .file, in: nil)
    let file = try writing(path, SystemFiles().open(path, .create(mode: 0o600), in: nil))
    try writing(path, SystemFiles().writeAll(file, at: 0, bytes.byteSpan))
  }

  func removeFile(_ path: String) {
    try? SystemFiles().remove(path, .file, in: nil)
  }
}
