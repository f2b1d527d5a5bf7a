extension Simulation {
  /// Lets the system fetch the manifest and ask the extension for downloads.
  mutating func request(_ event: DeliveryEvent) async throws(PackError) {
    guard let document = try fetchManifest() else { return }
    guard !(daemon.isRestricted && settings.isContentOff) else {
      tell(
        .system, "does not start the extension: in-app content is switched off", pack: nil, .notPermittedBeforeLaunch,
        remedy: "all downloads wait for the first start of the app", isInjected: true)
      return
    }
    guard !world.strikes(.forgotten, nil) else {
      world.timeline.tell(.system, "forgets to start the extension", isInjected: true)
      return
    }
    let path = "\(directory)/system/manifest"
    try write(document, to: path)
    report.cost.memory = max(report.cost.memory, requestMemory)
    let kind = event == .periodic && settings.misreadsRequest ? DeliveryEvent.update : event
    let allowance = settings.ignoresAllowance ? nil : daemon.promised
    let answer = try wake(about: nil, isRequest: true) { (delivery) in delivery.downloads(for: kind, manifestAt: path, allowance: allowance)
    }
    removeFile(path)
    guard let answer else { return }
    try take(answer, event)
  }

  /// Returns the manifest from the network; nil if it could not be fetched.
  private mutating func fetchManifest() throws(PackError) -> [UInt8]? {
    let url = settings.rules.manifestURL.text
    if let refusal = daemon.refusal(ofURL: url) ?? (daemon.isRestricted && world.strikes(.host, nil) ? .disallowedByDomain : nil) {
      let isListed = daemon.refusal(ofURL: url) == nil
      return try failManifest(
        isListed ? "is redirected to a host that is not in the domain allow list" : "may not fetch \(url)",
        refusal, .backgroundAssets(code: 202),
        isInjected: isListed)
    }
    guard !world.isOffline(nil) else {
      return try failManifest("has no network for the manifest", .plain("no connection"), .offline, isInjected: true)
    }
    var document = published.document
    let size = world.servedSize(of: nil, declared: UInt64(document.count))
    let served = size ?? UInt64(document.count)
    if let refusal = daemon.charge(manifest: served) {
      return try failManifest(
        "refuses the manifest of \(served) bytes", refusal, .backgroundAssets(code: 203), isInjected: size != nil)
    }
    if world.strikes(.truncate, nil) {
      document.removeLast(document.count / 2)
      world.timeline.tell(.system, "gets \(document.count) bytes of the manifest, and the connection is cut", isInjected: true)
    } else if let size {
      let largest = UInt64(Manifest.largestSize) + 1
      document += [UInt8](repeating: UInt8(ascii: " "), count: Int(min(size, largest)) - min(document.count, Int(min(size, largest))))
      document.removeLast(document.count - Int(min(size, largest)))
      world.timeline.tell(.system, "gets a manifest of \(size) bytes", isInjected: true)
    } else {
      let left = daemon.remaining.map { ", which leaves \($0.essential) of essential downloads" } ?? ""
      tell(.system, "downloads manifest \(published.manifest.version): \(document.count) bytes\(left)")
    }
    world.transfer(UInt64(document.count), of: nil)
    return document
  }

  private mutating func failManifest(
    _ text: String, _ error: SystemError, _ failure: DownloadFailure, isInjected: Bool
  ) throws(PackError) -> [UInt8]? {
    let remedy = try wake(about: nil) { (delivery) throws(PackError) in try delivery.failed(.manifest, failure) }
    tell(
      .system, text, pack: nil, error, remedy: remedy == .keepEverything ? "everything stays as it is" : "the failure was not reported",
      isInjected: isInjected)
    return nil
  }

  /// Records the extension's answer and schedules its downloads.
  private mutating func take(_ answer: ExtensionDelivery.Answer, _ event: DeliveryEvent) throws(PackError) {
    extensionRefusal = answer.refusal
    if let refusal = answer.refusal {
      guard !Self.isOutside(refusal) else { throw refusal }
      let remedy =
        answer.plan != nil
        ? "plans with manifest \(answer.manifestVersion ?? 0), which it accepted before" : "hands over no downloads; the next event plans"
      world.timeline.tell(.extension, words(refusal), remedy: remedy, isInjected: world.wasStruck(nil))
    }
    guard let plan = answer.plan else { return }
    try checkSpace(plan)
    let size = plan.downloadSize
    let essential = answer.downloads.count(where: \.isEssential)
    tell(
      .extension,
      "plans \(Table.count(answer.downloads.count, "download", "downloads")) of \(size) bytes, \(essential) essential"
        + (plan.underWay.isEmpty ? "" : ", and waits for \(plan.underWay.count)"))
    for postponement in plan.postponed where postponement.reason != .notAsked {
      tell(.extension, "\(postponement.id): waits: \(postponement.reason.text)", pack: postponement.id)
      // The plan did not hand over this download because of the allowance.
      if case .allowance = postponement.reason, launches == 0 { errors[postponement.id] = (.wouldExceedAllowance, false) }
    }
    cancel(plan.cancellations, .extension)
    for download in answer.downloads {
      try hand(over: download, isEssential: download.isEssential, permitsEssential: event.permitsEssential)
    }
  }

  /// Cancels downloads that are not needed any more.
  mutating func cancel(_ identifiers: [String], _ actor: TimelineActor) {
    for identifier in identifiers {
      let pack = DownloadIdentifier(identifier)?.id
      if let error = daemon.cancel(identifier) {
        world.timeline.tell(
          actor, "\(identifier): is cancelled, but the system does not have it", pack: pack, error: error, remedy: "nothing to do")
      } else {
        tell(actor, "\(identifier): is cancelled", pack: pack)
      }
    }
  }

  /// Schedules a download in the system, which may refuse it.
  private mutating func hand(over download: PlannedDownload, isEssential: Bool, permitsEssential: Bool) throws(PackError) {
    let identifier = download.identifier.description
    let handed = DownloadDaemon.Download(
      identifier: identifier, pack: download.id, url: download.url, size: download.bytes.size, isEssential: isEssential,
      priority: download.priority)
    guard let error = daemon.schedule(handed, permitsEssential: permitsEssential) else { return }
    let isInjected = error == .essentialNotPermitted || error == .backgroundActivityProhibited || world.wasStruck(download.id)
    try fail(
      handed, error, .backgroundAssets(code: error.code ?? 0), "does not take the download of \(handed.size) bytes", isInjected: isInjected)
  }

  // MARK: The process of the extension

  /// Starts the extension for one call.
  ///
  /// - Parameters:
  ///   - pack: the pack of the call; nil for the manifest.
  ///   - isRequest: whether the call is a content request.
  /// - Returns: the result of the call; nil if the call failed, was killed or was refused.
  private mutating func wake<Result>(
    about pack: String?, isRequest: Bool = false, _ body: (ExtensionDelivery) throws(PackError) -> Result
  ) throws(PackError) -> Result? {
    guard hasRuntime else {
      tell(.system, "does not start the extension: its 10 minutes for this day are used up", pack: pack)
      report.cost.refusedCalls += 1
      return nil
    }
    let isTooLarge = isRequest && requestMemory > settings.memoryLimit
    let diesAtOnce = world.strikes(.memory, pack) || isTooLarge
    let before = report.cost.operations
    let death = diesAtOnce ? before + 1 : settings.extensionDeath
    let files = CrashInjectingFiles(count: before, deathAt: death.flatMap { $0 > before ? $0 : nil })
    let start = clock.milliseconds
    report.cost.calls += 1
    clock.advance(milliseconds: settings.callRuntime)
    defer {
      report.cost.operations = files.count
      let taken = clock.milliseconds - start
      report.cost.runtime += taken
      runtimes.append((start, taken))
    }
    let holder = try holdLock(about: pack, .extension)
    defer { withExtendedLifetime(holder) {} }
    do throws(PackError) {
      let state = try openState(files)
      let trusted = settings.trusted
      let device = settings.device
      let result = try body(ExtensionDelivery(state: state, isForDevice: device.accepts, trusting: trusted))
      if files.death == nil { return result }
    } catch {
      if files.death == nil {
        guard !Self.isOutside(error) else { throw error }
        world.timeline.tell(
          .extension, words(error), pack: pack, remedy: "the next event detects what was not recorded",
          isInjected: holder != nil)
        return nil
      }
    }
    world.timeline.tell(
      .system,
      diesAtOnce
        ? "kills the extension, because it uses too much memory"
        : "kills the extension at its file operation \(files.count): \(files.death ?? "")",
      pack: pack, remedy: "the next event continues from the files on the device", isInjected: !isTooLarge)
    return nil
  }

  private var hasRuntime: Bool {
    let now = clock.milliseconds
    let today = runtimes.filter { $0.at + Self.day > now }.reduce(0) { $0 + $1.milliseconds }
    return today < SimulationReport.ExtensionCost.runtimeLimit
  }

  /// Locks the shared state like another process, if a fault says so.
  private func holdLock(about pack: String?, _ actor: TimelineActor) throws(PackError) -> OpenFile? {
    guard world.strikes(.lock, pack) else { return nil }
    // The first use creates the directory and the lock in it.
    _ = try openState()
    let lock = try reading(group, SystemFiles().open("\(group)/lock", .readUnlinked, in: nil))
    guard try reading(group, SystemFiles().tryLock(lock)) else { return nil }
    world.timeline.tell(actor, "finds the lock of the shared state held by another process", pack: pack, isInjected: true)
    return lock
  }

  /// The estimated memory of a content request in bytes: twice the size of the manifest, and 512 bytes for each pack. This is more than
  /// our code allocates (BENCHMARKS.md), and leaves room for the system's own objects.
  private var requestMemory: UInt64 { UInt64(2 * published.document.count + 512 * published.manifest.packs.count) }

  // MARK: The system's downloads

  /// Runs the downloads of the system.
  ///
  /// - Parameter deadline: the time at which to stop, in milliseconds; nil to run until all downloads are done.
  mutating func runSystem(onlyEssential: Bool = false, until deadline: UInt64? = nil, toApp: Bool = false) async throws(PackError) {
    while let download = daemon.next(), !onlyEssential || download.isEssential {
      try check()
      if let deadline, clock.milliseconds >= deadline { return }
      try step(download, deadline, toApp: toApp)
    }
    // Before a start of the app the time passes in any case, but a running app does not wait.
    if let deadline, !toApp, clock.milliseconds < deadline { clock.advance(milliseconds: deadline - clock.milliseconds) }
  }

  private mutating func step(_ download: DownloadDaemon.Download, _ deadline: UInt64?, toApp: Bool) throws(PackError) {
    let pack = download.pack
    if world.strikes(.forgotten, pack) {
      daemon.end(download.identifier)
      world.timeline.tell(.system, "\(pack): forgets the download", pack: pack, isInjected: true)
      return
    }
    if let refusal = daemon.refusal(toBegin: download) {
      daemon.end(download.identifier)
      let what = refusal == .disallowedByDomain ? "may not download from \(download.url)" : "does not begin: the allowance is used up"
      return try fail(
        download, refusal, .backgroundAssets(code: refusal.code ?? 0), what,
        isInjected: refusal != .disallowedByDomain && world.wasStruck(pack),
        toApp: toApp)
    }
    if daemon.isRestricted, world.strikes(.host, pack) {
      daemon.end(download.identifier)
      return try fail(
        download, .disallowedByDomain, .backgroundAssets(code: 202), "is redirected to a host that is not in the domain allow list",
        isInjected: true, toApp: toApp)
    }
    guard !world.isOffline(pack) else {
      daemon.end(download.identifier)
      return try fail(download, .plain("no connection"), .offline, "has no network", isInjected: true, toApp: toApp)
    }
    try transfer(download, deadline, toApp: toApp)
  }

  /// Transfers a file, or the part that is possible before the deadline.
  private mutating func transfer(_ download: DownloadDaemon.Download, _ deadline: UInt64?, toApp: Bool) throws(PackError) {
    let pack = download.pack
    guard let source = world.source(download.identifier), let size = fileSize(source.path) else {
      daemon.end(download.identifier)
      return try fail(
        download, .plain("the server has no such file"), .http(status: 404), "gets status 404", isInjected: false, toApp: toApp)
    }
    if let deadline {
      let time = world.link.latency + world.link.milliseconds(size - min(size, download.received))
      let left = deadline - clock.milliseconds
      guard time <= left else {
        clock.advance(milliseconds: left)
        let came = min(world.link.bytes(within: left.less(world.link.latency)), size - min(size, download.received))
        world.count(came, of: pack)
        if let exceeded = daemon.charge(came, to: download) {
          daemon.end(download.identifier)
          return try fail(
            download, exceeded, .backgroundAssets(code: 204),
            "gets \(size) bytes instead of the declared \(download.size), more than the remaining allowance",
            isInjected: false, toApp: toApp)
        }
        let received = download.received + came
        daemon.note(received: received, of: download.identifier)
        let declared = received > download.size ? " instead of the declared \(download.size)" : " of \(download.size)"
        tell(.system, "\(pack): has \(received) bytes\(declared)", pack: pack)
        return
      }
    }
    daemon.end(download.identifier)
    try began(download, toApp: toApp)
    if world.strikes(.truncate, pack) {
      let part = (size - min(size, download.received)) / 2
      world.transfer(part, of: pack)
      _ = daemon.charge(part, to: download)
      return try fail(
        download, .plain("the connection is cut"), .other,
        "the connection is cut at byte \(min(size, download.received) + part) of \(size)", isInjected: true, toApp: toApp)
    }
    let injected = world.servedSize(of: pack, declared: download.size)
    let served = injected ?? size
    if let exceeded = daemon.charge(served - min(served, download.received), to: download) {
      world.transfer(min(served, download.size) - min(served, download.size, download.received), of: pack)
      return try fail(
        download, exceeded, .backgroundAssets(code: 204),
        "gets \(served) bytes instead of the declared \(download.size), more than the remaining allowance",
        isInjected: injected != nil, toApp: toApp)
    }
    // The system accepts only the declared size.
    let taken = min(served, download.size)
    world.transfer(taken - min(taken, download.received), of: pack)
    guard served == download.size else {
      return try fail(
        download, .plain("the size is not the declared one"), .other, "gets \(served) bytes instead of the declared \(download.size)",
        isInjected: injected != nil, toApp: toApp)
    }
    let path = "\(directory)/system/download"
    try copy(source.path, size: size, to: path)
    try finish(download, path, toApp: toApp)
    // The system removes the file if it was not moved.
    removeFile(path)
    filesArrived += 1
    if filesArrived >= settings.changesAfter { changeServer() }
  }

  private func fileSize(_ path: String) -> UInt64? {
    guard let status = try? SystemFiles().status(of: path, in: nil, following: .followed), status.kind == .file else { return nil }
    return status.size
  }

  private func copy(_ source: String, size: UInt64, to path: String) throws(PackError) {
    let files = SystemFiles()
    removeFile(path)
    let input = try files.open(source, .read)
    let output = try writing(path, files.open(path, .create(mode: 0o600), in: nil))
    try files.forEachPiece(of: input, 0..<size, name: source, checkpoint: Task.checkpoint) { (piece, offset) throws(PackError) in
      try writing(path, files.writeAll(output, at: offset, piece))
    }
  }

  // MARK: Results of downloads

  /// Passes an event of a download to the app if it runs, or else to the extension. Both use the same code on the same state.
  private mutating func hear<Result>(
    _ pack: String, toApp: Bool, _ body: (ExtensionDelivery) throws(PackError) -> Result
  ) throws(PackError) -> Result? {
    guard toApp else { return try wake(about: pack, body) }
    let holder = try holdLock(about: pack, .app)
    defer { withExtendedLifetime(holder) {} }
    let state = try openState()
    let (trusted, device) = (settings.trusted, settings.device)
    do throws(PackError) {
      return try body(ExtensionDelivery(state: state, isForDevice: device.accepts, trusting: trusted))
    } catch {
      guard holder != nil, !Self.isOutside(error) else { throw error }
      world.timeline.tell(.app, words(error), pack: pack, remedy: "the next plan finds it", isInjected: true)
      return nil
    }
  }

  private mutating func began(_ download: DownloadDaemon.Download, toApp: Bool) throws(PackError) {
    // Only a running app is informed that a download began; the extension is not started for it.
    guard toApp else { return }
    _ = try hear(download.pack, toApp: true) { (delivery) throws(PackError) in
      try delivery.note(.began, ofDownload: download.identifier)
    }
  }

  private mutating func finish(_ download: DownloadDaemon.Download, _ path: String, toApp: Bool) throws(PackError) {
    let pack = download.pack
    let parking = try hear(pack, toApp: toApp) { (delivery) throws(PackError) in
      try delivery.finished(path, download: download.identifier)
    }
    let actor: TimelineActor = toApp ? .app : .extension
    let what = "\(pack): \(download.isEssential ? "essential, " : "")\(download.size) bytes downloaded"
    switch parking {
    case .moved: tell(actor, "\(what): moves the file", pack: pack)
    case .notNeeded: tell(actor, "\(what): leaves the file, which is no longer needed", pack: pack)
    case .wrongSize(let remedy): tell(actor, "\(what), but the manifest has another size: \(remedy.text)", pack: pack)
    case nil:
      let isKept = fileSize(path) == nil
      tell(.system, "\(what); \(isKept ? "the file was already moved" : "the file was not moved, so it is removed")", pack: pack)
    }
  }

  private mutating func fail(
    _ download: DownloadDaemon.Download, _ error: SystemError, _ failure: DownloadFailure, _ text: String, isInjected: Bool,
    toApp: Bool = false
  ) throws(PackError) {
    let remedy = try hear(download.pack, toApp: toApp) { (delivery) throws(PackError) in
      try delivery.failed(.download(identifier: download.identifier), failure)
    }
    tell(
      .system, "\(download.pack): \(text)", pack: download.pack, error,
      remedy: remedy?.text ?? "the failure was not reported; the next plan finds it",
      isInjected: isInjected)
    guard remedy == .handOverAsNonEssential else { return }
    let again = DownloadDaemon.Download(
      identifier: download.identifier, pack: download.pack, url: download.url, size: download.size, isEssential: false,
      priority: download.priority)
    guard let refusal = daemon.schedule(again, permitsEssential: false) else { return }
    try fail(
      again, refusal, .backgroundAssets(code: refusal.code ?? 0), "does not take the download of \(again.size) bytes",
      isInjected: isInjected,
      toApp: toApp)
  }
}

extension FailureRemedy {
  var text: String {
    switch self {
    case .keepEverything: "everything stays as it is"
    case .nothing: "nothing to do"
    case .handOverAsNonEssential: "handed over again as a non-essential one"
    case .planAgain(let status):
      status.delaySeconds > 0
        ? "\(status.state): the next attempt is due in \(status.delaySeconds) s" : "\(status.state): the next plan decides"
    }
  }
}

extension Postponement.Reason {
  var text: String {
    switch self {
    case .notAsked: "it was not requested"
    case .cancelled: "its download was cancelled"
    case .beforeLaunch(let reason): DeliveryState.notLoaded(reason).reason
    case .allowance(let size, let left): "\(size) bytes, but only \(left) may be downloaded before the first start of the app"
    case .batch: "it waits until other downloads have ended"
    case .space(let needed, let free): "\(needed) bytes are needed, but only \(free) are free"
    case .failed(let reason, let left):
      "\(DeliveryState.failed(reason).reason); " + (left.map { "tried again in \($0) s" } ?? "not tried again until it changes")
    case .base(let id): "it is a delta over pack '\(id)', which is installed first"
    case .manifestExpired: "the manifest has expired"
    }
  }
}
