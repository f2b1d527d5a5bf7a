/// The requests of a queue: complete on disk, and in memory as far as needed to choose the next one.
///
///     <root>/queue                        the kind and version of this directory
///            lock                         locked by the process that uses the queue
///            groups/<group>/journal       the states of the requests
///                           <batch>/requests, <number>.part, .tag, .file
///
/// In memory, a request takes 4 bytes for its state, 8 for its id, and 8 for its extension id if it has one. Texts stay on disk, except for two
/// batches. Operations block for the disk. Those that write at most one record are quick enough for an actor.
final class DownloadLedger: Sendable {
  /// The state of a request in memory.
  struct Slot {
    var state: JournalRecord.State
    var failures: UInt8
    var rank: RequestRank
    /// Whether an attempt is using its files.
    var isBusy = false
  }

  private final class Batch {
    let number: UInt32
    let keys: [RequestKey]
    let extensionKeys: [RequestKey]
    let headSize: Int
    let bodySize: Int
    let bodyDigest: [UInt8]
    var slots: [Slot]
    /// The first of the most urgent waiting requests; nil if it must be searched for.
    var best: Int??

    init(_ number: UInt32, _ head: RequestBatch.Head, slots: [Slot]) {
      self.number = number
      keys = head.keys
      extensionKeys = head.extensionKeys
      headSize = head.size
      bodySize = head.bodySize
      bodyDigest = head.bodyDigest
      self.slots = slots
    }

    func findBest() -> Int? {
      if let best { return best }
      var found: Int?
      for index in slots.indices where slots[index].state == .waiting && !slots[index].isBusy {
        if let known = found, slots[index].rank <= slots[known].rank { continue }
        found = index
      }
      best = .some(found)
      return found
    }
  }

  private final class Group {
    let number: UInt32
    let name: String
    var isPaused = false
    var isCancelled = false
    var batches: [Batch] = []
    /// The number of the next batch. A batch that cannot be read keeps its number.
    var nextBatch: UInt32 = 0
    var counts = [Int](repeating: 0, count: 8)
    var finishedSize: UInt64 = 0
    var totalSize: UInt64 = 0

    init(_ number: UInt32, _ name: String) {
      self.number = number
      self.name = name
    }
  }

  private struct State {
    var groups: [Group] = []
    var nextGroup: UInt32 = 1

    func group(_ number: UInt32) -> Group? { groups.first { $0.number == number } }
    func group(_ name: String) -> Group? { groups.first { $0.name == name } }

    func batch(_ place: RequestPlace) -> Batch? { group(place.group)?.batches.first { $0.number == place.batch } }
  }

  private struct Cache {
    var bodies: [(group: UInt32, batch: UInt32, body: RequestBatch.Body)] = []
    var limit = 2
    var largestCount = 0
  }

  /// The path of the directory of groups, used for paths that are handed out.
  let path: String
  let directory: OpenFile
  let files: any FileSystem
  /// What could not be read when the queue was opened, as text for people.
  let damage: [String]

  private let backend: any CryptoBackend
  private let state: Monitor<State>
  private let cache = Monitor(Cache())

  /// The maximum number of batches in a queue. These are a million requests in 20 MB of memory.
  static let largestBatchCount = 2000

  // MARK: Opening

  /// Reads the queue from disk: the heads of the batches and the journals.
  init(path: String, directory: OpenFile, files: any FileSystem, backend: any CryptoBackend) throws(PackError) {
    self.path = path
    self.directory = directory
    self.files = files
    self.backend = backend
    var found = State()
    var damage: [String] = []
    let names = try reading(path, files.names(in: directory).map(\.text).sorted())
    for name in names {
      guard name.utf8.count == 8, let number = UInt32(name, radix: 16) else {
        // The process ended while it removed this.
        if name.hasPrefix(Self.trash) { try? files.removeTree(name, in: directory) }
        continue
      }
      found.nextGroup = max(found.nextGroup, number &+ 1)
      if let group = try Self.group(number, in: directory, files: files, backend: backend, damage: &damage) {
        found.groups.append(group)
      } else {
        // No submission to this group was ever completed.
        try? files.removeTree(name, in: directory)
      }
    }
    self.damage = damage
    state = Monitor(found)
  }

