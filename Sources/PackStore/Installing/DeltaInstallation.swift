/// Installs a version from a delta over installed ones: as a new tree beside the old one, or as a new pack file.
struct DeltaInstallation: Sendable {
  private let installation: Installation
  private let order: InstallOrder
  private let file: InstallFile

  private var directory: StoreDirectory { installation.directory }
  private var files: any FileSystem { directory.files }
  private var id: String { order.entry.id }

  init(_ installation: Installation, _ order: InstallOrder) {
    self.installation = installation
    self.order = order
    file = installation.file
  }

  /// An installed version of the pack, or of another one.
  private struct Held: Sendable {
    let content: PackRecord.Content
    let record: PackRecord
  }

  /// The installed versions that the delta is applied to.
  private struct Bases: Sendable {
    let held: [Held]
    /// Keeps them on the device.
    let mark: UseMark
    let opened: [any DeltaBase]
  }

  /// - Throws: ``PackError/Code/wrongBase`` with the reason if the versions that the delta needs are not installed, are damaged or differ, or if the
  ///   full pack would take less space, ``PackError/Code/wrongPack`` for a delta that the manifest does not offer, and the errors of
  ///   ``AssetStore/install(_:as:taking:mode:progress:)``.
  func run(keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    let (offer, start) = try await WorkerPool.value { (pool) throws(PackError) in try self.identify(pool) }
    let bases = try await bases(of: offer, keys: keys)
    defer { withExtendedLifetime(bases.mark) {} }
    let given = try await keys.checkedKey(for: KeyRequest(start, path: file.path))
    let delta = try await WorkerPool.value { (_) throws(PackError) in
      try DeltaPack(PackSource(start, path: file.path, key: given, files: files, backend: directory.backend))
    }
    guard delta.head.target == order.entry.contentRoot else {
      throw refusal("makes content \(delta.head.target.prefix(8).hex), but the manifest lists another one")
    }
    switch order.mode {
    case .packed: return try await rewrite(delta, over: bases, key: given)
    case .unpacked: return try await unpack(delta, over: bases)
    }
  }

  // MARK: The file

  /// Finds the offer that the file is, and reads all of its bytes, before anything in it is decrypted.
  private func identify(_ pool: WorkerPool) throws(PackError) -> (ManifestDelta, PackStart) {
    let start = try PackStart(file.path, files: files)
    guard start.header.kind == .delta else { throw refusal("is not a delta") }
    let size = start.layout.packSize
    guard order.entry.deltas.contains(where: { $0.size == size }) else {
      throw refusal("is \(size) bytes, and the manifest lists no such delta to pack '\(id)'")
    }
    guard let name = try? PackName(id), try PackID.bytes(for: name, backend: directory.backend) == start.header.packID else {
      throw refusal("was made under another name than '\(id)'")
    }
    guard start.header.packVersion == order.entry.version else { throw refusal("is a delta to another version than the manifest lists") }
    installation.progress?(PackProgress(phase: .verifying, done: 0, total: size))
    let digest = try file.digest(of: start.file, each: pool.checkpoint)
    installation.progress?(PackProgress(phase: .verifying, done: size, total: size))
    guard let offer = order.entry.deltas.first(where: { $0.sha256 == digest && $0.size == size }) else {
      throw PackError(
        .digestMismatch, of: file.path, "has SHA-256 \(digest.hex), and the manifest lists no such delta to pack '\(id)'",
        advice: .fetchAgain)
    }
    return (offer, start)
  }

  private func refusal(_ fault: String) -> PackError { PackError(.wrongPack, of: file.path, fault, advice: .fetchFullPack) }

  // MARK: Bases

  private func wrongBase(_ fault: String) -> PackError { PackError(.wrongBase, of: "pack '\(id)'", fault, advice: .fetchFullPack) }

  /// Finds and opens the installed versions that the delta needs. Those that are kept encrypted are read whole: their digests must be those that were
  /// installed. Of a tree, every file is read.
  private func bases(of offer: ManifestDelta, keys: any KeyProvider) async throws(PackError) -> Bases {
    let (held, mark) = try await WorkerPool.settled { () throws(PackError) in try hold(offer.bases) }
    var opened: [any DeltaBase] = []
    for base in held {
      do throws(PackError) {
        opened.append(try await open(base.content, in: base.record, keys: keys))
      } catch {
        // What cannot be read now may be intact: on a locked device, for example.
        guard ![.cancelled, .cannotRead, .internalError].contains(error.code) else { throw error }
        throw wrongBase("has a delta over \(title(of: base)), which cannot be used: \(error.message)")
      }
    }
    return Bases(held: held, mark: mark, opened: opened)
  }

  private func title(of base: Held) -> String {
    "version \(base.content.bytes.version)" + (base.record.id == id ? "" : " of pack '\(base.record.id)'")
  }

