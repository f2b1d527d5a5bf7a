extension DataProvider {
  /// Returns a provider for a file in the running version of a pack. The file is authenticated like the rest of the pack, and needs no network.
  ///
  /// A running asset follows the store: if a version is activated, confirmed or rolled back through this `store`, the asset gets the new content at
  /// once. Changes by other processes are noticed only by the next check, so add ``every(_:)`` if other processes use the store. If the pack is not
  /// installed, the value of the asset stays.
  ///
  /// - Parameters:
  ///   - store: The store with the pack.
  ///   - id: The name of the pack.
  ///   - path: The path of the file in the pack.
  public static func pack(store: AssetStore, id: String, path: String) -> DataProvider {
    DataProvider(source: "pack \(id) \(path)") { (request) throws(PackError) in
      guard let current = try await store.current(id) else {
        throw PackError(.notInstalled, "pack '\(printable(id.utf8))' is not installed")
      }
      guard request.known?.tag != tag(of: current) else { return .unchanged }
      // The running version may have changed since `current` was read.
      let opened = try await store.open(id)
      let bytes = try await WorkerPool.value { (_) throws(PackError) in
        let size = try opened.size(of: path)
        guard size <= UInt64(request.sizeLimit) else {
          throw PackError(.limitExceeded, "'\(printable(path.utf8))' is \(size) bytes, but the limit is \(request.sizeLimit) bytes")
        }
        return try opened.read(path)
      }
      return .content(bytes, version: ContentVersion(tag: tag(of: opened.installed)))
    }
    .refreshed {
      store.events().filter { event in
        switch event {
        case .activated(let pack), .confirmed(let pack): pack.id == id
        case .rolledBack(let pack, _, _, _): pack == id
        default: false
        }
      }
    }
  }

  private static func tag(of pack: InstalledPack) -> String { "\(pack.version)-\(pack.sha256.hex)" }
}