  private static let trash = "trash-"

  private static func group(
    _ number: UInt32, in directory: OpenFile, files: any FileSystem, backend: any CryptoBackend, damage: inout [String]
  ) throws(PackError) -> Group? {
    var group: Group?
    let journal = DownloadJournal(group: number, in: directory, files: files)
    var batchNumber: UInt32 = 0
    while let file = try open(DownloadNames.requests(number, batchNumber), in: directory, files: files) {
      defer { batchNumber += 1 }
      do throws(PackError) {
        let head = try Self.head(of: file, files: files, backend: backend)
        let known = group ?? Group(number, head.group)
        guard known.name == head.group else { throw PackError(.damagedQueue, "a batch belongs to another group") }
        group = known
        let records = try journal.read(head.ranks.count, from: DownloadJournal.position(batch: batchNumber, index: 0))
        append(Batch(batchNumber, head, slots: zip(head.ranks, records).map(slot)), records, head, to: known)
      } catch {
        guard error.code == .damagedQueue || error.code == .truncated else { throw error }
        damage.append("\(DownloadNames.requests(number, batchNumber)): \(error.message)")
      }
    }
    guard let group else { return nil }
    group.nextBatch = batchNumber
    if let record = try journal.read(1, from: 0)[0] {
      group.isPaused = record.state == .paused
      group.isCancelled = record.state == .cancelled
    }
    return group
  }

  private static func slot(_ rank: RequestRank, _ record: JournalRecord?) -> Slot {
    guard let record else { return Slot(state: .waiting, failures: 0, rank: rank) }
    return Slot(state: record.state, failures: record.failures, rank: record.rank)
  }

  private static func append(_ batch: Batch, _ records: [JournalRecord?], _ head: RequestBatch.Head, to group: Group) {
    group.batches.append(batch)
    group.totalSize &+= head.totalSize
    for slot in batch.slots { group.counts[Int(slot.state.rawValue)] += 1 }
    for record in records where record?.state == .finished { group.finishedSize &+= record?.fileSize ?? 0 }
  }

  private static func open(_ name: String, in directory: OpenFile, files: any FileSystem) throws(PackError) -> OpenFile? {
    try reading(name, ifPresent(files.open(name, .readUnlinked, in: directory)))
  }

  private static func head(of file: OpenFile, files: any FileSystem, backend: any CryptoBackend) throws(PackError) -> RequestBatch.Head {
    var bytes = [UInt8](repeating: 0, count: RequestBatch.fixedSize)
    var span = bytes.mutableByteSpan
    try files.readExactly(file, at: 0, into: &span, name: "a batch of requests")
    let size = try RequestBatch.headSize(bytes.byteSpan)
    bytes = [UInt8](repeating: 0, count: size)
    span = bytes.mutableByteSpan
    try files.readExactly(file, at: 0, into: &span, name: "a batch of requests")
    return try RequestBatch.head(bytes.byteSpan, backend: backend)
  }

  // MARK: Adding

