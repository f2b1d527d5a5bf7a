/// Installs one pack file: checks everything, makes room, writes the content, and moves it into place with its record.
struct Installation: Sendable {
  let directory: StoreDirectory
  let manifests: StoreManifests
  /// The path of a pack, or of a delta.
  let path: String
  let id: String
  let taking: Taking
  /// The requested mode. If nil, the manifest decides.
  let mode: InstallMode?
  let progress: ProgressHandler?
  /// Receives side results of the installation. Nil if the caller does not need them.
  var note: Monitor<InstallNote>?
  /// Receives each change of the store right after it happened.
  let tell: @Sendable ([StoreEvent]) -> Void

  var file: InstallFile { InstallFile(directory: directory, path: path, taking: taking) }

  /// What was found out about the file before anything was written.
  private struct Examination: Sendable {
    /// Whether it may be renamed into the store.
    var isMovable: Bool
    /// What it makes if it is unpacked.
    var tree: TreeCount?
    /// Whether its digest was compared, and room was made for it. Otherwise its copy is compared while it is written.
    var isChecked = true
  }

  /// Content that is ready to be moved into place.
  private struct Candidate: Sendable {
    /// Its name in `staging`. Nil if the caller's file itself is to be renamed.
    var staged: String?
    var content: PackRecord.Content
    var cost = InstallCost()
  }

  func run(keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    let (order, present) = try await WorkerPool.settled { () throws(PackError) in try self.order() }
    if let present {
      if taking == .moving { try await WorkerPool.value { (pool) throws(PackError) in try take(file, of: order, pool) } }
      return present
    }
    do throws(PackError) {
      if try await WorkerPool.settled({ () throws(PackError) in try self.isDelta(order) }) {
        return try await DeltaInstallation(self, order).run(keys: keys)
      }
      return try await install(order, keys: keys)
    } catch {
      // Another process may have installed the same file in the meantime and moved it away.
      guard error.code == .missingInput, let present = try await WorkerPool.settled({ () throws(PackError) in try self.order() }).present
      else {
        throw error
      }
      return present
    }
  }

  private func install(_ order: InstallOrder, keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    guard order.entry.opener == nil else { return try await installSealed(order) }
    let pack = try await open(order.entry, keys: keys)
    let found = try await WorkerPool.value { (pool) throws(PackError) in try examine(pack, order, pool) }
    return try await install(order, found, try pack.source.file) { (found) throws(PackError) in try await prepare(pack, order, found) }
  }

  /// Installs an edition with a key of its own. It is opened when its opener is there: only its bytes and its header are compared with the manifest.
  private func installSealed(_ order: InstallOrder) async throws(PackError) -> InstalledPack {
    guard order.mode == .packed else {
      throw PackError(
        .usage, of: "pack '\(id)'", "is kept packed, because it is opened later", advice: .developer("install it as the manifest says"))
    }
    let (open, found) = try await WorkerPool.value { (pool) throws(PackError) in try examineSealed(order, pool) }
    return try await install(order, found, open) { (found) throws(PackError) in try await preparePacked(open, order, found) }
  }

  /// - Parameters:
  ///   - open: the caller's file, which was opened by its path.
  ///   - prepare: makes the content that is moved into place.
  private func install(
    _ order: InstallOrder, _ found: Examination, _ open: OpenFile, prepare: (Examination) async throws(PackError) -> Candidate
  ) async throws(PackError) -> InstalledPack {
    var found = found
    var candidate = try await prepare(found)
    var result = try await place(candidate, order, open, found.tree)
    if result == nil {
      // The file is on another volume, although its device number is the same.
      found.isMovable = false
      candidate = try await prepare(found)
      result = try await place(candidate, order, open, found.tree)
    }
    guard let result else { throw PackError(.internalError, of: file.path, "was copied into the store, but could not be moved into place") }
    if taking == .moving, candidate.staged != nil { await WorkerPool.settled { file.remove() } }
    finish(result, candidate.cost)
    return result
  }

