#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation
  import System

  /// Packs delivered as managed asset packs. The system downloads and updates them; they are opened like any other pack.
  ///
  /// The system neither encrypts nor checks the files, and merges all asset packs into one directory. So opening checks that the file is the
  /// requested pack, and everything is authenticated when it is read. The path of the file is requested anew each time and never stored.
  ///
  /// An app that uses this type needs a managed extension and `BAHasManagedAssetPacks`. Otherwise the system terminates the process.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public struct ManagedPacks: Sendable {
    private let keys: any KeyProvider
    private let logger: (any PackLogger)?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - keys: the source of the packs' keys.
    ///   - logger: receives the system's errors.
    public init(keys: any KeyProvider, logger: (any PackLogger)? = nil) {
      self.keys = keys
      self.logger = logger
    }

    /// Returns the path of a pack's file in its asset pack, as `packer build --ba-package` names it.
    public static func path(of id: String) -> String { "\(id).pack" }

    /// Downloads an asset pack if it is not on the device. Returns when the download is complete.
    ///
    /// - Throws: ``PackError/Code/unknownPack`` if the system has no asset pack with this name, or ``PackError/Code/systemRefused``.
    public func fetch(_ id: String) async throws(PackError) {
      do {
        let manager = AssetPackManager.shared
        // Newer systems have another name for this method; this one exists in every SDK since the first.
        try await manager.ensureLocalAvailability(of: try await manager.assetPack(withID: id))
      } catch {
        throw failure(error, id)
      }
    }

    /// Opens a pack in place. It stays open and readable even if the system removes the file meanwhile.
    ///
    /// - Parameters:
    ///   - id: the name of the pack, and of its asset pack.
    ///   - path: the path of its file in the asset pack.
    /// - Throws: the errors of ``Pack/open(_:keys:)``; ``PackError/Code/missingInput`` if the asset pack is not on the device;
    ///   ``PackError/Code/wrongPack`` if a file of another asset pack has the same name.
    public func open(_ id: String, path: String? = nil) async throws(PackError) -> Pack {
      let name = try PackName(id)
      let pack = try await Pack.open(try place(id, path), keys: keys)
      try pack.source.checkName(name)
      return pack
    }

    /// Installs a pack in a store according to the store's manifest, with the store's checks, trial and rollback. The system's file is not changed.
    ///
    /// A pack that is installed packed is then on the device twice. ``remove(_:)`` frees the system's copy.
    @discardableResult
    public func install(
      _ id: String, in store: AssetStore, path: String? = nil, mode: InstallMode? = nil, progress: ProgressHandler? = nil
    ) async throws(PackError) -> InstalledPack {
      try await store.install(try place(id, path), as: id, taking: .copying, mode: mode, progress: progress)
    }

    /// Removes an asset pack through the system, which never does so by itself.
    public func remove(_ id: String) async throws(PackError) {
      do {
        try await AssetPackManager.shared.remove(assetPackWithID: id)
      } catch {
        throw failure(error, id)
      }
    }

    /// Returns the current path of the file. The system also returns a path for a file that does not exist.
    private func place(_ id: String, _ path: String?) throws(PackError) -> String {
      do {
        return try AssetPackManager.shared.url(for: FilePath(path ?? Self.path(of: id))).path
      } catch {
        throw failure(error, id)
      }
    }

    private func failure(_ error: any Error, _ id: String) -> PackError {
      let (result, reason) = (Self.error(error, id), error as NSError)
      logger.record(
        result.code == .cancelled ? .info : .error, .background, "asset pack failed",
        [LogValue].error(result, pack: id) + [.public("reason", "\(reason.domain) \(reason.code)")])
      return result
    }

    private static func error(_ error: any Error, _ id: String) -> PackError {
      switch error {
      case let error as PackError: return error
      case is CancellationError: return PackError(.cancelled, "cancelled")
      case ManagedBackgroundAssetsError.assetPackNotFound:
        return PackError(
          .unknownPack, "the system has no asset pack '\(id)'", advice: .developer("upload it, and check that its assetPackID is '\(id)'"))
      case ManagedBackgroundAssetsError.fileNotFound:
        return PackError(.missingInput, "asset pack '\(id)' is not on the device, or does not contain the file", advice: .install)
      default:
        let error = error as NSError
        return PackError(.systemRefused, "the system refused the operation on asset pack '\(id)': \(error.domain) \(error.code)")
      }
    }
  }
#endif
