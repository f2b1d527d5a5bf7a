import PackDelivery
import PackFiles
package import PackFormat
import PackManifest
import PackStore
import PackTrust

/// The life of an app with background downloads, played with the code that ships: the system and its rules are played here, and everything that
/// extension and app do is done by ``ExtensionDelivery``, ``AppDelivery``, the store and the download queue, on real files.
///
/// No time passes while it does. The same settings give the same story.
package struct Simulation {
  let settings: SimulationSettings
  let world: SimulatedWorld
  /// Where the device is: the app group, the app's own directory, the system's downloads.
  let directory: String
  var daemon: DownloadDaemon
  /// What the server offers now.
  var published: SimulatedRelease
  var report = SimulationReport()

  /// The files that came since the beginning.
  var filesArrived = 0
  var launches = 0
  /// When the extension ran, and how long: what counts within a day.
  var runtimes: [(at: UInt64, milliseconds: UInt64)] = []
  /// The last error of the system about each pack before the first start, and whether it was asked for; the manifest as nil.
  var errors: [String?: (error: SystemError, isInjected: Bool)] = [:]
  var readyAt: [String: UInt64] = [:]
  var hereAtLaunch: Set<String> = []
  var lastPlan: DeliveryPlan?
  /// Why the app could do nothing the last time.
  var appRefusal: PackError?
  /// The manifest that the app has.
  var appManifest: Manifest?
  /// Why a file that is here could not be installed the last time, by pack.
  var installRefusals: [String: PackError] = [:]
  /// Why the app did not take the manifest that it fetched the last time.
  var manifestRefusal: PackError?
  /// Why the extension did not take the manifest the last time.
  var extensionRefusal: PackError?

  /// Starts of the app after which it must have settled, those without faults.
  static let patience = 12
  /// From the moment when the app can be opened to the one when it is.
  static let launchDelay: UInt64 = 30_000
  /// From a periodic request to the next start of the app.
  static let backgroundLength: UInt64 = 3_600_000
  static let day: UInt64 = 86_400_000

  /// - Parameter directory: where the device is made: an empty directory, whose making and removing is the caller's.
  package init(_ settings: SimulationSettings, in directory: String) {
    self.settings = settings
    self.directory = directory
    let first = settings.earlier ?? settings.release
    published = first
    let clock = VirtualClock(start: first.manifest.issued?.secondsSince1970 ?? first.manifest.expires.secondsSince1970 - 86_400 * 30)
    world = SimulatedWorld(clock: clock, speed: settings.speed)
    daemon = DownloadDaemon(isBackgroundProhibited: false)
  }

  var group: String { "\(directory)/group" }
  var clock: VirtualClock { world.clock }

  // MARK: The story

  /// Plays it.
  ///
  /// - Throws: what the disk below says, and ``PackFormat/PackError/Code/cancelled``. Whatever happens to the device is in the report.
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
      // What the system has goes on without the app.
      try await runSystem(until: clock.milliseconds + Self.day)
      try await request(.periodic)
      try await runSystem(until: clock.milliseconds + Self.backgroundLength)
      try await launch()
    }
    try await conclude()
    // What a cancellation cut short would look like a fault of the release.
    try check()
    return report
  }

  /// Makes the device what it is before the event: the earlier release is on it, downloaded by the app.
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

  /// The beginning of what is told.
  private mutating func begin() {
    let release = settings.release
    clock.restart(at: settings.start ?? max(clock.secondsSince1970, release.manifest.issued?.secondsSince1970 ?? 0))
    if let earlier = settings.earlier {
      tell(.app, "has manifest \(earlier.manifest.version): \(count(lastPlan?.ready.count ?? 0, "pack is", "packs are")) ready")
    }
    daemon = DownloadDaemon(isBackgroundProhibited: settings.isLowPower)
    published = release
    world.publish(release)
    let packs = (release.manifest.packs + (settings.later?.manifest.packs ?? [])).map(\.id)
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

  /// The server replaces the manifest, if it is to.
  mutating func changeServer() {
    guard let later = settings.later, published.path != later.path else { return }
    published = later
    world.publish(later)
    tell(.server, "replaces the manifest: version \(later.manifest.version)")
  }

  /// Whether nothing is left to do that time could do.
  private var isSettled: Bool {
    guard appRefusal == nil, appManifest == published.manifest, let plan = lastPlan else { return false }
    guard daemon.downloads.isEmpty, plan.downloads.isEmpty, plan.underWay.isEmpty, plan.installing.isEmpty, plan.orphans.isEmpty,
      plan.obsolete.isEmpty
    else { return false }
    guard plan.handOver.isEmpty || settings.keys == nil else { return false }
    return plan.postponed.allSatisfy { $0.reason == .notAsked }
  }

  // MARK: Small things

  func tell(_ actor: TimelineActor, _ text: String, pack: String? = nil) {
    world.timeline.tell(actor, text, pack: pack)
  }

  /// Tells what the system reported, and remembers it.
  mutating func tell(
    _ actor: TimelineActor, _ text: String, pack: String?, _ error: SystemError, remedy: String?, isInjected: Bool
  ) {
    world.timeline.tell(actor, text, pack: pack, error: error, remedy: remedy, isInjected: isInjected)
    if launches == 0 { errors[pack] = (error, isInjected || errors[pack]?.isInjected == true) }
  }

  /// What an error says, without the directory, which is another one each time.
  func words(_ error: PackError) -> String {
    "\(error.code): \(error.message.replacing(directory, with: "device"))"
  }

  /// Whether an error is about the machine on which all is played, or about who stopped it: that says nothing about the release.
  static func isOutside(_ error: PackError) -> Bool {
    [.cancelled, .noSpace, .cannotRead, .cannotWrite, .internalError].contains(error.code)
  }

  /// The disk below is full: that says nothing about the release.
  func fullDisk(_ message: String) -> PackError {
    PackError(.noSpace, message, hint: "free space, or choose another place with --keep or TMPDIR")
  }

  /// Refuses to go on where a plan waits for space on the disk below.
  func checkSpace(_ plan: DeliveryPlan) throws(PackError) {
    for postponement in plan.postponed {
      guard case .space(let needed, let free) = postponement.reason else { continue }
      throw fullDisk("the volume of \(directory) has \(free) bytes free, but \(needed) are needed")
    }
  }

  func count(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }

  func check() throws(PackError) {
    if Task.isCancelled { throw PackError(.cancelled, "cancelled") }
  }

  func makeDirectory(_ path: String) throws(PackError) {
    do throws(FileFailure) {
      try SystemFiles().makeDirectory(path, mode: 0o700, in: nil)
    } catch {
      guard error.isExisting else { throw error.writing(path) }
    }
  }

  /// Makes a file of the system's.
  func write(_ bytes: [UInt8], to path: String) throws(PackError) {
    do throws(FileFailure) {
      try? SystemFiles().remove(path, .file, in: nil)
      let file = try SystemFiles().open(path, .create(mode: 0o600), in: nil)
      try SystemFiles().writeAll(file, at: 0, bytes.span)
    } catch {
      throw error.writing(path)
    }
  }

  func removeFile(_ path: String) {
    try? SystemFiles().remove(path, .file, in: nil)
  }
}
