extension Simulation {
  /// The parts of the app in one process.
  struct AppProcess {
    let delivery: AppDelivery
    let store: AssetStore
    let queue: DownloadQueue
    let transport: SimulatedTransport
  }

  /// The longest time for which the app stays open while the system downloads, in milliseconds.
  static let sessionLength: UInt64 = 600_000

  /// The largest number of plans in one start of the app.
  private static let plansPerLaunch = 5

  /// Starts the app, lets it do everything it can, and ends it.
  mutating func launch() async throws(PackError) {
    appRefusal = nil
    lastPlan = nil
    tell(.app, launches == 0 ? "is started" : "is started again")
    if daemon.isRestricted { tell(.system, "lifts its restrictions") }
    let isFirst = launches == 0
    daemon.liftRestrictions()
    let relay = Relay()
    let process = try await makeProcess(SimulatedTransport(world, relay))
    do throws(PackError) {
      try await begin(process)
      if isFirst { hereAtLaunch = try here() }
      try await fetchManifest(process)
      try await findTagged(process, relay)
      try await work(process, relay)
    } catch {
      guard !Self.isOutside(error) else { throw error }
      appRefusal = error
      world.timeline.tell(.app, words(error), remedy: "it continues with its packs, and checks again at its next start")
    }
    appManifest = await process.store.manifest?.manifest
    await process.queue.close()
    daemon = daemon.inFullPower
    launches += 1
    world.endLaunch()
  }

  private func makeProcess(_ transport: SimulatedTransport) async throws(PackError) -> AppProcess {
    let home = "\(directory)/app"
    try makeDirectory(home)
    let files = CrashInjectingFiles()
    let session = "start-\(launches)-\(settings.earlier == nil || published.path != settings.earlier?.path ? 1 : 0)"
    let store = try await AssetStore(
      root: "\(home)/store", keys: settings.keys ?? KeyRing(), trusting: settings.trusted, lowestVersion: 0,
      policy: StorePolicy(freeSpaceMargin: 0), files: files, clock: clock,
      process: StoreProcess(session: session) { $0 == session }, backend: CryptoBackends.standard,
      device: settings.device)
    var policy = QueuePolicy()
    // One download at a time and immediate retries keep the order the same in every run. The time of waits is added to the clock.
    policy.concurrentDownloads = 1
    policy.retry.first = .zero
    policy.reconcileInterval = VirtualClock.endless
    policy.freeSpaceMargin = 0
    let queue = try await DownloadQueue(root: "\(home)/downloads", transport: transport, policy: policy, files: files, clock: clock)
    let state = try SharedState(directory: group, files: files, clock: clock)
    return AppProcess(delivery: AppDelivery(state: state, store: store, queue: queue), store: store, queue: queue, transport: transport)
  }

  private func begin(_ process: AppProcess) async throws(PackError) {
    let start = try await process.delivery.start()
    for id in start.interrupted { tell(.app, "\(id): its installation was interrupted; the file waits for the next attempt", pack: id) }
    for finding in start.findings { tell(.app, "repairs: \(finding)") }
    if let refusal = start.refusal {
      world.timeline.tell(.app, words(refusal), remedy: "the store keeps its own manifest")
    }
  }

