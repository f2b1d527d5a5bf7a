import PackCrypto
import PackDeltas
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackReading

/// Holds the content key for all threads.
final class KeyHolder: Sendable {
  private let resolved: ResolvedKey?
  /// The id of the key; nil if there is no key.
  let id: String?

  init(_ resolved: consuming ResolvedKey?) {
    id =
      switch resolved {
      case .some(let resolved): "\(resolved.key.id)"
      case .none: nil
      }
    self.resolved = resolved
  }

  /// Returns whether the key of a pack is derived from this key.
  func isRoot(of entry: ManifestPack) -> Bool {
    guard id != entry.keyID, let name = try? PackName(entry.id) else { return false }
    switch resolved {
    case .some(let resolved):
      guard let key = try? resolved.key.packKey(for: name) else { return false }
      return "\(key.id)" == entry.keyID
    case .none: return false
    }
  }

  /// Opens a pack. Returns nil if there is no key.
  func open(_ path: String, files: any FileSystem) throws(PackError) -> Pack? {
    switch resolved {
    case .some(let resolved): try Pack(path, key: resolved.key, files: files, backend: CryptoBackends.standard)
    case .none: nil
    }
  }

  /// Opens a delta over its bases, which proves its content root. Returns nil if there is no key.
  func open(_ path: String, over bases: [Pack], files: any FileSystem) throws(PackError) -> Pack? {
    switch resolved {
    case .some(let resolved): try Pack.open(path, key: resolved.key, over: bases, files: files, backend: CryptoBackends.standard)
    case .none: nil
    }
  }
}
