/// Installs a version from deltas over installed ones.
///
/// If it stays packed, the files of the deltas are put beside what they are read over, or written as a new pack file if that is another pack. Otherwise
/// a new tree is made beside the old one.
struct DeltaInstallation: Sendable {
  private let installation: Installation
  private let order: InstallOrder

  private var directory: StoreDirectory { installation.directory }
  private var files: any FileSystem { directory.files }
  private var id: String { order.entry.id }

  init(_ installation: Installation, _ order: InstallOrder) {
    self.installation = installation
    self.order = order
  }

  /// A file of the caller that is, byte for byte, a delta that the manifest offers.
  private struct Delta: Sendable {
    let offer: ManifestDelta
    let file: InstallFile
    let start: PackStart
    /// What the store keeps so that opening the delta again need not decompress it.
    let digests = DigestBuffer()
  }

  /// An installed version of the pack, or of another one.
  private struct Held: Sendable {
    let content: PackRecord.Content
    let record: PackRecord
  }

  /// The installed versions that the first delta is read over.
  private struct Bases: Sendable {
    let held: [Held]
    /// Keeps them on the device.
    let mark: UseMark
    let opened: [any DeltaBase]

    /// Whether one of them is a version of another pack, which may be removed when nothing else needs it.
    func hasOthers(than id: String) -> Bool { held.contains { $0.record.id != id } }
  }

  /// - Throws: ``PackError/Code/wrongBase`` with the reason if the versions that the deltas need are not installed, are damaged or differ,
  ///   ``PackError/Code/tooManyDeltas``, ``PackError/Code/wrongPack`` for a delta that the manifest does not offer, and the errors of
  ///   ``AssetStore/install(_:as:taking:mode:progress:)``.
  func run(keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    let deltas = try await WorkerPool.value { (pool) throws(PackError) in try self.deltas(pool) }
    let bases = try await bases(of: deltas, keys: keys)
    return try await withExtendedUse(of: bases) { () async throws(PackError) in
      guard order.mode == .packed else { return try await unpack(deltas, over: bases, keys: keys) }
      let pack = try await open(deltas, over: bases, keys: keys)
      return try await bases.hasOthers(than: id) ? rewrite(deltas, pack, keys: keys) : keep(deltas, over: bases)
    }
  }

  private func withExtendedUse<Result>(
    of bases: Bases, _ body: () async throws(PackError) -> Result
  ) async throws(PackError) -> Result {
    defer { withExtendedLifetime(bases.mark) {} }
    return try await body()
  }

  // MARK: What is installed

  /// Identifies the files, and reads all of their bytes, before anything in them is decrypted.
  private func deltas(_ pool: WorkerPool) throws(PackError) -> [Delta] {
    let offers = order.entry.deltas
    if let count = installation.route?.count, installation.files.count != count {
      throw PackError(.usage, "\(installation.files.count) files were given for \(count) deltas")
    }
    var deltas: [Delta] = []
    for number in installation.files.indices {
      let file = installation.file(number)
      let start = try PackStart(file.path, files: files)
      let wanted = installation.route.map { [$0[number]] } ?? offers
      deltas.append(Delta(offer: try identify(start, file, among: wanted, pool), file: file, start: start))
    }
    try check(deltas.map(\.offer), offers)
    guard deltas.last?.start.header.packVersion == order.entry.version else {
      throw refusal(deltas.last?.file.path ?? "", "is a delta to another version than the manifest lists")
    }
    return deltas
  }