  /// Checks the file, and makes room. Its digest is not compared yet if it is copied and no other version has to go for it.
  private func examine(_ pack: Pack, _ order: InstallOrder, _ pool: WorkerPool) throws(PackError) -> Examination {
    try pack.check(against: order.entry)
    var found = Examination(isMovable: try file.isMovable(pack.source.file))
    if order.mode == .packed, !found.isMovable {
      let shortage = try StoreSpace(directory, manifests).shortage(Self.needs(order.entry, order.mode, isMovable: false))
      let hasSurplus = try StoreTrials(directory).hasSurplus(before: order.entry.bytes, of: id)
      found.isChecked = shortage.largest > 0 || hasSurplus
    }
    guard found.isChecked else { return found }
    try checkDigest(of: pack, order, pool: pool)
    if order.mode == .unpacked { found.tree = try pack.measureTree(against: order.entry) }
    try makeRoom(for: Self.needs(order.entry, order.mode, isMovable: found.isMovable, tree: found.tree), order)
    if order.mode == .packed, found.isMovable { try file.sync(pack.source.file) }
    return found
  }

  /// Compares the file and its header with the manifest, and makes room.
  private func examineSealed(_ order: InstallOrder, _ pool: WorkerPool) throws(PackError) -> (OpenFile, Examination) {
    let entry = order.entry
    let start = try PackStart(file.path, files: directory.files)
    progress?(PackProgress(phase: .verifying, done: 0, total: entry.size))
    let digest = try file.digest(of: start.file, each: pool.checkpoint)
    guard digest == entry.sha256 else { throw PackError.digestMismatch(digest, entry).about(file.path) }
    progress?(PackProgress(phase: .verifying, done: entry.size, total: entry.size))
    guard start.header.kind == .full, start.header.packVersion == entry.version,
      try start.header.packID == PackID.bytes(for: PackName(entry.id), backend: directory.backend),
      "\(start.stanzas.keyID)" == entry.keyID
    else {
      throw PackError(.wrongPack, of: file.path, "has another name, version or key than the manifest says", advice: .fetchAgain)
    }
    let found = Examination(isMovable: try file.isMovable(start.file))
    try makeRoom(for: Self.needs(entry, order.mode, isMovable: found.isMovable), order)
    if found.isMovable { try file.sync(start.file) }
    return (start.file, found)
  }

  /// Removes the versions that the new one makes superfluous, and others if there is not enough space.
  func makeRoom(for needs: StoreSpace.Needs, _ order: InstallOrder) throws(PackError) {
    tell(try StoreTrials(directory).makeWay(for: order.entry.bytes, isSealed: order.entry.opener != nil, of: id))
    try StoreSpace(directory, manifests).makeRoom(for: needs, of: "pack '\(order.entry.id)'", sparing: [order.entry.id]) { events in
      note?.withLock { $0.removed += events.compactMap(\.purgedPack) }
      tell(events)
    }
  }

  /// Reports a new version.
  func finish(_ installed: InstalledPack, _ cost: InstallCost) {
    note?.withLock { $0.cost = cost }
    tell([.installed(installed, cost)])
  }

  // MARK: Checks

  /// Opens the file.
  ///
  /// An error about keys or versions is thrown only if the file's digest matches the manifest. Otherwise, a forged header could say that another key
  /// is needed, and the app would keep the file until it has that key.
  private func open(_ entry: ManifestPack, keys: any KeyProvider) async throws(PackError) -> Pack {
    do throws(PackError) {
      return try await Pack.open(file.path, keys: keys, files: directory.files, backend: directory.backend)
    } catch {
      guard [.wrongKey, .notWrapped, .noKey, .noUsableKey, .unsupported, .limitExceeded].contains(error.code) else { throw error }
      try await WorkerPool.value { (pool) throws(PackError) in try self.checkDigest(entry, pool: pool) }
      throw error
    }
  }

  /// Compares the SHA-256 of the whole file with the manifest.
  private func checkDigest(_ entry: ManifestPack, pool: WorkerPool) throws(PackError) {
    let found = try file.digest(of: directory.files.openFile(file.path).file, each: pool.checkpoint)
    guard found == entry.sha256 else { throw PackError.digestMismatch(found, entry).about(file.path) }
  }

