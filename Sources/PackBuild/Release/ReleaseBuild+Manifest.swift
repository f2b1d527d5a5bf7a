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
    let budget = InstallBudget(essentialDownloadAllowance: 1, downloadAllowance: 1, essentialMaxInstallSize: 1, maxInstallSize: 1)
    let defaults = defaults(of: entries)
    if !paged(entries).isEmpty { entries.removeAll { $0.delivery == .onDemand } }
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

  /// Makes all files of the release except the packs.
  func finish(
    _ items: [ReleaseBuildReport.Item], _ decisions: [PackDecision], _ outcomes: [UpdateOutcome], rootKeyID: String?,
    signers: [ReleaseSigner], trust: ReleaseTrust, lock: ReleaseLock,
    existing: ExistingRelease?, _ staged: StagedRelease, _ remarks: inout [ReleaseBuildReport.Remark]
  ) throws(PackError) -> ReleaseBuildReport.Release {
    let entries = items.compactMap(\.entry)
    let publicKeys = signers.map(\.publicKey)
    let paged = paged(entries)
    let defaults = defaults(of: entries)
    let updates = Self.listed(outcomes)
    let pages = try assemble(paged, updates, defaults, existing)
    var manifest = Manifest(
      version: 1, issued: time.now, expires: time.now, budget: nil, defaults: defaults,
      packs: paged.isEmpty ? entries : entries.filter { $0.delivery != .onDemand })
    manifest.pages = pages.references
    let ceiling = try ManifestReserve.size(
      for: manifest, keysSize: trust.documents.reduce(0) { $0 + $1.bytes.count }, configured: configuration.manifestCeiling)
    let parts = try ReleaseBudget.byPlatform(packs: entries, manifestCeiling: ceiling, headroom: configuration.headroom)
    let budget = ReleaseBudget(largestOf: parts.map(\.budget))
    manifest.budget = budget.install
    let contentDigest = try digest(of: try manifest.contentBytes())
    let term = try term(contentDigest, lock: lock, existing: existing)
    manifest.version = term.version
    manifest.issued = term.issued
    manifest.expires = term.expires
    for case let remark? in [term.remark, trust.remark] { remarks.append(remark) }

    let signed = try manifest.signedBytes()
    try Self.check(manifestSize: signed.count, packs: manifest.packs.count, isLeast: false)
    let found = try foundManifest(existing, signed: signed, publicKeys, trust.documents)
    let document = if let found { found } else { try sign(signed, signers, trust.documents) }
    // With the code of a client, before the manifest is written.
    let verified = try SignedManifest(document.bytes).verify(trusting: trust.keys)
    guard verified.manifest == manifest else {
      throw PackError(.internalError, "the manifest does not read back as it was written")
    }
    remarks += sizeRemarks(document.bytes.count, packs: manifest.packs.count, ceiling: ceiling)

    try write(pages, of: manifest, listing: entries, updates, existing, staged)
    try staged.write(document.bytes, to: ReleaseFile.manifest)
    let created = Dictionary(decisions.compactMap { $0.result.map { ($0.id, $0.created) } }) { first, _ in first }
    try staged.write(PackagesList(entries, created: created).document, to: ReleaseFile.packages)
    try staged.write(try InfoPlist.fragment(for: configuration, budget: budget.install), to: ReleaseFile.infoFragment)
    if parts.count > 1, configuration.hosting != .apple {
      for part in parts {
        let fragment = try InfoPlist.fragment(for: configuration, budget: part.budget.install)
        for platform in part.platforms { try staged.write(fragment, to: ReleaseFile.infoFragment(for: platform)) }
      }
    }
    let report = BudgetReport(
      budget, parts: parts.map { BudgetReport.Part(platforms: $0.platforms, packs: $0.packs, budget: $0.budget) }, packs: entries,
      manifestVersion: manifest.version, manifestSize: UInt64(document.bytes.count),
      manifestCeiling: ceiling, hosting: configuration.hosting)
    try staged.write(report.text, to: ReleaseFile.budgetText)
    try staged.write(report.markdown, to: ReleaseFile.budgetMarkdown)
    try staged.write(report.json, to: ReleaseFile.budgetJSON)
    if makesBAPackages { try writeBAPackages(entries, decisions, staged, &remarks) }

    var record = BuildRecord(
      manifest: BuildRecord.Manifest(
        version: manifest.version, size: UInt64(document.bytes.count), signedDigest: verified.signedDigest, contentDigest: contentDigest,
        issued: term.issued, expires: term.expires),
      packs: decisions.compactMap(\.result), rootKeyID: rootKeyID, signers: publicKeys.map(\.text).sorted(),
      files: staged.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    record.deltas = outcomes.compactMap(\.record)
    try staged.write(record.document, to: BuildRecord.fileName)
    return ReleaseBuildReport.Release(
      manifest: manifest, manifestSize: UInt64(document.bytes.count), pages: pages.files.count, isManifestUnchanged: found != nil,
      signers: document.signatures.map(\.keyID), budget: budget, manifestCeiling: ceiling)
  }

  // MARK: Version and term

  private struct Term {
    var version: UInt64
    var issued: ManifestTime
    var expires: ManifestTime
    var remark: ReleaseBuildReport.Remark?
  }

  /// Returns the version, the issue time and the expiry time for the manifest.
  private func term(_ contentDigest: [UInt8], lock: ReleaseLock, existing: ExistingRelease?) throws(PackError) -> Term {
    if let released = lock.released, released.contentDigest == contentDigest, !renews {
      // Keep a renewal that is not released yet: same content, later expiry.
      if let made = existing?.record.manifest, made.contentDigest == contentDigest, made.version == released.manifestVersion + 1,
        made.expires > released.expires
      {
        return Term(version: made.version, issued: made.issued, expires: made.expires, remark: renewal(made.expires))
      }
      return Term(
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
      return Term(version: version, issued: made.issued, expires: made.expires, remark: renewal(made.expires))
    }
    let (seconds, overflow) = time.now.secondsSince1970.addingReportingOverflow(Int64(clamping: configuration.validitySeconds))
    guard !overflow, let expires = ManifestTime(secondsSince1970: seconds) else {
      throw PackError(
        .usage, "a manifest made at \(time.now) cannot be valid for \(configuration.validitySeconds) seconds",
        hint: "set a shorter 'validity'")
    }
    if renews, let released = lock.released, expires <= released.expires {
      return Term(
        version: version, issued: time.now, expires: expires,
        remark: .warning(
          "the renewed manifest expires at \(expires), no later than the released one (\(released.expires))",
          hint: time.isFixed ? "SOURCE_DATE_EPOCH=$(date +%s) packer build --renew" : "set a longer 'validity'"))
    }
    return Term(version: version, issued: time.now, expires: expires, remark: renewal(expires, isNew: true))
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

  private func sign(_ signed: [UInt8], _ signers: [ReleaseSigner], _ documents: [KeysDocument]) throws(PackError) -> SignedManifest {
    var signatures: [ManifestSignature] = []
    for signer in signers { signatures.append(try signer.signature(of: signed)) }
    return try SignedManifest(signed: signed, signatures: signatures, keys: documents.map(\.bytes))
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

  private func sizeRemarks(_ size: Int, packs: Int, ceiling: UInt64) -> [ReleaseBuildReport.Remark] {
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

  private func digest(of bytes: [UInt8]) throws(PackError) -> [UInt8] {
    let digest = try backend.makeDigest()
    try digest.update(bytes.byteSpan)
    return try digest.finish()
  }

  // MARK: ba-package

  private func writeBAPackages(
    _ entries: [ManifestPack], _ decisions: [PackDecision], _ staged: StagedRelease, _ remarks: inout [ReleaseBuildReport.Remark]
  ) throws(PackError) {
    try staged.makeDirectory(ReleaseFile.baPackages)
    for (entry, decision) in zip(entries, decisions) {
      guard let made = decision.result else { continue }
      let payload = BAPackageManifest.payloadName(for: entry.id)
      let manifest = BAPackageManifest(for: entry, payload: payload, events: configuration.installationEvents)
      try staged.duplicate(made.file, as: "\(ReleaseFile.baPackages)/\(payload)")
      try staged.write(manifest.json, to: "\(ReleaseFile.baPackages)/\(BAPackageManifest.fileName(for: entry.id))")
      remarks += manifest.notes.map { .note($0) }
    }
  }
}
