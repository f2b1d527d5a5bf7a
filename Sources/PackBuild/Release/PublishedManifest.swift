import PackCrypto
import PackFiles
package import PackFormat
import PackManifest
import PackProject
package import PackTrust

/// The manifest that devices get now.
package struct PublishedManifest: Sendable {
  /// Where it was read, as the caller named it.
  package let place: String
  /// The manifest, with a valid signature.
  package let verified: VerifiedManifest
  /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes.
  let contentDigest: [UInt8]

  /// Reads it from a file, or from an address with `curl`, which knows the machine's proxies and certificates.
  ///
  /// - Parameter place: a path, or an address that starts with `https://`.
  /// - Throws: ``PackError/Code/cannotRead`` or ``PackError/Code/missingInput``, ``PackError/Code/untrustedSignature``, or the error of a damaged manifest.
  package static func read(_ place: String, trusting keys: TrustedKeys) throws(PackError) -> PublishedManifest {
    let files = SystemFiles()
    do throws(PackError) {
      let bytes = try place.contains("://") ? fetched(place) : files.contents(of: place, limit: Manifest.largestSize)
      if UnfitContent(bytes.byteSpan) == .page {
        throw PackError(.damagedManifest, "it is a web page, not a manifest", hint: "check the address, and what the server answers there")
      }
      let verified = try SignedManifest(bytes).verify(trusting: keys)
      let content = try verified.manifest.contentBytes()
      return PublishedManifest(place: place, verified: verified, contentDigest: try CryptoBackends.standard.digest(of: content.byteSpan))
    } catch {
      throw error.about(place)
    }
  }

  private static func fetched(_ address: String) throws(PackError) -> [UInt8] {
    _ = try ServedURL(address)
    let words = [
      "curl", "--silent", "--show-error", "--fail", "--location", "--globoff", "--proto", "=https", "--proto-redir", "=https", "--max-time",
      "60", "--", address,
    ]
    do throws(PackError) {
      let bytes = try ProgramOutput.read(words, limit: Manifest.largestSize, files: SystemFiles())
      guard bytes.count <= Manifest.largestSize else {
        throw PackError(.damagedManifest, "it is more than \(Manifest.largestSize) bytes, which no manifest is")
      }
      return bytes
    } catch {
      guard error.code == .cannotRead else { throw error }
      throw error.advising(.developer("check the address; without 'curl', fetch the manifest and name the file"))
    }
  }
}

extension ReleaseLock {
  /// Raises the versions to those of the published manifest, if that has other ones than the lock.
  ///
  /// - Returns: What the lock does not know; nil if it knows everything.
  mutating func raise(to published: PublishedManifest) -> String? {
    let manifest = published.verified.manifest
    guard let released, manifest.version <= released.manifestVersion else {
      adopt(published)
      return "manifest \(manifest.version)"
    }
    let known = Dictionary(uniqueKeysWithValues: released.packs.map { ($0.id, $0) })
    let isOther = manifest.version == released.manifestVersion && published.verified.signedDigest != released.signedDigest
    let others = manifest.packs.filter { entry in
      known[entry.id].map { $0.version < entry.version || $0.version == entry.version && $0.sha256 != entry.sha256 } ?? true
    }
    guard isOther || !others.isEmpty else { return nil }
    // Whatever is built gets a version after both.
    self.released?.contentDigest = Self.noContent
    adopt(others, of: manifest, forcing: true)
    return isOther ? "this manifest \(manifest.version)" : "pack '\(others[0].id)' of manifest \(manifest.version)"
  }

  private mutating func adopt(_ published: PublishedManifest) {
    let manifest = published.verified.manifest
    let known = Dictionary(uniqueKeysWithValues: (released?.packs ?? []).map { ($0.id, $0.version) })
    released = Release(
      manifestVersion: manifest.version, signedDigest: published.verified.signedDigest, contentDigest: published.contentDigest,
      issued: manifest.issued ?? manifest.expires, expires: manifest.expires, rootKeyID: released?.rootKeyID, packs: released?.packs ?? [])
    adopt(manifest.packs.filter { $0.version >= known[$0.id] ?? 0 }, of: manifest, forcing: false)
  }

  /// - Parameter forcing: whether the next build of the same content gets another version too, because two contents have this one.
  private mutating func adopt(_ entries: [ManifestPack], of manifest: Manifest, forcing: Bool) {
    let adopted = packs(
      replacing: entries.map { entry in
        Pack(
          id: entry.id, version: entry.version, size: entry.size, sha256: entry.sha256,
          contentRoot: forcing ? Self.noContent : entry.contentRoot, keyID: entry.keyID, settings: "",
          created: entry.created ?? manifest.issued ?? manifest.expires)
      })
    released?.packs = adopted
  }
}
