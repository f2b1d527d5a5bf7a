/// Rules about app versions that players have.
enum ReleasedRules {
  static let all: [ReleaseRule] = [
    releasedBudget, releasedHost, releasedTrust, releasedContentKey, releasedFormat, releasedManifest, releasedInstallSize,
  ]

  static let releasedBudget = ReleaseRule(
    "PK3007", "the release would not fit an app version already released", .error, .released
  ) { (listing: Listing, releases: RecordedReleases) -> [Finding] in
    excesses(listing, releases) { BudgetKey.isAllowance($0) }
  }

  static let releasedHost = ReleaseRule(
    "PK3008", "an app version already released may not download from a host", .error, .released, phone: .hostNotPermitted
  ) { (listing: Listing, releases: RecordedReleases) -> [Finding] in
    let hosts = listing.hosts
    return releases.apps.flatMap { app -> [Finding] in
      guard let list = app.hosts.map(AllowList.init) else { return [] }
      return hosts.filter { !list.allows(host: $0.host) }.map { host in
        Finding(
          "app \(app.title) may not download from \(host.host), which serves \(host.packs.summary)", app: app.version, file: releases.path,
          hint: "packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  static let releasedTrust = ReleaseRule(
    "PK3009", "an app version already released trusts no key that signed the manifest", .error, .released
  ) { (_: Listing, releases: RecordedReleases, document: ManifestSighting) -> [Finding] in
    // PK5016 checks apps that embed a keys document.
    releases.apps.filter { $0.keysVersion == nil }.compactMap { app in
      guard document.validSigners.isDisjoint(with: app.trustedKeys) else { return nil }
      let disproved = app.trustedKeys.filter { document.disproved.contains($0) }
      // If the gate trusts the same key, PK5002 reports the wrong signature.
      guard document.signatureFailure == nil || disproved.allSatisfy({ !document.trusted.contains($0) }) else { return nil }
      if let key = disproved.first {
        return Finding(
          "app \(app.title) trusts a key whose signature is wrong: the manifest was changed after it was signed", app: app.version,
          file: releases.path, details: [key], hint: "fetch the manifest again, or sign it again with 'packer build'")
      }
      return Finding(
        "app \(app.title) trusts \(app.trustedKeys.count == 1 ? "one key" : "\(app.trustedKeys.count) keys"), none of which signed the manifest (signed by \(document.signers))",
        app: app.version, file: releases.path, details: app.trustedKeys,
        hint: "sign with its key too, or: packer release retire \(ShellWord.quoted(app.version))")
    }
  }

  static let releasedContentKey = ReleaseRule(
    "PK3010", "an app version already released has no key for a pack", .error, .released
  ) { (listing: Listing, releases: RecordedReleases, keys: ContentKeys) -> [Finding] in
    releases.apps.flatMap { app in
      let missing = Dictionary(grouping: listing.entries.filter { !keys.isHeld($0.keyID, by: app) }, by: \.keyID)
      return missing.sorted { $0.key < $1.key }.map { keyID, entries in
        Finding(
          "app \(app.title) does not hold key \(keyID), which opens \(entries.map(\.id).summary)", app: app.version, file: releases.path,
          details: entries.map(\.id), hint: "packer build --key REF, with a key that app \(app.title) holds")
      }
    }
  }

  static let releasedFormat = ReleaseRule(
    "PK3011", "an app version already released cannot read the format of a pack", .error, .released
  ) { (files: Files, releases: RecordedReleases) -> [Finding] in
    releases.apps.flatMap { app in
      files.pairs.compactMap { entry, file in
        guard let format = file.start?.format, major(format) != major(app.format) else { return nil }
        return Finding(
          "app \(app.title) reads format \(app.format), but the pack has format \(format)", pack: entry.id, app: app.version,
          file: releases.path, hint: "packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  static let releasedManifest = ReleaseRule(
    "PK3012", "an app version already released refuses or never fetches the manifest", .error, .released
  ) { (listing: Listing, releases: RecordedReleases, configuration: PackerConfiguration?, setting: Setting) -> [Finding] in
    let manifest = listing.content
    return releases.apps.compactMap { app in
      if manifest.version < app.firstManifest {
        return Finding(
          "app \(app.title) was shipped with manifest version \(app.firstManifest), but this is version \(manifest.version)",
          app: app.version,
          file: releases.path, actual: manifest.version, limit: app.firstManifest,
          hint: (releases.newest?.manifestVersion ?? 0) < app.firstManifest
            ? "restore the newest \(ReleaseFile.lock), then: packer build -o \(ShellWord.path(setting.directory))"
            : "packer build -o \(ShellWord.path(setting.directory))")
      }
      guard let configuration, let url = app.manifestURL, configuration.serve.manifestURL != url else {
        return nil
      }
      return Finding(
        "app \(app.title) fetches the manifest from \(url), but it is served at \(configuration.serve.manifestURL)", level: .warning,
        app: app.version, file: releases.path, hint: "serve it at both URLs, or: packer release retire \(ShellWord.quoted(app.version))")
    }
  }

  static let releasedInstallSize = ReleaseRule(
    "PK3022", "the App Store shows too small a size for an app version already released", .warning, .released
  ) { (listing: Listing, releases: RecordedReleases) -> [Finding] in
    excesses(listing, releases) { !BudgetKey.isAllowance($0) }
  }

  /// Returns a finding for each size of a released app that the release does not fit, of the keys that `isChecked` returns true for.
  private static func excesses(
    _ listing: Listing, _ releases: RecordedReleases, isChecked: (_ key: String) -> Bool
  ) -> [Finding] {
    releases.apps.flatMap { app in
      let demand = listing.demand(for: app.device)
      return (app.budget?.named ?? []).compactMap { key, limit -> Finding? in
        guard isChecked(key), let needed = demand.named.first(where: { $0.key == key })?.bytes,
          !ReleaseDemand.fits(needed, in: limit, key)
        else { return nil }
        return Finding(
          "app \(app.title): \(BudgetRules.sentence(key, limit, needed))",
          app: app.version, file: releases.path, actual: needed, limit: limit, phone: phone(key),
          hint: "\(advice(listing, releases, key))packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  private static func phone(_ key: String) -> BackgroundAssetsError? {
    switch key {
    case BudgetKey.download: .exceedsAllowance
    case BudgetKey.essentialDownload: .outOfAllowance
    default: nil
    }
  }

  /// Returns the advice to change the delivery of one pack: the largest pack that is new or changed since the last release, or else the largest
  /// counted pack.
  private static func advice(_ listing: Listing, _ releases: RecordedReleases, _ key: String) -> String {
    let delivery: DeliveryClass = key == BudgetKey.download || key == BudgetKey.installed ? .prefetch : .essential
    let counted = listing.entries.filter { $0.counted(as: delivery) != nil }
    let released = Set(releases.packs.map(\.sha256))
    let changed = counted.filter { !released.contains($0.sha256) }
    guard let largest = (changed.isEmpty ? counted : changed).max(by: { $0.size < $1.size }) else { return "" }
    return "set 'delivery: \(delivery == .essential ? "prefetch" : "onDemand")' for '\(largest.id)' (\(SizeText.short(largest.size))), or: "
  }

  private static func major(_ format: String) -> Substring { format.prefix { $0 != "." } }
}
