/// Something in the directory of a release that the release does not explain: a file, a link, or a directory with all that is in it.
struct ForeignFiles: Sendable {
  /// The path, as the caller would name it.
  var path: String
  /// Whether it has the name of a file that a build writes.
  var isWritten = false
  /// What it is, if it is neither a file nor a directory.
  var oddity: String?
  /// The number of files, links and so on.
  var count = 0
  /// The size of the files in bytes.
  var size: UInt64 = 0
  /// The reason if the system or a tool left it by itself.
  var junk: String?
  /// The files with the same bytes as a file of a pack, one sentence each.
  var copies: [String] = []
  /// The number of such files.
  var copyCount = 0
}

/// A file in the directory of a release that holds a secret.
struct UploadedSecret: Sendable {
  /// What kind of secret it is.
  enum Kind: Sendable {
    /// A key of packer that opens packs.
    case contentKey
    /// A key of packer that signs manifests.
    case signingKey
    /// A key of packer that signs keys documents.
    case rootKey
    /// Another secret, with what its name or its content shows, as in `contains a private key`.
    case other(String)
  }

  /// The path, as the caller would name it.
  var path: String
  var kind: Kind
}

/// Finds what does not belong to a release, and compares the input of Apple's `ba-package` with the manifest.
struct ForeignFilesSearch {
  let place: ReleaseInspection.Place
  /// All packs of the release.
  let packs: [ManifestPack]
  /// The names of the files of packs and shards.
  let published: Set<String>
  let files: any FileSystem
  let isQuick: Bool

  /// The names that a build writes besides packs.
  private static let known: Set<String> = Set(
    [
      ReleaseFile.packages, ReleaseFile.infoFragment, ReleaseFile.budgetText, ReleaseFile.budgetMarkdown, ReleaseFile.budgetJSON,
      BuildRecord.fileName,
    ] + DeviceProfile.Platform.allCases.map(ReleaseFile.infoFragment(for:)))
  /// The largest number of copies that are named.
  private static let mostNamed = 20
  /// The largest number of files that are compared with those of the packs.
  private static let mostCompared = 10_000

  /// The size in bytes of the largest file that is searched for secrets.
  private static let largestSearched: UInt64 = 1 << 20

  private struct Candidate {
    let number: Int
    let path: String
    let name: String
    let size: UInt64
  }

  /// - Parameter names: the names in the directory.
  func run(names: [String], key: Shared<PackKey>?) throws(PackError) -> Beside {
    var result = Beside()
    var candidates: [Candidate] = []
    // What the build of this release did not write is left from another one.
    let written = (try? BuildRecord.read(in: place.directory, files: files))?.files
    for name in names {
      let path = place.path(name)
      let kind = kind(of: path)
      if name == StagedName.volumeFolder, kind == .directory { continue }
      let isWritten = Self.known.contains(name) && (name == BuildRecord.fileName || written?.contains(name) ?? true)
      if isWritten || published.contains(name) || path == place.manifest, kind != .directory {
        if kind == .symbolicLink { result.links.append(path) }
        if isWritten, kind == .file { try add(path, name, isWritten: true, &result, &candidates) }
        continue
      }
      if name == ReleaseFile.baPackages, kind == .directory {
        let expected = Set(packs.flatMap { [BAPackageManifest.fileName(for: $0.id), BAPackageManifest.payloadName(for: $0.id)] })
        for inner in try files.names(at: path, .directoryUnlinked) where !expected.contains(inner) {
          try add("\(path)/\(inner)", inner, &result, &candidates)
        }
      } else if !ManifestPack.isPublishedName(name) || kind == .directory {
        try add(path, name, &result, &candidates)
      }
    }
    if !candidates.isEmpty, !isQuick { try compare(candidates, &result.foreign, key) }
    result.foreign.removeAll { $0.isWritten && $0.copyCount == 0 }
    return result
  }

  /// - Parameter isWritten: whether the file has the name of one that a build writes, so that only content of packs is foreign in it.
  private func add(
    _ path: String, _ name: String, isWritten: Bool = false, _ result: inout Beside, _ candidates: inout [Candidate]
  ) throws(PackError) {
    var foreign = ForeignFiles(path: path, isWritten: isWritten)
    foreign.junk = SourceRules.junk(name)
    var waiting = [(path: path, name: name)]
    while let next = waiting.popLast() {
      guard let status = try? files.status(of: next.path, in: nil, following: .asThemselves) else {
        foreign.count += 1
        continue
      }
      switch status.kind {
      case .directory:
        do throws(PackError) {
          for inner in try files.names(at: next.path, .directoryUnlinked) {
            // A folder counts as junk only with junk in it.
            if SourceRules.junk(inner) == nil, kind(of: "\(next.path)/\(inner)") != .directory { foreign.junk = nil }
            waiting.append(("\(next.path)/\(inner)", "\(next.name)/\(inner)"))
          }
        } catch {
          foreign.junk = nil
          foreign.oddity = "not all of it can be read"
        }
      case .file:
        if let secret = secret(in: next.path, size: status.size) {
          result.secrets.append(UploadedSecret(path: next.path, kind: secret))
          if next.path == path { return }
        }
        foreign.count += 1
        foreign.size = foreign.size.adding(status.size)
        if status.size > 0, candidates.count < Self.mostCompared {
          candidates.append(Candidate(number: result.foreign.count, path: next.path, name: next.name, size: status.size))
        }
      case .symbolicLink, .other:
        foreign.count += 1
        if next.path == path { foreign.oddity = oddity(path, status.kind) }
      }
    }
    result.foreign.append(foreign)
  }

