/// Downloads shards of the accepted manifest's catalogue through a queue, and keeps them in the store.
///
/// Calls in one process wait for each other, so that each shard is fetched once.
struct CatalogueFetch: Sendable {
  let store: AssetStore
  let queue: DownloadQueue
  /// Whether it waits if there is no network. If false, it throws.
  var waitsForNetwork = false

  /// The group of its requests in the queue.
  private static let group = "catalogue"
  /// The maximum number of rounds: another one follows if a manifest was accepted meanwhile, or files were removed.
  private static let mostRounds = 10

  private enum Message: Sendable {
    case finished(String, path: String)
    case failed(String, TransferFailure)
    case offline
  }

  /// Downloads the shards that are missing to find some packs, or all of them. The queue must be running.
  ///
  /// - Parameter ids: The packs. If nil, all packs.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/offline``, ``PackError/Code/downloadFailed``, ``PackError/Code/digestMismatch`` or
  ///   ``PackError/Code/wrongPack`` if the server has other bytes, ``PackError/Code/noSpace``, ``PackError/Code/cancelled``, or an error of the queue.
  func run(for ids: Set<String>?) async throws(PackError) {
    for _ in 0..<Self.mostRounds {
      try await store.catalogue.fetching.lock(Self.group)
      let isDone: Bool
      do throws(PackError) {
        isDone = try await fetch(ids)
      } catch {
        store.catalogue.fetching.unlock(Self.group)
        throw error
      }
      store.catalogue.fetching.unlock(Self.group)
      if isDone { return }
    }
    throw PackError(.cannotRead, of: store.root, "loses the parts of the catalogue that are put there", advice: .tryAgain)
  }

  /// - Returns: Whether nothing was missing.
  private func fetch(_ ids: Set<String>?) async throws(PackError) -> Bool {
    let manifest = try await store.requiredManifest()
    let missing = try await missing(ids, of: manifest)
    guard !missing.isEmpty else { return true }
    // What an earlier process began.
    try await removeGroup()
    // Shards without a pack are one file.
    let shards = Dictionary(grouping: missing) { manifest.catalogue[$0].fileName }
    let (messages, inbox) = AsyncStream.makeStream(of: Message.self)
    // The listener is registered before the first request, so that no event is missed.
    let listener = queue.hub.handle { event in
      switch event {
      case .finished(let id, let path): if id.group == Self.group { inbox.yield(.finished(id.id, path: path)) }
      case .failed(let id, let failure): if id.group == Self.group { inbox.yield(.failed(id.id, failure)) }
      case .lowSpace(let id, let needed, let free):
        if id.group == Self.group { inbox.yield(.failed(id.id, .noSpace(needed: needed, free: free))) }
      case .offline: inbox.yield(.offline)
      case .began, .progress, .retrying, .forgotten, .online: break
      }
    }
    defer { withExtendedLifetime(listener) {} }
    do throws(PackError) {
      try await queue.submit(
        shards.sorted { $0.value[0] < $1.value[0] }.map { name, numbers in
          let shard = manifest.catalogue[numbers[0]]
          return DownloadRequest(
            id: name, url: (manifest.defaults.baseURL ?? "") + name, size: shard.size, sha256: shard.sha256, priority: 1)
        }, group: Self.group)
      try await keep(shards, of: manifest, messages)
    } catch {
      try? await removeGroup()
      throw error
    }
    try await removeGroup()
    return false
  }

  private func keep(_ shards: [String: [Int]], of manifest: Manifest, _ messages: AsyncStream<Message>) async throws(PackError) {
    var open = shards
    for await message in messages {
      switch message {
      case .finished(let name, let path):
        guard let numbers = open.removeValue(forKey: name) else { continue }
        do throws(PackError) {
          try await WorkerPool.settled { [catalogue = store.catalogue] () throws(PackError) in
            let bytes = try SystemFiles().contents(of: path, limit: Int(manifest.catalogue[numbers[0]].size))
            for number in numbers { try catalogue.keep(bytes, number, of: manifest) }
          }
        } catch {
          // The file is gone: the next round fetches it again.
          guard error.code == .missingInput else { throw error }
        }
        if open.isEmpty { return }
      case .failed(let name, let failure): if open[name] != nil || name.isEmpty { throw failure.error(ofShard: name) }
      case .offline:
        guard !waitsForNetwork else { continue }
        throw TransferFailure.offline.error(ofShard: open.keys.min() ?? "")
      }
    }
    throw PackError(.cancelled, "cancelled")
  }

  private func missing(_ ids: Set<String>?, of manifest: Manifest) async throws(PackError) -> [Int] {
    try await WorkerPool.settled { [catalogue = store.catalogue] () throws(PackError) in
      if let ids { return try catalogue.lookUp(ids, in: manifest).missing }
      return try catalogue.missing(of: manifest)
    }
  }

  private func removeGroup() async throws(PackError) {
    do throws(PackError) {
      try await queue.remove(group: Self.group)
    } catch {
      guard error.code == .noSuchRequest else { throw error }
    }
  }
}