  /// Finds the offer that a file is, by its size and digest.
  private func identify(
    _ start: PackStart, _ file: InstallFile, among offers: [ManifestDelta], _ pool: WorkerPool
  ) throws(PackError) -> ManifestDelta {
    guard start.header.kind == .delta else { throw refusal(file.path, "is not a delta") }
    guard offers.contains(where: { $0.size == start.layout.packSize }) else {
      throw refusal(file.path, "is \(start.layout.packSize) bytes, and the manifest lists no such delta to pack '\(id)'")
    }
    guard let name = try? PackName(id), try PackID.bytes(for: name, backend: directory.backend) == start.header.packID else {
      throw refusal(file.path, "was made under another name than '\(id)'")
    }
    let size = start.layout.packSize
    installation.progress?(PackProgress(phase: .verifying, done: 0, total: size))
    let digest = try file.digest(of: start.file, each: pool.checkpoint)
    installation.progress?(PackProgress(phase: .verifying, done: size, total: size))
    guard let offer = offers.first(where: { $0.sha256 == digest && $0.size == size }) else {
      throw PackError(
        .digestMismatch, of: file.path, "has SHA-256 \(digest.hex), and the manifest lists no such delta to pack '\(id)'",
        advice: .fetchAgain)
    }
    return offer
  }

  /// Checks that the manifest offers all deltas, that each is read over what the one before makes, and that the last one makes the pack.
  private func check(_ route: [ManifestDelta], _ offers: [ManifestDelta]) throws(PackError) {
    guard !route.isEmpty, route.allSatisfy(offers.contains) else {
      throw refusal("pack '\(id)'", "has other deltas in the manifest than those given")
    }
    for (left, right) in zip(route, route.dropFirst()) where right.bases != [target(of: left)] {
      throw refusal("pack '\(id)'", "has deltas that do not lie over each other in the order given")
    }
    guard route.last.map(target) == order.entry.contentRoot else {
      throw refusal("pack '\(id)'", "is another edition than the delta makes")
    }
  }

  private func target(of delta: ManifestDelta) -> [UInt8] { delta.target ?? order.entry.contentRoot }

  private func refusal(_ subject: String, _ fault: String) -> PackError {
    PackError(.wrongPack, of: subject, fault, advice: .fetchFullPack)
  }

  // MARK: Bases

  private func wrongBase(_ fault: String) -> PackError { PackError(.wrongBase, of: "pack '\(id)'", fault, advice: .fetchFullPack) }

