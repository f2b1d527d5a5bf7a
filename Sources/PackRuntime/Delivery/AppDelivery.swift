/// The app's side of deliveries: plans, and installs the files that arrived.
///
/// It has no state of its own: that is in the shared state and the store, which other code may use at the same time. At the start of an app, call
/// ``start()``, ``plan(asked:awaited:downloads:isListExact:freeSpace:)``, ``install(_:progress:)`` and ``tidy(_:)`` in this order, and hand the downloads of the
/// plan to what downloads. After each file that arrives, plan and install again. ``PackLibrary`` does all this.
public struct AppDelivery: Sendable {
  /// The state that app and extension share.
  public let state: SharedState
  /// The store where packs are installed.
  public let store: AssetStore
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  private let groups: Set<String>

  /// Creates a delivery. Reads and changes nothing yet.
  ///
  /// - Parameters:
  ///   - state: The state that app and extension share, with the path of this store. It must be on the same volume, so that files are moved and never copied.
  ///   - store: The store where packs are installed.
  ///   - isForDevice: A further condition besides the store's device: returns whether a pack is meant for it. The extension must use the same rules.
  ///   - groups: The groups of the installation, such as `testers`, which rollouts may name: they take its candidates whatever the share is.
  public init(
    state: SharedState, store: AssetStore, groups: Set<String> = [], isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) {
    self.state = state
    self.groups = groups
    self.store = store
    self.isForDevice = isForDevice
  }

  /// Whether a pack of the manifest is for this device.
  package func isOffered(_ pack: ManifestPack) -> Bool { store.device.accepts(pack) && isForDevice(pack) }

  // MARK: Packs of the manifest

  /// Finds packs by name in the accepted manifest, and in its catalogue as far as it is on the device. Nothing is found without a manifest.
  package func lookup(_ ids: Set<String>) async throws(PackError) -> CatalogueLookup {
    guard await store.manifest != nil else { return CatalogueLookup() }
    return try await store.lookUp(ids)
  }

