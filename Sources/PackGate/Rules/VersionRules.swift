/// Rules about the versions of manifest and packs.
enum VersionRules {
  static let all: [ReleaseRule] = [
    manifestRollback, manifestVersionReused, needlessManifestVersion, packRollback, packVersionReused, needlessPackVersion, removedPack,
    publishedVersion, lostReleases, candidate,
  ]

  static let manifestRollback = ReleaseRule(
    "PK5007", "the manifest's version is below the one released last"
  ) { (listing: Listing, releases: RecordedReleases) -> Finding? in
    let manifest = listing.content
    guard let released = releases.newest else { return nil }
    if manifest.version == released.manifestVersion, released.isDoubled {
      return Finding(
        "manifest \(manifest.version) went out twice, with different content", file: listing.path, actual: manifest.version,
        limit: released.manifestVersion + 1, hint: "packer build")
    }
    guard manifest.version < released.manifestVersion else { return nil }
    return Finding(
      "the manifest has version \(manifest.version), but \(released.manifestVersion) was released", file: listing.path,
      actual: manifest.version, limit: released.manifestVersion, hint: "packer build")
  }

  static let manifestVersionReused = ReleaseRule(
    "PK5008", "the manifest changed, but its version did not"
  ) { (listing: Listing, releases: RecordedReleases, document: ManifestSighting) -> Finding? in
    let manifest = listing.content
    guard let released = releases.newest, manifest.version == released.manifestVersion,
      document.signedDigest != released.signedDigest
    else { return nil }
    return Finding(
      "version \(manifest.version) was released with different content", file: listing.path, limit: manifest.version, hint: "packer build")
  }

  static let needlessManifestVersion = ReleaseRule(
    "PK5009", "the manifest has a new version, but nothing in it changed", .note
  ) { (listing: Listing, releases: RecordedReleases, document: ManifestSighting) -> Finding? in
    let manifest = listing.content
    guard let released = releases.newest, manifest.version > released.manifestVersion,
      document.contentDigest == released.contentDigest, manifest.expires <= released.expires
    else { return nil }
    return Finding(
      "version \(manifest.version) has the content of version \(released.manifestVersion), and is not valid for longer", file: listing.path,
      actual: manifest.version, limit: released.manifestVersion, hint: "packer build")
  }

  static let packRollback = ReleaseRule(
    "PK5010", "a pack's version is below the one released last"
  ) { (listing: Listing, releases: RecordedReleases) -> [Finding] in
    releases.records(of: listing.entries).compactMap { entry, recorded in
      if entry.version == recorded.version, recorded.isDoubled {
        return Finding(
          "version \(entry.version) went out twice, with different content", pack: entry.id, actual: entry.version,
          limit: recorded.version + 1, hint: "packer build")
      }
      // As candidate of a rollout, the version that was recorded last leaves the one for everybody below it.
      guard entry.version < recorded.version, entry.candidate?.version != recorded.version else { return nil }
      return Finding(
        "it has version \(entry.version), but \(recorded.version) was released", pack: entry.id, actual: entry.version,
        limit: recorded.version, hint: "packer build")
    }
  }

  static let packVersionReused = ReleaseRule(
    "PK5011", "a pack changed, but its version did not"
  ) { (listing: Listing, releases: RecordedReleases) -> [Finding] in
    releases.records(of: listing.entries).compactMap { entry, recorded in
      guard entry.version == recorded.version, entry.sha256 != recorded.sha256 else { return nil }
      return Finding(
        "version \(entry.version) was released with the SHA-256 \(recorded.sha256.hex), but this file has \(entry.sha256.hex)",
        pack: entry.id, hint: "packer build")
    }
  }

  static let candidate = ReleaseRule(
    "PK5019", "a pack that only some devices were to have is for everybody in this release", .note
  ) { (listing: Listing, releases: RecordedReleases, app: BuiltApp?) -> [Finding] in
    releases.records(of: listing.entries).compactMap { entry, recorded in
      guard let standing = recorded.standing, entry.sha256 == recorded.sha256 else { return nil }
      if standing == .withdrawn {
        return Finding(
          "version \(entry.version) was taken back by 'packer rollout halt'", level: .error, pack: entry.id, hint: "packer build")
      }
      let fault = "version \(entry.version) is the candidate of a rollout, and"
      guard let app, let copy = app.packs.first(where: { $0.sha256 == entry.sha256 }) else {
        return Finding("\(fault) an app with this release has it for everybody", pack: entry.id)
      }
      return Finding(
        "\(fault) \(copy.place) has it for everybody", level: .error, pack: entry.id, file: app.path,
        hint: "packer rollout finish, or put the release before it into the app")
    }
  }