  /// - Returns: what is to be installed, and the version if the device has it already.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired``, ``PackError/Code/versionFailed``, or as
  ///   ``StoreManifests/entry(_:in:)``.
  private func order() throws(PackError) -> (order: InstallOrder, present: InstalledPack?) {
    let entry = try manifests.entry(id, in: try manifests.installable().manifest)
    let order = InstallOrder(entry: entry, mode: mode ?? entry.install)
    let record = try directory.record(id)
    try order.checkFailure(record)
    guard let record, let present = try order.present(in: record, of: directory) else { return (order, nil) }
    return (order, directory.installed(present, of: record))
  }

  /// Returns whether the file is a delta. A full pack has the size that the manifest says.
  ///
  /// - Throws: if the file has the wrong size, as after an incomplete transfer or if a web page was downloaded instead. The error is more helpful than
  ///   one about the header.
  private func isDelta(_ order: InstallOrder) throws(PackError) -> Bool {
    do throws(PackError) {
      try checkSize(order.entry)
      return false
    } catch {
      guard error.code == .truncated || error.code == .wrongPack else { throw error }
      return try isDelta(unless: error)
    }
  }

  /// - Throws: the error if the header is not that of a delta.
  private func isDelta(unless failure: PackError) throws(PackError) -> Bool {
    let start: PackStart
    do throws(PackError) {
      start = try PackStart(file.path, files: directory.files)
    } catch {
      throw error.code == .cannotRead || error.code == .missingInput ? error : failure
    }
    guard start.header.kind == .delta else { throw failure }
    return true
  }

  private func checkSize(_ entry: ManifestPack) throws(PackError) {
    let status = try directory.files.status(of: file.path)
    guard status.kind == .file, status.size != entry.size else { return }
    let isCut = status.size < entry.size
    throw PackError(
      isCut ? .truncated : .wrongPack, "\(file.path) is \(status.size) bytes, but the manifest says \(entry.size)",
      advice: .fetchAgain)
  }

  private func checkDigest(of pack: Pack, _ order: InstallOrder, pool: WorkerPool) throws(PackError) {
    let size = order.entry.size
    try pack.checkDigest(against: order.entry) { (done) throws(PackError) in
      try pool.checkpoint()
      progress?(PackProgress(phase: .verifying, done: done, total: size))
    }
    progress?(PackProgress(phase: .verifying, done: size, total: size))
  }

  /// Copies the file to a name in the store, and compares the SHA-256 of what was written with the manifest: the file may change during the copy.
  private func copy(_ open: OpenFile, _ order: InstallOrder, _ found: Examination, to name: String, pool: WorkerPool) throws(PackError) {
    let entry = order.entry
    let handler = found.isChecked ? nil : progress
    let digest = try file.copy(open, size: entry.size, to: name) { (done) throws(PackError) in
      try pool.checkpoint()
      handler?(PackProgress(phase: .verifying, done: done, total: entry.size))
    }
    guard digest != entry.sha256 else { return }
    guard found.isChecked else { throw PackError.digestMismatch(digest, entry).about(file.path) }
    throw PackError(.sourceChanged, of: file.path, "changed while it was being installed", advice: .tryAgain)
  }

  /// Returns the number of bytes needed on the volume and in the store.
  ///
  /// - Parameter tree: what the pack makes if it is unpacked. Nil before the pack was opened: then the manifest says it.
  static func needs(_ entry: ManifestPack, _ mode: InstallMode, isMovable: Bool, tree: TreeCount? = nil) -> StoreSpace.Needs {
    let blocks = (entry.size.adding(4095)) / 4096 * 4096
    return switch mode {
    case .packed: StoreSpace.Needs(volume: isMovable ? 0 : blocks, store: blocks)
    case .unpacked:
      StoreSpace.Needs(volume: tree?.diskSize ?? entry.installSize, store: tree?.diskSize ?? entry.installSize)
    }
  }

  // MARK: Writing

  private func prepare(_ pack: Pack, _ order: InstallOrder, _ found: Examination) async throws(PackError) -> Candidate {
    guard order.mode == .unpacked else { return try await preparePacked(try pack.source.file, order, found) }
    let entry = order.entry
    return try await stage(order, ending: "") { (name, content) throws(PackError) in
      try pack.checkContentSize(entry.contentSize)
      let path = directory.path(directory.place(order.itemName))
      let output = try await WorkerPool.value { (_) throws(PackError) in
        try OutputDirectory(ownedAs: name, in: directory.handle, path: path, files: directory.files)
      }
      try await TreeWalk.run(pack, into: output, jobs: nil, phase: .unpacking, progress: progress)
      progress?(PackProgress(phase: .syncing, done: pack.contentSize, total: pack.contentSize))
      try await WorkerPool.value { (_) throws(PackError) in try output.commit() }
      content.size = entry.contentSize
    }
  }