  /// Chooses a version for each content root, and keeps them on the device.
  private func hold(_ roots: [[UInt8]]) throws(PackError) -> ([Held], UseMark) {
    try directory.withLockIfWritable { () throws(PackError) in
      let record = try directory.record(id) ?? PackRecord(id: id)
      var held: [Held] = []
      for root in roots { held.append(try choose(root, record)) }
      return (held, directory.uses.open(held.map { $0.record.itemName($0.content) }))
    }
  }

  /// Returns the version with a content root: first one that is kept as the new one is to be.
  private func choose(_ root: [UInt8], _ record: PackRecord) throws(PackError) -> Held {
    if let own = try present(root, in: record, or: { _ in true }) { return own }
    if let other = try order.entry.basePack.flatMap({ (id) throws(PackError) in try directory.record(id) }),
      let found = try present(root, in: other, or: { !other.hasFailed($0.bytes) })
    {
      return found
    }
    guard let version = record.contents.first(where: { $0.contentRoot == root })?.bytes.version else {
      throw wrongBase("has a delta over content \(root.prefix(8).hex), which no installed version has")
    }
    throw wrongBase("has a delta over version \(version), which is no longer on the device")
  }

  private func present(
    _ root: [UInt8], in record: PackRecord, or isUsable: (PackRecord.Content) -> Bool
  ) throws(PackError) -> Held? {
    var present: [PackRecord.Content] = []
    for content in record.contents where content.contentRoot == root && !content.isSealed && isUsable(content) {
      if try directory.isPresent(content, of: record) { present.append(content) }
    }
    let best = present.min { ($0.mode == order.mode ? 0 : 1, $0.bytes.version) < ($1.mode == order.mode ? 0 : 1, $1.bytes.version) }
    return best.map { Held(content: $0, record: record) }
  }

  private func open(
    _ content: PackRecord.Content, in record: PackRecord, keys: any KeyProvider
  ) async throws(PackError) -> any DeltaBase {
    guard content.mode == .packed else {
      return try await WorkerPool.value { (pool) throws(PackError) in
        let installed = directory.installed(content, of: record)
        let tree = try BaseTree(
          try directory.openTree(installed).open(), path: installed.path, files: files, backend: directory.backend,
          checkpoint: pool.checkpoint)
        guard tree.contentRoot == content.contentRoot else {
          throw PackError(.wrongBase, "version \(content.bytes.version) does not have the files that were installed")
        }
        return tree
      }
    }
    let fault = try await WorkerPool.value { (pool) throws(PackError) in
      try ContentCheck(directory: directory, pool: pool).fault(of: content, in: record, .thorough)
    }
    if let fault { throw PackError(.wrongBase, "version \(content.bytes.version) \(fault.text)") }
    let keys =
      try content.opener.map { (opener) throws(PackError) -> any KeyProvider in
        OpenerKeys(try Opener(parsing: opener), over: keys)
      } ?? keys
    return try await Pack.open(directory.path(of: content, in: record), keys: keys, files: files, backend: directory.backend)
  }

  /// Returns the error for a base that changed after it was opened.
  private func fault(_ error: PackError) -> PackError {
    switch error.code {
    // Also if it needs more work, or more space, than it is worth.
    case .wrongBase, .limitExceeded: wrongBase("cannot be made by a delta: \(error.message)")
    case .sourceChanged, .missingInput: wrongBase("has a delta over a version that changed meanwhile: \(error.message)")
    case .authenticationFailed, .digestMismatch, .damagedPayload:
      error.subject == file.path ? error : wrongBase("has a delta over a version that changed meanwhile: \(error.message)")
    default: error
    }
  }

  // MARK: Packed

  /// Writes the target as a pack file.
  private func rewrite(_ delta: DeltaPack, over bases: Bases, key given: borrowing PackKey) async throws(PackError) -> InstalledPack {
    let stanzas = delta.source.stanzas
    guard
      let key = try given.key(
        stanzas.keyID, ofPack: delta.source.header.packID, version: delta.source.header.packVersion, backend: directory.backend)
    else {
      throw PackError(
        .wrongKey, of: "pack '\(id)'",
        "was made with key \(stanzas.keyID), and cannot be made from a delta with key \(given.id), for which it is wrapped",
        advice: .giveKey(stanzas.keyID))
    }
    let limit = PackRewriter.largestSize(for: order.entry.size)
    let room = StoreSpace.Needs(volume: limit, store: limit)
    try await WorkerPool.settled { () throws(PackError) in try installation.makeRoom(for: room, order) }
    let name = directory.freshName(in: .staging, ending: ".pack")
    var content = content(.packed)
    do throws(PackError) {
      let stream = try await write(delta, over: bases, to: name, key: key, limit: limit)
      (content.rewritten, content.size) = stream
      content.sizeOnDevice = try await WorkerPool.settled { () throws(PackError) in try directory.sizeOnDevice(name) }
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw fault(error)
    }
    let needs = StoreSpace.Needs(volume: 0, store: content.sizeOnDevice)
    let installed = try await place(name, content, as: PackRecord(id: id).itemName(content), needs)
    installation.finish(installed, InstallCost(written: content.size))
    return installed
  }

