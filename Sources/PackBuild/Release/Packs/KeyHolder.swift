/// Holds the content key for all threads.
package final class KeyHolder: Sendable {
  private let resolved: ResolvedKey?
  /// The id of the key; nil if there is no key.
  package let id: String?

  /// - Parameter resolved: nil if there is no key.
  package init(_ resolved: consuming ResolvedKey?) {
    id =
      switch resolved {
      case .some(let resolved): "\(resolved.key.id)"
      case .none: nil
      }
    self.resolved = resolved
  }

  /// Returns whether the key of a pack is derived from this key.
  package func isRoot(of entry: ManifestPack) -> Bool {
    guard id != entry.keyID, let name = try? PackName(entry.id) else { return false }
    switch resolved {
    case .some(let resolved):
      guard let key = try? resolved.key.packKey(for: name) else { return false }
      return "\(key.id)" == entry.keyID
    case .none: return false
    }
  }

  /// Lends the key.
  ///
  /// - Throws: ``PackError/Code/noKey`` if there is none, or what `work` throws.
  package func withKey<Result>(_ work: (borrowing PackKey) async throws(PackError) -> Result) async throws(PackError) -> Result {
    switch resolved {
    case .some(let resolved): return try await work(resolved.key)
    case .none: throw PackError(.noKey, "no key was given")
    }
  }

  /// Opens a pack. Returns nil if there is no key.
  package func open(_ path: String, files: any FileSystem) throws(PackError) -> Pack? {
    switch resolved {
    case .some(let resolved): try Pack(path, key: resolved.key, files: files, backend: CryptoBackends.standard)
    case .none: nil
    }
  }

  /// Opens a delta over its bases, which proves its content root. Returns nil if there is no key.
  package func open(_ path: String, over bases: [Pack], files: any FileSystem) throws(PackError) -> Pack? {
    switch resolved {
    case .some(let resolved): try Pack.open(path, key: resolved.key, over: bases, files: files, backend: CryptoBackends.standard)
    case .none: nil
    }
  }
}
