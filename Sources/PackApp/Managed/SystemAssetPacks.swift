#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation
  import System

  /// The system's asset packs. Its first use ends the process of an app without a managed extension or without `BAHasManagedAssetPacks`.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  struct SystemAssetPacks: AssetPackSystem {
    func updates() -> AsyncStream<AssetPackUpdate> {
      let (stream, continuation) = AsyncStream.makeStream(of: AssetPackUpdate.self)
      let task = Task {
        for await update in await AssetPackManager.shared.statusUpdates {
          if let update = Self.translate(update) { continuation.yield(update) }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
      return stream
    }

    /// Returns nil for an event that a newer system adds.
    private static func translate(_ update: AssetPackManager.DownloadStatusUpdate) -> AssetPackUpdate? {
      if case .began(let pack) = update { return .began(pack.id) }
      if case .paused(let pack) = update { return .paused(pack.id) }
      if case .downloading(let pack, let progress) = update {
        return .progress(pack.id, fraction: progress.fractionCompleted) { progress.cancel() }
      }
      if case .finished(let pack) = update { return .finished(AssetPackEntry(pack, isForDevice: true)) }
      if case .failed(let pack, let error) = update { return .failed(pack.id, Self.error(error, of: pack.id)) }
      return nil
    }

    func list() async throws(PackError) -> [AssetPackEntry] {
      do {
        if #available(iOS 27, macOS 27, tvOS 27, visionOS 27, *) {
          let manifest = try await AssetPackManager.shared.manifest
          let localized = manifest.localizedAssetPacks
          return manifest.assetPacks.map { AssetPackEntry($0, isForDevice: $0.language == nil || localized.contains($0)) }
        } else {
          return try await AssetPackManager.shared.allAssetPacks.map { AssetPackEntry($0, isForDevice: true) }
        }
      } catch {
        throw Self.error(error, of: nil)
      }
    }

    /// - Throws: `ManagedBackgroundAssetsError` if there is none.
    private func pack(_ id: String) async throws -> AssetPack {
      if #available(iOS 27, macOS 27, tvOS 27, visionOS 27, *) {
        guard let pack = try await AssetPackManager.shared.manifest.assetPack(withID: id) else {
          throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
        }
        return pack
      } else {
        return try await AssetPackManager.shared.assetPack(withID: id)
      }
    }

    func status(of id: String) async -> AssetPackStatus {
      do {
        if #available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *) {
          return AssetPackStatus(try await AssetPackManager.shared.status(relativeTo: try await pack(id)))
        } else {
          return AssetPackStatus(try await AssetPackManager.shared.status(ofAssetPackWithID: id))
        }
      } catch {
        if #available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *) {
          return AssetPackStatus(await AssetPackManager.shared.localStatus(ofAssetPackWithID: id))
        }
        // Before iOS 26.4 nothing else says offline what is here.
        guard let path = try? path(of: AssetPackFile.name(of: id)) else { return [] }
        return (try? SystemFiles().status(of: path, in: nil, following: .followed)) == nil ? [] : .downloaded
      }
    }

    // One by one: together, as iOS 27 has it, the failure of one is known only after all others have come.
    func bring(_ id: String) async throws(PackError) {
      do {
        let pack = try await pack(id)
        if #available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *) {
          try await AssetPackManager.shared.ensureLocalAvailability(of: pack, requireLatestVersion: false)
        } else {
          try await AssetPackManager.shared.ensureLocalAvailability(of: pack)
        }
      } catch {
        throw Self.error(error, of: id)
      }
    }

    func checkForUpdates() async throws(PackError) -> (updating: Set<String>, removed: Set<String>) {
      do {
        let result = try await AssetPackManager.shared.checkForUpdates()
        return (result.updatingIDs, result.removedIDs)
      } catch {
        throw Self.error(error, of: nil)
      }
    }

    func remove(_ id: String) async throws(PackError) {
      do {
        try await AssetPackManager.shared.remove(assetPackWithID: id)
      } catch {
        throw Self.error(error, of: id)
      }
    }

    func setLanguage(_ language: String?) async throws(PackError) {
      guard #available(iOS 27, macOS 27, tvOS 27, visionOS 27, *) else {
        throw PackError(.unsupported, "asset packs have no languages on this system")
      }
      do {
        AssetPackManager.shared.resolvedLanguage = language.map { Locale.Language(identifier: $0) }
        try await AssetPackManager.shared.reconcilePreferredLanguages()
      } catch {
        throw Self.error(error, of: nil)
      }
    }

    func path(of file: String) throws(PackError) -> String {
      do {
        return try AssetPackManager.shared.url(for: FilePath(file)).path
      } catch {
        throw Self.error(error, of: nil)
      }
    }

    /// - Parameter id: The asset pack. If nil, the error is about all of them.
    private static func error(_ error: any Error, of id: String?) -> PackError {
      switch error {
      case is CancellationError: return PackError(.cancelled, "cancelled")
      case ManagedBackgroundAssetsError.assetPackNotFound(let id): return AssetPackLoop.unknown(id)
      default: break
      }
      let reason = error as NSError
      if reason.domain == NSURLErrorDomain, reason.code == NSURLErrorCancelled { return PackError(.cancelled, "cancelled") }
      let subject = id.map { "asset pack '\($0)'" } ?? "the asset packs"
      switch DownloadFailure(error) {
      case .backgroundAssets, .other:
        return PackError(.systemRefused, "the system refused the operation on \(subject): \(reason.domain) \(reason.code)")
      case let failure: return failure.error(of: id ?? "asset packs")
      }
    }
  }

  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  extension AssetPackEntry {
    fileprivate init(_ pack: AssetPack, isForDevice: Bool) {
      self.init(
        id: pack.id, version: UInt64(max(0, pack.version)), downloadSize: UInt64(max(0, pack.downloadSize)), isForDevice: isForDevice)
    }
  }

  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  extension AssetPackStatus {
    /// Apple does not document the numbers in Swift, so each name is looked up.
    fileprivate init(_ status: AssetPack.Status) {
      let names: [(AssetPack.Status, AssetPackStatus)] = [
        (.downloadAvailable, .downloadAvailable), (.updateAvailable, .updateAvailable), (.upToDate, .upToDate), (.outOfDate, .outOfDate),
        (.obsolete, .obsolete), (.downloading, .downloading), (.downloaded, .downloaded),
      ]
      self = AssetPackStatus(names.filter { status.contains($0.0) }.map(\.1))
    }
  }
#endif
