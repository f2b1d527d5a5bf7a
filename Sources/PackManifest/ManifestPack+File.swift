extension ManifestPack {
  /// A file of a pack below the base of its manifest.
  package struct File: Hashable, Sendable {
    /// Its name, which contains its digest, so no other file ever has the name.
    package let name: String
    /// The exact size in bytes, as served.
    package let size: UInt64
    /// SHA-256 of the file, 32 bytes.
    package let sha256: [UInt8]

    package init(name: String, size: UInt64, sha256: [UInt8]) { (self.name, self.size, self.sha256) = (name, size, sha256) }
  }

  /// The deltas to the pack and its lead: what is published of it besides the pack.
  package var filesBeside: [File] {
    let lead = stream.map { File(name: Self.leadName(id, $0.sha256), size: $0.size, sha256: $0.sha256) }
    return deltas.map { File(name: Self.publishedName(id, $0.sha256), size: $0.size, sha256: $0.sha256) } + (lead.map { [$0] } ?? [])
  }

  /// The file that opens the edition, which is at the server only from its time on; nil if there is none.
  package var openerFile: File? {
    opener.map { File(name: Self.openerName(id, $0.sha256), size: $0.size, sha256: $0.sha256) }
  }

  /// The bytes of its lead; 0 if it has none.
  package var leadSize: UInt64 { stream?.size ?? 0 }

  /// Whether a name is that of a pack, delta, lead, opener or shard, which contains their digest.
  package static func isPublishedName(_ name: String) -> Bool { endings.contains { name.hasSuffix($0) } }
  private static let endings = [".pack", ".lead", ".opener", Shard.fileExtension]

  /// Returns the name under which the lead of a pack is published.
  package static func leadName(_ id: String, _ sha256: [UInt8]) -> String { "\(id)-\(sha256.prefix(8).hex).lead" }

  /// Returns the name under which the opener of an edition is published.
  package static func openerName(_ id: String, _ sha256: [UInt8]) -> String { "\(id)-\(sha256.prefix(8).hex).opener" }

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