  /// Returns the packs of which the device has the bytes of the release: the pack file, or a delta that makes it.
  private func here() throws(PackError) -> Set<String> {
    let state = try SharedState(directory: group, files: CrashInjectingFiles(), clock: clock)
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
  private mutating func findTagged(_ process: AppProcess, _ relay: Relay) async throws(PackError) {
    tagRefusals = [:]
    guard !settings.tags.isEmpty, await process.store.manifest != nil else { return }
    let packs = try await OnDemandPacks(store: process.store, queue: process.queue)
    var found: Set<String> = []
    for tag in settings.tags.sorted() {
      let request = TagRequest([tag], of: packs)
      let answer = Monitor<Result<[ManifestPack], PackError>>(.success([]))
      let isOffline = try await runQueue(process, relay) {
        let result: Result<[ManifestPack], PackError>
        do throws(PackError) {
          result = .success(try await packs.packs(of: request))
        } catch {
          result = .failure(error)
        }
        answer.update { $0 = result }
      }
      do throws(PackError) {
        found.formUnion(try answer.withLock { $0 }.get().map(\.id))
      } catch {
        switch error.code {
        // A release may have no such tag, and a later one may have it again.
        case .unknownTag: tell(.app, "finds no pack with the tag '\(tag)'")
        case .cancelled where isOffline: tagRefusals[tag] = PackError(.offline, "there is no network")
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
  private mutating func work(_ process: AppProcess, _ relay: Relay) async throws(PackError) {
    let end = clock.milliseconds + Self.sessionLength
    for _ in 0..<Self.plansPerLaunch {
      try check()
      let asked = settings.asked.union(tagged).filter { id in published.packs.contains { $0.id == id } }
      var plan = try await process.delivery.plan(asked: asked, downloads: Set(daemon.downloads.map(\.identifier)))
      if !plan.undecided.isEmpty, try await fetchCatalogue(for: Set(plan.undecided), process, relay) {
        plan = try await process.delivery.plan(asked: asked, downloads: Set(daemon.downloads.map(\.identifier)))
      }
      lastPlan = plan
      try checkSpace(plan)
      cancel(plan.cancellations, .app)
      let progress = try await install(plan, process)
      let tidied = try await process.delivery.tidy(plan)
      if tidied.freed > 0 { tell(.app, "removes \(tidied.freed) bytes of files that are no longer needed") }
      for id in tidied.removed { tell(.app, "\(id): is no longer offered, and is removed", pack: id) }
      let isIdle = plan.downloads.isEmpty && plan.underWay.isEmpty
      guard !isIdle || progress || tidied.freed > 0 || !tidied.removed.isEmpty else { return }
      let filesBefore = filesArrived
      if !plan.downloads.isEmpty {
        tell(.app, "plans \(count(plan.downloads.count, "download", "downloads")) of \(plan.downloadSize) bytes")
      }
      try await process.delivery.fetch(plan)
      let isOffline = try await runQueue(process, relay)
      guard !isOffline else { return }
      try await runSystem(until: end, toApp: true)
      guard clock.milliseconds < end || filesArrived > filesBefore || !plan.downloads.isEmpty else { return }
      // A download that the system forgot counts as lost only after it was missing for a while.
      if !plan.underWay.isEmpty { clock.advance(milliseconds: UInt64(DeliveryPolicy().missingSeconds) * 1000) }
    }
  }

  /// Lets the app fetch the parts of the catalogue that list packs of which nothing is decided.
  ///
  /// - Returns: whether they are there now.
  private mutating func fetchCatalogue(for ids: Set<String>, _ process: AppProcess, _ relay: Relay) async throws(PackError) -> Bool {
    let answer = Monitor<PackError?>(nil)
    let isOffline = try await runQueue(process, relay) {
      do throws(PackError) {
        try await process.delivery.fetchCatalogue(for: ids)
      } catch {
        answer.update { $0 = error }
      }
    }
    catalogueRefusal = isOffline ? PackError(.offline, "there is no network") : answer.withLock { $0 }
    guard let refusal = catalogueRefusal else { return true }
    guard !Self.isOutside(refusal) else { throw refusal }
    if !isOffline { world.timeline.tell(.app, words(refusal), remedy: "it asks for the catalogue again at its next plan") }
    return false
  }

  /// Installs the downloaded files.
  ///
  /// - Returns: whether anything changed.
  private mutating func install(_ plan: DeliveryPlan, _ process: AppProcess) async throws(PackError) -> Bool {
    guard settings.keys != nil, !plan.handOver.isEmpty else { return false }
    var isChanged = false
    for installation in try await process.delivery.install(plan) {
      let id = installation.id
      installRefusals[id] = installation.failure
      if let installed = installation.installed {
        // The app opens this version from now on.
        try await process.store.activate(id, version: installed.version, onTrial: false)
        tell(.app, "\(id): version \(installed.version) is installed, \(installed.mode.rawValue)", pack: id)
        if published.packs.contains(where: { $0.id == id && $0.sha256 == installed.sha256 }) { readyAt[id] = clock.milliseconds }
        isChanged = true
      } else if let failure = installation.failure {
        guard failure.code != .noSpace else { throw fullDisk(failure.message) }
        guard !Self.isOutside(failure) else { throw failure }
        let state = installation.status.map { "\($0.state)" } ?? "the next plan decides"
        world.timeline.tell(.app, "\(id): \(words(failure))", pack: id, remedy: state)
        if installation.status?.state.kind != .toBeTransferred { isChanged = true }
      } else {
        tell(.app, "\(id): the file is gone", pack: id)
        isChanged = true
      }
    }
    return isChanged
  }

  // MARK: The queue

  private enum QueueEnd: Sendable {
    case ran(PackError?)
    case heard(PackError?)
    case offline
    case worked
    case other
  }

  /// Runs the app's queue until no download can continue, or until some work that downloads ends.
  ///
  /// - Returns: whether it ended because there was no network.
  private func runQueue(
    _ process: AppProcess, _ relay: Relay, during work: (@Sendable () async -> Void)? = nil
  ) async throws(PackError) -> Bool {
    if work == nil { guard await process.queue.groups.contains(AppDelivery.group) else { return false } }
    await relay.open()
    let events = process.queue.events()
    let signals = process.transport.signals()
    let (queue, delivery, world) = (process.queue, process.delivery, world)
    let (failure, isOffline) = await withTaskGroup(of: QueueEnd.self) { tasks in
      tasks.addTask {
        do throws(PackError) {
          try await queue.run(until: work == nil ? .idle : .cancelled)
          return .ran(nil)
        } catch {
          return .ran(error)
        }
      }
      if let work {
        tasks.addTask {
          await work()
          return .worked
        }
      }
      tasks.addTask {
        for await event in events {
          if let failure = await Self.take(event, delivery, world) {
            await relay.close()
            return .heard(failure)
          }
          await relay.release(after: event)
        }
        await relay.close()
        return .other
      }
      tasks.addTask {
        for await signal in signals {
          guard signal == .forgotten else { return .offline }
          // The queue treats a download as lost after it was missing twice.
          for _ in 0..<2 {
            world.clock.advance(milliseconds: 60_000)
            await queue.reconcile()
          }
        }
        return .other
      }
      var failure: PackError?
      var isOffline = false
      while let end = await tasks.next() {
        switch end {
        case .ran(let error):
          failure = failure ?? error
          if error == nil, !isOffline { await relay.turn() }
          tasks.cancelAll()
        case .heard(let error):
          failure = failure ?? error
          tasks.cancelAll()
        case .offline:
          isOffline = true
          tasks.cancelAll()
        case .worked: tasks.cancelAll()
        case .other: break
        }
      }
      return (failure, isOffline)
    }
    if let failure, !isOffline { throw failure }
    return isOffline
  }

  /// Passes an event of the queue to the app.
  private static func take(_ event: DownloadEvent, _ delivery: AppDelivery, _ world: SimulatedWorld) async -> PackError? {
    do throws(PackError) {
      let status = try await delivery.take(event)
      switch event {
      case .finished(let id, _):
        let pack = DownloadIdentifier(id.id)?.id ?? id.id
        world.timeline.tell(.app, "\(pack): is downloaded and checked", pack: pack)
      case .retrying(let id, let failure, _):
        let pack = DownloadIdentifier(id.id)?.id ?? id.id
        // The longest wait of a queue with the default policy after a first failure.
        let delay = UInt64(RetryPolicy().first / .milliseconds(1))
        world.clock.advance(milliseconds: delay)
        world.timeline.tell(.app, "\(pack): \(failure.text); the next attempt is in \(delay) ms", pack: pack)
      case .failed(let id, let failure):
        let pack = DownloadIdentifier(id.id)?.id ?? id.id
        world.timeline.tell(.app, "\(pack): \(failure.text); no more attempts are made", pack: pack, remedy: status.map { "\($0.state)" })
      case .lowSpace(_, let needed, let free):
        return PackError(
          .noSpace, "the volume has \(free) bytes free, but \(needed) are needed",
          hint: "free space, or choose another place with --keep or TMPDIR")
      case .began, .progress, .forgotten, .offline, .online: break
      }
      return nil
    } catch {
      return error
    }
  }
}

extension Relay {
  /// Releases the relay if the event ends an attempt.
  func release(after event: DownloadEvent) {
    switch event {
    case .finished, .retrying, .failed, .lowSpace: release()
    case .began, .progress, .forgotten, .offline, .online: break
    }
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
    case .forgotten: "the system forgot the download"
    default: "the download failed (\(self))"
    }
  }
}
