import TestSupport

@testable import PackApp

extension TagStage {
  /// Returns a transport without a network.
  func offlineTransport() -> FaultyTransport { transport { _ in .failure(.offline) } }

  /// Starts an app whose parts a test chooses.
  func start(
    _ transport: FaultyTransport, session: String = "one", concurrentDownloads: Int = 20, policy: StorePolicy = DeliveryStage.policy,
    keys: (any KeyProvider)? = nil, files: any FileSystem = FaultyFiles(), storeFiles: any FileSystem = FaultyFiles(),
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) async throws -> (store: AssetStore, transport: FaultyTransport, packs: PackLibrary) {
    let packs = try await open(
      transport, as: session, try await stage.open(as: session, policy, files: storeFiles, keys: keys),
      concurrentDownloads: concurrentDownloads,
      files: files, isForDevice: isForDevice)
    return (packs.store, transport, packs)
  }
}
