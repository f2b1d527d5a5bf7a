/// The name of a copy of a manifest: `manifest-<version>-<16 hex>.json`, the latter from its SHA-256.
enum ManifestCopy {
  static func name(_ version: UInt64, _ sha256: [UInt8]) -> String { "manifest-\(version)-\(sha256.prefix(8).hex).json" }

  /// Returns the version in the name of a copy; nil for other names.
  static func version(_ name: String) -> UInt64? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "manifest", parts[2].hasSuffix(".json"), parts[2].utf8.count == 21,
      parts[2].dropLast(5).utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }), let version = UInt64(parts[1]),
      "\(version)" == parts[1]
    else { return nil }
    return version
  }
}
