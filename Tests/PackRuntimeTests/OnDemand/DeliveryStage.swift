import Foundation
import TestSupport

/// An app group with an app's store, an extension, and files as the system delivers them.
final class DeliveryStage: Sendable {
  let stage: StoreStage
  let clock: DeliveryStageClock

  init(waits: Bool = false) throws {
    clock = DeliveryStageClock(waits: waits)
    stage = try StoreStage()
  }

  func state(_ files: any FileSystem = FaultyFiles(), largestBatch: Int = 500) throws(PackError) -> SharedState {
    var policy = DeliveryPolicy()
    policy.largestBatch = largestBatch
    policy.lockTimeoutMilliseconds = 1_000_000
    policy.jitter = 0
    return try SharedState(
      directory: stage.directory("shared"), store: stage.directory("store"), policy: policy, files: files, clock: clock)
  }

  func `extension`(_ files: any FileSystem = FaultyFiles()) throws(PackError) -> ExtensionDelivery {
    let key = try StoreStage.signer(0).publicKey
    return ExtensionDelivery(state: try state(files)) { (document) throws(PackError) in
      try document.checkSignatures(trusting: TrustedKeys([key]))
    }
  }

  /// A long lock timeout, because the store's clock counts its waits for the lock as longer than they are.
  static let policy = StorePolicy(lockTimeout: .seconds(1000), freeSpaceMargin: 0)

  /// Returns an app that was just started, and its downloads.
  func app(
    _ transport: any Transport, session: String = "one", policy: StorePolicy = policy, keys: (any KeyProvider)? = nil,
    concurrentDownloads: Int = 20, largestBatch: Int = 500, patience: Duration = .seconds(1_000_000),
    piece: UInt64 = 4 << 20, files: any FileSystem = FaultyFiles(),
    storeFiles: any FileSystem = FaultyFiles(),
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) async throws -> StagedApp {
    var limits = TransferPolicy()
    limits.freeSpaceMargin = 0
    limits.concurrentDownloads = concurrentDownloads
    limits.progressInterval = .zero
    limits.lockTimeout = .seconds(100_000)
    limits.patience = patience
    (limits.largestPiece, limits.unnotedSize) = (piece, piece)
    let state = try state(largestBatch: largestBatch)
    let transfers = try await Transfers(
      directory: stage.directory("downloads"), transport: transport, policy: limits, files: files, clock: FastClock(speed: 1000))
    return StagedApp(
      delivery: AppDelivery(
        state: state, store: try await stage.open(as: session, policy, files: storeFiles, keys: keys), isForDevice: isForDevice),
      service: TransferService(state, transfers))
  }

  /// Returns an app without downloads of its own.
  func app(session: String = "one", policy: StorePolicy = policy) async throws -> AppDelivery {
    AppDelivery(state: try state(), store: try await stage.open(as: session, policy))
  }

  /// Returns a network that serves these packs, and the shards of a release.
  func network(
    _ offers: [StoreStage.Offer], _ release: CatalogueRelease? = nil,
    _ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }
  ) throws -> FaultyTransport {
    var files: [String: [UInt8]] = [:]
    for offer in offers { files[offer.entry.url] = try SystemFiles().contents(of: offer.path, limit: 1 << 20) }
    files.merge(release?.served ?? [:]) { bytes, _ in bytes }
    let served = files
    return FaultyTransport(content: { served[$0] ?? [] }, decide)
  }

  /// Writes the manifest as the system delivers it to the extension.
  func download(_ document: SignedManifest) throws -> String {
    try stage.directory.write(document.bytes, to: "system-manifest")
  }

  /// Writes a pack as the system delivers it to the extension.
  func download(_ offer: StoreStage.Offer, changing offset: Int? = nil) throws -> String {
    var bytes = try SystemFiles().contents(of: offer.path, limit: 1 << 20)
    if let offset { bytes[offset] ^= 1 }
    return try stage.directory.write(bytes, to: "system-\(offer.entry.id)")
  }

  /// Delivers a manifest and all requested packs to the extension.
  func deliver(_ document: SignedManifest, _ offers: [StoreStage.Offer], event: DeliveryEvent = .install) throws {
    let ours = try `extension`()
    for download in ours.downloads(for: event, manifestAt: try download(document), allowance: nil).downloads {
      guard let offer = offers.first(where: { $0.entry.id == download.id && $0.entry.version == download.bytes.version }) else { continue }
      _ = try ours.finished(try self.download(offer), download: download.identifier.description)
    }
  }

  /// The files that wait.
  var waiting: [String] { stage.directory.names(in: "shared/incoming") }
}

/// An app's side of deliveries, and its downloads.
struct StagedApp: Sendable {
  let delivery: AppDelivery
  let service: TransferService

  var state: SharedState { delivery.state }
  var store: AssetStore { delivery.store }

  /// Makes a plan, knowing the downloads.
  func plan(asked: Set<String> = []) async throws(PackError) -> DeliveryPlan {
    try await delivery.plan(asked: asked, downloads: await service.underWay(), isListExact: true)
  }

  /// Hands a plan over, and downloads until nothing is left.
  @discardableResult
  func download(_ plan: DeliveryPlan) async throws(PackError) -> [TransferEvent] {
    try await service.hand(plan, asked: [])
    return await run()
  }

  /// Records events until no download is left.
  @discardableResult
  func run() async -> [TransferEvent] {
    var seen: [TransferEvent] = []
    var events = service.transfers.events.makeAsyncIterator()
    while await !service.transfers.identifiers.isEmpty, let event = await events.next() {
      await service.record(event)
      seen.append(event)
    }
    return seen
  }
}

/// A clock for the shared state with the same time as the store's clock.
final class DeliveryStageClock: DeviceClock {
  private let now = Monitor<Int64>(1_800_000_000)
  /// Whether waiting for a lock takes time, for tests with several tasks.
  let waits: Bool

  init(waits: Bool = false) {
    self.waits = waits
  }

  var secondsSince1970: Int64 { now.withLock { $0 } }

  func advance(_ seconds: Int64) {
    now.withLock { $0 += seconds }
  }

  func pause(for duration: Duration) {
    if waits { SystemClock().pause(for: duration) }
  }
}
