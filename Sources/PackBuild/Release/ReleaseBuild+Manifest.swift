extension ReleaseBuild {
  /// The size in bytes above which the build prints a note, because a downloader extension has only a few megabytes of memory.
  private static let manifestNoteSize = 256 << 10
  /// The size in bytes above which the build prints a warning: 80 % of the maximum.
  private static let manifestWarningSize = Manifest.largestSize / 5 * 4
  /// The time before its expiry at which the build warns that a manifest should be renewed.
  private static let renewalSeconds: Int64 = 30 * 86_400

  /// Throws if the manifest would be too large whatever the packs contain. Called before any pack is made.
  func checkManifestSize(_ packs: [PackerConfiguration.Pack], keyID: String) throws(PackError) {
    let digest = [UInt8](repeating: 0, count: 32)
    var entries = packs.map { pack in
      ManifestPack(
        id: pack.id.text, version: 1, url: configuration.serve.baseURL + Self.fileName(pack.id.text, digest), size: 340, sha256: digest,
        contentRoot: digest, contentSize: 0, installSize: 4096, files: 0, maxFrame: 1024, keyID: keyID, delivery: pack.delivery,
        install: pack.install, tags: pack.tags, name: pack.name, description: pack.description,
        platforms: pack.platforms, language: pack.language)
    }
    LanguageGroup.complete(&entries, fallback: configuration.fallbackLanguage)
    let budget = InstallBudget(essentialDownloadAllowance: 1, downloadAllowance: 1, essentialMaxInstallSize: 1, maxInstallSize: 1)
    let defaults = defaults(of: entries)
    entries.removeAll(where: isInCatalogue)
    let manifest = Manifest(version: 1, issued: time.now, expires: time.now, budget: budget, defaults: defaults, packs: entries)
    try Self.check(manifestSize: try manifest.signedBytes().count, packs: entries.count, isLeast: true)
  }

  /// Returns what the entries need not repeat. Packs with keys of their own share none.
  private func defaults(of entries: [ManifestPack]) -> ManifestDefaults {
    let counts = Dictionary(entries.map { ($0.keyID, 1) }, uniquingKeysWith: +)
    let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    return ManifestDefaults(baseURL: configuration.serve.baseURL, keyID: most.flatMap { $0.value > 1 ? $0.key : nil })
  }

  private static func check(manifestSize size: Int, packs: Int, isLeast: Bool) throws(PackError) {
    guard size <= Manifest.largestSize else {
      throw PackError(
        .invalidManifest,
        "the manifest of \(packs) packs would be \(isLeast ? "at least " : "")\(size) bytes, more than the \(Manifest.largestSize) that a client reads",
        hint: smaller)
    }
  }

  private static let smaller = "combine small packs, or shorten descriptions, names and tags"

  /// Describes a release of packs and deltas that are made.
  func release(
    _ packs: [MadePack], _ entries: [ManifestPack], _ outcomes: [UpdateOutcome], _ trust: ReleaseTrust, lock: ReleaseLock,
    existing: ExistingRelease?
  ) throws(PackError) -> ReleaseDescription {
    let defaults = defaults(of: entries)
    let catalogue = try assemble(entries.filter(isInCatalogue), defaults, lock, existing)
    var manifest = Manifest(
      version: 1, issued: time.now, expires: time.now, budget: nil, defaults: defaults,
      packs: entries.filter { !isInCatalogue($0) })
    manifest.catalogue = catalogue.shards
    let ceiling = try ManifestReserve.size(
      for: manifest, keysSize: trust.documents.reduce(0) { $0 + $1.bytes.count }, configured: configuration.manifestCeiling)
    let parts = try ReleaseBudget.byPlatform(packs: entries, manifestCeiling: ceiling, headroom: configuration.headroom)
    let budget = ReleaseBudget(largestOf: parts.map(\.budget))
    manifest.budget = budget.install
    let content = try manifest.contentBytes()
    let contentDigest = try backend.digest(of: content.byteSpan)
    let term = try term(contentDigest, lock: lock, existing: existing)
    (manifest.version, manifest.issued, manifest.expires) = (term.version, term.issued, term.expires)
    return ReleaseDescription(
      packs: packs, entries: entries, outcomes: outcomes, catalogue: catalogue, manifest: manifest, contentDigest: contentDigest,
      term: term, budget: budget, parts: parts.map { BudgetReport.Part(platforms: $0.platforms, packs: $0.packs, budget: $0.budget) },
      ceiling: ceiling)
  }

  // MARK: Version and term

  /// Returns the version, the issue time and the expiry time for the manifest.
  private func term(_ contentDigest: [UInt8], lock: ReleaseLock, existing: ExistingRelease?) throws(PackError) -> ReleaseTerm {
    if let released = lock.released, released.contentDigest == contentDigest, !renews {
      // Keep a renewal that is not released yet: same content, later expiry.
      if let made = existing?.record.manifest, made.contentDigest == contentDigest, made.version == released.manifestVersion + 1,
        made.expires > released.expires
      {
        return ReleaseTerm(version: made.version, issued: made.issued, expires: made.expires, remark: renewal(made.expires))
      }
      return ReleaseTerm(
        version: released.manifestVersion, issued: released.issued, expires: released.expires, remark: renewal(released.expires))
    }
    let recorded = lock.released?.manifestVersion ?? 0
    guard recorded < Limits.packVersion else {
      throw PackError(.limitExceeded, "the manifest is recorded with version \(recorded), which is the highest possible")
    }
    let version = recorded + 1
    // An earlier build that is not released yet keeps its term if nothing changed.
    if !renews, !time.isFixed, let made = existing?.record.manifest, made.version == version, made.contentDigest == contentDigest,
      made.expires.secondsSince1970 - made.issued.secondsSince1970 == Int64(clamping: configuration.validitySeconds)
    {
      return ReleaseTerm(version: version, issued: made.issued, expires: made.expires, remark: renewal(made.expires))
    }
    let (seconds, overflow) = time.now.secondsSince1970.addingReportingOverflow(Int64(clamping: configuration.validitySeconds))
    guard !overflow, let expires = ManifestTime(secondsSince1970: seconds) else {
      throw PackError(
        .usage, "a manifest made at \(time.now) cannot be valid for \(configuration.validitySeconds) seconds",
        hint: "set a shorter 'validity'")
    }
    if renews, let released = lock.released, expires <= released.expires {
      return ReleaseTerm(
        version: version, issued: time.now, expires: expires,
        remark: .warning(
          "the renewed manifest expires at \(expires), no later than the released one (\(released.expires))",
          hint: time.isFixed ? "SOURCE_DATE_EPOCH=$(date +%s) packer build --renew" : "set a longer 'validity'"))
    }
    return ReleaseTerm(
      version: version, issued: time.now, expires: expires, remark: renewal(expires, isNew: true) ?? reversal(after: lock.released))
  }

  /// Returns a warning if the manifest is dated before the last one, which the gate refuses.
  private func reversal(after released: ReleaseLock.Release?) -> ReleaseBuildReport.Remark? {
    guard let released, released.issued.secondsSince1970 - time.now.secondsSince1970 > BuildTime.tolerance else { return nil }
    return .warning(
      "the manifest is dated \(time.now), and manifest \(released.manifestVersion) before it \(released.issued)",
      hint: "set the clock, then: SOURCE_DATE_EPOCH=$(date +%s) packer build --renew")
  }

  /// Returns a warning if the manifest has expired or soon will, by the system's clock.
  private func renewal(_ expires: ManifestTime, isNew: Bool = false) -> ReleaseBuildReport.Remark? {
    let left = expires.secondsSince1970 - time.clock.secondsSince1970
    guard left < min(Self.renewalSeconds, Int64(clamping: configuration.validitySeconds / 2)) else { return nil }
    let state = left <= 0 ? "expired at \(expires)" : "expires at \(expires), in \(left / 86_400) \(left / 86_400 == 1 ? "day" : "days")"
    if isNew {
      return .warning(
        "the manifest is dated \(time.now) and \(state)",
        hint: "SOURCE_DATE_EPOCH=$(date +%s) packer build --renew, or set a longer 'validity'")
    }
    return .warning(
      "nothing changed, so the earlier manifest is kept, which \(state)",
      hint: time.isFixed ? "SOURCE_DATE_EPOCH=$(date +%s) packer build --renew" : "packer build --renew")
  }

  // MARK: Document

  /// Signs the manifest, or takes the document of the earlier build if that is the same. It is read with the code of a client.
  func sign(
    _ release: ReleaseDescription, _ signers: [ReleaseSigner], _ trust: ReleaseTrust, _ existing: ExistingRelease?
  ) throws(PackError) -> SignedRelease {
    let signed = try release.manifest.signedBytes()
    try Self.check(manifestSize: signed.count, packs: release.manifest.packs.count, isLeast: false)
    let found = try foundManifest(existing, signed: signed, signers.map(\.publicKey), trust.documents)
    let document: SignedManifest
    if let found {
      document = found
    } else {
      document = try SignedManifest(signing: signed, by: signers, keys: trust.documents.map(\.bytes))
    }
    let verified = try SignedManifest(document.bytes).verify(trusting: trust.keys)
    guard verified.manifest == release.manifest else {
      throw PackError(.internalError, "the manifest does not read back as it was written")
    }
    return SignedRelease(document: document, digest: verified.signedDigest, isUnchanged: found != nil)
  }

  /// Returns the document of the earlier build if it has the same content and keys documents and is signed by the same keys. It is reused because CryptoKit makes
  /// different signatures each time.
  private func foundManifest(
    _ existing: ExistingRelease?, signed: [UInt8], _ keys: [SigningPublicKey], _ documents: [KeysDocument]
  ) throws(PackError) -> SignedManifest? {
    guard let existing,
      let bytes = try? files.contents(of: "\(existing.path)/\(ReleaseFile.manifest)", limit: Manifest.largestSize),
      let document = try? SignedManifest(bytes), Array(bytes[document.signedBytes]) == signed,
      document.keysBytes.map({ Array(bytes[$0]) }) == documents.map(\.bytes),
      Set(document.signatures.map(\.keyID)) == Set(keys.map(\.id)),
      let verified = try? document.verify(trusting: keys), Set(verified.signers) == Set(keys.map(\.id))
    else { return nil }
    return document
  }

  func sizeRemarks(_ size: Int, packs: Int, ceiling: UInt64) -> [ReleaseBuildReport.Remark] {
    var remarks: [ReleaseBuildReport.Remark] = []
    if size > Self.manifestWarningSize {
      remarks.append(
        .warning(
          "the manifest is \(size) bytes for \(packs) packs; clients read at most \(Manifest.largestSize)",
          hint: Self.smaller))
    } else if size > Self.manifestNoteSize {
      remarks.append(.note("the manifest is \(size) bytes for \(packs) packs, which is large for a downloader extension"))
    }
    if UInt64(size) > ceiling {
      remarks.append(
        .warning(
          "the manifest is \(size) bytes, more than the \(ceiling) that the budget reserves for it",
          hint:
            "set 'manifestCeiling: \((size + (64 << 10) - 1) / (64 << 10) * 64) KiB' in \(configuration.path), and ship an app with the new Info.plist"
        ))
    }
    return remarks
  }

  // MARK: ba-package

  /// Writes the input of Apple's ba-package, and returns remarks about it.
  func writeBAPackages(_ release: ReleaseDescription, _ staged: StagedRelease) throws(PackError) -> [ReleaseBuildReport.Remark] {
    try staged.makeDirectory(ReleaseFile.baPackages)
    var remarks: [ReleaseBuildReport.Remark] = []
    for (entry, made) in zip(release.entries, release.packs) {
      let payload = BAPackageManifest.payloadName(for: entry.id)
      let manifest = BAPackageManifest(for: entry, payload: payload)
      try staged.duplicate(made.record.file, as: "\(ReleaseFile.baPackages)/\(payload)")
      try staged.write(manifest.json, to: "\(ReleaseFile.baPackages)/\(BAPackageManifest.fileName(for: entry.id))")
      remarks += manifest.notes.map { .note($0) }
    }
    return remarks
  }
}

extension SignedManifest {
  /// Signs a manifest.
  ///
  /// - Parameters:
  ///   - signed: the result of ``Manifest/signedBytes()``.
  ///   - documents: the keys documents, oldest first, each as its bytes.
  /// - Throws: ``PackError/Code/signingFailed``, or ``PackError/Code/invalidManifest`` if the document would not be valid.
  package init(signing signed: [UInt8], by signers: [ReleaseSigner], keys documents: [[UInt8]]) throws(PackError) {
    var signatures: [ManifestSignature] = []
    for signer in signers {
      let message = Self.message(signed.byteSpan)
      signatures.append(try ManifestSignature(keyID: signer.publicKey.id, signature: signer.signature(of: message.byteSpan)))
    }
    try self.init(signed: signed, signatures: signatures, keys: documents)
  }
}
