#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation
  import PackBackground
  public import PackRuntime
  import System

  /// Packs that came as managed asset packs: the system downloads and updates them, and they are opened like any other.
  ///
  /// The system neither encrypts nor checks what it brings, and merges all asset packs into one directory. So each is checked here to be the pack that was asked for,
  /// and everything is authenticated when it is read. The address of the file is asked for anew each time, and nothing keeps it.
  ///
  /// An app that mentions this needs a managed extension and `BAHasManagedAssetPacks`; without them the system ends the process.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public struct ManagedPacks: Sendable {
    private let keys: any KeyProvider

    /// Makes a value.
    ///
    /// - Parameter keys: where the keys of the packs come from.
    public init(keys: any KeyProvider) {
      self.keys = keys
    }

    /// The name of a pack's file in its asset pack, as `packer build --ba-package` gives it.
    public static func path(of id: String) -> String { "\(id).pack" }

    /// Brings an asset pack to the device, if it is not there. Waits for as long as the download takes.
    ///
    /// - Throws: ``PackError/Code/unknownPack`` where the system has none of this name, or ``PackError/Code/systemRefused``.
    public func fetch(_ id: String) async throws(PackError) {
      do {
        let manager = AssetPackManager.shared
        // The form that newer systems have another name for, so that every SDK since the first knows it.
        try await manager.ensureLocalAvailability(of: try await manager.assetPack(withID: id))
      } catch {
        throw Self.error(error, id)
      }
    }

    /// Opens a pack where it lies. It stays open and whole whatever the system does to the file meanwhile.
    ///
    /// - Parameters:
    ///   - id: the name of the pack, and of its asset pack.
    ///   - path: the name of its file in the asset pack.
    /// - Throws: what ``Pack/open(_:keys:)`` throws; ``PackError/Code/missingInput`` where the asset pack is not on the device;
    ///   ``PackError/Code/wrongPack`` where a file of another asset pack has the same name.
    public func open(_ id: String, path: String? = nil) async throws(PackError) -> Pack {
      let name = try PackName(id)
      let pack = try await Pack.open(try Self.place(id, path), keys: keys)
      try pack.checkName(name)
      return pack
    }

    /// Installs a pack in a store, as the store's manifest names it: with its checks, its trial, its going back. The system's file stays the system's.
    ///
    /// A pack that is kept packed is on the device twice then; ``remove(_:)`` gives one of them back.
    @discardableResult
    public func install(
      _ id: String, in store: AssetStore, path: String? = nil, mode: InstallMode? = nil, progress: ProgressHandler? = nil
    ) async throws(PackError) -> InstalledPack {
      try await store.install(try Self.place(id, path), as: id, taking: .copying, mode: mode, progress: progress)
    }

    /// Has the system remove an asset pack. It never does so by itself.
    public func remove(_ id: String) async throws(PackError) {
      do {
        try await AssetPackManager.shared.remove(assetPackWithID: id)
      } catch {
        throw Self.error(error, id)
      }
    }

    /// Where the file lies at this moment. The system makes an address for what is not there, too.
    private static func place(_ id: String, _ path: String?) throws(PackError) -> String {
      do {
        return try AssetPackManager.shared.url(for: FilePath(path ?? Self.path(of: id))).path
      } catch {
        throw Self.error(error, id)
      }
    }

    private static func error(_ error: any Error, _ id: String) -> PackError {
      switch error {
      case let error as PackError: return error
      case is CancellationError: return PackError(.cancelled, "cancelled")
      case ManagedBackgroundAssetsError.assetPackNotFound:
        return PackError(
          .unknownPack, "the system has no asset pack '\(id)'", advice: .developer("upload it, and see that its assetPackID is '\(id)'"))
      case ManagedBackgroundAssetsError.fileNotFound:
        return PackError(.missingInput, "asset pack '\(id)' is not on the device, or has no such file", advice: .install)
      default:
        let error = error as NSError
        return PackError(.systemRefused, "the system did not do it for asset pack '\(id)': \(error.domain) \(error.code)")
      }
    }
  }
#endif
