/// Rules about the files of the packs.
enum PackRules {
  static let all: [ReleaseRule] = [
    missingPack, strayPack, packSize, packDigest, damagedPack, truncatedPack, unknownPack, wrongPack, entryContent, duplicateURL, fileName,
    repeatedSalt, compressionRatio, wrongOpener, earlyOpener,
  ]

  static let wrongOpener = ReleaseRule("PK2028", "an opener does not open its pack", .error, .damaged) { (files: Files) -> [Finding] in
    files.openers.filter { $0.isOfPack == false }.map {
      Finding("\($0.path), as the manifest names it, is not the opener that follows from the root key", pack: $0.id, hint: "packer build")
    }
  }

  static let earlyOpener = ReleaseRule("PK2029", "an opener is in the release before its time") {
    (files: Files, setting: Setting) -> [Finding] in
    files.openers.compactMap { sighting in
      guard sighting.size != nil, let opens = sighting.opener.opens, opens > setting.now else { return nil }
      return Finding(
        "\(sighting.path) opens its pack, which is to open at \(opens)", pack: sighting.id, file: sighting.path,
        hint: "rm \(ShellWord.path(sighting.path))")
    }
  }

  static let missingPack = ReleaseRule("PK2001", "a pack of the manifest is missing", phone: .notFound) { (files: Files) -> [Finding] in
    files.pairs.filter { $0.file.size == nil }.map { entry, file in
      Finding(
        "\(file.path) \(file.absence), but the manifest names it", pack: entry.id, file: file.path, limit: entry.size,
        hint: files.rebuild(entry.id))
    }
      + files.beside.filter { $0.size == nil }.map { sighting in
        Finding(
          "\(sighting.title) \(sighting.absence), but the manifest names it", pack: sighting.id, file: sighting.path,
          limit: sighting.published.size, hint: "packer build")
      }
  }

  static let strayPack = ReleaseRule("PK2002", "a pack file is not in the manifest") { (_: Files, catalogue: WholeCatalogue) -> [Finding] in
    catalogue.strayPacks.map { path in
      Finding("\(path) is not in the manifest", file: path, hint: "rm \(ShellWord.path(path))")
    }
  }

