import TestSupport
import Testing

/// A store, a queue, and a simulated server with the offered packs.
final class TagStage: Sendable {
  let stage: StoreStage
  private let place: QueuePlace
  private let served = Monitor<[String: [UInt8]]>([:])

  init() throws {
    stage = try StoreStage()
    place = try QueuePlace()
  }

  /// Creates a pack and puts it on the server.
  func offer(
    _ id: String, _ version: UInt64 = 1, tags: [String], size: Int = 5000, salt: UInt64 = 0, delivery: DeliveryClass = .onDemand,
    install: InstallMode = .packed
  ) async throws -> StoreStage.Offer {
    var offer = try await stage.offer(id, version, size: size, salt: salt, delivery: delivery, install: install)
    offer.entry.tags = tags
    let bytes = try SystemFiles().contents(of: offer.path, limit: 10_000_000)
    served.withLock { $0[offer.entry.url] = bytes }
    return offer
  }

  /// Puts a file on the server.
  func serve(_ bytes: [UInt8], at url: String) { served.withLock { $0[url] = bytes } }

  /// Makes a pack available at another URL too. Returns the offer with that URL.
  func move(_ offer: StoreStage.Offer, to url: String) -> StoreStage.Offer {
    var moved = offer
    moved.entry.url = url
    served.withLock { $0[url] = $0[offer.entry.url] }
    return moved
  }

  func transport(_ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }) -> FaultyTransport {
    FaultyTransport { [served] url in
      served.withLock { $0[url] ?? [] }
    } _: {
      decide($0)
    }
  }

  /// Whether the queue has incomplete files.
  var hasParts: Bool { (try? place.files(".part").isEmpty) == false }

  /// Returns a transport without a network.
  func noNetwork() -> FaultyTransport { transport { _ in .failure(.offline) } }

  func queue(_ transport: FaultyTransport, concurrentDownloads: Int = 20, files: any FileSystem = FaultyFiles(), attempts: Int = 5)
    async throws(PackError) -> DownloadQueue
  {
    var place = place
    place.policy.concurrentDownloads = concurrentDownloads
    place.policy.retry.attempts = attempts
    place.policy.progressInterval = .zero
    return try await place.open(transport, files: files)
  }

  /// Returns the parts of an app that was just started, and the server that its queue fetches from.
  func open(
    concurrentDownloads: Int = 20, _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) async throws -> (store: AssetStore, transport: FaultyTransport, queue: DownloadQueue, packs: OnDemandPacks) {
    let store = try await stage.open()
    let transport = transport(decide)
    let queue = try await queue(transport, concurrentDownloads: concurrentDownloads)
    return (store, transport, queue, try await OnDemandPacks(store: store, queue: queue))
  }

  /// Installs offered packs that were delivered with the app's own installation.
  func deliver(_ offers: [StoreStage.Offer], to store: AssetStore) async throws {
    for offer in offers {
      try await store.install(offer.path, as: offer.entry.id, taking: .copying)
      try await store.activate(offer.entry.id, onTrial: false)
    }
  }

  /// Returns the identifier that the transport uses for a pack's download.
  static func identifier(_ offer: StoreStage.Offer) -> String { "\(group(offer))/\(offer.entry.id)" }

  static func group(_ offer: StoreStage.Offer) -> String {
    "on-demand/\(offer.entry.id)@\(offer.entry.version)-\(offer.entry.sha256.hex)"
  }
}

extension DownloadQueue {
  /// Whether the queue has no groups of tag requests.
  var hasNoOnDemandGroups: Bool { !groups.contains { $0.hasPrefix("on-demand/") } }
}

/// Returns the first element of a stream.
func first<Element: Sendable>(_ stream: AsyncStream<Element>) async -> Element? {
  for await element in stream { return element }
  return nil
}
