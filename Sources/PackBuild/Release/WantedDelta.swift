/// What a delta is made from.
enum UpdateBase: Sendable {
  /// An earlier edition of the same pack.
  case edition(ReleaseHistory.Edition)
  /// Another pack of the same release.
  case pack(BuildRecord.Pack)

  private var pack: (version: UInt64, contentRoot: [UInt8], sha256: [UInt8]) {
    switch self {
    case .edition(let edition): (edition.pack.version, edition.pack.contentRoot, edition.pack.sha256)
    case .pack(let pack): (pack.version, pack.contentRoot, pack.sha256)
    }
  }

  var version: UInt64 { pack.version }
  var contentRoot: [UInt8] { pack.contentRoot }
  /// SHA-256 of the pack's file.
  var sha256: [UInt8] { pack.sha256 }
  var manifest: UInt64? { if case .edition(let edition) = self { edition.manifest } else { nil } }
  var packName: String? { if case .pack(let pack) = self { pack.id } else { nil } }
}

/// What the bytes of a delta follow from.
struct DeltaIdentity: Sendable {
  let base: UpdateBase
  /// The pack of the release to which it leads.
  let made: BuildRecord.Pack

  private var root: [UInt8] { base.contentRoot }
  /// The settings that the bytes of a delta depend on besides both contents, name, version and key, as one line of text.
  private var settings: String { "format=\(PackHeader.formatVersion) segment=\(Limits.defaultSegment)" }

  /// Whether a delta of an earlier build is this one.
  func isThat(_ delta: BuildRecord.Delta) -> Bool {
    delta.id == made.id && delta.base == root && delta.target == made.contentRoot && delta.version == made.version
      && delta.keyID == made.keyID && delta.settings == settings
  }

  /// The parts of its name in a cache, besides the version of packer.
  var members: [String: JSON?] {
    [
      "base": .text(base.sha256.hex), "id": .text(made.id), "keyID": .text(made.keyID), "settings": .text(settings),
      "target": .text(made.sha256.hex), "version": .number(made.version),
    ]
  }

  var title: String { "the delta of pack '\(made.id)' from \(base.packName.map { "'\($0)' " } ?? "")version \(base.version)" }

  /// The name of its file before its digest is known. Several may have the same version, and are made at the same time.
  var draft: String { "\(made.id)-\(base.version)-\(root.prefix(8).hex).\(base.packName == nil ? "delta" : "base")" }

  /// Throws if a file is not a delta between these packs, or if any of it was changed.
  func check(_ path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend) throws(PackError) {
    let delta = try DeltaPack.open(path, key: key, files: files, backend: backend)
    let (header, head) = (delta.source.header, delta.head)
    guard header.packVersion == made.version, "\(delta.source.stanzas.keyID)" == made.keyID, head.bases == [root],
      head.target == made.contentRoot, try PackID.bytes(for: PackName(made.id), backend: backend) == header.packID
    else {
      throw PackError(.wrongPack, of: path, "is another delta")
    }
    try delta.authenticate { _ throws(PackError) in try Task.checkpoint() }
  }

  func record(_ file: String?, _ size: UInt64, _ sha256: [UInt8]) -> BuildRecord.Delta {
    BuildRecord.Delta(
      id: made.id, version: made.version, file: file, size: size, sha256: sha256, base: root, target: made.contentRoot,
      keyID: made.keyID, settings: settings)
  }
}

/// A delta that the release should have, and what is known of it before it is made.
struct WantedDelta: Sendable {
  let identity: DeltaIdentity
  let key: Shared<PackKey>
  /// Whether devices keep the pack encrypted, and so make a pack file with the delta.
  let isPacked: Bool
  /// Why it is not made; nil if nothing is known.
  let obstacle: String?

  func outcome(
    _ action: ReleaseBuildReport.Update.Action, _ record: BuildRecord.Delta? = nil, reason: String? = nil, missingFile: String? = nil
  ) -> UpdateOutcome {
    let (base, made) = (identity.base, identity.made)
    return UpdateOutcome(
      update: ReleaseBuildReport.Update(
        id: made.id, version: base.version, manifest: base.manifest, basePack: base.packName, base: base.contentRoot,
        action: action, reason: reason, missingFile: missingFile, size: record?.size, packSize: made.size),
      record: record)
  }

  /// Returns the outcome for a delta that does not save enough. The next build need not make it again.
  func unworthy(_ record: BuildRecord.Delta, _ worth: UInt64) -> UpdateOutcome {
    var record = record
    record.file = nil
    let (size, whole) = (record.size, identity.made.size)
    let saved = whole > size ? whole - size : 0
    return outcome(
      .omitted, record,
      reason: saved < ReleaseBuild.leastSaving
        ? "it would save only \(saved) bytes" : "it would save \(saved * 100 / whole) %, less than \(Self.percent(worth)) %")
  }

  /// Returns the outcome for a delta that devices would not install, because of the size of the pack that they would make. The next build need not make it
  /// again.
  func tooLarge(_ record: BuildRecord.Delta, _ madeSize: UInt64) -> UpdateOutcome {
    var record = record
    record.madeSize = madeSize
    return outcome(
      .omitted, record, reason: "a device would make a pack of \(madeSize) bytes of it, and the full pack has \(identity.made.size)")
  }

  private static func percent(_ basisPoints: UInt64) -> String {
    let decimals = basisPoints % 100
    return decimals == 0 ? "\(basisPoints / 100)" : "\(basisPoints / 100).\(decimals < 10 ? "0" : "")\(decimals)"
  }
}

/// A delta that was made or reused, and what the next build is told of one that was not worth it.
struct UpdateOutcome: Sendable {
  let update: ReleaseBuildReport.Update
  let record: BuildRecord.Delta?

  /// What the manifest says of it; nil if it is not published.
  var delta: ManifestDelta? {
    guard let record, record.file != nil else { return nil }
    return ManifestDelta(bases: [record.base], size: record.size, sha256: record.sha256)
  }
}