  /// - Returns: The SHA-256 and the size of the file.
  private func write(
    _ delta: DeltaPack, over bases: Bases, to name: String, key: consuming PackKey, limit: UInt64
  ) async throws(PackError) -> ([UInt8], UInt64) {
    let path = directory.path(name)
    let key = Shared(key)
    let output = try await WorkerPool.settled { () throws(PackError) in
      try writing(path, files.open(name, .create(mode: 0o644), in: directory.handle))
    }
    let made = try await PackRewriter.write(
      delta, over: bases.opened, to: output, path: path, key: key.key.copy(), limit: limit, contentLimit: order.entry.contentSize,
      progress: installation.progress
    ) { (target) throws(PackError) in try check(target) }
    try await WorkerPool.value { (_) throws(PackError) in
      // Read as any other pack, so that only what can be read replaces something that can.
      try Pack(path, key: key.key, files: files, backend: directory.backend).check(against: order.entry, isRewritten: true)
    }
    return (made.sha256, made.size)
  }

  /// Throws if the tree is not the one that the manifest names.
  private func check(_ target: borrowing DeltaTarget) throws(PackError) {
    guard target.contentSize == order.entry.contentSize, UInt64(target.count) == order.entry.files else {
      throw refusal(
        "makes \(target.count) entries with \(target.contentSize) bytes, but the manifest says \(order.entry.files) with "
          + "\(order.entry.contentSize)")
    }
  }

  // MARK: Unpacked

  private func unpack(_ delta: DeltaPack, over bases: Bases) async throws(PackError) -> InstalledPack {
    let name = directory.freshName(in: .staging)
    var content = content(.unpacked)
    content.size = order.entry.contentSize
    // A file with names in two packs would count in both, and removing one of them would free nothing.
    let own = zip(bases.held, bases.opened).filter { $0.0.record.id == id }
    let made: UnpackedDelta
    do throws(PackError) {
      let unpacking = DeltaUnpacking(
        delta, over: bases.opened, linking: Set(own.map(\.1.basePath)), progress: installation.progress)
      made = try await unpacking.run(contentLimit: order.entry.contentSize) { (target, tree) throws(PackError) in
        try check(target)
        return try prepare(name, for: tree)
      }
      try await WorkerPool.value { (_) throws(PackError) in try made.output.commit() }
      for (base, opened) in own {
        if let size = made.linkedSpace[opened.basePath] { content.links.append(PackRecord.Link(bytes: base.content.bytes, size: size)) }
      }
      let whole = try await WorkerPool.value { (_) throws(PackError) in try directory.sizeOnDevice(name) }
      content.sizeOnDevice = whole.less(content.links.reduce(0) { $0.adding($1.size) })
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw fault(error)
    }
    let needs = StoreSpace.Needs(volume: made.tree.diskSize, store: made.tree.diskSize)
    let installed = try await place(name, content, as: order.itemName, needs)
    let written = order.entry.contentSize.less(made.sharedBytes)
    installation.finish(installed, InstallCost(written: written, sharedFiles: made.sharedFiles, copiedFiles: made.copiedFiles))
    return installed
  }

  /// Makes a directory in `staging` for a tree.
  private func prepare(_ name: String, for tree: TreeCount) throws(PackError) -> OutputDirectory {
    try attributing(to: file.path) { () throws(PackError) in try tree.check(against: order.entry) }
    try installation.makeRoom(for: StoreSpace.Needs(volume: tree.diskSize, store: tree.diskSize), order)
    return try OutputDirectory(ownedAs: name, in: directory.handle, path: directory.path(directory.place(order.itemName)), files: files)
  }

  // MARK: Place

  private func content(_ mode: InstallMode) -> PackRecord.Content {
    PackRecord.Content(
      bytes: order.entry.bytes, mode: mode, size: 0, sizeOnDevice: 0, contentRoot: order.entry.contentRoot, isProven: false)
  }

  /// Moves what was made into its place, and removes the caller's file if it was to be moved.
  private func place(
    _ name: String, _ content: PackRecord.Content, as item: String, _ needs: StoreSpace.Needs
  ) async throws(PackError) -> InstalledPack {
    let placement = Placement(
      directory: directory, manifests: installation.manifests, order: order, content: content, needs: needs, note: installation.note)
    guard let installed = try await placement.run(Placement.Arrival(staged: name, item: item)) else {
      throw PackError(.internalError, of: directory.path(name), "could not be moved into place")
    }
    if installation.taking == .moving { await WorkerPool.settled { file.remove() } }
    return installed
  }
}
