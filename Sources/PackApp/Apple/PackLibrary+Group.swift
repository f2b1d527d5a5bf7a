#if canImport(BackgroundAssets)
  // Foundation on Apple platforms, and a stub of it in Scripts/apple, have the containers of app groups.
  import BackgroundAssets
  public import Foundation

  extension PackLibrary {
    /// Opens the packs that an app shares with its downloader extension.
    ///
    /// The state and the packs are in the container of the app group. If the app's Info.plist has the keys that `packer plist` writes, downloads go through
    /// Background Assets, and the extension's downloads are installed from here; otherwise, and before iOS 16.4 and macOS 13.3, as those of
    /// ``init(directory:manifest:trusting:keys:options:)``, with part files and a lock in the app's own container. A simulator has no Background Assets. If
    /// the app has no container there, because it was not signed, the packs are in the app's own Application Support.
    ///
    /// - Parameters:
    ///   - group: The identifier of the app group, `group.…`.
    ///   - manifest: The address of the signed manifest, HTTPS. If nil, `BAManifestURL` of the app's Info.plist.
    ///   - trusted: The public keys that may sign the manifest, as `packer key public` prints them; or one keys document.
    ///   - keys: The source of the keys of packs.
    ///   - options: Everything that has a usual value.
    /// - Throws: ``PackError/Code/noAppGroup``, ``PackError/Code/usage`` if there is no address, and the errors of
    ///   ``init(directory:manifest:trusting:keys:options:)``.
    public convenience init(
      group: String, manifest: URL? = nil, trusting trusted: [String], keys: some KeyProvider, options: Options = Options()
    ) async throws(PackError) {
      try await self.init(
        group: group, manifest: manifest, trusting: trusted, keys: keys, options: options, policy: DeliveryPolicy())
    }

    /// - Parameter policy: The timing of deliveries over Background Assets.
    package convenience init(
      group: String, manifest: URL? = nil, trusting trusted: [String], keys: some KeyProvider, options: Options = Options(),
      policy: DeliveryPolicy
    ) async throws(PackError) {
      let shared = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
      guard let container = shared ?? Self.simulatorContainer else {
        throw PackError(
          .noAppGroup, "the app has no container for the group '\(printable(group.utf8))'",
          advice: .developer("add the group to the entitlements of app and extension"))
      }
      let named = Bundle.main.object(forInfoDictionaryKey: "BAManifestURL") as? String
      guard let manifest = manifest ?? named.flatMap({ URL(string: $0) }) else {
        throw PackError(
          .usage, "there is no address of a manifest",
          advice: .developer("add the release's keys to the app's Info.plist, or give the address in the code"))
      }
      let directory = SharedState.packs(in: container).deletingLastPathComponent()
      guard named != nil, !Self.isSimulator, #available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *) else {
        try await self.init(
          directory: directory, downloads: try Self.ownDownloads(group), manifest: manifest, trusting: trusted, keys: keys, options: options
        )
        return
      }
      let state = try SharedState(group: group, policy: policy, logger: options.logger)
      let store = try await Self.store(in: directory, trusting: trusted, keys: keys, options)
      let delivery = AppDelivery(state: state, store: store, groups: options.groups, isForDevice: options.isForDevice)
      let downloads = BackgroundDownloads(group: group, state: state, request: options.transport.request, logger: options.logger)
      let place = try Self.ownDownloads(group)
      let transfers = try await Transfers(
        directory: place.path, transport: URLSessionTransport(options: options.transport), logger: options.logger)
      if options.store.isExcludedFromBackup { BackupExclusion.exclude(place.path) }
      let service = PlayingService(
        SystemService(delivery: delivery, downloads: downloads), own: TransferService(state, transfers)
      ) { await downloads.drop($0) }
      try await self.init(delivery, service: service, manifest: manifest, exports: Self.exports(of: directory), options)
    }

    /// The directory of downloads without Background Assets, in the app's own container.
    private static func ownDownloads(_ group: String) throws(PackError) -> URL {
      do {
        let support = try FileManager.default.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        let parent = support.appendingPathComponent("packer/\(group)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        return parent.appendingPathComponent("downloads")
      } catch {
        throw PackError(.cannotWrite, "the app's Application Support cannot be used: \(error.localizedDescription)")
      }
    }

    private static var isSimulator: Bool {
      #if targetEnvironment(simulator)
        true
      #else
        false
      #endif
    }

    /// The app's own directory. On a device, nil: a missing group would otherwise be noticed only when the extension's downloads do not arrive.
    private static var simulatorContainer: URL? {
      isSimulator ? URL(fileURLWithPath: NSHomeDirectory()) : nil
    }
  }
#endif