  /// Writes a batch of requests and returns when it is on disk. Requests that the group already has are skipped.
  ///
  /// Only one thread may add at a time.
  ///
  /// - Throws: ``PackError/Code/requestExists`` if the group has a different request with one of the ids. Nothing is written then.
  func add(_ requests: [DownloadRequest], to name: String) throws(PackError) {
    let fresh = try unknown(requests, in: name)
    guard !fresh.isEmpty else { return }
    let (number, batchNumber, isNew) = try state.withLock { (state) throws(PackError) -> (UInt32, UInt32, Bool) in
      guard state.groups.reduce(0, { $0 + $1.batches.count }) < Self.largestBatchCount else {
        throw PackError(
          .limitExceeded, "the queue already has the maximum of \(Self.largestBatchCount) batches of requests",
          advice: .developer("submit more requests at once, and remove finished groups"))
      }
      if let group = state.group(name) {
        guard !group.isCancelled else {
          throw PackError(.usage, "group '\(name)' was cancelled", advice: .developer("remove it, or use another id"))
        }
        return (group.number, group.nextBatch, false)
      }
      defer { state.nextGroup += 1 }
      return (state.nextGroup, 0, true)
    }
    let bytes = try RequestBatch.encode(fresh, group: name, backend: backend)
    // They may be left by a submission that was not completed.
    if isNew { try writing(path, unlessExisting(files.makeDirectory(DownloadNames.group(number), mode: 0o700, in: directory))) }
    try writing(path, unlessExisting(files.makeDirectory(DownloadNames.batch(number, batchNumber), mode: 0o700, in: directory)))
    let output = try OutputFile("\(path)/\(DownloadNames.requests(number, batchNumber))", mode: 0o600, files: files)
    try output.write(bytes.byteSpan, at: 0, of: UInt64(bytes.count))
    try output.commit()
    try writing(path, files.sync(files.open(DownloadNames.group(number), .directoryUnlinked, in: directory)))
    if isNew { try writing(path, files.sync(directory)) }
    let head = try RequestBatch.head(bytes.byteSpan.extracting(first: try RequestBatch.headSize(bytes.byteSpan)), backend: backend)
    state.withLock { state in
      let group =
        state.group(name)
        ?? {
          let made = Group(number, name)
          state.groups.append(made)
          return made
        }()
      let slots = head.ranks.map { Slot(state: .waiting, failures: 0, rank: $0) }
      Self.append(Batch(batchNumber, head, slots: slots), [], head, to: group)
      group.nextBatch = batchNumber + 1
    }
  }

  /// Returns the requests that the group does not have yet.
  private func unknown(_ requests: [DownloadRequest], in name: String) throws(PackError) -> [DownloadRequest] {
    var byID: [String: DownloadRequest] = [:]
    var fresh: [DownloadRequest] = []
    let candidates = candidates(requests, in: name)
    for (number, request) in requests.enumerated() {
      if let other = byID[request.id] {
        guard Self.isSame(other, request) else { throw Self.exists(request) }
        continue
      }
      byID[request.id] = request
      var isKnown = false
      for place in candidates[number] ?? [] {
        let other = try self.request(at: place)
        guard other.id == request.id else { continue }
        guard Self.isSame(other, request) else { throw Self.exists(request) }
        isKnown = true
      }
      if !isKnown { fresh.append(request) }
    }
    return fresh
  }

  private static func isSame(_ left: DownloadRequest, _ right: DownloadRequest) -> Bool {
    left.url == right.url && left.size == right.size && left.sha256 == right.sha256 && left.extensionID == right.extensionID
  }

  private static func exists(_ request: DownloadRequest) -> PackError {
    PackError(
      .requestExists, "the group has a different request with the id '\(request.id)'",
      advice: .developer("give each version of a file its own id or group, or remove the group first"))
  }

  /// Returns, by the number of each request, the places whose ids have the same hash as the request's id.
  private func candidates(_ requests: [DownloadRequest], in name: String) -> [Int: [RequestPlace]] {
    let wanted = requests.enumerated().map { RequestKey($1.id, index: UInt16($0)) }.sorted()
    var found: [Int: [RequestPlace]] = [:]
    state.withLock { state in
      guard let group = state.group(name) else { return }
      for batch in group.batches {
        // Both lists are sorted, so one pass finds all. A batch may contain equal hashes.
        var first = 0
        for key in wanted {
          while first < batch.keys.count, batch.keys[first].hash < key.hash { first += 1 }
          var index = first
          while index < batch.keys.count, batch.keys[index].hash == key.hash {
            found[Int(key.index), default: []].append(
              RequestPlace(group: group.number, batch: batch.number, index: batch.keys[index].index))
            index += 1
          }
        }
      }
    }
    return found
  }

