/// The packs of a store that an app requests by tags. All requests (``TagRequest``) of an app share one object.
///
/// The app must also run the queue, because requests wait for their downloads. Requests for the same pack share one download, with the highest of
/// their priorities. If the last of them ends before the download does, the download is paused. The bytes downloaded so far stay in the queue for
/// the next request, until a manifest names other bytes or space is low.
///
/// It owns the groups of the queue whose ids begin with `on-demand/`.
public actor OnDemandPacks {
  /// The store where the packs are installed.
  public nonisolated let store: AssetStore
  /// The queue that downloads the packs.
  public nonisolated let queue: DownloadQueue

  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// The progress of installations, for all requests that wait for them.
  nonisolated let steps = EventHub<InstallStep>(bufferedCount: 1)
  private nonisolated let notices = EventHub<LowSpace>(bufferedCount: 64)
  /// The requests that wait for each download, the oldest first.
  private var requests: [DownloadID: [TagRequest]] = [:]
  /// The downloads whose files are no longer needed once no request waits for them.
  private var spent: Set<DownloadID> = []
  /// The number of free bytes when space was last freed for a download.
  private var freeSpace: [DownloadID: UInt64] = [:]
  /// Serializes the changes of each download.
  private let turns = KeyedLock<DownloadID>()
  /// The version of the manifest for which the queue was tidied last.
  private var tidiedVersion: UInt64?

  /// Creates the shared object of an app's requests, and pauses downloads that an earlier process requested.
  ///
  /// - Parameters:
  ///   - store: The store where the packs are installed. It must have been reconciled.
  ///   - queue: The queue that downloads the packs.
  ///   - isForDevice: A further condition besides the store's device: returns whether a pack of the manifest is for it. Other packs are ignored, whatever
  ///     their tags.
  /// - Throws: An error of the queue or the store.
  public init(
    store: AssetStore, queue: DownloadQueue, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) async throws(PackError) {
    self.store = store
    self.queue = queue
    self.isForDevice = isForDevice
    try await tidy(by: await store.manifest?.manifest)
  }

  /// Returns the tags of the accepted manifest's packs for this device, with their delivery classes. Needs no network.
  ///
  /// Packs on demand are included as far as the manifest's catalogue is on the device. A ``TagRequest`` finds the packs of all tags: it fetches what is
  /// missing.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/cannotRead``
  public func catalog() async throws(PackError) -> TagCatalog { TagCatalog(try await store.listing().packs.filter(isOffered)) }

  private func isOffered(_ pack: ManifestPack) -> Bool { store.device.accepts(pack) && isForDevice(pack) }

  /// Returns a stream of notices about low space from now on. It ends when the listening task ends.
  public nonisolated func lowSpace() -> AsyncStream<LowSpace> { notices.listen() }

  // MARK: Resolving tags

  /// The packs that a request is for.
  struct Goal: Hashable, Sendable {
    let manifestVersion: UInt64
    let packs: [ManifestPack]

    /// Returns whether the packs and their bytes are the same.
    func isSame(as other: Goal) -> Bool { packs.map(\.id) == other.packs.map(\.id) && packs.map(\.bytes) == other.packs.map(\.bytes) }
  }

  /// Returns the packs that have any of the tags.
  ///
  /// - Parameter request: The request that fetches what is missing of the manifest's catalogue. If nil, nothing is fetched.
  /// - Returns: Nil if parts of the catalogue are missing.
  func goal(of tags: Set<String>, fetchingFor request: TagRequest? = nil) async throws(PackError) -> Goal? {
    let manifest = try await store.requiredManifest()
    if manifest.version != tidiedVersion { try await tidy(by: manifest) }
    return try await goal(of: tags, in: manifest, fetchingFor: request)
  }

  /// Finds the packs of a request, and fetches the parts of the manifest's catalogue that list them. The queue must be running.
  ///
  /// - Throws: as ``TagRequest/begin()``.
  package func packs(of request: TagRequest) async throws(PackError) -> [ManifestPack] {
    try await goal(of: request.tags, fetchingFor: request)?.packs ?? []
  }

  private func goal(of tags: Set<String>, in manifest: Manifest, fetchingFor request: TagRequest?) async throws(PackError) -> Goal? {
    var listing = try await listing(of: manifest)
    if !listing.missing.isEmpty {
      guard let request else { return nil }
      try await CatalogueFetch(store: store, queue: queue, waitsForNetwork: request.waitsForNetwork).run(for: nil)
      listing = try await self.listing(of: manifest)
      // Another manifest was accepted meanwhile, and its catalogue was fetched.
      guard listing.missing.isEmpty else { throw .missing(listing.missing, of: manifest, for: Self.names(of: tags)) }
    }
    if let refusal = listing.refusal { throw refusal }
    // A tag whose packs are all for other devices is valid, but has no packs here.
    try TagCatalog(listing.packs).check(tags)
    return Goal(manifestVersion: manifest.version, packs: listing.packs.filter { isOffered($0) && !tags.isDisjoint(with: $0.tags) })
  }

  private func listing(of manifest: Manifest) async throws(PackError) -> Catalogue.Listing {
    try await WorkerPool.settled { [catalogue = store.catalogue] () throws(PackError) in try catalogue.listing(of: manifest) }
  }

  private static func names(of tags: Set<String>) -> String { tags.sorted().map { "'\(printable($0.utf8))'" }.joined(separator: ", ") }

  /// Throws if a new manifest changed which packs or bytes the tags belong to.
  ///
  /// - Parameter request: The request that fetches what is missing of the new manifest's catalogue. If nil, a manifest of which something is missing counts
  ///   as changed.
  /// - Throws: ``PackError/Code/manifestChanged``
  func check(_ goal: Goal, of tags: Set<String>, fetchingFor request: TagRequest? = nil) async throws(PackError) {
    let manifest = try await store.requiredManifest()
    guard manifest.version != goal.manifestVersion else { return }
    if manifest.version != tidiedVersion { try await tidy(by: manifest) }
    do throws(PackError) {
      if let now = try await self.goal(of: tags, in: manifest, fetchingFor: request), now.isSame(as: goal) { return }
    } catch {
      // Without the catalogue it is not known whether anything changed.
      if request != nil, error.code != .unknownTag { throw error }
    }
    throw PackError(
      .manifestChanged,
      "manifest version \(manifest.version) was accepted during the request for \(Self.names(of: tags)), and changes its packs",
      advice: .tryAgain)
  }

  // MARK: Downloads

  /// The state of a download when a request joins it.
  enum Joined: Sendable {
    /// The pack has been installed in the meantime.
    case installed(UseMark)
    case waiting(received: UInt64)
    case finished(path: String)
  }

  /// Returns the entries of packs that come in fewer bytes as deltas, with the URL, size and SHA-256 of the delta, by id.
  func files(of packs: [ManifestPack]) async throws(PackError) -> [String: ManifestPack] {
    let defaults = try await store.requiredManifest().defaults
    let deltas = try await store.deltas(to: packs)
    var files: [String: ManifestPack] = [:]
    for pack in packs { files[pack.id] = deltas[pack.id].map { pack.fetched(as: $0, defaults) } }
    return files
  }

  /// Adds a request to the download of a pack. Starts the download if necessary.
  ///
  /// - Parameter file: The file that brings the pack: its own entry, or that with the values of a delta.
  func join(_ request: TagRequest, _ pack: ManifestPack, _ file: ManifestPack) async throws(PackError) -> Joined {
    let id = DownloadID(onDemand: file)
    try await turns.lock(id)
    defer { turns.unlock(id) }
    // Another request may have installed the pack in the meantime.
    if let mark = try await store.hold([pack]).marks[pack.id] { return .installed(mark) }
    let isFirst = requests[id] == nil
    requests[id, default: []].append(request)
    if isFirst {
      freeSpace[id] = nil
      // A file that is no longer needed must be removed before the pack is downloaded again.
      if spent.remove(id) != nil { try await removeGroup(id) }
    }
    try await enqueue(file, id, isFirst: isFirst)
    await applyPriority(of: id)
    if let path = try await queue.file(of: id) { return .finished(path: path) }
    // Tries at once, because the network may be available again.
    try await queue.tryNow(id)
    guard case .running(let received) = try await queue.status(of: id).state else { return .waiting(received: 0) }
    return .waiting(received: received)
  }

  private func enqueue(_ pack: ManifestPack, _ id: DownloadID, isFirst: Bool) async throws(PackError) {
    if let known = try await status(of: id, isFirst: isFirst) {
      // The same bytes may have another URL now. If other requests wait for the download, it continues unchanged.
      guard isFirst, known.state == .cancelled || known.request.url != pack.url else {
        return try await go(on: id, known.state, isFirst: isFirst)
      }
      try await removeGroup(id)
    }
    // With its priority from the start, so that it takes the right place among the others.
    let request = DownloadRequest(
      id: id.id, url: pack.url, size: pack.size, sha256: pack.sha256, priority: priority(of: id) ?? 0.5)
    try await queue.submit([request], group: id.group)
  }

  private func go(on id: DownloadID, _ state: DownloadState, isFirst: Bool) async throws(PackError) {
    switch state {
    case .failed: try await queue.retry(id)
    // Retried if the file is gone, but not if another request may be installing it.
    case .finished: if isFirst { try await queue.retry(id) }
    case .paused: try await queue.resume(id)
    default: break
    }
    if try await queue.status(ofGroup: id.group).isPaused { try await queue.resume(group: id.group) }
  }

  /// Returns the status of a download, or nil if the queue does not have it.
  private func status(of id: DownloadID, isFirst: Bool) async throws(PackError) -> DownloadStatus? {
    do throws(PackError) {
      return try await queue.status(of: id)
    } catch {
      // A group that cannot be read is removed and submitted again.
      if error.code == .damagedQueue, isFirst {
        try await removeGroup(id)
      } else if error.code != .noSuchRequest {
        throw error
      }
      return nil
    }
  }

  private func removeGroup(_ id: DownloadID) async throws(PackError) {
    do throws(PackError) {
      try await queue.remove(group: id.group)
    } catch {
      guard error.code == .noSuchRequest else { throw error }
    }
  }

  private func priority(of id: DownloadID) -> Double? { requests[id]?.map(\.priority).max() }

  /// Gives a download the highest priority of the requests that wait for it.
  private func applyPriority(of id: DownloadID) async {
    guard let priority = priority(of: id) else { return }
    // A priority is only a hint, so an error does not matter.
    try? await queue.setPriority(priority, of: id)
  }

  /// Applies the priority of a request in progress.
  func applyPriority(of request: TagRequest) async throws(PackError) {
    for id in requests.filter({ $1.contains { $0 === request } }).keys {
      try await turns.lock(id)
      await applyPriority(of: id)
      turns.unlock(id)
    }
  }

  /// Downloads a finished file again if it is gone.
  func fetchAgain(_ id: DownloadID) async throws(PackError) {
    try await turns.lock(id)
    defer { turns.unlock(id) }
    try await queue.retry(id)
  }

  /// Removes a request from a download.
  ///
  /// - Parameter isSpent: Whether the file is no longer needed, because it was installed or is unusable.
  nonisolated func leave(_ request: TagRequest, _ id: DownloadID, isSpent: Bool) async {
    // In a separate task, which runs to its end even if the waiting task is cancelled.
    await Task { await self.end(request, id, isSpent: isSpent) }.value
  }

  private func end(_ request: TagRequest, _ id: DownloadID, isSpent: Bool) async {
    do throws(PackError) {
      try await turns.lock(id)
    } catch {
      return
    }
    defer { turns.unlock(id) }
    guard var others = requests[id], let index = others.firstIndex(where: { $0 === request }) else { return }
    others.remove(at: index)
    requests[id] = others.isEmpty ? nil : others
    if isSpent { spent.insert(id) }
    guard others.isEmpty else {
      await applyPriority(of: id)
      // If this request gave up because of low space, the next one tries again.
      if index == 0 { try? await queue.tryNow(id) }
      return
    }
    freeSpace[id] = nil
    if spent.contains(id) {
      // If this fails, the next manifest or the next process tries again.
      if (try? await removeGroup(id)) != nil { spent.remove(id) }
    } else {
      try? await queue.pause(group: id.group)
    }
  }

  /// Pauses downloads that no request waits for. Removes those whose bytes are installed or no longer in the manifest.
  private func tidy(by manifest: Manifest?) async throws(PackError) {
    // By group: the pack that its file, or the delta in it, brings.
    var wanted: [String: ManifestPack] = [:]
    var unknown: Set<String> = []
    let groups = await queue.groups
    if let manifest {
      let ids = Set(groups.compactMap { DownloadID(onDemandGroup: $0)?.id })
      let lookup = try await WorkerPool.settled { [catalogue = store.catalogue] () throws(PackError) in
        try catalogue.lookUp(ids, in: manifest)
      }
      for pack in lookup.packs.values {
        let deltas = pack.deltas.map { pack.fetched(as: $0, manifest.defaults) }
        for file in deltas + [pack] { wanted[DownloadID(onDemand: file).group] = pack }
      }
      unknown = lookup.unknown
    }
    for group in groups {
      guard let id = DownloadID(onDemandGroup: group) else { continue }
      try await turns.lock(id)
      defer { turns.unlock(id) }
      guard requests[id] == nil else {
        if manifest != nil, wanted[group] == nil, !unknown.contains(id.id) { spent.insert(id) }
        continue
      }
      let isSpent =
        if let pack = wanted[group] { try await store.hold([pack]).marks[pack.id] != nil } else {
          manifest != nil && !unknown.contains(id.id)
        }
      if isSpent {
        try await removeGroup(id)
      } else if try await !queue.status(ofGroup: group).isPaused {
        try await pause(id)
      }
    }
    tidiedVersion = manifest?.version
  }

  private func pause(_ id: DownloadID) async throws(PackError) {
    do throws(PackError) {
      try await queue.pause(group: id.group)
    } catch {
      // A cancelled group cannot be paused. It is removed when its pack is requested again.
      guard error.code == .usage else { throw error }
    }
  }

  // MARK: Space

  /// Throws before anything is downloaded if there is no room for the packs that have no download yet, even after a purge. Purges nothing: that
  /// happens when the files arrive.
  func checkRoom(for packs: [ManifestPack]) async throws(PackError) {
    let groups = Set(await queue.groups)
    let fresh = packs.filter { !groups.contains(DownloadID(onDemand: $0).group) }
    guard !fresh.isEmpty, var lack = try await store.lack(for: fresh) else { return }
    if try await removeAbandoned() {
      guard let still = try await store.lack(for: fresh) else { return }
      lack = still
    }
    notices.tell(LowSpace(packs: fresh.map(\.id), missing: lack.missing, removed: []))
    throw lack.error
  }

  /// Frees space for a download, on behalf of all requests that wait for it.
  ///
  /// - Parameters:
  ///   - request: One of the waiting requests. Only the first of them does the work.
  ///   - id: The download.
  ///   - needed: The number of bytes that must be free for it.
  /// - Throws: ``PackError/Code/noSpace`` if not enough can be freed.
  func makeRoom(_ request: TagRequest, _ id: DownloadID, needed: UInt64) async throws(PackError) {
    // Only one of the waiting requests does it.
    guard requests[id]?.first === request else { return }
    // Space may have been freed since the download found too little.
    var free = try await queue.availableSpace()
    if free < needed, try await removeAbandoned() { free = try await queue.availableSpace() }
    guard free < needed else { return try await queue.tryNow(id) }
    // Space was freed before, but it did not help: the store is on another volume, or another process used the space.
    if let known = freeSpace[id], free <= known {
      notices.tell(LowSpace(packs: [id.id], missing: needed - free, removed: []))
      throw TransferFailure.noSpace(of: id.id, missing: needed - free)
    }
    freeSpace[id] = free
    let report = try await store.purgeIfEnough(toFree: needed - free)
    notices.tell(LowSpace(packs: [id.id], missing: report.missing, removed: report.removed.map(\.pack)))
    guard report.missing == 0 else { throw TransferFailure.noSpace(of: id.id, missing: report.missing) }
    try await queue.tryNow(id)
  }

  /// Sends a notice that there was no room for a downloaded pack.
  func tellLack(of pack: ManifestPack, file: String) async {
    guard let missing = try? await store.missingSpace(for: pack, file: file) else { return }
    notices.tell(LowSpace(packs: [pack.id], missing: missing, removed: []))
  }

  /// Sends a notice of what was removed to make room for a downloaded pack.
  func tellRoom(for pack: ManifestPack, _ removed: [InstalledPack]) {
    notices.tell(LowSpace(packs: [pack.id], missing: 0, removed: removed))
  }

  /// Removes downloads that no request waits for.
  ///
  /// - Returns: Whether there were any.
  private func removeAbandoned() async throws(PackError) -> Bool {
    var isRemoved = false
    for group in await queue.groups {
      guard let id = DownloadID(onDemandGroup: group), requests[id] == nil else { continue }
      try await turns.lock(id)
      defer { turns.unlock(id) }
      guard requests[id] == nil else { continue }
      try await removeGroup(id)
      isRemoved = true
    }
    return isRemoved
  }
}

/// The progress of one installation.
struct InstallStep: Sendable {
  let id: DownloadID
  let progress: PackProgress
}

extension DownloadID {
  private static let front = "on-demand/"

  /// Creates the id of a pack's download for tag requests. Each version of the bytes has its own group, which can be removed as a whole.
  package init(onDemand pack: ManifestPack) {
    self.init(group: "\(Self.front)\(pack.id)@\(pack.version)-\(pack.sha256.hex)", id: pack.id)
  }

  /// Creates the id from the id of its group. Returns nil for other groups.
  init?(onDemandGroup group: String) {
    guard group.hasPrefix(Self.front), let end = group.lastIndex(of: "@") else { return nil }
    self.init(group: group, id: String(group[..<end].dropFirst(Self.front.count)))
  }
}
