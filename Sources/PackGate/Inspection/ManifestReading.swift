/// Reads a manifest and checks its signatures. The content is read even if no signature is valid, so that the gate reports all faults at once.
struct ManifestReading {
  let path: String
  let trusted: TrustedKeys
  let lock: ReleaseLock?
  let files: any FileSystem

  func sighting() throws(PackError) -> ManifestSighting {
    let file = try files.open(path, .read)
    let size = try reading(path, files.status(of: file).size)
    var sighting = ManifestSighting(path: path, size: size)
    do throws(PackError) {
      guard size <= UInt64(Manifest.largestSize) else {
        let sizes = SizeText.pair(size, UInt64(Manifest.largestSize))
        throw PackError(.damagedManifest, of: path, "is \(sizes.0), but a manifest has at most \(sizes.1)")
      }
      var bytes = [UInt8](repeating: 0, count: Int(size))
      var buffer = bytes.mutableByteSpan
      try files.readExactly(file, at: 0, into: &buffer, name: path)
      let signed = try SignedManifest(bytes)
      sighting.keyIDs = signed.signatures.map(\.keyID)
      sighting.keysDocuments = signed.keysBytes.map { Array(bytes[$0]) }
      try judge(signed, &sighting)
      let part = bytes.byteSpan.extracting(signed.signedBytes)
      let digest = try CryptoBackends.standard.makeDigest()
      try digest.update(part)
      sighting.signedDigest = try digest.finish()
      let manifest = try Manifest(parsingSigned: part)
      let content = try manifest.contentBytes()
      try digest.update(content.byteSpan)
      sighting.contentDigest = try digest.finish()
      sighting.manifest = manifest
    } catch {
      // An internal error is not a fault of the manifest, and must not make an unchecked manifest look sound.
      guard error.code != .internalError else { throw error }
      sighting.failure = error.about(path)
    }
    return sighting
  }

  /// Checks the signatures with the trusted keys, and with the keys of released apps that are not retired.
  private func judge(_ signed: SignedManifest, _ sighting: inout ManifestSighting) throws(PackError) {
    var ofApps: [SigningPublicKey] = []
    for text in Set(lock?.apps.filter { !$0.isRetired }.flatMap(\.trustedKeys) ?? []).sorted() {
      // A text in the lock file that is not a key is ignored.
      if let key = try? SigningPublicKey(text: text) { ofApps.append(key) }
    }
    let keys = trusted.signingKeys.isEmpty ? TrustedKeys(ofApps) : trusted
    sighting.trusted = keys.signingKeys.map(\.text)
    sighting.signatureFailure = try failure(of: signed, keys)
    for key in Set(trusted.signingKeys + ofApps) {
      if try failure(of: signed, TrustedKeys([key])) == nil {
        sighting.validSigners.insert(key.text)
      } else if sighting.keyIDs.contains(key.id) {
        sighting.disproved.insert(key.text)
      }
    }
  }

  /// Returns why the signatures are refused. Faults of the signed part are reported elsewhere.
  private func failure(of signed: SignedManifest, _ keys: TrustedKeys) throws(PackError) -> PackError? {
    guard !keys.signingKeys.isEmpty else { return nil }
    do throws(PackError) {
      _ = try signed.verify(trusting: keys)
      return nil
    } catch {
      guard error.code != .internalError else { throw error }
      return error.code == .untrustedSignature ? error : nil
    }
  }
}
