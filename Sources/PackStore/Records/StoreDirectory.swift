/// The directory of a store: its lock, its records, and adding and removing content. All methods block the thread.
final class StoreDirectory: Sendable {
  private let directory: RecordDirectory
  let clock: any DeviceClock
  let process: StoreProcess
  let policy: StorePolicy
  let backend: any CryptoBackend
  /// The items that this store has open, and how often.
  let uses: UseLedger
  /// What decides which packs are for this device.
  let device: Monitor<DeviceProfile>

  private let nextNumber = Monitor<UInt64>(0)

  /// The directories in the store.
  enum Part: String, CaseIterable {
    case state, packs, staging, trash, uses
  }

  /// The directory of the shards of the accepted manifest's catalogue, made for the first one.
  static let catalogue = "catalogue"

  private static let form = RecordDirectory.Form("packer-store/1", in: "store", isPrivate: false)

  /// Opens the store in a directory, or creates one there.
  init(
    root: String, files: any FileSystem, clock: any DeviceClock, process: StoreProcess, policy: StorePolicy, device: DeviceProfile,
    backend: any CryptoBackend
  ) throws(PackError) {
    self.clock = clock
    self.process = process
    self.policy = policy
    self.device = Monitor(device)
    self.backend = backend
    directory = try RecordDirectory(making: root, Self.form, withParents: true, files: files)
    uses = UseLedger(session: process.session, root: directory.handle, files: files)
    try open()
  }

  /// The path as passed to the initializer.
  var root: String { directory.path }
  var handle: OpenFile { directory.handle }
  var files: any FileSystem { directory.files }

  /// Checks whether the directory is a store. Makes it a store if it is empty, or if creating the store was interrupted.
  private func open() throws(PackError) {
    switch try directory.kind() {
    case .own:
      // An existing store opens without a write, so it also opens on a full disk. If a directory is missing, the operation that needs it throws.
      try? makeParts()
      return
    case .ofOtherVersion:
      throw PackError(.unsupported, of: root, "is a store of another version than 'packer-store/1'", advice: .updateApp)
    case .foreign: throw notAStore("its file 'store' was not written by a store")
    case .unmarked: break
    }
    let names = try directory.names()
    // Another process may have created some of these and been stopped, or may be creating them right now.
    let own = Set(Part.allCases.map(\.rawValue) + ["lock", "store", Self.catalogue] + Self.documents)
    for name in names where !own.contains(name) { throw notAStore("it holds '\(printable(name.utf8))'") }
    var isEmpty = !names.contains(where: Self.documents.contains)
    for part in [Part.state, .packs] where names.contains(part.rawValue) {
      if try !self.names(in: part).isEmpty { isEmpty = false }
    }
    if !isEmpty {
      // A store that lost its marker is a store if one of its records can be read.
      let known = try records()
      guard !known.isEmpty else { throw notAStore("its file 'store' is missing") }
    }
    try makeParts()
    try directory.mark(by: freshName(in: .staging))
    try directory.settle()
  }

  /// The files of a store beside its directories, its lock and its marker.
  private static let documents = ["keys", "manifest", "memory", "preservation"]

  private func notAStore(_ reason: String) -> PackError {
    PackError(.notAStore, of: root, "is not a store: \(reason)", advice: .chooseDirectory)
  }

  /// Creates the directories that do not exist.
  ///
  /// - Parameter removesOthers: Whether something else in the place of a directory is removed.
  func makeParts(removesOthers: Bool = false) throws(PackError) {
    try directory.makeFolders(Part.allCases.map(\.rawValue), removesOthers: removesOthers)
  }

  // MARK: Names

  /// Returns the path of a name in the store, for use outside this type.
  func path(_ name: String) -> String { directory.path(name) }

  /// Returns a new name in a part. No other process, store or call uses the same name.
  func freshName(in part: Part, ending: String = "") -> String {
    let number = nextNumber.withLock { number in
      number += 1
      return number
    }
    return "\(part.rawValue)/\(process.session)-\(number)\(ending)"
  }

