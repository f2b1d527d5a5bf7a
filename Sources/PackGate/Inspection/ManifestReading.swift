import PackBuild
import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackTrust

/// Reads a manifest and finds out who vouches for it. What it says is looked at in any case: the gate tells everything at once.
struct ManifestReading {
  let path: String
  let trusted: [SigningPublicKey]
  let lock: ReleaseLock?
  let files: any FileSystem

  func sighting() throws(PackError) -> ManifestSighting {
    let file: OpenFile
    let size: UInt64
    do throws(FileFailure) {
      file = try files.open(path, .read, in: nil)
      size = try files.status(of: file).size
    } catch {
      throw error.reading(path)
    }
    var sighting = ManifestSighting(path: path, size: size)
    do throws(PackError) {
      guard size <= UInt64(Manifest.largestSize) else {
        throw PackError(.damagedManifest, of: path, "is \(size) bytes, and a manifest has at most \(Manifest.largestSize)")
      }
      var bytes = [UInt8](repeating: 0, count: Int(size))
      var buffer = bytes.mutableSpan
      try files.readExactly(file, at: 0, into: &buffer, name: path)
      let signed = try SignedManifest(bytes)
      sighting.keyIDs = signed.signatures.map(\.keyID)
      try judge(signed, &sighting)
      let part = bytes.span.extracting(signed.signedBytes)
      let digest = try CryptoBackends.standard.makeDigest()
      try digest.update(part)
      sighting.signedDigest = try digest.finish()
      let manifest = try Manifest(parsingSigned: part)
      let content = try manifest.contentBytes()
      try digest.update(content.span)
      sighting.contentDigest = try digest.finish()
      sighting.manifest = manifest
    } catch {
      // What could not be looked at is no finding about the manifest, and must not pass for one that is sound.
      guard error.code != .internalError else { throw error }
      sighting.failure = error.about(path)
    }
    return sighting
  }

  /// Holds the signatures against the keys that are trusted, and against those of apps in players' hands.
  private func judge(_ signed: SignedManifest, _ sighting: inout ManifestSighting) throws(PackError) {
    var ofApps: [SigningPublicKey] = []
    for text in Set(lock?.apps.filter { !$0.isRetired }.flatMap(\.trustedKeys) ?? []).sorted() {
      // A text in the lock file that is no key vouches for nothing.
      if let key = try? SigningPublicKey(text: text) { ofApps.append(key) }
    }
    let keys = trusted.isEmpty ? ofApps : trusted
    sighting.trusted = keys.map(\.text)
    sighting.signatureFailure = try failure(of: signed, keys)
    for key in Set(trusted + ofApps) {
      if try failure(of: signed, [key]) == nil {
        sighting.vouching.insert(key.text)
      } else if sighting.keyIDs.contains(key.id) {
        sighting.disproved.insert(key.text)
      }
    }
  }

  /// Why a signature does not count. What is wrong with the signed part is told elsewhere.
  private func failure(of signed: SignedManifest, _ keys: [SigningPublicKey]) throws(PackError) -> PackError? {
    guard !keys.isEmpty else { return nil }
    do throws(PackError) {
      _ = try signed.verify(trusting: keys)
      return nil
    } catch {
      guard error.code != .internalError else { throw error }
      return error.code == .untrustedSignature ? error : nil
    }
  }
}
