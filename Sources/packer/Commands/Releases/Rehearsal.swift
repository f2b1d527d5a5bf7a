/// The part of `packer simulate` that finds the inputs, runs the simulation, and prints its report.
struct Rehearsal {
  let options: SimulateOptions

  private var output: OutputOptions { options.output }

  func run(
    _ event: DeliveryEvent, from earlier: String?, in session: Session, _ change: (inout SimulationSettings) -> Void
  ) async throws(PackError) -> Outcome {
    let configuration = try options.trust.configuration.read()
    try ReleasePlaces.checkPresence(of: options.release, configuration: configuration)
    let target = options.release ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    let release = try SimulatedRelease(reading: target)
    let app = try app(beside: configuration, of: target)
    let platform = try options.namedPlatform() ?? .iOS
    let rules = try rules(app, target, platform)
    let trusted = try trusted(configuration, app?.app, in: session)
    let faults = try options.fail.map { (text) throws(PackError) in try SimulatedFault(parsing: text) }
    var settings = SimulationSettings(
      event, of: release, rules: rules, trusted: trusted, keys: try keys(app?.app, configuration, in: session))
    settings.earlier = try earlier.map { (path) throws(PackError) in try SimulatedRelease(reading: path) }
    settings.later = try options.later.map { (path) throws(PackError) in try SimulatedRelease(reading: path) }
    settings.changesAfter = try changesAfter()
    settings.faults = faults
    settings.device.platform = platform
    if !options.languages.isEmpty { settings.device.languages = options.languages }
    settings.tags = (settings.later ?? release).tags(asked: options.ask)
    settings.asked = try asked(settings).intersection(options.ask)
    settings.link = try NetworkLink(parsing: options.link)
    settings.isLowPower = options.isLowPower
    settings.extensionDeath = options.extensionDeath
    if let milliseconds = options.callMilliseconds {
      try Bounds.check(milliseconds, "--extension-call", in: 0...SimulationReport.ExtensionCost.runtimeLimit)
      settings.callRuntime = milliseconds
    }
    if let memory = options.memory {
      settings.memoryLimit = try Bounds.size(memory, "--extension-memory", in: 1...(1 << 40), isPowerOfTwo: false)
    }
    settings.start = try start()
    settings.wording = { $0.hint }
    change(&settings)
    try check(settings)
    let directory = try SimulatedDevice(options.keep)
    defer { directory.remove() }
    var simulation = Simulation(settings, in: directory.path)
    let report: SimulationReport
    do throws(PackError) {
      report = try await simulation.run()
      try directory.keep()
    } catch {
      throw directory.naming(error)
    }
    show(report, settings, on: session.console)
    guard report.findings.isEmpty else {
      return .findings("\(target): \(Table.count(report.findings.count, "finding", "findings"))")
    }
    return .done
  }

  // MARK: Inputs

  /// The requested packs that are for the device, by their names or tags.
  private func asked(_ settings: SimulationSettings) throws(PackError) -> Set<String> {
    let release = settings.later ?? settings.release
    let foreign = release.packs.filter { !settings.device.accepts($0) }
    for word in options.ask {
      let found = try release.packs(asked: [word])
      guard let other = foreign.first(where: { found.contains($0.id) }), found.isSubset(of: foreign.map(\.id)) else { continue }
      let platform = other.platforms.isEmpty ? nil : other.platforms.first.map { "--platform \($0)" }
      let hint = [platform, other.language.map { "--language \($0)" }].compactMap { $0 }.joined(separator: " ")
      throw PackError(.usage, "pack '\(other.id)' is for other devices than the simulated one", hint: hint)
    }
    return try release.packs(asked: options.ask).subtracting(foreign.map(\.id))
  }

  private func app(
    beside configuration: PackerConfiguration?, of target: String
  ) throws(PackError) -> (app: ReleaseLock.App, lock: String)? {
    guard let version = options.appVersion else {
      guard options.lockFile.lock == nil else {
        throw PackError(.usage, "--lock needs --app-version", hint: "choose one with --app-version")
      }
      return nil
    }
    guard options.plist == nil else {
      throw PackError(
        .usage, "--plist and --app-version exclude each other", hint: "the lock file has the Info.plist values of that app version")
    }
    guard let path = ReleasePlaces.lockFile(options.lockFile.lock, beside: configuration, of: target) else {
      throw PackError(
        .missingInput, "there is no \(ReleaseFile.lock), so no app version is known", hint: "packer release record --app \(version)")
    }
    let lock = try ReleaseLock.read(path)
    let named = try options.namedPlatform() ?? .iOS
    let builds = lock.apps.filter { $0.version == version }
    guard let app = builds.first(where: { $0.platform == nil || $0.device == named }) ?? builds.first else {
      let known = lock.apps.map(\.version).joined(separator: ", ")
      throw PackError(
        .missingInput, of: path, "has no app version \(version)",
        hint: known.isEmpty ? "packer release record --app \(version)" : "choose one of \(known)")
    }
    return (app, path)
  }