  /// Finds and opens the installed versions that the first delta needs. Those that are kept encrypted are read whole: their digests must be those that
  /// were installed. Of a tree, every file is read.
  private func bases(of deltas: [Delta], keys: any KeyProvider) async throws(PackError) -> Bases {
    let roots = deltas[0].offer.bases
    let unknown = try await unknownRoots(wanting: roots, keys: keys)
    let (held, mark) = try await WorkerPool.settled { () throws(PackError) in try hold(roots, unknown, deltaCount: deltas.count) }
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
  ///
  /// - Parameter known: the content roots of versions whose record does not have them.
  private func hold(
    _ roots: [[UInt8]], _ known: [PackRecord.Bytes: [UInt8]], deltaCount: Int
  ) throws(PackError) -> ([Held], UseMark) {
    try directory.withLockIfWritable { () throws(PackError) in
      let record = try directory.record(id) ?? PackRecord(id: id)
      var held: [Held] = []
      for root in roots { held.append(try choose(root, known, record)) }
      if order.mode == .packed {
        for base in held { try Self.checkDepth(of: [base.content], in: base.record, adding: deltaCount) }
      }
      return (held, directory.uses.open(held.flatMap { $0.record.allItems($0.content) }))
    }
  }

  /// Returns the version of a content root that is read over the fewest deltas. For a new tree, one that was unpacked comes first.
  private func choose(
    _ root: [UInt8], _ known: [PackRecord.Bytes: [UInt8]], _ record: PackRecord
  ) throws(PackError) -> Held {
    let found = record.contents.filter { ($0.contentRoot ?? known[$0.bytes]) == root }
    if found.isEmpty, let other = try order.entry.basePack.flatMap({ (id) throws(PackError) in try self.other(id, with: root) }) {
      return other
    }
    var present: [PackRecord.Content] = []
    for content in found where try directory.isPresent(content, of: record) { present.append(content) }
    let suitable = present.filter { order.mode == .unpacked || $0.mode == .packed }
    let best = suitable.min { left, right in
      (left.mode == order.mode ? 0 : 1, record.depth(left), left.bytes.version)
        < (right.mode == order.mode ? 0 : 1, record.depth(right), right.bytes.version)
    }
    if let best { return Held(content: best, record: record) }
    let content = "content \(root.prefix(8).hex)"
    guard let version = found.first?.bytes.version else { throw wrongBase("has a delta over \(content), which no installed version has") }
    throw wrongBase(
      present.isEmpty
        ? "has a delta over version \(version), which is no longer on the device"
        : "has a delta over version \(version), which was unpacked, so the delta cannot stay packed")
  }

  /// Returns the version of another pack that has a content root, if it is on the device: unpacked, or the one that is read over the fewest deltas.
  private func other(_ id: String, with root: [UInt8]) throws(PackError) -> Held? {
    guard let record = try directory.record(id) else { return nil }
    var present: [PackRecord.Content] = []
    for content in record.contents where content.contentRoot == root && !record.hasFailed(content.bytes) {
      if try directory.isPresent(content, of: record) { present.append(content) }
    }
    let best = present.min { left, right in
      (left.mode == .unpacked ? 0 : 1, record.depth(left)) < (right.mode == .unpacked ? 0 : 1, record.depth(right))
    }
    return best.map { Held(content: $0, record: record) }
  }

  /// Throws if too many deltas would lie over each other.
  private static func checkDepth(of bases: [PackRecord.Content], in record: PackRecord, adding count: Int) throws(PackError) {
    let depth = count + (bases.map { record.depth($0) }.max() ?? 0)
    guard depth <= Pack.mostDeltas else {
      throw PackError(
        .tooManyDeltas, of: "pack '\(record.id)'", "would be read over \(depth) deltas; at most \(Pack.mostDeltas) lie over each other",
        advice: .fetchFullPack)
    }
  }

  static func checkDepth(of content: PackRecord.Content, in record: PackRecord) throws(PackError) {
    try checkDepth(of: content.bases.compactMap(record.content), in: record, adding: content.layers.count)
  }

  /// Reads the content roots of versions that an earlier release of the store installed, if one of them may be wanted.
  private func unknownRoots(wanting roots: [[UInt8]], keys: any KeyProvider) async throws(PackError) -> [PackRecord.Bytes: [UInt8]] {
    guard let record = try await WorkerPool.settled({ () throws(PackError) in try directory.record(id) }),
      !roots.allSatisfy({ root in record.contents.contains { $0.contentRoot == root } })
    else { return [:] }
    var known: [PackRecord.Bytes: [UInt8]] = [:]
    for content in record.contents where content.contentRoot == nil {
      let stored = directory.stored(content, of: record)
      known[content.bytes] = try? await stored.open(keys: keys, in: directory).contentRoot
    }
    return known
  }

  private func open(
    _ content: PackRecord.Content, in record: PackRecord, keys: any KeyProvider
  ) async throws(PackError) -> any DeltaBase {
    guard content.mode == .packed else {
      return try await WorkerPool.value { (pool) throws(PackError) in
        let installed = directory.installed(content, of: record)
        let tree = try BaseTree(
          try directory.openTree(installed), path: installed.path, files: files, backend: directory.backend, checkpoint: pool.checkpoint)
        guard tree.contentRoot == content.contentRoot else {
          throw PackError(.wrongBase, "version \(content.bytes.version) does not have the files that were installed")
        }
        return tree
      }
    }
    let found = try await WorkerPool.value { (pool) throws(PackError) in
      try ContentCheck(directory: directory, pool: pool).faultOfAll(content, in: record, .thorough)
    }
    if let found { throw PackError(.wrongBase, "version \(found.version) \(found.fault.text)") }
    return try await directory.stored(content, of: record).open(keys: keys, in: directory)
  }

  // MARK: Opening

  /// Opens the deltas over each other. Reads all of them, and so proves the content root of each.
  ///
  /// - Parameter newFiles: Gets the new contents of the last delta.
  private func open(
    _ deltas: [Delta], over bases: Bases, keys: any KeyProvider, writing newFiles: NewFiles? = nil
  ) async throws(PackError) -> Pack {
    var below = bases.opened
    for (number, delta) in deltas.enumerated() {
      let isLast = number == deltas.count - 1
      let pack: Pack
      do throws(PackError) {
        pack = try await Pack.open(
          delta.start, path: delta.file.path, keys: keys, over: below,
          contentLimit: isLast ? order.entry.contentSize : Limits.contentSizeWithoutManifest,
          keeper: order.mode == .packed ? delta.digests : nil, newFiles: isLast ? newFiles : nil, files: files,
          backend: directory.backend)
      } catch {
        guard error.code == .wrongBase || error.code == .sourceChanged else { throw error }
        throw wrongBase("cannot be made by a delta: \(error.message)")
      }
      guard pack.contentRoot == target(of: delta.offer) else {
        throw refusal(delta.file.path, "makes content \(pack.contentRoot.prefix(8).hex), but the manifest lists another one")
      }
      if isLast {
        try await WorkerPool.value { (_) throws(PackError) in try pack.check(against: order.entry) }
        return pack
      }
      below = [pack]
    }
    preconditionFailure("a route has at least one delta")
  }

  // MARK: Packed

  private func keep(_ deltas: [Delta], over bases: Bases) async throws(PackError) -> InstalledPack {
    let movable = try await WorkerPool.value { (_) throws(PackError) in
      var movable: [Bool] = []
      for delta in deltas { movable.append(try delta.file.isMovable(delta.start.file)) }
      try installation.makeRoom(for: Self.needs(deltas, movable), order)
      return movable
    }
    for movable in [movable, deltas.map { _ in false }] {
      let arrivals = try await stage(deltas, movable)
      var content = PackRecord.Content(
        bytes: order.entry.bytes, mode: .packed, size: deltas.reduce(0) { $0.adding($1.offer.size) }, sizeOnDevice: 0,
        contentRoot: order.entry.contentRoot, isProven: false)
      content.layers = deltas.map { PackRecord.Layer(sha256: $0.offer.sha256, size: $0.offer.size) }
      content.bases = bases.held.map(\.content.bytes)
      content.sizeOnDevice = try await WorkerPool.settled { () throws(PackError) in try self.sizeOnDevice(deltas, arrivals) }
      let placement = Placement(
        directory: directory, manifests: installation.manifests, order: order, content: content, needs: Self.needs(deltas, movable),
        note: installation.note)
      guard let installed = try await placement.run(arrivals) else {
        // A file is on another volume, although its device number is the same.
        await WorkerPool.settled { directory.empty(arrivals.compactMap(\.staged)) }
        continue
      }
      await takeFiles(deltas, movable)
      var cost = InstallCost()
      for (delta, isMovable) in zip(deltas, movable) where !isMovable { cost.written = cost.written.adding(delta.offer.size) }
      cost.written = cost.written.adding(await WorkerPool.settled { keepDigests(of: deltas, arrivals) })
      installation.finish(installed, cost)
      return installed
    }
    throw PackError(.internalError, of: deltas[0].file.path, "was copied into the store, but could not be moved into place")
  }

  /// - Returns: the number of bytes that were written.
  private func keepDigests(of deltas: [Delta], _ arrivals: [Placement.Arrival]) -> UInt64 {
    var sum: UInt64 = 0
    for (delta, arrival) in zip(deltas, arrivals) {
      guard let bytes = delta.digests.bytes, StoredDigests(directory, arrival.item).keepIfPresent(bytes) else { continue }
      sum += UInt64(bytes.count)
    }
    return sum
  }

  private static func needs(_ deltas: [Delta], _ movable: [Bool]) -> StoreSpace.Needs {
    var (volume, store): (UInt64, UInt64) = (0, 0)
    for (delta, isMovable) in zip(deltas, movable) {
      let blocks = delta.offer.size.adding(4095) / 4096 * 4096
      store = store.adding(blocks)
      if !isMovable { volume = volume.adding(blocks) }
    }
    return StoreSpace.Needs(volume: volume, store: store)
  }

  /// Copies the files that cannot be moved to `staging`, and syncs the others.
  private func stage(_ deltas: [Delta], _ movable: [Bool]) async throws(PackError) -> [Placement.Arrival] {
    var arrivals: [Placement.Arrival] = []
    for (delta, isMovable) in zip(deltas, movable) {
      let item = ItemName(
        id: id, version: order.entry.version, sha256: order.entry.sha256, mode: .packed, own: (delta.offer.sha256, .delta)
      ).text
      var arrival = Placement.Arrival(staged: nil, file: delta.file, open: delta.start.file, item: item)
      if !isMovable { arrival.staged = directory.freshName(in: .staging, ending: ".delta") }
      arrivals.append(arrival)
      do throws(PackError) {
        try await WorkerPool.value { [arrival] (pool) throws(PackError) in
          guard let name = arrival.staged else { return try delta.file.sync(delta.start.file) }
          try delta.file.copy(delta.start.file, size: delta.offer.size, sha256: delta.offer.sha256, to: name, pool: pool)
        }
      } catch {
        await WorkerPool.settled { [arrivals] in directory.empty(arrivals.compactMap(\.staged)) }
        throw error
      }
    }
    return arrivals
  }

  private func sizeOnDevice(_ deltas: [Delta], _ arrivals: [Placement.Arrival]) throws(PackError) -> UInt64 {
    var sum: UInt64 = 0
    for (delta, arrival) in zip(deltas, arrivals) {
      let size =
        if let name = arrival.staged { try directory.sizeOnDevice(name) } else { try delta.file.status(of: delta.start.file).allocatedSize }
      sum = sum.adding(size)
    }
    return sum
  }

  /// Removes the caller's files that were copied or unpacked although they were to be moved.
  private func takeFiles(_ deltas: [Delta], _ moved: [Bool]) async {
    guard installation.taking == .moving else { return }
    await WorkerPool.settled { for (delta, isMoved) in zip(deltas, moved) where !isMoved { delta.file.remove() } }
  }

  // MARK: Rewritten

  /// Writes the pack as one file, because what it is read over belongs to another pack.
  private func rewrite(_ deltas: [Delta], _ pack: Pack, keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    guard let last = deltas.last else { preconditionFailure("a route has at least one delta") }
    let room = PackRewriting.room(for: order.entry.size)
    let needs = StoreSpace.Needs(volume: room, store: room)
    try await WorkerPool.settled { () throws(PackError) in try installation.makeRoom(for: needs, order) }
    let name = directory.freshName(in: .staging, ending: ".pack")
    var content = PackRecord.Content(
      bytes: order.entry.bytes, mode: .packed, size: 0, sizeOnDevice: 0, contentRoot: order.entry.contentRoot, isProven: false)
    do throws(PackError) {
      let rewriting = PackRewriting(directory: directory, id: id, limit: room, progress: installation.progress)
      let file = try await rewriting.run(to: name, as: last.start, path: last.file.path, keys: keys) { pack }
      (content.rewritten, content.size) = (file.sha256, file.size)
      content.sizeOnDevice = try await WorkerPool.settled { () throws(PackError) in try directory.sizeOnDevice(name) }
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw changedBase(error)
    }
    let placement = Placement(
      directory: directory, manifests: installation.manifests, order: order, content: content,
      needs: StoreSpace.Needs(volume: 0, store: content.sizeOnDevice), note: installation.note)
    guard let installed = try await placement.run([Placement.Arrival(staged: name, item: PackRecord(id: id).itemName(content))]) else {
      throw PackError(.internalError, of: directory.path(name), "could not be moved into place")
    }
    await takeFiles(deltas, deltas.map { _ in false })
    installation.finish(installed, InstallCost(written: content.size))
    return installed
  }

  // MARK: Unpacked

  private func unpack(_ deltas: [Delta], over bases: Bases, keys: any KeyProvider) async throws(PackError) -> InstalledPack {
    let name = directory.freshName(in: .staging)
    var content = PackRecord.Content(
      bytes: order.entry.bytes, mode: .unpacked, size: order.entry.contentSize, sizeOnDevice: 0, contentRoot: order.entry.contentRoot,
      isProven: false)
    let newFiles = NewFiles { (tree) throws(PackError) in try prepare(name, for: tree, of: deltas) }
    let pack: Pack
    do throws(PackError) {
      pack = try await open(deltas, over: bases, keys: keys, writing: newFiles)
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw error
    }
    guard let new = newFiles.result else { preconditionFailure("opening a delta writes its new contents") }
    let cloned: ClonedFiles
    do throws(PackError) {
      // A file with names in two packs would count in both, and removing one of them would free nothing.
      let own = zip(bases.held, bases.opened).filter { $0.0.record.id == id }
      cloned = try await fill(new, with: pack, linking: Set(own.map(\.1.basePath)))
      for (base, opened) in own {
        if let size = cloned.linkedSpace[opened.basePath] { content.links.append(PackRecord.Link(bytes: base.content.bytes, size: size)) }
      }
      let whole = try await WorkerPool.value { (_) throws(PackError) in try directory.sizeOnDevice(name) }
      content.sizeOnDevice = whole.less(content.links.reduce(0) { $0.adding($1.size) })
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw changedBase(error)
    }
    let placement = Placement(
      directory: directory, manifests: installation.manifests, order: order, content: content,
      needs: StoreSpace.Needs(volume: new.tree.diskSize, store: new.tree.diskSize), note: installation.note)
    let arrival = Placement.Arrival(staged: name, item: order.itemName)
    guard let installed = try await placement.run([arrival]) else {
      throw PackError(.internalError, of: directory.path(name), "could not be moved into place")
    }
    await takeFiles(deltas, deltas.map { _ in false })
    let written = order.entry.contentSize.less(cloned.sharedBytes)
    installation.finish(installed, InstallCost(written: written, sharedFiles: cloned.sharedFiles, copiedFiles: cloned.copiedFiles))
    return installed
  }

  /// Returns the error for a base that changed after it was opened: everything else was proven then.
  private func changedBase(_ error: PackError) -> PackError {
    let codes: Set<PackError.Code> = [.sourceChanged, .missingInput, .truncated, .digestMismatch, .damagedPayload, .authenticationFailed]
    return codes.contains(error.code) ? wrongBase("has a delta over a version that changed meanwhile: \(error.message)") : error
  }

  /// Makes a directory in `staging` for a tree.
  private func prepare(_ name: String, for tree: TreeCount, of deltas: [Delta]) throws(PackError) -> OutputDirectory {
    do throws(PackError) {
      try tree.check(against: order.entry)
    } catch {
      throw error.about(deltas[deltas.count - 1].file.path)
    }
    try installation.makeRoom(for: StoreSpace.Needs(volume: tree.diskSize, store: tree.diskSize), order)
    return try OutputDirectory(ownedAs: name, in: directory.handle, path: directory.path(directory.place(order.itemName)), files: files)
  }

  /// Adds everything besides the new contents of a pack, and syncs the tree.
  private func fill(_ new: NewFiles.Result, with pack: Pack, linking linked: Set<String>) async throws(PackError) -> ClonedFiles {
    let cloned = try await WorkerPool.value { (pool) throws(PackError) in
      var cloning = try TreeCloning(pack, into: new.output, besides: new.made, linking: linked, pool: pool)
      return try cloning.run()
    }
    try await TreeWalk.run(pack, into: new.output, jobs: nil, phase: .unpacking, skipped: cloned.made, progress: installation.progress)
    installation.progress?(PackProgress(phase: .syncing, done: pack.contentSize, total: pack.contentSize))
    try await WorkerPool.value { (_) throws(PackError) in try new.output.commit() }
    return cloned
  }
}
