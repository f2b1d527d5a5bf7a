import PackBuild
import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackReading

/// Something in the directory of a release that the release does not explain: a file, a link, or a directory with all that is in it.
struct ForeignFiles: Sendable {
  /// The path, as the caller would name it.
  var path: String
  /// The number of files and links.
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

/// Finds what does not belong to a release, and compares the input of Apple's `ba-package` with the manifest.
struct ForeignFilesSearch {
  let place: ReleaseInspection.Place
  let manifest: Manifest
  let files: any FileSystem
  /// The events of managed packs; nil if there is no configuration.
  let events: [PackerConfiguration.InstallationEvent]?
  let isQuick: Bool

  /// The names that a build writes besides packs.
  private static let known: Set<String> = [
    ReleaseFile.packages, ReleaseFile.infoFragment, ReleaseFile.budgetText, ReleaseFile.budgetMarkdown, ReleaseFile.budgetJSON,
    BuildRecord.fileName,
  ]
  /// The largest number of copies that are named.
  private static let mostNamed = 20
  /// The largest number of files that are compared with those of the packs.
  private static let mostCompared = 10_000

  private struct Candidate {
    let number: Int
    let path: String
    let name: String
  }

  /// - Parameter names: the names in the directory.
  /// - Returns: what does not belong to the release, in the order of the names. Packs that are not in the manifest are not included.
  func run(names: [String], key: KeyHolder) throws(PackError) -> [ForeignFiles] {
    var found: [ForeignFiles] = []
    var candidates: [Candidate] = []
    let packs = Set(manifest.packs.map(\.fileName))
    for name in names where !Self.known.contains(name) && !packs.contains(name) && place.path(name) != place.manifest {
      if name == ReleaseFile.baPackages, kind(of: place.path(name)) == .directory {
        let expected = Set(manifest.packs.flatMap { [BAPackageManifest.fileName(for: $0.id), BAPackageManifest.payloadName(for: $0.id)] })
        for inner in try self.names(in: place.path(name)) where !expected.contains(inner) {
          try add("\(place.path(name))/\(inner)", inner, &found, &candidates)
        }
      } else if !name.hasSuffix(".pack") || kind(of: place.path(name)) == .directory {
        try add(place.path(name), name, &found, &candidates)
      }
    }
    if !candidates.isEmpty, !isQuick { try compare(candidates, &found, key) }
    return found
  }

  private func add(_ path: String, _ name: String, _ found: inout [ForeignFiles], _ candidates: inout [Candidate]) throws(PackError) {
    var foreign = ForeignFiles(path: path)
    foreign.junk = SourceRules.junk(name)
    var waiting = [(path: path, name: name)]
    while let next = waiting.popLast() {
      guard let status = try? files.status(of: next.path, in: nil, following: .asThemselves) else { continue }
      switch status.kind {
      case .directory:
        for inner in try names(in: next.path) { waiting.append(("\(next.path)/\(inner)", "\(next.name)/\(inner)")) }
      case .file:
        foreign.count += 1
        foreign.size = foreign.size.adding(status.size)
        if status.size > 0, candidates.count < Self.mostCompared {
          candidates.append(Candidate(number: found.count, path: next.path, name: next.name))
        }
      case .symbolicLink, .other: foreign.count += 1
      }
    }
    found.append(foreign)
  }

  /// Compares the digests of files with those of all entries of all packs that can be opened.
  private func compare(_ candidates: [Candidate], _ found: inout [ForeignFiles], _ key: KeyHolder) throws(PackError) {
    var digests: [[UInt8]: [Candidate]] = [:]
    for candidate in candidates {
      guard let digest = try? digest(of: candidate.path) else { continue }
      digests[digest, default: []].append(candidate)
    }
    for entry in manifest.packs {
      // A pack that cannot be opened is a finding of its own.
      guard !digests.isEmpty, let pack = try? key.open(place.path(entry.fileName), files: files) else { continue }
      try? pack.forEachEntry { (content) throws(PackError) in
        guard content.kind == .file, content.size > 0, let copies = digests.removeValue(forKey: content.sha256) else { return }
        for copy in copies {
          found[copy.number].copyCount += 1
          guard found[copy.number].copies.count < Self.mostNamed else { continue }
          found[copy.number].copies.append(
            "'\(printable(copy.name.utf8))' has the bytes of '\(printable(content.path.utf8))' in pack '\(entry.id)'")
        }
      }
    }
  }

  /// Compares the input of `ba-package` with the manifest. Returns nil if there is none.
  func managed(names: [String]) throws(PackError) -> Companion? {
    let directory = place.path(ReleaseFile.baPackages)
    guard names.contains(ReleaseFile.baPackages), kind(of: directory) == .directory else { return nil }
    var companion = Companion(path: directory, disagreements: [])
    for entry in manifest.packs {
      let payload = BAPackageManifest.payloadName(for: entry.id)
      let name = BAPackageManifest.fileName(for: entry.id)
      let written = events.map { [$0] } ?? [[], [.firstInstallation], [.subsequentUpdate]]
      let document = try? bytes(of: "\(directory)/\(name)")
      if document == nil {
        companion.disagreements.append("'\(name)' is missing")
      } else if !written.contains(where: { BAPackageManifest(for: entry, payload: payload, events: $0).json == document }) {
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

  private func names(in directory: String) throws(PackError) -> [String] {
    do throws(FileFailure) {
      let opened = try files.open(directory, .directoryUnlinked, in: nil)
      return try files.names(in: opened).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw error.reading(directory)
    }
  }

  private func bytes(of path: String) throws(PackError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(path) { (piece) throws(PackError) in
      guard bytes.count < 1 << 20 else { return }
      bytes.append(copying: piece)
    }
    return bytes
  }

  private func digest(of path: String) throws(PackError) -> [UInt8] {
    let digest = try CryptoBackends.standard.makeDigest()
    try read(path) { (piece) throws(PackError) in try digest.update(piece) }
    return try digest.finish()
  }

  private func read(_ path: String, _ body: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) {
    let file: OpenFile
    do throws(FileFailure) {
      file = try files.open(path, .read, in: nil)
    } catch {
      throw error.reading(path)
    }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var offset: UInt64 = 0
    while true {
      var target = buffer.mutableByteSpan
      let count = try files.read(file, at: offset, filling: &target, name: path)
      guard count > 0 else { return }
      try body(buffer.byteSpan.extracting(first: count))
      offset += UInt64(count)
    }
  }
}