  // MARK: Finding

  /// Reads a request. Blocks for the disk if its batch is not one of the two in memory.
  func request(at place: RequestPlace) throws(PackError) -> DownloadRequest {
    guard let batch = state.withLock({ $0.batch(place) }) else { throw Self.missing("the group was removed") }
    let (headSize, bodySize, digest) = (batch.headSize, batch.bodySize, batch.bodyDigest)
    return try cache.withLock { (cache) throws(PackError) in
      if let known = cache.bodies.firstIndex(where: { $0.group == place.group && $0.batch == place.batch }) {
        // Moves the batch to the end: the least recently used one is first.
        if known != cache.bodies.count - 1 { cache.bodies.append(cache.bodies.remove(at: known)) }
      } else {
        while cache.bodies.count >= cache.limit { cache.bodies.removeFirst() }
        let name = DownloadNames.requests(place.group, place.batch)
        guard let file = try Self.open(name, in: directory, files: files) else {
          throw PackError(.damagedQueue, "a batch of requests is missing")
        }
        var bytes = [UInt8](repeating: 0, count: bodySize)
        var span = bytes.mutableByteSpan
        try files.readExactly(file, at: UInt64(headSize), into: &span, name: "a batch of requests")
        cache.bodies.append((place.group, place.batch, try RequestBatch.Body(bytes, digest: digest, backend: backend)))
        cache.largestCount = max(cache.largestCount, cache.bodies.count)
      }
      guard let last = cache.bodies.last else { throw PackError(.internalError, "a batch of requests is missing from the cache") }
      return try last.body.request(place.index)
    }
  }

  /// Limits the number of batches in memory, to make room for a batch that is being assembled.
  func setCacheLimit(_ limit: Int) {
    cache.withLock { cache in
      cache.limit = limit
      while cache.bodies.count > limit { cache.bodies.removeFirst() }
    }
  }

  /// The highest number of batches that were in memory at the same time.
  var largestCacheCount: Int { cache.withLock { $0.largestCount } }

  /// Returns the place of a request.
  ///
  /// - Throws: ``PackError/Code/noSuchRequest``
  func place(of id: DownloadID) throws(PackError) -> RequestPlace {
    let hash = RequestKey.hash(id.id)
    let places = state.withLock { state in
      state.group(id.group).map { Self.places(hash, \.keys, in: $0) } ?? []
    }
    for place in places where try request(at: place).id == id.id { return place }
    throw Self.missing("the queue has no request '\(id)'")
  }

  /// Returns the place of the request with this extension id.
  func place(ofExtensionID extensionID: String) throws(PackError) -> RequestPlace? {
    let hash = RequestKey.hash(extensionID)
    let places = state.withLock { state in state.groups.flatMap { Self.places(hash, \.extensionKeys, in: $0) } }
    for place in places where try request(at: place).extensionID == extensionID { return place }
    return nil
  }