  private func oddity(_ path: String, _ kind: FileStatus.Kind) -> String {
    guard kind == .symbolicLink else { return "a pipe, a socket or a device" }
    return (try? files.status(of: path, in: nil, following: .followed)) == nil ? "a broken symbolic link" : "a symbolic link"
  }

  /// Returns what kind of secret a file holds, judged by its content, or else by its name; nil if it seems to hold none.
  private func secret(in path: String, size: UInt64) -> UploadedSecret.Kind? {
    if size > 0, size <= Self.largestSearched, var content = try? bytes(of: path) {
      defer { wipe(&content) }
      let secrets = SecretScanner.secrets(in: content.byteSpan)
      if secrets.contains(where: { $0.rule == "packer-root-signing-key" }) { return .rootKey }
      if secrets.contains(where: { $0.rule == "packer-signing-key" }) { return .signingKey }
      if secrets.contains(where: { $0.rule == "packer-content-key" }) { return .contentKey }
      if let first = secrets.first { return .other(first.reason) }
    }
    return SourceRules.secret(PathParts(path)?.name ?? path).map { .other($0) }
  }

  /// Compares the digests of files with those of all entries of all packs that can be opened.
  private func compare(_ candidates: [Candidate], _ found: inout [ForeignFiles], _ key: Shared<PackKey>?) throws(PackError) {
    let sizes = Set(candidates.map(\.size))
    // The first file of each content, with the pack.
    var contents: [[UInt8]: (path: String, pack: String)] = [:]
    var packedSizes: Set<UInt64> = []
    func look(in entry: ManifestPack) throws(PackError) {
      guard let pack = try key?.key.open(place.path(entry.fileName), files: files) else { return }
      try pack.forEachEntry { (content) throws(PackError) in
        guard content.kind == .file, sizes.contains(content.size), contents[content.sha256] == nil else { return }
        contents[content.sha256] = (content.path, entry.id)
        packedSizes.insert(content.size)
      }
    }
    for entry in packs {
      do throws(PackError) {
        try look(in: entry)
      } catch {
        // A pack that cannot be opened is a finding of its own. If it can be opened now, it was not the pack that failed.
        guard (try? look(in: entry)) == nil else { throw error }
      }
    }
    for copy in candidates where packedSizes.contains(copy.size) {
      guard let digest = try? digest(of: copy.path), let content = contents[digest] else { continue }
      found[copy.number].copyCount += 1
      guard found[copy.number].copies.count < Self.mostNamed else { continue }
      found[copy.number].copies.append(
        "'\(printable(copy.name.utf8))' has the bytes of '\(printable(content.path.utf8))' in pack '\(content.pack)'")
    }
  }

  /// Compares the input of `ba-package` with the manifest. Returns nil if there is none.
  func managed(names: [String]) throws(PackError) -> Companion? {
    let directory = place.path(ReleaseFile.baPackages)
    guard names.contains(ReleaseFile.baPackages), kind(of: directory) == .directory else { return nil }
    var companion = Companion(path: directory, disagreements: [], hint: "packer build --ba-package")
    for entry in packs {
      let payload = BAPackageManifest.payloadName(for: entry.id)
      let name = BAPackageManifest.fileName(for: entry.id)
      let document = try? bytes(of: "\(directory)/\(name)")
      if document == nil {
        companion.disagreements.append("'\(name)' is missing")
      } else if BAPackageManifest(for: entry, payload: payload).json != document {
        companion.disagreements.append("'\(name)' is not what 'packer build' writes for pack '\(entry.id)'")
      }
      guard let status = try? files.status(of: "\(directory)/\(payload)", in: nil, following: .asThemselves), status.kind == .file else {
        companion.disagreements.append("'\(payload)' is missing")
        continue
      }
      let published = try? files.status(of: place.path(entry.fileName), in: nil, following: .asThemselves)
      let isSameFile = published.map { $0.device == status.device && $0.inode == status.inode } ?? false
      var isEqual = status.size == entry.size
      if isEqual, !isSameFile, !isQuick { isEqual = try digest(of: "\(directory)/\(payload)") == entry.sha256 }
      if !isEqual { companion.disagreements.append("'\(payload)' is not the pack '\(entry.id)' of the manifest") }
    }
    return companion
  }

  // MARK: Files

  private func kind(of path: String) -> FileStatus.Kind? { try? files.status(of: path, in: nil, following: .asThemselves).kind }

  /// Returns the content of a small file, or nothing if it is larger than any that is compared. Not through a link.
  private func bytes(of path: String) throws(PackError) -> [UInt8] {
    guard kind(of: path) == .file else { throw PackError(.cannotRead, of: path, "is not a file") }
    return try unless(.limitExceeded, files.contents(of: path, limit: 1 << 20)) ?? []
  }

  private func digest(of path: String) throws(PackError) -> [UInt8] {
    try FileDigest.run(path, in: nil, title: path, files: files, backend: CryptoBackends.standard).sha256
  }
}