  /// Returns whether a name in `staging` or `trash` belongs to a process that still runs.
  func isLiving(_ name: String) -> Bool {
    guard let hyphen = name.lastIndex(of: "-") else { return false }
    let session = String(name[..<hyphen])
    return session == process.session || process.isAlive(session)
  }

  func names(in part: Part) throws(PackError) -> [String] { try directory.names(in: part.rawValue) }

  func status(_ name: String) throws(PackError) -> FileStatus? { try directory.status(name) }

  /// Returns the status of a path outside the store, or nil if it does not exist.
  func status(outside path: String) throws(PackError) -> FileStatus? {
    try reading(path, ifPresent(files.status(of: path, in: nil, following: .asThemselves)))
  }

  // MARK: Lock

  /// Runs `body` while it holds the lock, so that no other task or process changes the store.
  ///
  /// - Throws: ``PackError/Code/storeBusy`` if another task or process holds the lock for longer than ``StorePolicy/lockTimeout``.
  func withLock<Result>(_ body: () throws(PackError) -> Result) throws(PackError) -> Result {
    try directory.settling(lock(), body)
  }

  /// Runs `body` with the lock, or without it if the volume cannot be written or is full.
  func withLockIfWritable<Result>(_ body: () throws(PackError) -> Result) throws(PackError) -> Result {
    try directory.settling(unless(.cannotWrite, or: .noSpace, lock()), body)
  }

  private func lock() throws(PackError) -> BriefLock {
    try directory.lockBriefly(LockWait(policy.lockTimeout, clock: clock) { WorkerPool.isCancelled }, busy: .storeBusy)
  }

  // MARK: Small files

  /// Returns the content of a file, or nil if it does not exist.
  ///
  /// - Throws: ``PackError/Code/damagedStore`` if it is too long, or if something that is not a file has its name.
  func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? {
    switch try directory.contents(of: name, limit: limit) {
    case nil: return nil
    case .file(let bytes): return bytes
    case .longFile: throw PackError(.damagedStore, of: path(name), "is more than \(limit) bytes")
    case .other: throw PackError(.damagedStore, of: path(name), "is not a file")
    }
  }

  /// Replaces a file atomically, under the lock. Removes a directory that has its name.
  func replace(_ name: String, with bytes: [UInt8]) throws(PackError) {
    do throws(PackError) {
      try directory.replace(name, with: bytes.byteSpan, by: freshName(in: .staging))
    } catch {
      guard moveAside(name) else { throw error }
      try directory.replace(name, with: bytes.byteSpan, by: freshName(in: .staging))
    }
  }

  /// Moves something that is not a file out of the place of a file, and removes it.
  ///
  /// - Returns: Whether there was such a thing, and it is out of the way.
  private func moveAside(_ name: String) -> Bool {
    guard let kind = (try? status(name))?.kind, kind != .file, let gone = discard(name) else { return false }
    empty([gone])
    return true
  }

  // MARK: Records

  private func recordName(_ id: String) -> String { "\(Part.state.rawValue)/\(PackName.fileName(of: id))" }

