import TestSupport
import Testing

@testable import PackApp

/// An app group, and a simulated server with shards and packs.
final class TagStage: Sendable {
  let place: DeliveryStage
  private let served = Monitor<[String: [UInt8]]>([:])
  private let shards = Monitor(Shards())

  var stage: StoreStage { place.stage }

  /// What is wrong with the answer to a request for a shard.
  enum ShardFault: Sendable {
    case offline, missing, wrong
    /// There is no answer until this is no longer the fault.
    case held
  }

  private struct Shards {
    var calls: [String] = []
    var manifestCalls = 0
    var decide: @Sendable (_ address: String) -> ShardFault? = { _ in nil }
  }

  init() throws {
    place = try DeliveryStage(waits: true)
  }

  // MARK: The server

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

  /// Decides what is wrong with each request for a shard from now on.
  func failShards(_ decide: @escaping @Sendable (_ address: String) -> ShardFault?) { shards.withLock { $0.decide = decide } }

  /// The addresses of the shards that were requested, in order.
  var shardCalls: [String] { shards.withLock { $0.calls } }

  /// The number of times that the manifest was asked for.
  var manifestCalls: Int { shards.withLock { $0.manifestCalls } }

  func forgetShardCalls() { shards.withLock { $0.calls = [] } }

  func transport(_ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }) -> FaultyTransport {
    FaultyTransport { [served] url in
      served.withLock { $0[url] ?? [] }
    } _: {
      decide($0)
    }
  }

  private func shard(_ address: String, _ size: Int) async throws(PackError) -> [UInt8] {
    shards.withLock { $0.calls.append(address) }
    while true {
      switch shards.withLock({ $0.decide })(address) {
      case .offline: throw Self.noNetwork
      case .missing: throw Self.notFound
      case .wrong: return [UInt8](repeating: 7, count: size)
      case .held:
        if Task.isCancelled { throw PackError(.cancelled, "cancelled") }
        try? await Task.sleep(for: .milliseconds(2))
      case nil:
        guard let bytes = served.withLock({ $0[address] }) else { throw Self.notFound }
        return bytes
      }
    }
  }

  private static var noNetwork: PackError { PackError(.offline, "there is no network", advice: .connect) }
  private static var notFound: PackError { PackError(.downloadFailed, "the server answered with status 404", advice: .tryAgain) }

  // MARK: The app

  /// Returns the parts of an app that was just started, and the server that it downloads from.
  func open(
    concurrentDownloads: Int = 20, _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) async throws -> (store: AssetStore, transport: FaultyTransport, packs: PackLibrary) {
    let transport = transport(decide)
    let packs = try await open(transport, concurrentDownloads: concurrentDownloads)
    return (packs.store, transport, packs)
  }

  /// Returns the library of an app that was just started. It does nothing before a test wants something of it.
  ///
  /// - Parameters:
  ///   - store: Its store. If nil, one without faults.
  ///   - files: The file system of its downloads.
  func open(
    _ transport: FaultyTransport, as session: String = "one", _ store: AssetStore? = nil, concurrentDownloads: Int = 20,
    files: any FileSystem = FaultyFiles(),
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) async throws -> PackLibrary {
    let app = try await place.app(transport, session: session, concurrentDownloads: concurrentDownloads, files: files)
    let delivery = AppDelivery(state: app.state, store: store ?? app.store, isForDevice: isForDevice)
    let hasAsked = Monitor(false)
    let packs = try await PackLibrary(
      delivery, service: app.service, exports: FileExports(stage.directory("exports")), PackLibrary.Options(),
      sleep: { [clock = place.clock] seconds in
        do {
          // Longer than a download takes here, so that the clock does not run far ahead of it.
          try await Task.sleep(for: .milliseconds(50))
          clock.advance(Int64(clamping: seconds))
        } catch {}
      },
      source: { [self] (file) async throws(PackError) in
        switch file {
        case .manifest:
          shards.withLock { $0.manifestCalls += 1 }
          let isFirst = hasAsked.withLock { hasAsked in
            defer { hasAsked = true }
            return !hasAsked
          }
          // The library asks once when it starts. Without an answer, this does not end in a plan that no test expects.
          if isFirst { try? await Task.sleep(for: .seconds(1_000_000)) }
          throw Self.noNetwork
        case .shard(let address, let size): return try await shard(address, size)
        case .opener, .seen: throw PackError(.sealed, "no pack opens later", advice: .tryAgain)
        }
      })
    try await eventually("it does not ask for a manifest") { hasAsked.withLock { $0 } }
    return packs
  }

  /// Installs offered packs that were delivered with the app's own installation.
  func deliver(_ offers: [StoreStage.Offer], to store: AssetStore) async throws {
    for offer in offers {
      try await store.install(offer.path, as: offer.entry.id, taking: .copying)
      try await store.activate(offer.entry.id, onTrial: false)
    }
  }

  /// Returns the identifier that the transport uses for a pack's download.
  static func identifier(_ offer: StoreStage.Offer) -> String {
    DownloadIdentifier(id: offer.entry.id, bytes: PackBytes(offer.entry)).description
  }

  /// The names of incomplete files.
  var parts: [String] { stage.directory.names(in: "downloads").filter { $0.hasSuffix(".part") } }

}

extension PackLibrary {
  /// Accepts a manifest, as after it was fetched. Nothing is planned.
  func adopt(_ document: SignedManifest) async throws(PackError) { try await loop.delivery.adopt(document.bytes) }
}

/// Begins a request in a separate task, which returns its result.
func begin(_ request: TagRequest) -> Task<Result<TagAccess, PackError>, Never> {
  Task {
    do throws(PackError) {
      return .success(try await request.begin())
    } catch {
      return .failure(error)
    }
  }
}

/// Returns the error of a request that was begun in a separate task, or nil if there is none.
func error(_ task: Task<Result<TagAccess, PackError>, Never>) async -> PackError? {
  if case .failure(let error) = await task.value { error } else { nil }
}

/// Returns the first element of a stream.
func first<Element: Sendable>(_ stream: AsyncStream<Element>) async -> Element? {
  for await element in stream { return element }
  return nil
}