  /// Fetches the shards of the accepted manifest's catalogue that are missing to find some packs, or all of them, and keeps them. One that cannot be had
  /// does not hold up the others.
  ///
  /// - Parameters:
  ///   - ids: The names of the packs. If nil, all packs.
  ///   - fetch: Returns the bytes of a shard at an address. They are checked here.
  /// - Returns: Whether any arrived.
  /// - Throws: The first failure, after all were tried; ``PackError/Code/offline`` and ``PackError/Code/cancelled`` at once.
  package func fetchShards(
    for ids: Set<String>?, _ fetch: (Shard, _ address: String) async throws(PackError) -> [UInt8]
  ) async throws(PackError) -> Bool {
    guard let manifest = await store.manifest?.manifest, !manifest.catalogue.isEmpty else { return false }
    let catalogue = store.catalogue
    let missing = try await WorkerPool.settled { () throws(PackError) in
      if let ids { return try catalogue.lookUp(ids, in: manifest).missing }
      return try catalogue.missing(of: manifest)
    }
    var (isChanged, failure): (Bool, PackError?) = (false, nil)
    // Shards without a pack are one file.
    for (shard, numbers) in Dictionary(grouping: missing, by: { manifest.catalogue[$0] }).sorted(by: { $0.value[0] < $1.value[0] }) {
      do throws(PackError) {
        let bytes = try await fetch(shard, (manifest.defaults.baseURL ?? "") + shard.fileName)
        try await WorkerPool.settled { () throws(PackError) in for number in numbers { try catalogue.keep(bytes, number, of: manifest) } }
        isChanged = true
      } catch {
        guard error.code != .cancelled, error.code != .offline else { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return isChanged
  }

  // MARK: The start of the app

  /// The result of ``start()``.
  public struct Start: Sendable {
    /// The problems that were found in the store.
    public internal(set) var findings: [StoreFinding] = []
    /// The error if the store refused the manifest that the extension accepted. The store keeps its own manifest then.
    public internal(set) var refusal: PackError?
  }

  /// Recovers from the last run: repairs the store, and adopts the manifest that the extension accepted.
  ///
  /// Call this once in each process, before any pack of the store is opened.
  ///
  /// - Throws: ``PackError/Code/usage`` if the shared state has the path of another store, and the errors of the store.
  public func start() async throws(PackError) -> Start {
    // The extension would download again what is installed here.
    guard state.store.map({ $0 == store.root }) ?? true else {
      throw PackError(
        .usage, "the store is in \(store.root), and the shared state expects it in \(state.store ?? "")",
        advice: .developer("create the shared state with the path of the store"))
    }
    var start = Start()
    let groups = groups
    // Without the file, the installation takes no candidate. One that cannot be changed now says what was so before.
    store.choose(
      by: try? await blocking { (state) throws(PackError) in
        do throws(PackError) { return try state.rolloutChoice(groups: groups) } catch { return try state.rolloutChoice() }
      })
    start.findings = try await store.reconcile()
    do throws(PackError) {
      // What the extension followed counts, whether it accepted the manifest or not.
      if let record = try await blocking({ (state) throws(PackError) in try state.keysRecord() }) { try await store.follow(record) }
      if let document = try await blocking({ (state) throws(PackError) in try state.lastDocument() }) {
        try await store.adopt(SignedManifest(document))
      }
    } catch {
      start.refusal = error
    }
    return start
  }

  /// Accepts a manifest that the app fetched by itself, in the store and then in the shared state.
  ///
  /// - Throws: The errors of ``AssetStore/adopt(_:)``, and then the shared state is unchanged, or those of
  ///   ``PackDelivery/SharedState/accept(_:verify:)``. If only the store accepted the manifest, for example because the extension accepted a newer
  ///   one in the meantime, the next call corrects that.
  @discardableResult
  public func adopt(_ document: [UInt8]) async throws(PackError) -> UpdatePlan {
    let signed = try SignedManifest(document)
    let embedded = store.embeddedKeys
    // The keys documents count in both places, also if the store refuses the manifest. A refused one is reported by the store.
    try? await blocking { (state) throws(PackError) in try state.follow(signed, trusting: embedded) }
    let plan = try await store.adopt(signed)
    // The store has already checked the signatures of this document. The shared state cannot check signatures by itself.
    let store = store
    _ = try await blocking { (state) throws(PackError) in
      try state.accept(document) { (other) throws(PackError) in
        if other.bytes != document { _ = try store.authenticated(other) }
      }
    }
    return plan
  }

  // MARK: Planning

  /// Makes a plan from the manifest and the content of the store, and records it.
  ///
  /// The downloads of the plan are `scheduled` when this returns. The app must then hand them to what downloads. Do not plan while this process installs: a
  /// file that the store is just taking would be downloaded again.
  ///
  /// - Parameters:
  ///   - asked: The names of the packs that the app wants now, including packs on demand.
  ///   - awaited: The names of the packs that somebody waits for, so that a failure is followed by another attempt soon.
  ///   - downloads: The identifiers of all downloads in progress, except failed ones. Nil if they are not known.
  ///   - isListExact: Whether that list is complete at this moment, as that of ``Transfers`` is; the system's may be older than the records.
  ///   - freeSpace: The number of bytes that are free on the device. Nil to ignore the free space. The store checks it again when it installs.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/stateBusy``, or an error of the file system.
  public func plan(
    asked: Set<String> = [], awaited: Set<String> = [], downloads: Set<String>? = nil, isListExact: Bool = false, freeSpace: UInt64? = nil
  ) async throws(PackError) -> DeliveryPlan {
    guard let manifest = await store.manifest?.manifest else {
      throw PackError(.noManifest, "no manifest was accepted yet", advice: .acceptManifest)
    }
    var device = try await store.installed().map {
      DevicePack(
        id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.mode, isRejected: $0.state == .failed,
        contentRoot: $0.state == .sealed ? nil : $0.contentRoot)
    }
    // The store remembers failed versions for longer than it keeps their content.
    device += try await store.plan().failed.map {
      DevicePack(id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.install, isRejected: true)
    }
    var facts = DeliveryFacts(
      .launch, at: state.time, device: device, downloads: downloads, asked: asked, freeSpace: freeSpace
    ) { [self] pack in isOffered(pack) }
    facts.isListExact = isListExact
    facts.awaited = awaited
    let offered = try await store.offered(by: manifest)
    return try await blocking { [search = store.search(manifest), facts] (state) throws(PackError) in
      try state.plan(for: offered, facts: facts, search: search).plan
    }
  }

  /// Lets a service take what the system downloaded before the app was started of packs that can be played while they arrive.
  ///
  /// - Returns: The files that are still needed, which ``DeliveryPlan/orphans`` lists.
  package func takeLeads(of plan: DeliveryPlan, by service: any DownloadService) async throws(PackError) -> Set<String> {
    var kept: Set<String> = []
    for lead in plan.leads {
      let isDone = await service.take(lead: try state.path(of: lead), of: lead.download)
      if !isDone { kept.insert(lead.file.description) }
    }
    return kept
  }

  // MARK: Installing

  /// The result of installing one file.
  public struct Installation: Sendable {
    /// The name of the pack.
    public let id: String
    /// The installed version. Nil if the installation failed.
    public let installed: InstalledPack?
    /// The error if the installation failed. Nil if it succeeded, or if the file was gone.
    public let failure: PackError?
    /// The new record if the file was removed because it failed. Nil if it is kept, the pack is installed, another process had changed the record, the file
    /// was gone, or the record could not be written. The next plan corrects this.
    public let status: PackStatus?
    /// The versions that were removed to make room.
    public internal(set) var removed: [InstalledPack] = []
  }

  /// Installs all files that a plan hands over, one after the other. It does not activate them: the app does that.
  ///
  /// If there is no space or no key, or the store is busy, the file is kept and waits. A file that does not match the manifest is removed and
  /// downloaded again. If one file fails, the others are still installed.
  ///
  /// - Parameter progress: Receives the name of a pack, and the number of its bytes checked and unpacked.
  /// - Throws: ``PackError/Code/cancelled``, with the current file kept, or an error of the shared state's file system.
  public func install(
    _ plan: DeliveryPlan, progress: (@Sendable (_ id: String, PackProgress) -> Void)? = nil
  ) async throws(PackError) -> [Installation] {
    var installations: [Installation] = []
    for file in plan.handOver {
      guard let path = try await blocking({ (state) throws(PackError) in try state.path(of: file) }) else {
        installations.append(Installation(id: file.id, installed: nil, failure: nil, status: nil))
        continue
      }
      let installed: InstalledPack
      let note = Monitor(InstallNote())
      var step: ProgressHandler?
      if let progress { step = { progress(file.id, $0) } }
      do throws(PackError) {
        installed = try await store.install(path, as: file.id, taking: .moving, mode: file.mode, progress: step, note: note)
      } catch {
        let status = try await finish(file, Self.outcome(of: error))
        guard error.code != .cancelled else { throw error }
        installations.append(Installation(id: file.id, installed: nil, failure: error, status: status))
        continue
      }
      // The pack is installed even if this cannot be recorded: the next plan finds it in the store.
      let status = try? await finish(file, .installed)
      installations.append(
        Installation(id: file.id, installed: installed, failure: nil, status: status, removed: note.withLock { $0.removed }))
    }
    return installations
  }

  private func finish(_ file: HandOver, _ outcome: SharedState.InstallOutcome) async throws(PackError) -> PackStatus? {
    try await blocking { (state) throws(PackError) in try state.finishInstall(file, outcome) }
  }

  /// Returns what an error of the store means for the file: whether the file is kept, or is unusable.
  package static func outcome(of error: PackError) -> SharedState.InstallOutcome {
    switch error.code {
    case .noSpace, .quotaExceeded, .noKey, .sealed, .wrongKey, .notWrapped, .noUsableKey, .malformedKey, .storeBusy, .cancelled,
      .noManifest,
      .manifestExpired, .keysExpired, .manifestRollback, .unknownPack, .catalogueNotAvailable, .damagedManifest, .cannotRead, .cannotWrite,
      .inUse, .unsupported, .damagedStore, .sourceChanged, .internalError, .missingInput:
      // A file that the system removed meanwhile is found to be gone by the next plan.
      .putOff
    case .versionFailed: .failed(.rejected)
    case .wrongBase: .failed(.base)
    case .truncated: .failed(.wrongSize)
    case .digestMismatch, .wrongPack, .notAPack, .damagedHeader, .authenticationFailed, .damagedPayload, .damagedArchive:
      .failed(.wrongBytes)
    default: .failed(.installation)
    }
  }

  // MARK: Tidying

  /// The result of ``tidy(_:)``.
  public struct Tidied: Hashable, Sendable {
    /// The number of bytes freed by removing unneeded files.
    public internal(set) var freed: UInt64 = 0
    /// The names of obsolete packs that were removed.
    public internal(set) var removed: [String] = []
    /// The names of obsolete packs that are open. They are removed by a later call.
    public internal(set) var inUse: [String] = []
  }

  /// Removes what a plan lists as no longer needed: files of other versions, and packs that the manifest no longer offers.
  public func tidy(_ plan: DeliveryPlan) async throws(PackError) -> Tidied {
    var tidied = Tidied()
    tidied.freed = try await blocking { (state) throws(PackError) in try state.discard(plan.orphans) }
    for pack in plan.obsolete {
      do throws(PackError) {
        try await store.remove(pack.id)
      } catch {
        guard error.code == .inUse else { throw error }
        tidied.inUse.append(pack.id)
        continue
      }
      tidied.removed.append(pack.id)
    }
    return tidied
  }

  /// Runs `body` on the worker pool. The shared state blocks its thread, which must not be a thread of the cooperative pool.
  private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable (SharedState) throws(PackError) -> Value
  ) async throws(PackError) -> Value {
    try await WorkerPool.settled { [state] () throws(PackError) in try body(state) }
  }
}