  /// Returns the record of a pack, or nil if there is none.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  func record(_ id: String) throws(PackError) -> PackRecord? {
    // Any other name could be a path to other files.
    guard (try? PackName(id)) != nil else { return nil }
    let name = recordName(id)
    do throws(PackError) {
      guard let bytes = try contents(of: name, limit: PackRecord.largestSize) else { return nil }
      return try PackRecord(parsing: bytes, id: id)
    } catch {
      guard error.code == .damagedStore else { throw error }
      throw error.about(path(name)).advising(.reconcileStore)
    }
  }

  /// Returns the records of all packs, sorted by name. Records that cannot be read are skipped.
  func records() throws(PackError) -> [PackRecord] { try readRecords().records }

  /// Returns the names of the packs whose records cannot be read.
  func damagedRecords() throws(PackError) -> [String] { try readRecords().damaged }

  private func readRecords() throws(PackError) -> (records: [PackRecord], damaged: [String]) {
    var (records, damaged): ([PackRecord], [String]) = ([], [])
    for name in try names(in: .state).sorted() {
      guard let id = PackName(fileName: name)?.text else { continue }
      do throws(PackError) {
        if let record = try record(id) { records.append(record) }
      } catch {
        guard error.code == .damagedStore else { throw error }
        damaged.append(id)
      }
    }
    return (records, damaged)
  }

  func write(_ record: PackRecord) throws(PackError) {
    let name = recordName(record.id)
    if record.isEmpty { try directory.remove(name) } else { try replace(name, with: record.text) }
  }

  /// Changes the record of a pack. Then removes content that the record no longer names and that no process uses.
  ///
  /// The record is written before the content is removed. A crash in between leaves content that no record names, which
  /// ``AssetStore/reconcile(_:)`` removes.
  ///
  /// - Parameters:
  ///   - id: The name of the pack.
  ///   - isMadeAnew: Whether a record that cannot be read is replaced by a new one.
  ///   - body: Changes the record, under the lock. If it throws, nothing changes.
  ///   - undo: Reverts the other effects of `body` if it threw or the record could not be written. Runs under the lock too.
  func change<Result>(
    _ id: String, isMadeAnew: Bool = false, _ body: (inout PackRecord) throws(PackError) -> Result, undo: () -> Void = {}
  ) throws(PackError) -> Result {
    var discarded: [String] = []
    defer { empty(discarded) }
    return try withLock { () throws(PackError) in
      let before = try readableRecord(id, isMadeAnew: isMadeAnew)
      var after = before ?? PackRecord(id: id)
      let result: Result
      do throws(PackError) {
        result = try body(&after)
        if after != before ?? PackRecord(id: id) || isMadeAnew { try write(after) }
      } catch {
        undo()
        throw error
      }
      let gone = (before?.itemNames ?? []).subtracting(after.itemNames)
      if !gone.isEmpty {
        let used = try usedItems()
        for item in gone where !used.contains(item) {
          if let name = discard(place(item)) { discarded.append(name) }
        }
      }
      return result
    }
  }

  private func readableRecord(_ id: String, isMadeAnew: Bool) throws(PackError) -> PackRecord? {
    do throws(PackError) {
      return try record(id)
    } catch {
      guard isMadeAnew, error.code == .damagedStore else { throw error }
      return nil
    }
  }

  // MARK: Content

  /// Returns the name of an item, relative to the store's directory.
  func place(_ item: String) -> String { "\(Part.packs.rawValue)/\(item)" }

  /// Returns whether a version is on the device.
  func isPresent(_ content: PackRecord.Content, of record: PackRecord) throws(PackError) -> Bool {
    try status(place(record.itemName(content))) != nil
  }

  /// Returns whether a file is one that a version of a pack consists of.
  func isOwn(_ status: FileStatus, of id: String) throws(PackError) -> Bool {
    for item in try record(id)?.itemNames ?? [] {
      if let own = try self.status(place(item)), own.device == status.device, own.inode == status.inode { return true }
    }
    return false
  }

  /// Returns the number of bytes that a file or a directory in the store takes on the device.
  func sizeOnDevice(_ name: String) throws(PackError) -> UInt64 {
    try reading(path(name), InstalledTree(files: files, backend: backend).sizeOnDevice(of: name, in: handle))
  }

  /// Returns the path of a version's file or tree.
  func path(of content: PackRecord.Content, in record: PackRecord) -> String { path(place(record.itemName(content))) }

  /// Opens the directory of an unpacked tree.
  func openTree(_ installed: InstalledPack) throws(PackError) -> HeldFile {
    let item = ItemName(id: installed.id, version: installed.version, sha256: installed.sha256, mode: installed.mode).text
    let open: @Sendable () throws(FileFailure) -> OpenFile = { [files, handle, place = place(item)] () throws(FileFailure) in
      try files.open(place, .directoryUnlinked, in: handle)
    }
    return HeldFile(try reading(installed.path, open()), path: installed.path, files: files, reopen: open)
  }

  /// Moves content from `staging`, or a file outside the store, to its place in `packs`, under the lock. Removes unrecorded content that is there.
  ///
  /// - Parameters:
  ///   - name: A name in the store, or a path if `isOutside` is true.
  ///   - isOutside: Whether the content is a file outside the store.
  ///   - item: The name in `packs`.
  ///   - onArrival: Called after the move, before anything else can fail.
  /// - Returns: false if the file is on another volume.
  func bringIn(_ name: String, isOutside: Bool, as item: String, onArrival: () -> Void) throws(PackError) -> Bool {
    if try status(place(item)) != nil {
      guard try !usedItems().contains(item) else {
        throw PackError(
          .inUse, of: path(place(item)), "is in use, and no record names it",
          advice: .reconcileStore)
      }
      if let old = discard(place(item)) { empty([old]) }
    }
    try directory.order()
    do throws(FileFailure) {
      if isOutside {
        try files.rename(name, to: path(place(item)), in: nil)
      } else {
        try files.rename(name, to: place(item), in: handle)
      }
    } catch {
      if isOutside, error.isAcrossVolumes { return false }
      throw error.writing(path(place(item)))
    }
    onArrival()
    directory.noteChange(in: Part.packs.rawValue)
    return true
  }

  /// Moves something to `trash`, under the lock, after the changes before it: a record that names content must not outlive it.
  ///
  /// - Returns: Its name in `trash`, for ``empty(_:)``. Nil if it does not exist, or cannot be moved and is left for the next time.
  func discard(_ name: String) -> String? {
    guard (try? directory.order()) != nil else { return nil }
    let target = freshName(in: .trash)
    return (try? files.rename(name, to: target, in: handle)).map { target }
  }

  /// Removes discarded items, without the lock. An item that cannot be removed is left for the next time.
  func empty(_ names: [String]) {
    for name in names { remove(name) }
  }

  /// Removes a file, or a directory with its contents. Another process may be removing it at the same time.
  ///
  /// - Returns: Whether it no longer exists.
  @discardableResult
  func remove(_ name: String) -> Bool {
    (try? directory.remove(name, isOrdered: false)) != nil
  }

  // MARK: Use

  /// Returns whether one of these items, which are in use, is of a version. If the version was installed again, it may be an earlier file or tree of it.
  static func isUsed(_ content: PackRecord.Content, of record: PackRecord, in used: Set<String>) -> Bool {
    // The names of all items of a version begin with that of its tree.
    let name = ItemName(id: record.id, version: content.bytes.version, sha256: content.bytes.sha256, mode: .unpacked).text
    return used.contains { $0.hasPrefix(name) }
  }

  /// Returns the items that any running process has open.
  func usedItems() throws(PackError) -> Set<String> {
    var used = uses.items
    var living: [String: Bool] = [:]
    for name in try names(in: .uses) {
      guard let (item, session) = UseLedger.parts(ofName: name) else { continue }
      let isAlive = living[session] ?? process.isAlive(session)
      living[session] = isAlive
      if isAlive { used.insert(item) }
    }
    return used
  }

  // MARK: Values

  func installed(_ content: PackRecord.Content, of record: PackRecord) -> InstalledPack {
    InstalledPack(
      id: record.id, version: content.bytes.version, sha256: content.bytes.sha256, mode: content.mode, sizeOnDevice: content.sizeOnDevice,
      path: path(place(record.itemName(content))), state: record.state(of: content), contentRoot: content.contentRoot)
  }
}
