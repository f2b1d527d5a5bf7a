extension ManifestPack {
  /// Returns the name under which a pack is published. It depends on every byte of the file, so that caches never serve an earlier version.
  package static func publishedName(_ id: String, _ sha256: [UInt8]) -> String { "\(id)-\(sha256.prefix(8).hex).pack" }

  /// The last component of the URL, without query and fragment.
  package var fileName: String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? String(path)
  }
}

extension ManifestDefaults {
  /// Returns the URL of a pack without its own, or nil if there is no base.
  package func url(_ id: String, _ sha256: [UInt8]) -> String? { baseURL.map { $0 + ManifestPack.publishedName(id, sha256) } }
}
