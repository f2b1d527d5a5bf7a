/// Returns the error that `body` throws, or nil.
func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// A back end as a test argument, printed by name.
struct Backend: Sendable, CustomStringConvertible {
  let value: any CryptoBackend
  var description: String { value.name }

  static let all = CryptoBackends.all.map { Backend(value: $0) }
}

/// The signing key whose seed counts up from `first`. 0 gives the key of the known answer.
func signingKey(_ first: UInt8 = 0) throws(PackError) -> SigningKey {
  let seed = (0..<32).map { first &+ $0 }
  return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
}

/// Signs a manifest with the keys whose seeds count up from these numbers.
func sign(_ manifest: Manifest, by keys: [UInt8] = [0]) throws(PackError) -> SignedManifest {
  let signed = try manifest.signedBytes()
  var signatures: [ManifestSignature] = []
  for key in keys { signatures.append(try SignedManifest.signature(of: signed, by: signingKey(key))) }
  return try SignedManifest(signed: signed, signatures: signatures)
}

extension Manifest {
  /// A small manifest to change.
  static func sample(version: UInt64 = 1, packs: [ManifestPack] = [.sample()]) -> Manifest {
    Manifest(
      version: version, issued: ManifestTime("2026-07-01T00:00:00Z"),
      expires: ManifestTime(secondsSince1970: 1_798_761_600)!,
      budget: InstallBudget(
        essentialDownloadAllowance: 112_345, downloadAllowance: 2_000_001, essentialMaxInstallSize: 70_000, maxInstallSize: 5_000_000),
      packs: packs)
  }
}

extension ManifestPack {
  /// A pack to change.
  static func sample(_ id: String = "core", version: UInt64 = 7) -> ManifestPack {
    let digits = Array(0..<8).flatMap { _ in [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF] as [UInt8] }.prefix(32)
    return ManifestPack(
      id: id, version: version, url: "https://cdn.example.com/packs/\(id)-0123456789abcdef.pack", size: 12_345, sha256: Array(digits),
      contentRoot: Array(digits.map { $0 }.reversed().map { $0 << 4 | $0 >> 4 }), contentSize: 54_321, installSize: 61_440, files: 3,
      maxFrame: 32_768, keyID: "e545120e613dd715", delivery: .essential, install: .unpacked)
  }
}
