import PackCrypto
import PackDownloads
import PackFiles
import PackFormat
import PackManifest
import PackOnDemand
import PackStore
import PackWork
import TestSupport
import Testing

/// A store, a queue, and a server without a network that has the packs that are offered.
final class TagStage: Sendable {
  let stage: StoreStage
  private let place: QueuePlace
  private let served = Monitor<[String: [UInt8]]>([:])

  init() throws {
    stage = try StoreStage()
    place = try QueuePlace()
  }

  /// Makes a pack, and puts it on the server.
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

  /// Has a pack be at another place too.
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

  /// Whether the queue has files that are not whole.
  var hasParts: Bool { (try? place.files(".part").isEmpty) == false }

  /// A transport that must not be asked for anything.
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

  /// An app that was just started: what it has, and the server that its queue fetches from.
  func open(
    concurrentDownloads: Int = 20, _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) async throws -> (store: AssetStore, transport: FaultyTransport, queue: DownloadQueue, packs: OnDemandPacks) {
    let store = try await stage.open()
    let transport = transport(decide)
    let queue = try await queue(transport, concurrentDownloads: concurrentDownloads)
    return (store, transport, queue, try await OnDemandPacks(store: store, queue: queue))
  }

  /// Installs what is offered as an app does that got it with its own installation.
  func deliver(_ offers: [StoreStage.Offer], to store: AssetStore) async throws {
    for offer in offers {
      try await store.install(offer.path, as: offer.entry.id, taking: .copying)
      try await store.activate(offer.entry.id, onTrial: false)
    }
  }

  /// The identifier that the transport knows a pack's download by.
  static func identifier(_ offer: StoreStage.Offer) -> String { "\(group(offer))/\(offer.entry.id)" }

  static func group(_ offer: StoreStage.Offer) -> String {
    "on-demand/\(offer.entry.id)@\(offer.entry.version)-\(offer.entry.sha256.hex)"
  }
}

extension DownloadQueue {
  /// Whether nothing is left of requests by tags.
  var hasNoOnDemandGroups: Bool { !groups.contains { $0.hasPrefix("on-demand/") } }
}

/// What comes first of a stream.
func first<Element: Sendable>(_ stream: AsyncStream<Element>) async -> Element? {
  for await element in stream { return element }
  return nil
}
