import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackReading
import PackTrust
import PackWork

/// Installs one pack file: checks everything, makes room, writes the content, and moves it into place with its record.
struct Installation: Sendable {
  let directory: StoreDirectory
  let manifests: StoreManifests
  let file: String
  let id: String
  let taking: Taking
  /// The requested mode. If nil, the manifest decides.
  let mode: InstallMode?
  let progress: ProgressHandler?
  /// Receives side results of the installation. Nil if the caller does not need them.
  var note: Monitor<InstallNote>?
  /// Receives each change of the store right after it happened.
  let tell: @Sendable ([StoreEvent]) -> Void

  /// The manifest entry to install, and the version if the device has it already.
  fileprivate struct Order: Sendable {
    let entry: ManifestPack
    let mode: InstallMode
    let present: InstalledPack?
  }

  /// Content that is ready to be moved into place.
  private struct Candidate: Sendable {
    /// Its name in `staging`. Nil if the caller's file itself is to be renamed.
    var staged: String?
    var content: PackRecord.Content
  }

  func run(keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    let order = try await WorkerPool.settled { () throws(PackError) in try self.order() }
    if let present = order.present {
      try await takeFile(of: order)
      return present
    }
    do throws(PackError) {
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

  private func install(_ order: Order, keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    try await WorkerPool.settled { () throws(PackError) in try self.checkSize(order.entry) }
    let pack = try await open(order.entry, keys: keys)
    let (isMovable, tree) = try await WorkerPool.value { (pool) throws(PackError) in
      try pack.check(against: order.entry)
      let isMovable = try self.isMovable(pack)
      try self.checkDigest(of: pack, order, pool: pool)
      let tree = order.mode == .unpacked ? try pack.measureTree(against: order.entry) : nil
      tell(try StoreTrials(directory).makeWay(for: order.entry.bytes, of: id))
      let needs = Self.needs(order.entry, order.mode, isMovable: isMovable, tree: tree)
      try StoreSpace(directory, manifests).makeRoom(for: needs, of: "pack '\(order.entry.id)'", sparing: [order.entry.id]) { events in
        note?.withLock { $0.removed += events.compactMap(\.purgedPack) }
        tell(events)
      }
      // The content of a file that is moved may not be on the disk yet.
      if order.mode == .packed, isMovable { try self.sync(pack.source.file) }
      return (isMovable, tree)
    }
    var candidate = try await prepare(pack, order, isMovable: isMovable)
    var result = try await place(candidate, order, pack, tree)
    if result == nil {
      // The file is on another volume, although its device number is the same.
      candidate = try await prepare(pack, order, isMovable: false)
      result = try await place(candidate, order, pack, tree)
    }
    guard let result else { throw PackError(.internalError, of: file, "was copied into the store, but could not be moved into place") }
    if taking == .moving, candidate.staged != nil { await WorkerPool.settled { removeFile() } }
    tell([.installed(result)])
    return result
  }

  // MARK: Checks

  /// Opens the file.
  ///
  /// An error about keys or versions is thrown only if the file's digest matches the manifest. Otherwise, a forged header could say that another key
  /// is needed, and the app would keep the file until it has that key.
  private func open(_ entry: ManifestPack, keys: any KeyProvider) async throws(PackError) -> Pack {
    do throws(PackError) {
      return try await Pack.open(file, keys: keys, files: directory.files, backend: directory.backend)
    } catch {
      guard [.wrongKey, .notWrapped, .noKey, .noUsableKey, .unsupported, .limitExceeded].contains(error.code) else { throw error }
      try await WorkerPool.value { (pool) throws(PackError) in try self.checkDigest(entry, pool: pool) }
      throw error
    }
  }

  /// Compares the SHA-256 of the whole file with the manifest.
  private func checkDigest(_ entry: ManifestPack, pool: WorkerPool) throws(PackError) {
    let found = try digest(of: directory.files.openFile(file).file, pool: pool)
    guard found == entry.sha256 else { throw PackError.digestMismatch(found, entry).about(file) }
  }

  /// Returns the SHA-256 of a whole file.
  private func digest(of opened: OpenFile, pool: WorkerPool) throws(PackError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let digest = try directory.backend.makeDigest()
    _ = try InstalledTree(files: directory.files, backend: directory.backend).hash(
      opened, by: digest, buffer: &buffer, path: file, each: pool.checkpoint)
    return try digest.finish()
  }

  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired``, ``PackError/Code/versionFailed``, or as
  ///   ``StoreManifests/entry(_:in:)``.
  private func order() throws(PackError) -> Order {
    let entry = try manifests.entry(id, in: try manifests.installable().manifest)
    let mode = mode ?? entry.install
    let record = try directory.record(id)
    try checkFailure(entry, record)
    var present: InstalledPack?
    if let record, let content = record.content(entry.bytes), content.mode == mode,
      try directory.status(directory.place(record.itemName(content))) != nil
    {
      present = directory.installed(content, of: record)
    }
    return Order(entry: entry, mode: mode, present: present)
  }

  private func checkFailure(_ entry: ManifestPack, _ record: PackRecord?) throws(PackError) {
    if let failure = record?.failure(of: entry.bytes) { throw failure }
  }

  /// Throws if the file has the wrong size, as after an incomplete transfer or if a web page was downloaded instead. The error is more helpful
  /// than one about the header.
  private func checkSize(_ entry: ManifestPack) throws(PackError) {
    let status: FileStatus
    do {
      status = try directory.files.status(of: file, in: nil, following: .followed)
    } catch {
      throw error.reading(file)
    }
    guard status.kind == .file, status.size != entry.size else { return }
    let isCut = status.size < entry.size
    throw PackError(
      isCut ? .truncated : .wrongPack, "\(file) is \(status.size) bytes, but the manifest says \(entry.size)",
      advice: .fetchAgain)
  }

  /// Returns whether the caller's file may be renamed into the store.
  private func isMovable(_ pack: Pack) throws(PackError) -> Bool {
    guard taking == .moving else { return false }
    let status: FileStatus
    let mine: FileStatus
    let store: FileStatus
    do throws(FileFailure) {
      status = try directory.files.status(of: file, in: nil, following: .asThemselves)
      mine = try directory.files.status(of: pack.source.file)
      store = try directory.files.status(of: directory.handle)
    } catch {
      throw error.reading(file)
    }
    guard status.kind == .file else {
      throw PackError(
        .usage, of: file, "is a symbolic link, which cannot be moved into a store",
        advice: .developer("pass the path of the file itself, or have the file copied"))
    }
    try checkIdentity(status, mine)
    // If the file has another hard link, its content could be changed through that link later.
    return status.device == store.device && status.linkCount == 1
  }

  private func checkIdentity(_ named: FileStatus, _ open: FileStatus) throws(PackError) {
    guard named.device == open.device, named.inode == open.inode else {
      throw PackError(.sourceChanged, of: file, "was replaced while it was being installed", advice: .tryAgain)
    }
  }

  private func checkDigest(of pack: Pack, _ order: Order, pool: WorkerPool) throws(PackError) {
    let size = order.entry.size
    try pack.checkDigest(against: order.entry) { (done) throws(PackError) in
      try pool.checkpoint()
      progress?(PackProgress(phase: .verifying, done: done, total: size))
    }
    progress?(PackProgress(phase: .verifying, done: size, total: size))
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

  private func sync(_ file: OpenFile) throws(PackError) {
    do {
      try directory.files.sync(file)
    } catch {
      throw error.writing(self.file)
    }
  }

  // MARK: Writing

  private func prepare(_ pack: Pack, _ order: Order, isMovable: Bool) async throws(PackError) -> Candidate {
    let entry = order.entry
    var content = PackRecord.Content(
      bytes: entry.bytes, mode: order.mode, size: entry.size, sizeOnDevice: 0, contentRoot: nil, isProven: false)
    if order.mode == .packed, isMovable {
      content.sizeOnDevice = try await WorkerPool.value { (_) throws(PackError) in try self.status(of: pack.source.file).allocatedSize }
      return Candidate(staged: nil, content: content)
    }
    let name = directory.freshName(in: .staging, ending: order.mode == .packed ? ".pack" : "")
    do throws(PackError) {
      switch order.mode {
      case .packed:
        try await WorkerPool.value { (pool) throws(PackError) in try self.copy(pack, entry, to: name, pool: pool) }
      case .unpacked:
        try pack.checkContentSize(entry.contentSize)
        let path = directory.path(directory.place(order.itemName))
        let output = try await WorkerPool.value { (_) throws(PackError) in
          try OutputDirectory(ownedAs: name, in: directory.handle, path: path, files: directory.files)
        }
        try await TreeWalk.run(pack, into: output, jobs: nil, phase: .unpacking, progress: progress)
        progress?(PackProgress(phase: .syncing, done: pack.contentSize, total: pack.contentSize))
        try await WorkerPool.value { (_) throws(PackError) in try output.commit() }
        content.size = entry.contentSize
        content.contentRoot = entry.contentRoot
      }
      content.sizeOnDevice = try await WorkerPool.value { (_) throws(PackError) in
        do throws(FileFailure) {
          return try InstalledTree(files: directory.files, backend: directory.backend).sizeOnDevice(of: name, in: directory.handle)
        } catch {
          throw error.reading(directory.path(name))
        }
      }
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw error
    }
    return Candidate(staged: name, content: content)
  }

  private func status(of file: OpenFile) throws(PackError) -> FileStatus {
    do {
      return try directory.files.status(of: file)
    } catch {
      throw error.reading(self.file)
    }
  }

  /// Copies the pack file, and checks the digest of the bytes written, because the file may change during the copy.
  private func copy(_ pack: Pack, _ entry: ManifestPack, to name: String, pool: WorkerPool) throws(PackError) {
    let files = directory.files
    let path = directory.path(name)
    let digest = try directory.backend.makeDigest()
    func failure(_ error: FileFailure, missing: UInt64) -> PackError {
      let free = (try? files.freeSpace(at: directory.handle)) ?? 0
      return error.writing(path, missingBytes: missing > free ? missing - free : nil)
    }
    let output: OpenFile
    do throws(FileFailure) {
      output = try files.open(name, .create(mode: 0o644), in: directory.handle)
      try files.reserve(entry.size, for: output)
    } catch {
      throw failure(error, missing: entry.size)
    }
    var buffer = [UInt8](repeating: 0, count: Int(min(entry.size, 1 << 20)))
    var offset: UInt64 = 0
    while offset < entry.size {
      try pool.checkpoint()
      let count = Int(min(entry.size - offset, UInt64(buffer.count)))
      do {
        var whole = buffer.mutableByteSpan
        var target = whole._mutatingExtracting(first: count)
        try files.readExactly(pack.source.file, at: offset, into: &target, name: file)
      }
      let piece = buffer.byteSpan.extracting(first: count)
      try digest.update(piece)
      do {
        try files.writeAll(output, at: offset, piece)
      } catch {
        throw failure(error, missing: entry.size - offset)
      }
      offset += UInt64(count)
    }
    guard try digest.finish() == entry.sha256 else {
      throw PackError(.sourceChanged, of: file, "changed while it was being installed", advice: .tryAgain)
    }
    do {
      try files.sync(output)
    } catch {
      throw failure(error, missing: 0)
    }
  }

  /// Moves the candidate into place and records it, unless another task or process installed the same in the meantime.
  ///
  /// - Returns: nil if the caller's file is on another volume. Then nothing changed.
  private func place(_ candidate: Candidate, _ order: Order, _ pack: Pack, _ tree: TreeCount?) async throws(PackError) -> InstalledPack? {
    do throws(PackError) {
      // From here on, the installation cannot be cancelled.
      guard !Task.isCancelled else { throw PackError(.cancelled, "cancelled") }
      return try await WorkerPool.settled { () throws(PackError) in
        try self.record(candidate, order, pack, tree)
      }
    } catch {
      if let staged = candidate.staged { await WorkerPool.settled { directory.empty([staged]) } }
      throw error
    }
  }

  private func record(_ candidate: Candidate, _ order: Order, _ pack: Pack, _ tree: TreeCount?) throws(PackError) -> InstalledPack? {
    let item = order.itemName
    var isIn = false
    var isKept = true
    let installed = try directory.change(id) { (record) throws(PackError) -> InstalledPack? in
      try checkFailure(order.entry, record)
      if let present = record.content(order.entry.bytes), present.mode == order.mode, try directory.status(directory.place(item)) != nil {
        isKept = false
        hold(item)
        return directory.installed(present, of: record)
      }
      guard record.contents.count < PackRecord.contentLimit else {
        throw PackError(
          .limitExceeded, "\(PackRecord.contentLimit) versions of pack '\(id)' are installed", advice: .closePack)
      }
      let needs = Self.needs(order.entry, order.mode, isMovable: candidate.staged == nil, tree: tree)
      try StoreSpace(directory, manifests).checkQuota(for: needs, of: id)
      if candidate.staged == nil {
        let (named, open) = (try directory.status(outside: file), try status(of: pack.source.file))
        guard let named else { throw PackError(.missingInput, of: file, "does not exist") }
        try checkIdentity(named, open)
      }
      // Before the pack is in the store: a crash in between leaves a version remembered that a manifest really listed.
      try manifests.note([order.entry])
      isIn = try directory.bringIn(candidate.staged ?? file, isOutside: candidate.staged == nil, as: item) { isIn = true }
      guard isIn else { return nil }
      let known = record.content(order.entry.bytes)
      var content = candidate.content
      content.isProven = known?.isProven ?? false
      record.contents.removeAll { $0.bytes == content.bytes }
      record.contents.append(content)
      record.delivery = order.entry.delivery
      hold(item)
      return directory.installed(content, of: record)
    } undo: {
      guard isIn else { return }
      if candidate.staged == nil {
        try? directory.files.rename(directory.path(directory.place(item)), to: file, in: nil)
      } else if let name = directory.discard(directory.place(item)) {
        directory.empty([name])
      }
    }
    if let staged = candidate.staged, !isKept { directory.empty([staged]) }
    return installed
  }

  /// Marks the version as in use for the caller, under the store's lock.
  private func hold(_ item: String) {
    note?.withLock { $0.mark = directory.uses.open(item) }
  }

  // MARK: The caller's file

  /// Removes the caller's file if its pack is installed already and the file was to be moved.
  private func takeFile(of order: Order) async throws(PackError) {
    guard taking == .moving else { return }
    try await WorkerPool.value { (pool) throws(PackError) in
      guard let status = try directory.status(outside: file), status.kind == .file else { return }
      // If the caller's path is the installed file itself, it is not removed.
      let own = try directory.status(directory.place(order.itemName))
      if status.linkCount == 1, let own, own.device == status.device, own.inode == status.inode { return }
      let start = try PackStart(file, files: directory.files)
      guard start.layout.packSize == order.entry.size, start.header.packVersion == order.entry.version else {
        throw PackError(
          .wrongPack, of: file, "is not the pack that the manifest names",
          advice: .developer("the file was not removed; the pack that the manifest names is installed already"))
      }
      guard try digest(of: start.file, pool: pool) == order.entry.sha256 else {
        throw PackError(
          .digestMismatch, of: file, "is not the pack that the manifest names",
          advice: .developer("the file was not removed; the pack that the manifest names is installed already"))
      }
      removeFile()
    }
  }

  /// Removes the caller's file. Ignores errors, because the file is not part of the store.
  private func removeFile() {
    try? directory.files.remove(file, .file, in: nil)
  }
}

extension Installation.Order {
  fileprivate var itemName: String {
    ItemName(id: entry.id, version: entry.version, sha256: entry.sha256, mode: mode).text
  }
}

/// The side results of an installation.
package struct InstallNote: Sendable {
  /// A mark that keeps the version in use, made before any other process could remove it. Nil if the version was installed already.
  package var mark: UseMark?
  /// The versions that were removed to make room.
  package var removed: [InstalledPack] = []

  package init() {}
}
