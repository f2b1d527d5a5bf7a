/// Rules about the shards of the catalogue, and about what is beside the packs.
enum DirectoryRules {
  static let all: [ReleaseRule] = [
    companion, foreignFile, uploadedSecret, linkedFile, missingShard, wrongShard, strayShard,
  ]

  static let companion = ReleaseRule(
    "PK2017", "a file beside the manifest contradicts it, or is missing"
  ) { (listing: Listing, _: WholeCatalogue, configuration: PackerConfiguration?, beside: Beside) -> [Finding] in
    var findings = beside.companions.compactMap { companion -> Finding? in
      guard let first = companion.disagreements.first else { return nil }
      return Finding(
        "\(companion.path): \(first)", file: companion.path, phone: companion.hasWrongSize ? .sizeMismatch : nil,
        details: Array(companion.disagreements.dropFirst()), hint: companion.hint)
    }
    if beside.lacksPackageInput, let hosting = configuration?.hosting {
      findings.append(
        Finding(
          "there is no ba-package, from which the archives for \(hosting == .apple ? "App Store Connect" : "your server") are made",
          level: hosting == .apple ? .error : .warning, file: listing.path, hint: "packer build --ba-package"))
    }
    return findings
  }

  static let foreignFile = ReleaseRule(
    "PK2018", "a file in the directory does not belong to the release"
  ) { (beside: Beside, setting: Setting) -> [Finding] in
    let isHarmless = { (foreign: ForeignFiles) in foreign.junk != nil && foreign.copyCount == 0 }
    let (junk, strangers) = (beside.foreign.filter(isHarmless), beside.foreign.filter { !isHarmless($0) })
    return findings(strangers, .error, setting) + findings(junk, .warning, setting)
  }

  static let uploadedSecret = ReleaseRule(
    "PK2019", "a secret key is among the files that are uploaded"
  ) { (beside: Beside, setting: Setting) -> [Finding] in
    beside.secrets.map { secret in
      Finding(
        "\(secret.path) \(what(secret.kind))", file: secret.path,
        hint: "\(setting.movingAside([secret.path]))\nif it was ever uploaded, \(replacement(secret.kind))")
    }
  }

  static let linkedFile = ReleaseRule(
    "PK2020", "a file of the release is a symbolic link"
  ) { (listing: Listing, beside: Beside) -> [Finding] in
    guard !beside.links.isEmpty else { return [] }
    let packs = Dictionary(listing.entries.map { ($0.fileName, $0.id) }, uniquingKeysWith: { first, _ in first })
    return beside.links.map { path in
      let pack = PathParts(path).flatMap { packs[$0.name] }
      return Finding(
        "\(path) is a symbolic link: after an upload that does not follow links, the download fails", pack: pack, file: path,
        hint: "packer build")
    }
  }

  static let missingShard = ReleaseRule(
    "PK2021", "a shard of the catalogue is missing", phone: .notFound
  ) { (listing: Listing) -> [Finding] in
    listing.shards.filter { $0.size == nil }.map { sighting in
      Finding(
        "\(sighting.path) \(sighting.absence), but the manifest names it", file: sighting.path, limit: sighting.shard.size,
        hint: "packer build")
    }
  }

  static let wrongShard = ReleaseRule(
    "PK2022", "a shard is not the one that the manifest names", .error, .damaged
  ) { (listing: Listing) -> [Finding] in
    listing.shards.compactMap { sighting in
      guard let failure = sighting.failure, let size = sighting.size else { return nil }
      let (name, message) = (sighting.shard.fileName, failure.message)
      // A shard that cannot be read may still be the right one.
      let kind: FindingKind = failure.code == .cannotRead ? .other : size < sighting.shard.size ? .truncated : .damaged
      return Finding(
        message.hasPrefix(name) ? sighting.path + message.dropFirst(name.count) : failure.about(sighting.path).message,
        kind: kind, file: sighting.path, actual: size, limit: sighting.shard.size, hint: "packer build")
    }
  }

  static let strayShard = ReleaseRule("PK2023", "a shard is not in the manifest") { (_: Listing, catalogue: WholeCatalogue) -> [Finding] in
    catalogue.strayShards.map { path in
      Finding("\(path) is not in the manifest", file: path, hint: "rm \(ShellWord.path(path))")
    }
  }

  /// The largest number of names that have findings of their own.
  private static let mostSingle = 5
  /// The largest number of names that a finding lists.
  private static let mostNamed = 20

  private static func findings(_ all: [ForeignFiles], _ level: FindingLevel, _ setting: Setting) -> [Finding] {
    guard all.count > mostSingle else {
      return all.map { foreign in
        Finding(
          "\(foreign.path) is not part of the release (\(what(foreign)))\(copies(foreign.copyCount))", level: level, file: foreign.path,
          details: foreign.copies + rest(foreign.copyCount - foreign.copies.count), hint: setting.movingAside([foreign.path]))
      }
    }
    let count = all.reduce(0) { $0 + $1.count }
    let size = all.reduce(0 as UInt64) { $0.adding($1.size) }
    let named = all.prefix(mostNamed).map { "\($0.path) (\(what($0)))\(copies($0.copyCount))" }
    return [
      Finding(
        "\(all.count) names in \(setting.directory) are not part of the release (\(count) files, \(SizeText.short(size)))\(copies(all.reduce(0) { $0 + $1.copyCount }))",
        level: level, file: setting.directory, details: named + rest(all.count - named.count),
        hint: all.count <= mostNamed
          ? setting.movingAside(all.map(\.path)) : "packer build -o NEWDIR, which writes the release without them; then compare both")
    ]
  }

  private static func what(_ foreign: ForeignFiles) -> String {
    foreign.junk ?? foreign.oddity ?? "\(foreign.count == 1 ? "1 file" : "\(foreign.count) files"), \(SizeText.short(foreign.size))"
  }

  private static func copies(_ count: Int) -> String {
    count == 0 ? "" : ", and holds \(count == 1 ? "a file" : "\(count) files") of its packs in the clear"
  }

  private static func rest(_ count: Int) -> [String] { count > 0 ? ["and \(count) more"] : [] }

  private static func what(_ kind: UploadedSecret.Kind) -> String {
    switch kind {
    case .contentKey: "holds a secret content key (pkk1-), which opens packs"
    case .signingKey: "holds a secret signing key (pks1-), which signs manifests"
    case .rootKey: "holds a root signing key (pkt1-), which says who may sign manifests"
    case .other(let reason): reason
    }
  }

  private static func replacement(_ kind: UploadedSecret.Kind) -> String {
    switch kind {
    case .contentKey: "replace the key: Documentation/RECOVERY.md, 'A content key leaked'"
    case .signingKey: "replace the key: Documentation/RECOVERY.md, 'A signing key leaked'"
    case .rootKey: "replace the key: Documentation/TRUST.md, 'A root signing key leaked'"
    case .other: "replace the secret where it is used"
    }
  }
}
