/// A release as its manifest describes it, before it is signed or written.
struct ReleaseDescription {
  let packs: [MadePack]
  /// What the manifest and its catalogue say of each pack.
  let entries: [ManifestPack]
  let outcomes: [UpdateOutcome]
  let catalogue: CatalogueAssembly
  let manifest: Manifest
  /// SHA-256 of the signed bytes without version and term.
  let contentDigest: [UInt8]
  let term: ReleaseTerm
  let budget: ReleaseBudget
  /// The budgets of the platforms that have the same packs.
  let parts: [BudgetReport.Part]
  /// The size that the budget reserves for the manifest, in bytes.
  let ceiling: UInt64

  /// Returns the manifest and the files that follow from it.
  func documents(_ configuration: PackerConfiguration, _ signed: SignedRelease) throws(PackError) -> [(name: String, bytes: [UInt8])] {
    let created = Dictionary(packs.map { ($0.id, $0.record.created) }) { first, _ in first }
    var documents: [(name: String, bytes: [UInt8])] = [
      (ReleaseFile.manifest, signed.document.bytes), (ReleaseFile.packages, PackagesList(entries, created: created).document),
      (ReleaseFile.infoFragment, try InfoPlist.fragment(for: configuration, budget: budget.install)),
    ]
    if parts.count > 1, configuration.hosting != .apple {
      for part in parts {
        let fragment = try InfoPlist.fragment(for: configuration, budget: part.install)
        documents += part.platforms.map { (ReleaseFile.infoFragment(for: $0), fragment) }
      }
    }
    let report = BudgetReport(
      budget: budget, parts: parts, packs: entries, manifestVersion: manifest.version, manifestSize: signed.size, manifestCeiling: ceiling,
      hosting: configuration.hosting)
    return documents + [
      (ReleaseFile.budgetText, report.text), (ReleaseFile.budgetMarkdown, report.markdown), (ReleaseFile.budgetJSON, report.json),
    ]
  }

  /// Returns the record for the next build.
  ///
  /// - Parameter files: the names of all files of the release.
  func record(_ signed: SignedRelease, rootKeyID: String?, signers: [String], files: Set<String>) -> BuildRecord {
    var record = BuildRecord(
      manifest: BuildRecord.Manifest(
        version: manifest.version, size: signed.size, signedDigest: signed.digest, contentDigest: contentDigest, issued: term.issued,
        expires: term.expires),
      packs: packs.map(\.record), rootKeyID: rootKeyID, signers: signers.sorted(),
      files: files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    record.deltas = outcomes.compactMap(\.record)
    return record
  }

  func report(_ signed: SignedRelease) -> ReleaseBuildReport.Release {
    ReleaseBuildReport.Release(
      manifest: manifest, manifestSize: signed.size, shards: catalogue.files.count, isManifestUnchanged: signed.isUnchanged,
      signers: signed.document.signatures.map(\.keyID), budget: budget, manifestCeiling: ceiling)
  }
}

/// The signed manifest of a release.
struct SignedRelease {
  let document: SignedManifest
  /// SHA-256 of its signed bytes.
  let digest: [UInt8]
  /// Whether it is the document of the earlier build.
  let isUnchanged: Bool

  /// The size of the document in bytes.
  var size: UInt64 { UInt64(document.bytes.count) }
}

/// The version and the term of a manifest.
struct ReleaseTerm {
  var version: UInt64
  var issued: ManifestTime
  var expires: ManifestTime
  var remark: ReleaseBuildReport.Remark?
}
