/// A folder, such as one that a web server serves.
package struct FolderPlace: PublishingPlace {
  package let title: String
  private let files: any FileSystem
  private static let largestManifest = Manifest.largestSize

  package init(_ path: String, files: any FileSystem = SystemFiles()) { (title, self.files) = (path, files) }

  private func path(_ name: String) -> String { ReleaseFolder.path(name, in: title) }

  package func sizes() throws(PackError) -> [String: UInt64] {
    var sizes: [String: UInt64] = [:]
    guard let directory = try reading(title, ifPresent(files.open(title, .directory, in: nil))) else { return sizes }
    for name in try reading(title, files.names(in: directory)) {
      // A link may lead nowhere, and a file may have been removed since.
      let status = try reading(title, ifPresent(files.status(of: name.text, in: directory, following: .followed)))
      if let status, status.kind == .file { sizes[name.text] = status.size }
    }
    return sizes
  }

  package func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? {
    try unless(.missingInput, files.contents(of: path(name), limit: limit))
  }

  package func bring(_ wanted: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought {
    var brought = Brought()
    for (name, limit) in wanted {
      do throws(PackError) {
        guard let size = try size(of: name) else { continue }
        if size <= limit {
          try FileCopy.run(path(name), to: ReleaseFolder.path(name, in: directory), isSearched: true, files: files)
        } else {
          brought.larger.append(name)
        }
      } catch {
        // One that somebody made unreadable, or that was just removed.
        guard error.code == .cannotRead || error.code == .missingInput || error.code == .sourceChanged else { throw error }
        brought.failures.append(error)
      }
    }
    return brought
  }

  /// Returns the size of a file; nil if there is a folder or nothing.
  private func size(of name: String) throws(PackError) -> UInt64? {
    let status = try reading(path(name), ifPresent(files.status(of: path(name), in: nil, following: .followed)))
    return status?.kind == .file ? status?.size : nil
  }

  package func checkRoom(for size: UInt64) throws(PackError) {
    try makeFolder()
    guard let room = try? files.availableSpace(at: files.open(title, .directory, in: nil)), room < size else { return }
    throw Self.full(FileFailure.fullDisk.writing(title, missingBytes: size - room))
  }

  package func add(_ names: [String], from directory: String) throws(PackError) {
    try makeFolder()
    try copy(names.map { (ReleaseFolder.path($0, in: directory), path($0)) })
  }

  package func add(_ path: String, as name: String) throws(PackError) {
    try makeFolder()
    try copy([(path, self.path(name))])
  }

  private func makeFolder() throws(PackError) {
    guard !ReleasePlaces.isDirectory(title) else { return }
    let made: Void? = try writing(title, unlessExisting(files.makeDirectory(title, mode: 0o777, in: nil)))
    // Another machine may have been faster.
    guard made != nil || ReleasePlaces.isDirectory(title) else { throw FileFailure.exists.writing(title) }
  }

  private func copy(_ pairs: [(source: String, place: String)]) throws(PackError) {
    StagedName.removeStale(of: pairs.map(\.place), files: files)
    do throws(PackError) {
      for (source, place) in pairs { try FileCopy.run(source, to: place, isSearched: true, files: files) }
    } catch {
      throw error.code == .noSpace ? Self.full(error) : error
    }
  }

  private static func full(_ error: PackError) -> PackError {
    error.advising(
      .developer("free space there, or remove what no device needs with 'packer prune', and run it again; devices see no change"))
  }

  package func hasDigests() throws(PackError) -> Bool { true }

  package func different(_ wanted: [ReleaseFiles.File], from directory: String) throws(PackError) -> [ReleaseFiles.File] {
    let backend = CryptoBackends.standard
    var different: [ReleaseFiles.File] = []
    for file in wanted {
      let path = path(file.name)
      if try FileDigest.run(path, in: nil, title: path, files: files, backend: backend).sha256 != file.sha256 { different.append(file) }
    }
    return different
  }

  package func replaceManifest(with path: String, known: [UInt8]?) throws(PackError) {
    let bytes = try files.contents(of: path, limit: Self.largestManifest)
    guard try contents(of: ReleaseFile.manifest, limit: Self.largestManifest) == known else {
      throw conflict("has another manifest than before: another publisher is at work")
    }
    try OutputFile.write(bytes, to: self.path(ReleaseFile.manifest), files: files)
  }

  package func remove(_ names: [String]) throws(PackError) {
    for name in names {
      try writing(path(name), ifPresent(files.remove(path(name), .file, in: nil)))
    }
  }

  package var isPrivate: Bool {
    func lacks(_ bits: UInt32, _ path: String) -> Bool { (try? files.status(of: path).mode).map { $0 & bits == 0 } ?? false }
    return lacks(0o011, title) || lacks(0o044, path(ReleaseFile.manifest))
  }

  package func exclusively<Result>(_ work: () throws(PackError) -> Result) throws(PackError) -> Result {
    try makeFolder()
    let turn = try RecordingTurn(path(ReleaseFile.manifest), files: files)
    defer { withExtendedLifetime(turn) {} }
    return try work()
  }
}
