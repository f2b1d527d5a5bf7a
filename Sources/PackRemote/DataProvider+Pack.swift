import PackFormat
public import PackStore
import PackWork

extension DataProvider {
  /// A file out of whatever version of a pack runs: authenticated like all of the pack, and there without a network.
  ///
  /// An asset that runs follows the store: a version that is activated, confirmed or rolled back through this `store` brings its content at once. What other processes do
  /// is noticed by looking, so add ``every(_:)`` where there are such. A pack that is not installed leaves the asset with the value it has.
  ///
  /// - Parameters:
  ///   - store: the store that has the pack.
  ///   - id: the name of the pack.
  ///   - path: the path of the file in the pack.
  public static func pack(store: AssetStore, id: String, path: String) -> DataProvider {
    DataProvider(source: "pack \(id) \(path)") { (request) throws(PackError) in
      guard let current = try await store.current(id) else {
        throw PackError(.notInstalled, "pack '\(printable(id.utf8))' is not installed")
      }
      guard request.known?.tag != tag(of: current) else { return .unchanged }
      // It may be another one by now.
      let opened = try await store.open(id)
      let bytes = try await WorkerPool.value { (_) throws(PackError) in
        let size = try opened.size(of: path)
        guard size <= UInt64(request.sizeLimit) else {
          throw PackError(.limitExceeded, "'\(printable(path.utf8))' is \(size) bytes, and at most \(request.sizeLimit) are taken")
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
