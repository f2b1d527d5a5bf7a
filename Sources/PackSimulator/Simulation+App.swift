extension Simulation {
  /// The parts of the app in one process.
  struct AppProcess {
    let delivery: AppDelivery
    let service: TransferService

    var store: AssetStore { delivery.store }
  }

  /// The longest time for which the app stays open while the system downloads, in milliseconds.
  static let sessionLength: UInt64 = 600_000

  /// The largest number of plans in one start of the app.
  private static let plansPerLaunch = 20

  /// Starts the app, lets it do everything it can, and ends it.
  mutating func launch() async throws(PackError) {
    appRefusal = nil
    lastPlan = nil
    tell(.app, launches == 0 ? "is started" : "is started again")
    if daemon.isRestricted { tell(.system, "lifts its restrictions") }
    let isFirst = launches == 0
    daemon.liftRestrictions()
    let process = try await makeProcess()
    do throws(PackError) {
      try await begin(process)
      if isFirst { hereAtLaunch = try here() }
      try await fetchManifest(process)
      try await findTagged(process)
      try await work(process)
    } catch {
      guard !Self.isOutside(error) else { throw error }
      appRefusal = error
      world.timeline.tell(.app, words(error), remedy: "it continues with its packs, and checks again at its next start")
    }
    appManifest = await process.store.manifest?.manifest
    await process.service.stop()
    daemon = daemon.inFullPower
    launches += 1
    world.endLaunch()
  }

  /// Delays that are the same in every run.
  static var policy: DeliveryPolicy {
    var policy = DeliveryPolicy()
    policy.jitter = 0
    return policy
  }

  private func makeProcess() async throws(PackError) -> AppProcess {
    let home = "\(directory)/app"
    try makeDirectory(home)
    let files = CrashInjectingFiles()
    let session = "start-\(launches)-\(settings.earlier == nil || published.path != settings.earlier?.path ? 1 : 0)"
    let store = try await AssetStore(
      root: storePath, keys: settings.keys ?? KeyRing(), trusting: settings.trusted, lowestVersion: 0,
      policy: StorePolicy(freeSpaceMargin: 0), files: files, clock: clock,
      process: StoreProcess(session: session) { $0 == session }, backend: CryptoBackends.standard,
      device: settings.device)
    var policy = TransferPolicy()
    // One at a time, so that the order is the same in every run.
    policy.concurrentDownloads = 1
    policy.freeSpaceMargin = 0
    let transfers = try await Transfers(
      directory: "\(home)/downloads", transport: SimulatedTransport(world), policy: policy, files: files, clock: clock)
    var state = try SharedState(directory: group, store: storePath, policy: Self.policy, files: files, clock: clock)
    state.isInRollouts = false
    return AppProcess(delivery: AppDelivery(state: state, store: store), service: TransferService(state, transfers))
  }

  private func begin(_ process: AppProcess) async throws(PackError) {
    let start = try await process.delivery.start()
    for finding in start.findings { tell(.app, "repairs: \(finding)") }
    if let refusal = start.refusal {
      world.timeline.tell(.app, words(refusal), remedy: "the store keeps its own manifest")
    }
  }

  /// Returns the packs of which the device has the bytes of the release: the pack file, or a delta that makes it.
  private func here() throws(PackError) -> Set<String> {
    let state = try openState()
    let content = try state.content()
    let files = Set(content.files.map(\.identifier.description))
    let coming = Dictionary(content.records.map { ($0.id, $0) }) { first, _ in first }
    var ids = Set(lastReady)
    for pack in settings.release.packs {
      let bytes = PackBytes(pack)
      var names = [DownloadIdentifier(id: pack.id, bytes: bytes)]
      if let record = coming[pack.id], record.bytes == bytes { names.append(record.identifier) }
      if names.contains(where: { files.contains($0.description) }) { ids.insert(pack.id) }
    }
    return ids
  }

  /// The packs of this release that were ready at the beginning.
  private var lastReady: [String] {
    guard let earlier = settings.earlier else { return [] }
    let held = Set(earlier.manifest.packs.filter { $0.delivery != .onDemand }.map(PackBytesOfPack.init))
    return settings.release.manifest.packs.filter { held.contains(PackBytesOfPack($0)) }.map(\.id)
  }

  private struct PackBytesOfPack: Hashable {
    let id: String
    let bytes: PackBytes

    init(_ pack: ManifestPack) {
      id = pack.id
      bytes = PackBytes(pack)
    }
  }

  /// Lets the app fetch a manifest by itself, as it must if the extension has accepted none.
  private mutating func fetchManifest(_ process: AppProcess) async throws(PackError) {
    manifestRefusal = nil
    guard !world.isOffline(nil) else {
      world.timeline.tell(
        .app, "has no network for the manifest", error: .plain("no connection"), remedy: "everything stays as it is", isInjected: true)
      return
    }
    var document = published.document
    if world.strikes(.truncate, nil) { document.removeLast(document.count / 2) }
    world.transfer(UInt64(document.count), of: nil)
    do throws(PackError) {
      _ = try await process.delivery.adopt(document)
      tell(.app, "fetches manifest \(published.manifest.version)")
    } catch {
      manifestRefusal = error
      world.timeline.tell(
        .app, words(error), remedy: "everything stays as it is",
        isInjected: document.count != published.document.count)
    }
  }

  /// Lets the app find the packs of the requested tags, as a request by tags does: it fetches the catalogue that lists them. Then the packs
  /// are downloaded like others that the app asks for.
  private mutating func findTagged(_ process: AppProcess) async throws(PackError) {
    tagRefusals = [:]
    guard !settings.tags.isEmpty, await process.store.manifest != nil else { return }
    var found: Set<String> = []
    for tag in settings.tags.sorted() {
      do throws(PackError) {
        _ = try await process.delivery.fetchShards(for: nil) { [world] (_, address) throws(PackError) in try world.shard(at: address) }
        let packs = try await process.store.listing().packs
        try TagCatalog(packs).check([tag])
        found.formUnion(packs.filter { process.delivery.isOffered($0) && $0.tags.contains(tag) }.map(\.id))
      } catch {
        switch error.code {
        // A release may have no such tag, and a later one may have it again.
        case .unknownTag: tell(.app, "finds no pack with the tag '\(tag)'")
        default:
          guard !Self.isOutside(error) else { throw error }
          tagRefusals[tag] = error
          world.timeline.tell(.app, words(error), remedy: "it asks for the tag '\(tag)' again at its next start")
        }
      }
    }
    // What was found before is still wanted.
    tagged = tagRefusals.isEmpty ? found : tagged.union(found)
  }

  /// Plans, installs, tidies and downloads until nothing is left to do.
  private mutating func work(_ process: AppProcess) async throws(PackError) {
    let end = clock.milliseconds + Self.sessionLength
    for _ in 0..<Self.plansPerLaunch {
      try check()
      let asked = settings.asked.union(tagged).filter { id in published.packs.contains { $0.id == id } }
      var plan = try await process.delivery.plan(asked: asked, downloads: Set(daemon.downloads.map(\.identifier)))
      if !plan.undecided.isEmpty, try await fetchCatalogue(for: Set(plan.undecided), process) {
        plan = try await process.delivery.plan(asked: asked, downloads: Set(daemon.downloads.map(\.identifier)))
      }
      lastPlan = plan
      try checkSpace(plan)
      cancel(plan.cancellations, .app)
      let kept = try await process.delivery.takeLeads(of: plan, by: process.service)
      plan.orphans.removeAll(where: kept.contains)
      for lead in plan.leads where process.service.arriving(lead.download.identifier.description)?.isPlayable == true {
        tell(.app, "\(lead.download.id): can be played, with the lead that was downloaded", pack: lead.download.id)
      }
      let progress = try await install(plan, process)
      let tidied = try await process.delivery.tidy(plan)
      if tidied.freed > 0 { tell(.app, "removes \(tidied.freed) bytes of files that are no longer needed") }
      for id in tidied.removed { tell(.app, "\(id): is no longer offered, and is removed", pack: id) }
      let isIdle = plan.downloads.isEmpty && plan.underWay.isEmpty
      guard !isIdle || progress || tidied.freed > 0 || !tidied.removed.isEmpty else {
        guard let seconds = plan.nextAttempt, clock.milliseconds + seconds * 1000 < end else { return }
        clock.advance(milliseconds: seconds * 1000)
        continue
      }
      let filesBefore = filesArrived
      if !plan.downloads.isEmpty {
        tell(.app, "plans \(Table.count(plan.downloads.count, "download", "downloads")) of \(plan.downloadSize) bytes")
      }
      try await process.service.hand(plan, asked: asked)
      guard try await !transfer(process) else { return }
      try await runSystem(until: end, toApp: true)
      guard clock.milliseconds < end || filesArrived > filesBefore || !plan.downloads.isEmpty else { return }
      // A download that the system forgot counts as lost only after it was missing for a while.
      if !plan.underWay.isEmpty { clock.advance(milliseconds: UInt64(DeliveryPolicy().missingSeconds) * 1000) }
    }
  }

  /// Lets the app fetch the parts of the catalogue that list packs of which nothing is decided.
  ///
  /// - Returns: whether they are there now.
  private mutating func fetchCatalogue(for ids: Set<String>, _ process: AppProcess) async throws(PackError) -> Bool {
    catalogueRefusal = nil
    do throws(PackError) {
      _ = try await process.delivery.fetchShards(for: ids) { [world] (_, address) throws(PackError) in try world.shard(at: address) }
      return true
    } catch {
      guard !Self.isOutside(error) else { throw error }
      catalogueRefusal = error
      world.timeline.tell(.app, words(error), remedy: "it asks for the catalogue again at its next plan")
      return false
    }
  }

  /// Installs the downloaded files.
  ///
  /// - Returns: whether anything changed.
  private mutating func install(_ plan: DeliveryPlan, _ process: AppProcess) async throws(PackError) -> Bool {
    guard settings.keys != nil else { return false }
    guard !plan.handOver.isEmpty else { return try await openSealed(process) }
    var isChanged = false
    for installation in try await process.delivery.install(plan) {
      let id = installation.id
      installRefusals[id] = installation.failure
      if let installed = installation.installed {
        if installed.state == .sealed {
          tell(.app, "\(id): version \(installed.version) is on the device, and opens later", pack: id)
          isChanged = true
          continue
        }
        // The app opens this version from now on.
        try await process.store.activate(id, version: installed.version, onTrial: false)
        tell(.app, "\(id): version \(installed.version) is installed, \(installed.mode.rawValue)", pack: id)
        if published.packs.contains(where: { $0.id == id && $0.sha256 == installed.sha256 }) { readyAt[id] = clock.milliseconds }
        isChanged = true
      } else if let failure = installation.failure {
        guard failure.code != .noSpace else { throw fullDisk(failure.message) }
        guard !Self.isOutside(failure) else { throw failure }
        let state = installation.status.map { "\($0.state)" } ?? "to-be-transferred"
        world.timeline.tell(.app, "\(id): \(words(failure))", pack: id, remedy: state)
        if installation.status != nil { isChanged = true }
      } else {
        tell(.app, "\(id): the file is gone", pack: id)
        isChanged = true
      }
    }
    return try await openSealed(process) || isChanged
  }

  /// Opens the packs whose openers the server has, as the app does after each plan.
  ///
  /// - Returns: whether any was opened.
  private mutating func openSealed(_ process: AppProcess) async throws(PackError) -> Bool {
    var isChanged = false
    for pack in try await process.store.sealed() where !world.isOffline(nil) {
      guard let path = published.opener(of: pack.id) else { continue }
      let bytes = try SystemFiles().contents(of: path, limit: Int(ManifestOpener.largestSize))
      world.transfer(UInt64(bytes.count), of: pack.id)
      do throws(PackError) {
        let installed = try await process.store.unseal(pack.id, with: bytes)
        try await process.store.activate(pack.id, version: installed.version, onTrial: false)
        tell(.app, "\(pack.id): version \(installed.version) is opened", pack: pack.id)
        readyAt[pack.id] = clock.milliseconds
        isChanged = true
      } catch {
        guard !Self.isOutside(error) else { throw error }
        world.timeline.tell(.app, "\(pack.id): \(words(error))", pack: pack.id, remedy: "it asks for the opener again")
      }
    }
    return isChanged
  }

  // MARK: The app's own downloads

  /// Lets the app download until nothing is left.
  ///
  /// - Returns: whether there was no network.
  private func transfer(_ process: AppProcess) async throws(PackError) -> Bool {
    var isOffline = false
    var events = process.service.transfers.events.makeAsyncIterator()
    while await !process.service.transfers.identifiers.isEmpty, let event = await events.next() {
      await process.service.record(event)
      switch event {
      case .finished(let identifier, _):
        let pack = DownloadIdentifier(identifier)?.id ?? identifier
        world.timeline.tell(.app, "\(pack): is downloaded", pack: pack)
      case .failed(_, .offline, _): isOffline = true
      case .failed(_, .noSpace(let needed, let free), _):
        throw PackError(
          .noSpace, "the volume has \(free) bytes free, but \(needed) are needed",
          hint: "free space, or choose another place with --keep or TMPDIR")
      case .failed(let identifier, let failure, _):
        let pack = DownloadIdentifier(identifier)?.id ?? identifier
        let status = try process.delivery.state.status(of: pack)
        world.timeline.tell(
          .app, "\(pack): \(failure.text); the next attempt is in \(status?.delaySeconds ?? 0) s", pack: pack,
          remedy: status.map { "\($0.state)" })
      case .began, .progress, .playable, .offline, .online: break
      }
    }
    return isOffline
  }
}

extension DeliveryPlan {
  /// The number of seconds until a download that failed is tried again; nil if none is.
  fileprivate var nextAttempt: UInt64? {
    postponed.compactMap { if case .failed(_, secondsLeft: let seconds?) = $0.reason { max(seconds, 1) } else { nil } }.min()
  }
}

extension TransferFailure {
  /// The failure, for a person.
  fileprivate var text: String {
    switch self {
    case .offline: "there is no network"
    case .unreachable: "the connection is cut"
    case .timedOut: "the connection timed out"
    case .status(let code, _): "the server answers \(code)"
    case .wrongSize(let size): "the server's file has \(size) bytes"
    case .wrongDigest: "the server has a different file"
    default: "the download failed (\(self))"
    }
  }
}