  static let needlessPackVersion = ReleaseRule(
    "PK5012", "a pack has a new version, but its content did not change", .warning
  ) { (listing: Listing, releases: RecordedReleases, published: PublishedManifest?) -> [Finding] in
    let published = Dictionary((published?.packs ?? []).map { ($0.id, $0.version) }, uniquingKeysWith: { first, _ in first })
    return releases.records(of: listing.entries).compactMap { entry, recorded in
      guard entry.version > recorded.version, !recorded.isRemoved, entry.contentRoot == recorded.contentRoot, entry.keyID == recorded.keyID,
        // Devices keep it in another way then.
        recorded.install == nil || recorded.install == entry.install
      else { return nil }
      // A later version with other content is published, so devices need a version after it.
      guard published[entry.id].map({ $0 <= recorded.version }) ?? true else { return nil }
      // What was taken back comes again only as another version.
      guard recorded.standing != .withdrawn else { return nil }
      return Finding(
        "version \(entry.version) has the content of version \(recorded.version): players download \(SizeText.short(entry.size)) unnecessarily",
        pack: entry.id, actual: entry.version, limit: recorded.version, hint: "packer build")
    }
  }

  static let removedPack = ReleaseRule(
    "PK5013", "a pack of the last release is no longer offered", .warning
  ) { (listing: Listing, _: WholeCatalogue, releases: RecordedReleases) -> [Finding] in
    let offered = Set(listing.entries.map(\.id))
    return releases.packs.filter { !$0.isRemoved && !offered.contains($0.id) }.map { pack in
      Finding(
        "version \(pack.version) was released, but the pack is not in the manifest", pack: pack.id, file: listing.path,
        hint: "put it back into packer.yml, or accept this: ignore: [{rule: PK5013, pack: \(pack.id), reason: …}]")
    }
  }

  static let publishedVersion = ReleaseRule(
    "PK5014", "the release does not follow the manifest that is published now"
  ) { (listing: Listing, document: ManifestSighting, published: PublishedManifest?) -> [Finding] in
    guard let published else { return [] }
    let manifest = listing.content
    let (other, hint) = (published.verified.manifest, ReleaseLock.renewal)
    var findings: [Finding] = []
    if manifest.version < other.version {
      findings.append(
        Finding(
          "the manifest has version \(manifest.version), but \(other.version) is published", file: listing.path,
          actual: manifest.version, limit: other.version, hint: hint))
    } else if Limits.isVersionJump(from: other.version, to: manifest.version) {
      findings.append(jump("the manifest", manifest.version, other.version, file: listing.path))
    } else if manifest.version == other.version, document.signedDigest != published.verified.signedDigest {
      findings.append(
        Finding(
          "version \(manifest.version) is published with different content", file: listing.path, limit: manifest.version, hint: hint))
    }
    let offered = Dictionary(published.packs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for entry in listing.entries {
      guard let old = offered[entry.id] else { continue }
      if entry.version < old.version {
        findings.append(
          Finding(
            "it has version \(entry.version), but \(old.version) is published", pack: entry.id, actual: entry.version, limit: old.version,
            hint: hint))
      } else if Limits.isVersionJump(from: old.version, to: entry.version) {
        findings.append(jump("it", entry.version, old.version, pack: entry.id))
      } else if entry.version == old.version, entry.sha256 != old.sha256 {
        findings.append(Finding("version \(entry.version) is published with different bytes", pack: entry.id, hint: hint))
      }
    }
    return findings
  }

  private static func jump(_ name: String, _ version: UInt64, _ published: UInt64, pack: String? = nil, file: String? = nil) -> Finding {
    Finding(
      "\(name) has version \(version), but \(published) is published: devices would refuse every version between", pack: pack, file: file,
      actual: version, limit: published.adding(Limits.versionStep), hint: "bring back the lock file before that change, then packer build")
  }

  static let lostReleases = ReleaseRule(
    "PK5015", "the lock file does not know the releases before this one"
  ) { (listing: Listing, releases: RecordedReleases, published: PublishedManifest?) -> [Finding] in
    let manifest = listing.content
    let lock = releases.lock
    let hint = ReleaseLock.renewal
    // Without any release in the lock file, a published manifest proves that it was lost.
    let published = lock.released == nil ? nil : published
    let known = max(lock.released?.manifestVersion ?? 0, published?.verified.manifest.version ?? 0)
    guard manifest.version <= known.adding(1) else {
      return [
        Finding(
          "the manifest has version \(manifest.version), but \(title(known)) in \(releases.path)", file: releases.path,
          actual: manifest.version, limit: known, hint: hint)
      ]
    }
    // PK3012 finds an app version that knows a later manifest than this one.
    if lock.released == nil, let app = lock.apps.first(where: { $0.firstManifest <= manifest.version }) {
      return [
        Finding(
          "app \(app.title) was shipped with manifest \(app.firstManifest), but no release is in \(releases.path)",
          file: releases.path, actual: app.firstManifest, limit: 0, hint: hint)
      ]
    }
    let recorded = Dictionary(
      (lock.released?.packs ?? []).map { ($0.id, $0.version) } + (published?.packs ?? []).map { ($0.id, $0.version) }, uniquingKeysWith: max
    )
    return listing.entries.filter { $0.version > (recorded[$0.id] ?? 0).adding(1) }.map { entry in
      Finding(
        "it has version \(entry.version), but \(title(recorded[entry.id] ?? 0)) in \(releases.path)", pack: entry.id,
        file: releases.path, actual: entry.version, limit: recorded[entry.id] ?? 0, hint: hint)
    }
  }

  private static func title(_ version: UInt64) -> String { version == 0 ? "no release is" : "version \(version) is the last" }
}
