public import Foundation

extension PackLibrary {
  /// Opens the packs in a directory, recovers from the last run, and starts fetching the manifest and the downloads that it requires.
  ///
  /// Works without a network: then the last accepted manifest and the installed packs are used. In an app on iOS, tvOS and visionOS, downloads are tasks of
  /// the system, which go on while the app is suspended and after it ended; the app calls `handleEvents(ofSession:completionHandler:)`. In a simulator and
  /// elsewhere they run in this process.
  ///
  /// - Parameters:
  ///   - directory: A directory for this object only. It is created if it does not exist. Not in Caches, which the system empties.
  ///   - manifest: The address of the signed manifest, HTTPS.
  ///   - trusted: The public keys that may sign the manifest, as `packer key public` prints them; or one keys document.
  ///   - keys: The source of the keys of packs.
  ///   - options: Everything that has a usual value.
  /// - Throws: ``PackError/Code/malformedKey``, ``PackError/Code/downloadsBusy`` if another process uses the directory, or the error of a directory that cannot be
  ///   used.
  public convenience init(
    directory: URL, manifest: URL, trusting trusted: [String], keys: some KeyProvider, options: Options = Options()
  ) async throws(PackError) {
    try await self.init(
      directory: directory, downloads: directory.appendingPathComponent("downloads"), manifest: manifest, trusting: trusted, keys: keys,
      options: options)
  }

  /// - Parameter downloads: The directory of downloads that are not complete, on the volume of `directory`. A lock in it is held until this object is
  ///   released: iOS ends a suspended app that holds one in the container of an app group.
  convenience init(
    directory: URL, downloads: URL, manifest: URL, trusting trusted: [String], keys: some KeyProvider, options: Options
  ) async throws(PackError) {
    let store = try await Self.store(in: directory, trusting: trusted, keys: keys, options)
    let state = try SharedState(directory: directory.appendingPathComponent("state").path, store: store.root, logger: options.logger)
    let service = try await TransferService(state, downloads: downloads, options)
    if options.store.isExcludedFromBackup { BackupExclusion.exclude(downloads.path) }
    let delivery = AppDelivery(state: state, store: store, groups: options.groups, isForDevice: options.isForDevice)
    try await self.init(
      delivery, service: service, manifest: manifest, exports: Self.exports(of: directory), options)
  }

  static func store(
    in directory: URL, trusting trusted: [String], keys: some KeyProvider, _ options: Options
  ) async throws(PackError) -> AssetStore {
    try await AssetStore(
      root: directory.appendingPathComponent("packs").path, keys: keys, trusting: TrustedKeys(texts: trusted),
      lowestVersion: options.lowestManifestVersion, policy: options.store, device: options.device, logger: options.logger)
  }

  static func exports(of directory: URL) -> FileExports {
    FileExports("\(NSTemporaryDirectory())/packer-exports-\(directory.lastPathComponent)")
  }

  convenience init(
    _ delivery: AppDelivery, service: any DownloadService, manifest: URL, exports: FileExports, _ options: Options
  ) async throws(PackError) {
    let session = ContentSession(options: options.transport)
    let known = Monitor<(version: ContentVersion, bytes: [UInt8])?>(nil)
    try await self.init(delivery, service: service, exports: exports, options) { (file) throws(PackError) in
      let (address, limit, subject) =
        switch file {
        case .manifest: (manifest.absoluteString, Manifest.largestSize, "there is no manifest")
        case .shard(let address, let size): (address, size, "there is no catalogue")
        case .opener(let address, let size): (address, size, "there is no opener")
        case .seen(let address): (address, 1 << 16, "nothing was told")
        }
      do throws(ContentFailure) {
        let last = file.isManifest ? known.withLock { $0 } : nil
        switch try await session.content(at: address, ContentRequest(known: last?.version, sizeLimit: limit)) {
        case .content(let bytes, let version):
          if file.isManifest { known.withLock { $0 = version.map { ($0, bytes) } } }
          return bytes
        case .unchanged:
          // Without a known version, a server has no reason to answer so.
          guard let last else { throw .transfer(.malformedResponse) }
          return last.bytes
        }
      } catch {
        switch error {
        // Some servers refuse what they do not have.
        case .transfer(.status(403, _)) where file.isOpener, .transfer(.status(404, _)) where file.isOpener,
          .transfer(.status(410, _)) where file.isOpener:
          throw PackError(.sealed, "the opener is not published", advice: .tryAgain)
        case .transfer(.offline): throw PackError(.offline, "\(subject): \(error.error.message)", advice: .connect)
        case .transfer(.cancelled), .other: throw error.error
        case .transfer: throw PackError(.downloadFailed, "\(subject): \(error.error.message)", advice: .tryAgain)
        }
      }
    }
  }

  /// - Parameters:
  ///   - sleep: Waits before a retry that a plan put off.
  ///   - source: Returns a file that the server has now.
  convenience init(
    _ delivery: AppDelivery, service: any DownloadService, exports: FileExports, _ options: Options,
    sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void = { try? await Task.sleep(for: .seconds(Int64(clamping: $0))) },
    source: @escaping LibraryLoop.Source
  ) async throws(PackError) {
    let bundled = try options.bundled.map { (directory) throws(PackError) in try BundledRelease(directory) }
    let loop = LibraryLoop(
      delivery, service: service, bundled: bundled, exports: exports, options, source: source, sleep: sleep)
    try await loop.start()
    self.init(loop)
  }
}
