import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackReading

/// Keeps the key for all threads.
final class KeyHolder: Sendable {
  private let resolved: ResolvedKey?
  /// Nil where there is none.
  let id: String?

  init(_ resolved: consuming ResolvedKey?) {
    id =
      switch resolved {
      case .some(let resolved): "\(resolved.key.id)"
      case .none: nil
      }
    self.resolved = resolved
  }

  /// Whether the key of a pack was made from this one.
  func isRoot(of entry: ManifestPack) -> Bool {
    guard id != entry.keyID, let name = try? PackName(entry.id) else { return false }
    switch resolved {
    case .some(let resolved):
      guard let key = try? resolved.key.packKey(for: name) else { return false }
      return "\(key.id)" == entry.keyID
    case .none: return false
    }
  }

  /// Opens a pack, nil where there is no key.
  func open(_ path: String, files: any FileSystem) throws(PackError) -> Pack? {
    switch resolved {
    case .some(let resolved): try Pack(path, key: resolved.key, files: files, backend: CryptoBackends.standard)
    case .none: nil
    }
  }
}
