/// Which manifests at a place are those of this product. Anybody who can write there may have added others, or replaced the published one.
package struct OwnManifests: Sendable {
  private let trusted: TrustedKeys
  private let last: ReleaseLock.Release?
  private let records: ReleasedPacks
  /// The recorded app versions.
  let apps: [ReleaseLock.App]

  /// - Parameters:
  ///   - trusted: the keys that devices with the newest app trust. If there are none, those of the app versions in the lock.
  ///   - records: what was released before the last release of the lock.
  package init(trusted: TrustedKeys, lock: ReleaseLock, records: ReleasedPacks) {
    let ofApps = lock.apps.filter { !$0.isRetired }.flatMap(\.trustedKeys).compactMap { try? SigningPublicKey(text: $0) }
    self.trusted = trusted.signingKeys.isEmpty ? TrustedKeys(ofApps) : trusted
    (last, self.records, apps) = (lock.released, records, lock.apps)
  }

  /// The version of the last recorded release; 0 if there is none.
  var recordedVersion: UInt64 { last?.manifestVersion ?? 0 }

  func isTrusted(_ manifest: SignedManifest) -> Bool { (try? manifest.checkSignatures(trusting: trusted)) != nil }

  /// Whether a manifest was released here, perhaps with keys that devices do not trust any more.
  func isRecorded(_ manifest: SignedManifest, version: UInt64) throws(PackError) -> Bool {
    let digest = try manifest.signedDigest()
    guard last?.signedDigest != digest else { return true }
    return try records.hasRelease(version, signedDigest: digest)
  }

  func has(_ release: ReleaseFiles) throws(PackError) -> Bool {
    let manifest = try SignedManifest(release.manifestBytes)
    guard !isTrusted(manifest) else { return true }
    return try isRecorded(manifest, version: release.manifest.version)
  }

  /// Throws ``PackError/Code/releaseConflict`` unless a release is the last one in the lock file: then the next build takes a version after it.
  package func checkLast(_ release: ReleaseFiles, in lockPath: String) throws(PackError) {
    guard try last?.signedDigest != SignedManifest(release.manifestBytes).signedDigest() else { return }
    throw PackError(
      .releaseConflict, of: lockPath,
      "does not have this manifest \(release.manifest.version) as the last release, so nothing was published",
      hint: "packer release record --dist \(ShellWord.path(release.directory)), then push \(ReleaseFile.lock)")
  }
}

extension SignedManifest {
  /// Returns the SHA-256 of the signed part, 32 bytes, by which records know it.
  func signedDigest() throws(PackError) -> [UInt8] {
    try CryptoBackends.standard.digest(of: bytes.byteSpan.extracting(signedBytes))
  }

  /// Reads the signed part. The signatures are not checked.
  func parsed() throws(PackError) -> Manifest { try Manifest(parsing: bytes.byteSpan, signedBytes) }
}
