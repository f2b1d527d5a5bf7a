public import PackDownloads
import PackFiles
public import PackFormat
public import PackManifest
import PackReading
public import PackStore
import PackTrust
import PackWork

/// The packs of a store that an app asks for by tags: what its requests (``TagRequest``) share.
///
/// An app makes one, beside its store and its queue, and somebody runs the queue: a request that finds something missing waits for it. Requests for the same pack share one
/// download, which has the highest of their priorities, and rests when the last of them ends before it did. What had come stays, in the queue, and the next request
/// goes on from there; it goes when a manifest names other bytes, or when space is low.
///
/// The groups of the queue whose ids begin with `on-demand/` belong to it.
public actor OnDemandPacks {
  /// Where the packs are installed.
  public nonisolated let store: AssetStore
  /// What downloads them.
  public nonisolated let queue: DownloadQueue

  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// What installations are doing, for all requests that wait for one.
  nonisolated let steps = EventHub<InstallStep>(bufferedCount: 1)
  private nonisolated let notices = EventHub<LowSpace>(bufferedCount: 64)
  /// Who waits for which download, longest first.
  private var requests: [DownloadID: [TagRequest]] = [:]
  /// Downloads whose files are of no more use, when nobody waits for them any more.
  private var spent: Set<DownloadID> = []
  /// How much space was free when something was removed for a download.
  private var freeSpace: [DownloadID: UInt64] = [:]
  /// Whose turn it is to change something about a download.
  private let turns = KeyedLock<DownloadID>()
  /// The manifest by which the queue was tidied last.
  private var tidiedVersion: UInt64?

  /// Takes a store that was reconciled, and a queue, and has downloads rest that an earlier process asked for.
  ///
  /// - Parameter isForDevice: which packs of a manifest are for this device; those that are not do not count, whatever their tags. All where it is left out.
  /// - Throws: what the queue or the store says.
  public init(
    store: AssetStore, queue: DownloadQueue, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) async throws(PackError) {
    self.store = store
    self.queue = queue
    self.isForDevice = isForDevice
    try await tidy(by: await store.manifest?.manifest)
  }

  /// The tags of the accepted manifest, as far as its packs are for this device: which tags there are, and when their packs come.
  ///
  /// - Throws: ``PackError/Code/noManifest``
  public func catalog() async throws(PackError) -> TagCatalog {
    TagCatalog(try await store.requiredManifest().packs.filter(isForDevice))
  }

  /// Hears of little space from now on, until the task that listens ends.
  public nonisolated func lowSpace() -> AsyncStream<LowSpace> { notices.listen() }

  // MARK: What tags mean

  /// What a request is for.
  struct Goal: Hashable, Sendable {
    let manifestVersion: UInt64
    let packs: [ManifestPack]

    /// Whether the packs and their bytes are the same.
    func isSame(as other: Goal) -> Bool { packs.map(\.id) == other.packs.map(\.id) && packs.map(\.bytes) == other.packs.map(\.bytes) }
  }

  func goal(of tags: Set<String>) async throws(PackError) -> Goal {
    let manifest = try await store.requiredManifest()
    if manifest.version != tidiedVersion { try await tidy(by: manifest) }
    return try goal(of: tags, in: manifest)
  }

  private func goal(of tags: Set<String>, in manifest: Manifest) throws(PackError) -> Goal {
    // A tag whose packs are all for other devices is a tag, and there is nothing to do for it.
    try TagCatalog(manifest.packs).check(tags)
    return Goal(
      manifestVersion: manifest.version, packs: manifest.packs.filter { isForDevice($0) && !tags.isDisjoint(with: $0.tags) })
  }

  /// Refuses to go on where the tags mean something else by now.
  ///
  /// - Throws: ``PackError/Code/manifestChanged``
  func check(_ goal: Goal, of tags: Set<String>) async throws(PackError) {
    let manifest = try await store.requiredManifest()
    guard manifest.version != goal.manifestVersion else { return }
    if manifest.version != tidiedVersion { try await tidy(by: manifest) }
    if let now = try? self.goal(of: tags, in: manifest), now.isSame(as: goal) { return }
    let names = tags.sorted().map { "'\(printable($0.utf8))'" }.joined(separator: ", ")
    throw PackError(
      .manifestChanged, "manifest version \(manifest.version) came while \(names) was asked for, and names other packs or versions for it",
      advice: .tryAgain)
  }

  // MARK: Downloads

  /// How a request found a download.
  enum Joined: Sendable {
    /// The pack is installed by now.
    case installed(UseMark)
    case waiting(received: UInt64)
    case finished(path: String)
  }

  /// Has a pack downloaded for one more request.
  func join(_ request: TagRequest, _ pack: ManifestPack) async throws(PackError) -> Joined {
    let id = DownloadID(onDemand: pack)
    try await turns.lock(id)
    defer { turns.unlock(id) }
    // The request that it was downloaded for before may have installed it meanwhile.
    if let mark = try await store.hold([pack]).marks[pack.id] { return .installed(mark) }
    let isFirst = requests[id] == nil
    requests[id, default: []].append(request)
    if isFirst {
      freeSpace[id] = nil
      // A file that did no good, or a group that somebody cancelled, must go before it is fetched anew.
      if spent.remove(id) != nil { try await removeGroup(id) }
    }
    try await enqueue(pack, id, isFirst: isFirst)
    await applyPriority(of: id)
    if let path = try await queue.file(of: id) { return .finished(path: path) }
    // Whether there is no network is to be found out anew.
    try await queue.tryNow(id)
    guard case .running(let received) = try await queue.status(of: id).state else { return .waiting(received: 0) }
    return .waiting(received: received)
  }

  private func enqueue(_ pack: ManifestPack, _ id: DownloadID, isFirst: Bool) async throws(PackError) {
    if let known = try await status(of: id, isFirst: isFirst) {
      // The same bytes may have another place now. A download that others wait for goes on where it is.
      guard isFirst, known.state == .cancelled || known.request.url != pack.url else {
        return try await go(on: id, known.state, isFirst: isFirst)
      }
      try await removeGroup(id)
    }
    let request = DownloadRequest(id: id.id, url: pack.url, size: pack.size, sha256: pack.sha256)
    try await queue.submit([request], group: id.group)
  }

  private func go(on id: DownloadID, _ state: DownloadState, isFirst: Bool) async throws(PackError) {
    switch state {
    case .failed: try await queue.retry(id)
    // Tried again where the file is gone, but not where another request may be installing it.
    case .finished: if isFirst { try await queue.retry(id) }
    case .paused: try await queue.resume(id)
    default: break
    }
    if try await queue.status(ofGroup: id.group).isPaused { try await queue.resume(group: id.group) }
  }

  /// How far a download has come; nil where the queue does not know it, or not any more.
  private func status(of id: DownloadID, isFirst: Bool) async throws(PackError) -> DownloadStatus? {
    do throws(PackError) {
      return try await queue.status(of: id)
    } catch {
      // What cannot be read of it is written anew.
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

  /// Gives a download the highest priority of those who wait for it.
  private func applyPriority(of id: DownloadID) async {
    guard let priority = requests[id]?.map(\.priority).max() else { return }
    // It is a hint: what cannot be written down is no reason to fail.
    try? await queue.setPriority(priority, of: id)
  }

  /// Applies the priority of a request that is under way.
  func applyPriority(of request: TagRequest) async throws(PackError) {
    for id in requests.filter({ $1.contains { $0 === request } }).keys {
      try await turns.lock(id)
      await applyPriority(of: id)
      turns.unlock(id)
    }
  }

  /// Fetches a file again that was finished, if it is gone.
  func fetchAgain(_ id: DownloadID) async throws(PackError) {
    try await turns.lock(id)
    defer { turns.unlock(id) }
    try await queue.retry(id)
  }

  /// Ends a request's interest in a download.
  ///
  /// - Parameter isSpent: whether the file is of no more use, because it was installed or is no good.
  nonisolated func leave(_ request: TagRequest, _ id: DownloadID, isSpent: Bool) async {
    // In a task of its own, which goes to its end also where the one that waits for it was cancelled.
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
      // Where this one gave up for want of space, the next one looks whether it fares better.
      if index == 0 { try? await queue.tryNow(id) }
      return
    }
    freeSpace[id] = nil
    if spent.contains(id) {
      // Where this does not work, the next manifest or the next process tries again.
      if (try? await removeGroup(id)) != nil { spent.remove(id) }
    } else {
      try? await queue.pause(group: id.group)
    }
  }

  /// Has downloads rest that nobody waits for, and removes those whose bytes are installed or not wanted any more.
  private func tidy(by manifest: Manifest?) async throws(PackError) {
    var wanted: [String: ManifestPack] = [:]
    for pack in manifest?.packs ?? [] { wanted[DownloadID(onDemand: pack).group] = pack }
    for group in await queue.groups {
      guard let id = DownloadID(onDemandGroup: group) else { continue }
      try await turns.lock(id)
      defer { turns.unlock(id) }
      guard requests[id] == nil else {
        if manifest != nil, wanted[group] == nil { spent.insert(id) }
        continue
      }
      let isSpent = if let pack = wanted[group] { try await store.hold([pack]).marks[pack.id] != nil } else { manifest != nil }
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
      // A group that was cancelled stays so, and is removed when its pack is asked for.
      guard error.code == .usage else { throw error }
    }
  }

  // MARK: Space

  /// Refuses packs of which nothing has come yet and that there is no room for, before they are downloaded. What may be purged is purged when they come.
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

  /// Frees what a download lacks, for all who wait for it.
  ///
  /// - Parameter needed: the bytes that must be free for it.
  /// - Throws: ``PackError/Code/noSpace`` where that cannot be.
  func makeRoom(_ request: TagRequest, _ id: DownloadID, needed: UInt64) async throws(PackError) {
    // One of those who wait does it.
    guard requests[id]?.first === request else { return }
    // Something may have gone since the download found too little.
    var free = try await queue.freeSpace()
    if free < needed, try await removeAbandoned() { free = try await queue.freeSpace() }
    guard free < needed else { return try await queue.tryNow(id) }
    // What was removed for it before did not help: the store lies on another volume, or somebody else took the space.
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

  /// Tells that there was no room for a pack that has come.
  func tellLack(of pack: ManifestPack, file: String) async {
    guard let missing = try? await store.missingSpace(for: pack, file: file) else { return }
    notices.tell(LowSpace(packs: [pack.id], missing: missing, removed: []))
  }

  /// Tells what was removed for a pack that has come.
  func tellRoom(for pack: ManifestPack, _ removed: [InstalledPack]) {
    notices.tell(LowSpace(packs: [pack.id], missing: 0, removed: removed))
  }

  /// Removes downloads that nobody waits for.
  ///
  /// - Returns: whether there were any.
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

/// What an installation is doing.
struct InstallStep: Sendable {
  let id: DownloadID
  let progress: PackProgress
}

extension DownloadID {
  private static let front = "on-demand/"

  /// The download of a pack for requests by tags: a group of its own for these very bytes, which can be removed with all that belongs to it.
  init(onDemand pack: ManifestPack) {
    self.init(group: "\(Self.front)\(pack.id)@\(pack.version)-\(pack.sha256.hex)", id: pack.id)
  }

  /// The same from the id of its group; nil for other groups.
  init?(onDemandGroup group: String) {
    guard group.hasPrefix(Self.front), let end = group.lastIndex(of: "@") else { return nil }
    self.init(group: group, id: String(group[..<end].dropFirst(Self.front.count)))
  }
}