  /// Returns the keys that the app embeds: for a recorded app version, those of its keys document.
  private func trusted(
    _ configuration: PackerConfiguration?, _ app: ReleaseLock.App?, in session: Session
  ) throws(PackError) -> TrustedKeys {
    if let version = app?.keysVersion, options.trust.keyTexts.trust.isEmpty, let path = configuration?.keysFile,
      let document = try KeysFile(reading: path).document(version)
    {
      return try TrustedKeys(document)
    }
    return try options.trust.keys(configuration, or: app?.trustedKeys ?? [], in: session)
  }

  private func rules(
    _ app: (app: ReleaseLock.App, lock: String)?, _ target: String, _ platform: DeviceProfile.Platform
  ) throws(PackError) -> SystemRules {
    if let app { return try SystemRules(app.app, of: app.lock) }
    if let plist = options.plist { return try SystemRules(InfoPlist.read(plist)) }
    let fragment = InfoPlist.fragment(in: ReleasePlaces.directory(of: target), for: platform)
    guard ReleasePlaces.exists(fragment) else {
      throw PackError(
        .missingInput, of: fragment, "does not exist, and no Info.plist was named", hint: "give --plist App/Info.plist, or --app-version")
    }
    return try SystemRules(InfoPlist.read(fragment))
  }

  /// Returns the keys that the app holds, or nil if no key is available. Without a key, the simulation installs no packs.
  private func keys(
    _ app: ReleaseLock.App?, _ configuration: PackerConfiguration?, in session: Session
  ) throws(PackError) -> KeyRing? {
    do throws(PackError) {
      let ring = try session.keyRing(options.key, configured: configuration)
      // An app version that does not hold a key cannot open packs that were made with it.
      if let app { for id in ring.keyIDs where !app.keyIDs.contains("\(id)") { ring.remove(id) } }
      return ring
    } catch {
      guard options.key.references.isEmpty, error.code == .noKey || error.code == .missingInput else { throw error }
      return nil
    }
  }

  private func changesAfter() throws(PackError) -> Int {
    guard let number = options.changesAfter else { return 1 }
    guard options.later != nil else {
      throw PackError(.usage, "--replace-manifest-after needs --then", hint: "give the other release with --then")
    }
    try Bounds.check(number, "--replace-manifest-after", in: 1...1_000_000)
    return number
  }

  private func start() throws(PackError) -> Int64? {
    guard let text = options.time else { return nil }
    guard let time = ManifestTime(text) else {
      throw PackError(.usage, "--at is '\(text)', which is not a time", hint: "write it as in 2026-12-24T18:00:00Z")
    }
    return time.secondsSince1970
  }

  private func check(_ settings: SimulationSettings) throws(PackError) {
    if let death = settings.extensionDeath { try Bounds.check(death, "--kill-extension", in: 1...1_000_000_000) }
    let ids = Set((settings.release.packs + (settings.later?.packs ?? [])).map(\.id))
    for fault in settings.faults {
      guard case .pack(let id) = fault.subject, !ids.contains(id) else { continue }
      let nearest = SpellingSuggestion.nearest(to: id, among: ids.sorted()).map { "did you mean '\($0)'?" }
      throw PackError(.unknownPack, "--fail is '\(fault)', and the manifest has no pack '\(id)'", hint: nearest)
    }
    if let earlier = settings.earlier, earlier.manifest.version > settings.release.manifest.version {
      throw PackError(
        .usage, "--from is manifest \(earlier.manifest.version), which is later than \(settings.release.manifest.version)",
        hint: "give the older release with --from")
    }
    if let later = settings.later, later.manifest.version <= settings.release.manifest.version {
      throw PackError(
        .usage, "--then is manifest \(later.manifest.version), which is not later than \(settings.release.manifest.version)",
        hint: "publish every change under a higher version: 'packer build' counts it up from packer.lock.json")
    }
  }

  // MARK: Output