  static let packSize = ReleaseRule(
    "PK2003", "the size of a pack is not the one in the manifest", .error, .damaged, phone: .sizeMismatch
  ) { (files: Files) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard let size = file.size, size != entry.size else { return nil }
      let sizes = SizeText.pair(size, entry.size)
      return Finding(
        "\(file.path) is \(sizes.0), but the manifest says \(sizes.1)", kind: size < entry.size ? .truncated : .damaged,
        pack: entry.id, file: file.path, actual: size, limit: entry.size, hint: files.rebuild(entry.id))
    }
      + files.beside.compactMap { sighting -> Finding? in
        let published = sighting.published.size
        guard let size = sighting.size, size != published else { return nil }
        let sizes = SizeText.pair(size, published)
        return Finding(
          "\(sighting.title) is \(sizes.0), but the manifest says \(sizes.1)", kind: size < published ? .truncated : .damaged,
          pack: sighting.id, file: sighting.path, actual: size, limit: published, hint: "packer build")
      }
  }

  static let packDigest = ReleaseRule(
    "PK2004", "the SHA-256 of a pack is not the one in the manifest", .error, .damaged
  ) { (files: Files) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard file.isChanged(since: entry), let digest = file.sha256 else { return nil }
      return Finding(
        "\(file.path) has the SHA-256 \(digest.hex), but the manifest says \(entry.sha256.hex)", pack: entry.id, file: file.path,
        hint: files.rebuild(entry.id))
    }
      + files.beside.compactMap { sighting -> Finding? in
        guard sighting.isChanged, let digest = sighting.sha256 else { return nil }
        return Finding(
          "\(sighting.title) has the SHA-256 \(digest.hex), but the manifest says \(sighting.published.sha256.hex)", pack: sighting.id,
          file: sighting.path, hint: "packer build")
      }
  }

  static let damagedPack = ReleaseRule(
    "PK2005", "a pack is damaged, or was tampered with", .error, .damaged
  ) { (files: Files, setting: Setting) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard let failure = file.failure, codes.contains(failure.code) else { return nil }
      // A file of another size cannot be opened for that reason, which PK2003 reports.
      guard file.size == entry.size else { return nil }
      return Finding(
        failure.message, pack: entry.id, file: file.path, details: failure.details,
        hint: setting.wording(failure) ?? files.rebuild(entry.id))
    }
      + files.deltas.compactMap { sighting -> Finding? in
        // Other bytes than the manifest names are a finding of PK2003 or PK2004.
        guard let failure = sighting.failure, codes.contains(failure.code), sighting.isPublished else { return nil }
        return Finding(
          failure.message, pack: sighting.id, file: sighting.path, details: failure.details,
          hint: setting.wording(failure) ?? "packer build")
      }
  }

  static let truncatedPack = ReleaseRule("PK2006", "a pack is truncated", .error, .truncated) { (files: Files) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard let failure = file.failure, failure.code == .truncated, file.size == entry.size else { return nil }
      return Finding(failure.message, pack: entry.id, file: file.path, hint: files.rebuild(entry.id))
    }
      + files.deltas.compactMap { sighting -> Finding? in
        guard let failure = sighting.failure, failure.code == .truncated, sighting.isPublished else { return nil }
        return Finding(failure.message, pack: sighting.id, file: sighting.path, hint: "packer build")
      }
  }

  static let unknownPack = ReleaseRule(
    "PK2007", "a file is not a pack that this build can read"
  ) { (files: Files, setting: Setting) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard let failure = file.failure, !told.contains(failure.code) else { return nil }
      // A newer reader does not help if the version was changed after the build, which PK2004 reports.
      guard failure.code != .unsupported || !file.isChanged(since: entry) else { return nil }
      return Finding(failure.message, pack: entry.id, file: file.path, hint: setting.wording(failure))
    }
      + files.deltas.compactMap { sighting -> Finding? in
        guard let failure = sighting.failure, !told.contains(failure.code), failure.code != .wrongBase else { return nil }
        // Other bytes than the manifest names are another finding, but of a file that cannot be read no bytes are known.
        guard sighting.isPublished || failure.code == .cannotRead && sighting.sha256 == nil else { return nil }
        return Finding(failure.message, pack: sighting.id, file: sighting.path, hint: setting.wording(failure))
      }
  }

  static let wrongPack = ReleaseRule(
    "PK2008", "a file is not the pack that its manifest entry names", .error, .damaged
  ) { (files: Files, document: ManifestSighting) -> [Finding] in
    let misplaced = files.misplaced
    let findings = files.pairs.compactMap { entry, file -> Finding? in
      guard let start = file.start, misplaced[entry.id] == nil else { return nil }
      var differences: [String] = []
      if let content = file.content, !content.isNamed {
        differences.append("its name is not '\(entry.id)'")
      }
      if start.packVersion != entry.version {
        differences.append("it has version \(start.packVersion), but the manifest says \(entry.version)")
      }
      if start.keyID != entry.keyID {
        differences.append("it was made with key \(start.keyID), but the manifest says \(entry.keyID)")
      }
      if !start.recipientIDs.isEmpty {
        differences.append("it is a copy that is wrapped for \(start.recipientIDs.joined(separator: ", "))")
      }
      guard let first = differences.first else { return nil }
      return Finding(
        "\(file.path) is another pack: \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: files.rebuild(entry.id))
    }
    let others = files.pairs.compactMap { entry, file -> Finding? in
      misplaced[entry.id].map {
        Finding("\(file.path) is the pack '\($0)'", pack: entry.id, file: file.path, hint: files.rebuild(entry.id))
      }
    }
    let leads = files.leads.filter { $0.isOfPack == false && misplaced[$0.id] == nil }.map {
      Finding(
        "\($0.title) is not that of its pack, so nothing could be played while it arrives", pack: $0.id, file: $0.path, hint: "packer build"
      )
    }
    guard others.count > 1 else { return findings + others + leads }
    return findings + leads + [
      Finding(
        "\(others.count) files are other packs of this release", file: document.path, details: others.map(\.message), hint: "packer build")
    ]
  }

  static let entryContent = ReleaseRule(
    "PK2009", "a manifest entry does not describe the content of its pack", .error, .damaged
  ) { (files: Files, _: GivenKey) -> [Finding] in
    files.pairs.compactMap { entry, file -> Finding? in
      guard let content = file.content else { return nil }
      var differences: [String] = []
      if content.contentRoot != entry.contentRoot {
        differences.append("content root \(content.contentRoot.hex), but \(entry.contentRoot.hex) in the manifest")
      }
      if content.contentSize != entry.contentSize {
        let sizes = SizeText.pair(content.contentSize, entry.contentSize)
        differences.append("\(sizes.0) of content, but \(sizes.1) in the manifest")
      }
      if content.files != entry.files {
        differences.append("\(content.files) records, but \(entry.files) in the manifest")
      }
      if content.maxFrame != entry.maxFrame {
        let sizes = SizeText.pair(content.maxFrame, entry.maxFrame)
        differences.append("frames of up to \(sizes.0), but up to \(sizes.1) in the manifest")
      }
      guard let first = differences.first else { return nil }
      return Finding(
        "\(file.path) has \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: files.rebuild(entry.id))
    }
  }

  static let duplicateURL = ReleaseRule("PK2013", "two packs have the same URL or the same id") { (listing: Listing) -> [Finding] in
    var findings: [Finding] = []
    var urls: [String: String] = [:]
    var ids: [String: String] = [:]
    for entry in listing.entries {
      if let other = ids.updateValue(entry.id, forKey: entry.id.lowercased()) {
        findings.append(
          Finding(
            other == entry.id ? "two packs are called '\(other)'" : "'\(other)' and '\(entry.id)' differ only in case", pack: entry.id,
            hint: "give one of them another id in packer.yml"))
      } else if let other = urls[entry.url] {
        findings.append(
          Finding("it has the URL of '\(other)': \(entry.url)", pack: entry.id, hint: "packer build"))
      }
      urls[entry.url] = entry.id
    }
    return findings
  }

  static let fileName = ReleaseRule("PK2014", "a file is not named after its content", .warning) { (listing: Listing) -> [Finding] in
    listing.entries.compactMap { entry in
      let name = entry.fileName
      let wanted = ReleaseBuild.fileName(entry.id, entry.sha256)
      guard name != wanted else { return nil }
      return Finding("it is published as '\(name)', not as '\(wanted)'", pack: entry.id, hint: "packer build")
    }
  }

  static let repeatedSalt = ReleaseRule(
    "PK2015", "two different packs are encrypted with the same keys and nonces", .error, .damaged
  ) { (files: Files) -> [Finding] in
    struct Header: Hashable {
      let keyID: String
      let salt: [UInt8]
    }
    var first: [Header: (id: String, digest: [UInt8])] = [:]
    var findings: [Finding] = []
    let packs = files.pairs.map { entry, file in (entry.id, file.path, file.start, file.sha256, false) }
    let deltas = files.deltas.map { ($0.id, $0.path, $0.start, $0.sha256, true) }
    for (id, path, start, digest, isDelta) in packs + deltas {
      guard let start, let digest else { continue }
      let header = Header(keyID: start.keyID, salt: start.salt)
      if let other = first[header] {
        guard other.digest != digest else { continue }
        findings.append(
          Finding(
            "it has the same salt as '\(other.id)', but different bytes", pack: id, file: path,
            hint: isDelta ? "packer build" : files.rebuild(id)))
      } else {
        first[header] = (id, digest)
      }
    }
    return findings
  }

  static let compressionRatio = ReleaseRule(
    "PK2016", "a pack is far larger unpacked than as a download", .warning
  ) { (listing: Listing, setting: Setting) -> [Finding] in
    listing.entries.compactMap { entry in
      let bound = entry.size.times(largestRatio)
      guard entry.contentSize > smallestContent, entry.contentSize > bound else { return nil }
      return Finding(
        "\(SizeText.short(entry.size)) unpack to \(SizeText.short(entry.contentSize)), more than \(largestRatio) times as much",
        pack: entry.id, actual: entry.contentSize, limit: bound,
        hint: "packer ls -l \(ShellWord.path("\(setting.directory)/\(entry.fileName)"))")
    }
  }

  /// The errors of damage.
  private static let codes: Set<PackError.Code> = [
    .damagedHeader, .authenticationFailed, .damagedPayload, .damagedArchive, .digestMismatch, .illegalPath, .limitExceeded,
  ]

  /// The errors that other rules report.
  private static let told = codes.union([.wrongKey, .notWrapped, .truncated])

  /// The rules whose findings about a file follow from its being another pack of the release.
  static let consequences: Set<String> = [
    "PK2003", "PK2004", "PK2005", "PK2006", "PK2009", "PK2010", "PK2011", "PK2012", "PK2015",
  ]

  private static let largestRatio: UInt64 = 200
  private static let smallestContent: UInt64 = 64 << 20
}

extension PackSighting.Start {
  /// The salt of the pack: 32 bytes that make its derived keys different from those of any other content.
  fileprivate var salt: [UInt8] { Array(core.suffix(32)) }
}