  private static func places(_ hash: UInt64, _ keys: KeyPath<Batch, [RequestKey]>, in group: Group) -> [RequestPlace] {
    group.batches.flatMap { batch -> [RequestPlace] in
      let keys = batch[keyPath: keys]
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle].hash < hash { low = middle + 1 } else { high = middle }
      }
      return keys[low...].prefix { $0.hash == hash }.map { RequestPlace(group: group.number, batch: batch.number, index: $0.index) }
    }
  }

  private static func missing(_ message: String) -> PackError { PackError(.noSuchRequest, message) }

  /// The ids of the groups, oldest first.
  var groups: [String] { state.withLock { $0.groups.map(\.name) } }

  /// Returns the id of a group; nil if it was removed.
  func name(of group: UInt32) -> String? { state.withLock { $0.group(group)?.name } }

  func number(of group: String) throws(PackError) -> UInt32 {
    guard let number = state.withLock({ $0.group(group)?.number }) else { throw Self.missing("the queue has no group '\(group)'") }
    return number
  }

  /// Returns the state of a request in memory; nil if its group was removed.
  func slot(_ place: RequestPlace) -> Slot? { state.withLock { $0.batch(place)?.slots[Int(place.index)] } }

  /// Returns whether requests of the group may run.
  func isActive(_ group: UInt32) -> Bool { state.withLock { $0.group(group).map { !$0.isPaused && !$0.isCancelled } ?? false } }

  func isCancelled(_ group: UInt32) -> Bool { state.withLock { $0.group(group)?.isCancelled ?? true } }

  /// Returns why a request failed last.
  func failure(at place: RequestPlace) throws(PackError) -> TransferFailure? {
    try journal(place.group).read(1, from: DownloadJournal.position(batch: place.batch, index: place.index))[0]?.failure
  }

  func status(of group: String) throws(PackError) -> DownloadGroupStatus {
    let status = state.withLock { state -> DownloadGroupStatus? in
      guard let group = state.group(group) else { return nil }
      func count(_ state: JournalRecord.State) -> Int { group.counts[Int(state.rawValue)] }
      var status = DownloadGroupStatus()
      (status.waiting, status.running, status.retrying) = (count(.waiting), count(.running), count(.retrying))
      (status.paused, status.finished, status.failed) = (count(.paused), count(.finished), count(.failed))
      status.cancelled = count(.cancelled)
      status.isCancelled = group.isCancelled
      if group.isCancelled {
        status.cancelled = status.count - status.finished - status.failed
        (status.waiting, status.running, status.retrying, status.paused) = (0, 0, 0, 0)
      }
      (status.finishedSize, status.totalSize, status.isPaused) = (group.finishedSize, group.totalSize, group.isPaused)
      return status
    }
    guard let status else { throw Self.missing("the queue has no group '\(group)'") }
    return status
  }

  /// Returns the request to start next: the first of the most urgent ones.
  func next() -> (place: RequestPlace, rank: RequestRank)? {
    state.withLock { state in
      var found: (place: RequestPlace, rank: RequestRank)?
      for group in state.groups where !group.isPaused && !group.isCancelled {
        for batch in group.batches {
          guard let index = batch.findBest() else { continue }
          let rank = batch.slots[index].rank
          if let known = found, rank <= known.rank { continue }
          found = (RequestPlace(group: group.number, batch: batch.number, index: UInt16(index)), rank)
        }
      }
      return found
    }
  }

  /// Returns the places of the requests in a state, in one group or in all.
  func places(_ wanted: JournalRecord.State, in only: UInt32? = nil) -> [RequestPlace] {
    state.withLock { state in
      var places: [RequestPlace] = []
      for group in state.groups where only == nil || group.number == only {
        guard group.counts[Int(wanted.rawValue)] > 0 else { continue }
        for batch in group.batches {
          for index in batch.slots.indices where batch.slots[index].state == wanted {
            places.append(RequestPlace(group: group.number, batch: batch.number, index: UInt16(index)))
          }
        }
      }
      return places
    }
  }

  // MARK: Changing

  /// Records the state of a request. When this returns, the record was handed to the system but may not be on disk yet (``sync(_:)``).
  ///
  /// If the record cannot be written, nothing changes. With `regardless`, the state in memory still changes.
  func set(
    _ place: RequestPlace, to new: JournalRecord.State, failures: UInt8? = nil, failure: TransferFailure? = nil, fileSize: UInt64 = 0,
    rank: RequestRank? = nil, regardless: Bool = false
  ) throws(PackError) {
    try state.withLock { (state) throws(PackError) in
      guard let group = state.group(place.group), let batch = state.batch(place) else { throw Self.missing("the group was removed") }
      var slot = batch.slots[Int(place.index)]
      let old = slot.state
      slot.state = new
      slot.failures = failures ?? slot.failures
      slot.rank = rank ?? slot.rank
      let record = JournalRecord(new, failures: slot.failures, rank: slot.rank, failure: failure, fileSize: fileSize)
      do throws(PackError) {
        try journal(place.group).write(record, at: DownloadJournal.position(batch: place.batch, index: place.index))
      } catch {
        guard regardless else { throw error }
      }
      batch.slots[Int(place.index)] = slot
      batch.best = nil
      group.counts[Int(old.rawValue)] -= 1
      group.counts[Int(new.rawValue)] += 1
      if new == .finished { group.finishedSize &+= fileSize }
    }
  }

  /// Changes only the rank of a request.
  func set(_ place: RequestPlace, rank: RequestRank) throws(PackError) {
    guard let slot = slot(place) else { throw Self.missing("the group was removed") }
    let record = try journal(place.group).read(1, from: DownloadJournal.position(batch: place.batch, index: place.index))[0]
    // Finished requests are not changed: their record must never be left incomplete.
    guard slot.state != .finished else { return }
    try set(place, to: slot.state, failure: record?.failure, rank: rank)
  }

  /// Sets whether an attempt is using the files of a request. No other code touches them then.
  func setBusy(_ place: RequestPlace, _ isBusy: Bool) {
    state.withLock { state in
      guard let batch = state.batch(place) else { return }
      batch.slots[Int(place.index)].isBusy = isBusy
      batch.best = nil
    }
  }

  enum GroupState {
    case active, paused, cancelled
  }

  /// Pauses, resumes or cancels a group with a single record, however many requests it has.
  func set(group number: UInt32, to new: GroupState) throws(PackError) {
    try state.withLock { (state) throws(PackError) in
      guard let group = state.group(number) else { throw Self.missing("the group was removed") }
      guard !group.isCancelled || new == .cancelled else { throw PackError(.usage, "group '\(group.name)' was cancelled") }
      let record = JournalRecord(new == .active ? .waiting : new == .paused ? .paused : .cancelled)
      try journal(number).write(record, at: 0)
      group.isPaused = new == .paused
      group.isCancelled = new == .cancelled
    }
  }

  /// Removes the incomplete files of a group.
  func removeParts(of group: UInt32) throws(PackError) {
    let batches = state.withLock { $0.group(group)?.batches.map(\.number) ?? [] }
    for batch in batches {
      let tree = try writing(path, files.open(DownloadNames.batch(group, batch), .directoryUnlinked, in: directory))
      for name in try writing(path, files.names(in: tree)).map(\.text) where name.hasSuffix(".part") || name.hasSuffix(".tag") {
        // If the request was cancelled by another call, that removed the file.
        try writing(path, ifPresent(files.remove(name, .file, in: tree)))
      }
    }
  }

  /// Removes a file if it exists.
  func removeFile(_ name: String) throws(PackError) { try writing(path, ifPresent(files.remove(name, .file, in: directory))) }

  /// Returns all places of a group.
  func places(of group: UInt32) -> [RequestPlace] {
    state.withLock { state in
      (state.group(group)?.batches ?? []).flatMap { batch in
        batch.slots.indices.map { RequestPlace(group: group, batch: batch.number, index: UInt16($0)) }
      }
    }
  }

  /// Syncs the journal of a group to disk.
  func sync(_ group: UInt32) throws(PackError) {
    try journal(group).sync()
  }

  /// Removes a group with its files. It disappears at once. If the process ends before all files are removed, the rest is removed when the queue is
  /// next opened.
  func remove(group number: UInt32) throws(PackError) {
    let name = DownloadNames.group(number)
    try writing(path, files.rename(name, to: Self.trash + name, in: directory))
    try writing(path, files.sync(directory))
    state.withLock { state in state.groups.removeAll { $0.number == number } }
    cache.withLock { cache in cache.bodies.removeAll { $0.group == number } }
    try? files.removeTree(Self.trash + name, in: directory)
  }

  private func journal(_ group: UInt32) -> DownloadJournal { DownloadJournal(group: group, in: directory, files: files) }
}