  private func preparePacked(_ open: OpenFile, _ order: InstallOrder, _ found: Examination) async throws(PackError) -> Candidate {
    if found.isMovable {
      var content = Self.content(order)
      content.sizeOnDevice = try await WorkerPool.value { (_) throws(PackError) in try file.status(of: open).allocatedSize }
      return Candidate(staged: nil, content: content)
    }
    return try await stage(order, ending: ".pack") { (name, _) throws(PackError) in
      try await WorkerPool.value { (pool) throws(PackError) in try copy(open, order, found, to: name, pool: pool) }
    }
  }

  private static func content(_ order: InstallOrder) -> PackRecord.Content {
    let entry = order.entry
    var content = PackRecord.Content(
      bytes: entry.bytes, mode: order.mode, size: entry.size, sizeOnDevice: 0, contentRoot: entry.contentRoot, isProven: false)
    content.sealedBy = entry.opener?.sha256
    return content
  }

  /// Writes content in `staging`, which is emptied after an error.
  private func stage(
    _ order: InstallOrder, ending: String, _ write: (_ name: String, inout PackRecord.Content) async throws(PackError) -> Void
  ) async throws(PackError) -> Candidate {
    let name = directory.freshName(in: .staging, ending: ending)
    var content = Self.content(order)
    do throws(PackError) {
      try await write(name, &content)
      content.sizeOnDevice = try await WorkerPool.value { (_) throws(PackError) in try directory.sizeOnDevice(name) }
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw error
    }
    return Candidate(staged: name, content: content, cost: InstallCost(written: content.size))
  }

  /// Moves the candidate into place and records it.
  ///
  /// - Returns: nil if the caller's file is on another volume. Then nothing changed.
  private func place(
    _ candidate: Candidate, _ order: InstallOrder, _ open: OpenFile, _ tree: TreeCount?
  ) async throws(PackError) -> InstalledPack? {
    let needs = Self.needs(order.entry, order.mode, isMovable: candidate.staged == nil, tree: tree)
    let arrival = Placement.Arrival(staged: candidate.staged, file: file, open: open, item: order.itemName)
    return try await Placement(
      directory: directory, manifests: manifests, order: order, content: candidate.content, needs: needs, note: note
    ).run(arrival)
  }

  // MARK: The caller's file

  /// Removes the caller's file, whose pack is installed already.
  private func take(_ file: InstallFile, of order: InstallOrder, _ pool: WorkerPool) throws(PackError) {
    guard let status = try directory.status(outside: file.path), status.kind == .file else { return }
    // If the caller's path is the installed file itself, it is not removed.
    if status.linkCount == 1, try directory.isOwn(status, of: id) { return }
    let start = try PackStart(file.path, files: directory.files)
    var expected = [(order.entry.size, order.entry.sha256)]
    if start.header.kind == .delta {
      expected = order.entry.deltas.map { ($0.size, $0.sha256) }
    }
    let advice = PackError.Advice.developer("the file was not removed; the pack that the manifest names is installed already")
    guard expected.contains(where: { $0.0 == start.layout.packSize }),
      start.header.kind == .delta || start.header.packVersion == order.entry.version
    else {
      throw PackError(.wrongPack, of: file.path, "is not the pack that the manifest names", advice: advice)
    }
    let digest = try file.digest(of: start.file, each: pool.checkpoint)
    guard expected.contains(where: { $0.1 == digest }) else {
      throw PackError(.digestMismatch, of: file.path, "is not the pack that the manifest names", advice: advice)
    }
    file.remove()
  }
}

/// The side results of an installation.
package struct InstallNote: Sendable {
  /// A mark that keeps the version in use, made before any other process could remove it. Nil if the version was installed already.
  package var mark: UseMark?
  /// The versions that were removed to make room.
  package var removed: [InstalledPack] = []
  /// What was written. Nothing if the version was installed already.
  package var cost = InstallCost()

  package init() {}
}