  private func show(_ report: SimulationReport, _ settings: SimulationSettings, on console: Console) {
    let manifest = settings.release.manifest
    let head = [
      "simulate \(settings.event.rawValue): \(settings.release.path), manifest \(manifest.version), "
        + Table.count(settings.release.packs.count, "pack", "packs"),
      "  rules of \(settings.rules.source), at \(settings.link.text)",
    ]
    console.result(report.json(settings), output.isQuiet ? [] : head)
    if !output.isQuiet {
      for event in report.events { console.result(event.json, RehearsalText.lines(event)) }
    }
    let table = RehearsalText.lines(report.packs)
    for (pack, line) in zip(report.packs, table) { console.result(pack.json, [line]) }
    if !output.isQuiet { console.result(report.cost.json, RehearsalText.lines(report, memoryLimit: settings.memoryLimit)) }
    console.result(report.traffic.json)
    for finding in report.findings { console.result(finding.json, RehearsalText.lines(finding)) }
    let verdict =
      report.findings.isEmpty
      ? "ok, settled after \(Table.count(report.launches, "start", "starts")) of the app"
      : Table.count(report.findings.count, "finding", "findings")
    console.result(["type": "verdict", "verdict": .text(verdict)], ["\(settings.release.path): \(verdict)"])
    for note in report.notes { console.note(note) }
  }
}

/// The directory of a simulated device. With `--keep`, it appears under its name when the simulation has ended, or not at all.
struct SimulatedDevice {
  /// The directory during the simulation.
  let path: String
  /// The output directory, or nil if the device is removed afterwards.
  private let kept: OutputDirectory?
  private var scratch: ScratchFolder?

  /// Creates the directory.
  ///
  /// - Parameter kept: The directory to keep, or nil for a temporary one that is removed afterwards.
  init(_ kept: String?) throws(PackError) {
    guard kept != "" else { throw PackError(.usage, "--keep names no directory", hint: "name a directory that does not exist") }
    guard let kept else {
      self.kept = nil
      let folder = try ScratchFolder()
      (scratch, path) = (folder, folder.path)
      return
    }
    // An empty directory is refused too: another program may use it.
    guard (try? SystemFiles().status(of: kept, in: nil, following: .asThemselves)) == nil else {
      throw PackError(.outputExists, of: kept, "already exists", hint: "name a directory that does not exist")
    }
    let output = try OutputDirectory(kept, files: SystemFiles())
    self.kept = output
    path = output.temporaryPath
  }

  /// Moves the directory to its final name, if it is kept.
  func keep() throws(PackError) {
    try kept?.commit(mode: 0o700)
  }

  /// Returns the error with the final name instead of the temporary one.
  func naming(_ error: PackError) -> PackError {
    guard let kept else { return error }
    return error.rewording { $0.replacing(path, with: kept.path) }
  }

  /// Removes it unless it is kept, when its owners are released, and not before.
  func remove() {
    // Work that a signal stopped may hold the folder a little longer than the process lives.
    if let scratch { try? SystemFiles().removeTree(scratch.path, in: nil) }
    withExtendedLifetime((kept, scratch)) {}
  }
}

/// Formats a simulation as lines of text.
enum RehearsalText {
  /// Formats elapsed time, as in `1d 02:03:04.5`.
  static func time(_ milliseconds: UInt64) -> String {
    func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let seconds = milliseconds / 1000
    let clock = "\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60)).\(milliseconds / 100 % 10)"
    let days = seconds / 86_400
    return "\(days > 0 ? "\(days)d" : "  ") \(clock)"
  }

  static func lines(_ event: TimelineEvent) -> [String] {
    let error = event.error.map { " [\($0)]" } ?? ""
    var lines = ["  \(time(event.time))  \(Table.left(event.actor.rawValue, 9))  \(event.text)\(error)"]
    if let remedy = event.remedy { lines.append(String(repeating: " ", count: 28) + "-> \(remedy)") }
    return lines
  }

  static func lines(_ packs: [SimulationReport.PackOutcome]) -> [String] {
    let rows = packs.map { pack in
      let when = pack.readyAt.map { "ready at \(time($0).trimmingSpaces)" }
      return [pack.id, "\(pack.version)", pack.delivery.rawValue, pack.state, when ?? pack.reason]
    }
    return Table.columns(rows, numbers: [1])
  }

  static func lines(_ report: SimulationReport, memoryLimit limit: UInt64) -> [String] {
    let cost = report.cost
    return Table.fields([
      ("extension", "\(Table.count(cost.calls, "call", "calls")), \(Table.count(cost.operations, "file operation", "file operations"))"),
      ("runtime", "\(cost.runtime) ms counted, of \(SimulationReport.ExtensionCost.runtimeLimit) ms per day"),
      (
        "network",
        "\(ByteCount(report.traffic.packSize)) of packs, \(ByteCount(report.traffic.shards.adding(report.traffic.manifests))) of manifests and shards"
      ),
      ("memory", "about \(cost.memory) of \(limit) bytes, estimated from the size of the manifest"),
    ])
  }

  static func lines(_ finding: SimulationFinding) -> [String] {
    var lines = ["error \(finding.kind.rawValue): \(finding.message)"]
    if let hint = finding.hint { lines.append("  hint: \(hint)") }
    return lines
  }
}

extension String {
  fileprivate var trimmingSpaces: String { String(drop { $0 == " " }) }
}
