/// The folder in which `packer release record` keeps the packs of releases, and from which `packer build` makes deltas.
///
/// A record `<manifest version>-<16 digits of its SHA-256>.json` in the form of a lock file says which packs a release had. So two branches that release
/// the same manifest version have two records, and merge without a conflict. The packs are there under their published names, so a
/// copy of the folder that is uploaded serves as well. Records belong in version control. The packs may be missing: then their deltas are not made.
package struct ReleasedPacks: Sendable {
  /// The path of the folder. It need not exist.
  package let directory: String
  private let files: any FileSystem

  package init(_ directory: String, files: any FileSystem = SystemFiles()) {
    self.directory = directory
    self.files = files
  }

  /// The folder that a configuration names; without one, or if it turns deltas off, the usual one beside it.
  package init(of configuration: PackerConfiguration?) {
    self.init(configuration?.updates?.packs ?? ReleasePlaces.place(ReleaseFile.released, beside: configuration))
  }

  /// Returns the path of the file of a pack.
  package func path(of pack: ReleaseLock.Pack) -> String { "\(directory)/\(ManifestPack.publishedName(pack.id, pack.sha256))" }

  // MARK: Reading

  /// A record, by its name.
  struct Record: Hashable, Sendable {
    let name: String
    let version: UInt64

    /// - Returns: nil for names that are not of records.
    init?(_ name: String) {
      let parts = name.dropLast(ending.utf8.count).split(separator: "-", omittingEmptySubsequences: false)
      guard name.hasSuffix(ending), parts.count == 2, [UInt8](hex: parts[1], count: 8) != nil,
        // No sign, no zeros in front.
        let version = UInt64(parts[0]), "\(version)" == parts[0]
      else { return nil }
      (self.name, self.version) = (name, version)
    }
  }

  /// Returns the records of releases, those of the newest manifest first.
  func records() throws(PackError) -> [Record] {
    let names = try reading(directory, ifPresent(files.names(in: files.open(directory, .directory, in: nil)))) ?? []
    return names.compactMap { Record($0.text) }.sorted { ($1.version, $0.name) < ($0.version, $1.name) }
  }

  /// Reads the record of a release.
  func release(_ record: Record) throws(PackError) -> ReleaseLock.Release {
    let path = "\(directory)/\(record.name)"
    let released: ReleaseLock.Release?
    do throws(PackError) {
      released = try ReleaseLock.readAlone(path, files: files).released
    } catch {
      guard error.code == .unmergedRecord else { throw error }
      // 'packer release resolve' knows only the lock file, and players may have either release.
      throw error.advising(.developer("remove \(ShellWord.path(path)): players of either release then get full packs"))
    }
    guard let released, released.manifestVersion == record.version else {
      throw PackError(
        .invalidRecord, of: path, "does not describe manifest \(record.version)",
        hint: "restore it from version control, or remove it: players of that release then get full packs")
    }
    return released
  }

  /// Calls `body` with each recorded release, newest first. One is in memory at a time.
  package func forEachRelease(_ body: (ReleaseLock.Release) throws(PackError) -> Void) throws(PackError) {
    for record in try records() { try body(try release(record)) }
  }

  /// Whether a release with this manifest is recorded. Reads only the records of its version: each branch may have one.
  package func hasRelease(_ version: UInt64, signedDigest: [UInt8]) throws(PackError) -> Bool {
    for record in try records() where record.version == version {
      if try release(record).signedDigest == signedDigest { return true }
    }
    return false
  }

  /// Returns the release with a manifest version.
  ///
  /// - Parameter last: the last release, whose record may be missing.
  /// - Throws: ``PackError/Code/missingInput`` if there is no record of it.
  package func release(_ version: UInt64, orLast last: ReleaseLock.Release) throws(PackError) -> ReleaseLock.Release {
    if version == last.manifestVersion { return last }
    let records = try records()
    guard let record = records.first(where: { $0.version == version }) else {
      let known = records.prefix(20).map { "\($0.version)" }.joined(separator: ", ")
      throw PackError(
        .missingInput, of: directory, "has no record of manifest \(version)",
        hint: known.isEmpty ? "bring the folder back, or make it again from the place: packer release recover" : "recorded are \(known)")
    }
    return try release(record)
  }

  /// Returns the names and sizes in bytes of kept packs that no next build makes deltas from, and that none of the newest releases has.
  ///
  /// - Parameters:
  ///   - keep: the number of these releases. They can be brought back without the place.
  ///   - most: from how many editions of a pack deltas are made.
  package func unneeded(
    _ lock: ReleaseLock, _ configuration: PackerConfiguration, keep: UInt64, deltas most: Int
  ) throws(PackError) -> [(name: String, size: UInt64)] {
    var known: Set<String> = []
    var needed: Set<String> = []
    func name(_ pack: ReleaseLock.Pack) -> String { ManifestPack.publishedName(pack.id, pack.sha256) }
    for pack in lock.released?.packs ?? [] where !pack.isRemoved { needed.insert(name(pack)) }
    var count: UInt64 = 0
    try forEachRelease { release in
      count += 1
      for pack in release.packs where !pack.isRemoved {
        known.insert(name(pack))
        if count <= keep { needed.insert(name(pack)) }
      }
    }
    if let history = ReleaseHistory(lock, configuration, files: files) {
      for pack in try history.bases(of: configuration.packs.map(\.id.text), most: most) { needed.insert(name(pack)) }
    }
    return known.subtracting(needed).sorted().compactMap { name in
      (try? files.status(of: "\(directory)/\(name)", in: nil, following: .asThemselves)).map { (name, $0.size) }
    }
  }

  /// Removes kept packs.
  package func remove(_ names: [String]) throws(PackError) {
    for name in names { try writing("\(directory)/\(name)", ifPresent(files.remove("\(directory)/\(name)", .file, in: nil))) }
  }

  // MARK: Keeping

  /// Adds the packs of a release, as hard links if the file system supports that, otherwise as copies, and then its record.
  ///
  /// If this is stopped, doing it again completes it.
  ///
  /// - Parameters:
  ///   - dist: The directory of the release, whose files the caller has compared with their digests.
  ///   - added: Gets the paths of the packs and records that are added, also if this throws. The folder and its rule for Git stay.
  func keep(_ release: ReleaseLock.Release, from dist: String, adding added: inout [String]) throws(PackError) {
    try makeDirectory()
    let packs = release.packs.filter { !$0.isRemoved }
    StagedName.removeStale(of: packs.map(path), files: files)
    for pack in packs { try keep(pack, from: dist, adding: &added) }
    for record in try records() where record.version == release.manifestVersion {
      if (try? self.release(record))?.packs == release.packs { return }
    }
    let (path, document) = try recordFile(of: release)
    if files.isMissing(path, following: .asThemselves) { added.append(path) }
    try OutputFile.update(path, to: document, files: files)
  }

  /// Adds the record of a release without its packs.
  func record(_ release: ReleaseLock.Release) throws(PackError) {
    try makeDirectory()
    let (path, document) = try recordFile(of: release)
    try OutputFile.update(path, to: document, files: files)
  }

  private func recordFile(of release: ReleaseLock.Release) throws(PackError) -> (path: String, document: [UInt8]) {
    let document = ReleaseLock(released: release).document
    let digest = try CryptoBackends.standard.digest(of: document.byteSpan)
    return ("\(directory)/\(release.manifestVersion)-\(digest.prefix(8).hex)\(ending)", document)
  }

  /// Copies the file of a pack, which the caller has compared with its digest, to its place.
  package func add(_ path: String, as pack: ReleaseLock.Pack) throws(PackError) {
    try makeDirectory()
    try FileCopy.run(path, to: self.path(of: pack), files: files)
  }

  private func makeDirectory() throws(PackError) {
    let isNew = try writing(directory, unlessExisting(files.makeDirectory(directory, mode: 0o777, in: nil))) != nil
    // Packs are large. Who keeps them in version control empties the file.
    let ignored = "\(directory)/.gitignore"
    guard files.isMissing(ignored, following: .asThemselves) else { return }
    do throws(PackError) {
      try OutputFile.write(Array("*.pack\n".utf8), to: ignored, files: files)
    } catch {
      if isNew { try? files.remove(directory, .directory, in: nil) }
      throw error
    }
  }

  private func keep(_ pack: ReleaseLock.Pack, from dist: String, adding added: inout [String]) throws(PackError) {
    let place = path(of: pack)
    let source = "\(dist)/\(ManifestPack.publishedName(pack.id, pack.sha256))"
    // A name has the digest, and a copy appears whole.
    if let found = try? files.status(of: place, in: nil, following: .followed), found.kind == .file,
      pack.size.map({ $0 == found.size }) ?? true
    {
      return
    }
    if files.isMissing(place, following: .asThemselves) { added.append(place) }
    do throws(FileFailure) {
      try files.link(source, in: nil, as: place, in: nil)
    } catch {
      guard error.isUnlinkable || error.isExisting else { throw error.isMissing ? error.reading(source) : error.writing(place) }
      try FileCopy.run(source, to: place, isSearched: true, files: files)
    }
  }
}

/// The end of the names of records.
private let ending = ".json"
