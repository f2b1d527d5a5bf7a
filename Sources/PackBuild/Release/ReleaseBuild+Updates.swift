extension ReleaseBuild {
  /// The largest number of deltas that make a pack: from its newest editions. As many older editions get a delta to one of those.
  static let mostDeltas = 8
  /// The largest number of editions of a pack that get deltas.
  package static let mostEditions = 2 * mostDeltas

  /// A delta that was made or reused, and what the next build is told of one that was not worth it.
  struct UpdateOutcome: Sendable {
    let update: ReleaseBuildReport.Update
    let record: BuildRecord.Delta?

    /// What the manifest says of it; nil if it is not published.
    var delta: ManifestDelta? {
      guard let record, record.file != nil else { return nil }
      let target = update.via == nil ? nil : record.target
      return ManifestDelta(bases: [record.base], target: target, size: record.size, sha256: record.sha256)
    }
  }

  /// Returns the editions that players may have of the packs that changed.
  func editions(of decisions: [PackDecision], _ history: ReleaseHistory?) throws(PackError) -> [String: [ReleaseHistory.Edition]] {
    guard let history else { return [:] }
    var current: [String: [UInt8]] = [:]
    for decision in decisions {
      current[decision.id] = (decision.result ?? decision.made)?.sha256 ?? decision.edition?.recorded?.sha256 ?? []
    }
    return try history.editions(besides: current)
  }

  /// Makes the deltas to the packs of the release.
  ///
  /// A base that is missing or cannot be read is no error: the update says why there is no delta.
  func makeUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], keys: ContentKeys, existing: ExistingRelease?,
    cached: CachedFiles?, into staged: StagedRelease, progress: ProgressHandler?
  ) async throws(PackError) -> [UpdateOutcome] {
    let bases = Self.bases(of: decisions)
    let shelf = try cached.map { (files) throws(PackError) in
      try DeltaShelf(files, for: self.wanted(to: decisions, from: editions, bases, existing))
    }
    var outcomes: [UpdateOutcome] = []
    var rest = decisions[...]
    while let first = rest.first {
      try checkpoint()
      // Packs of editions that a cache has are on the disk only for some packs at once.
      var size: UInt64 = 0
      let count = rest.prefix { decision in
        size = size.adding(decision.result?.size ?? 0)
        return size <= Self.largestBatch || decision.id == first.id
      }.count
      let works = rest.prefix(count).compactMap { decision in
        decision.result.map { made in
          UpdateWork(
            made: made, decision: decision, editions: editions[decision.id] ?? [], base: decision.pack.base.flatMap { bases[$0]?.result })
        }
      }
      rest = rest.dropFirst(count)
      outcomes += try await makeUpdates(works, keys: keys, existing: existing, shelf, into: staged, progress: progress)
      shelf?.dropBases()
    }
    return outcomes
  }

  /// The sum of the sizes in bytes of the packs whose deltas are made at the same time, at most.
  private static let largestBatch: UInt64 = 1 << 30

  /// The deltas to one pack.
  private struct UpdateWork {
    let made: BuildRecord.Pack
    let decision: PackDecision
    let editions: [ReleaseHistory.Edition]
    /// The other pack over which it is published.
    let base: BuildRecord.Pack?
  }

  private func makeUpdates(
    _ works: [UpdateWork], keys: ContentKeys, existing: ExistingRelease?, _ shelf: DeltaShelf?, into staged: StagedRelease,
    progress: ProgressHandler?
  ) async throws(PackError) -> [UpdateOutcome] {
    var outcomes = works.map { [UpdateOutcome?](repeating: nil, count: $0.editions.count + ($0.base == nil ? 0 : 1)) }
    // Older editions get a delta to a newer one if that has one to the pack.
    for isLater in [false, true] {
      var due: [DueDelta] = []
      for (index, work) in works.enumerated() {
        for (number, edition) in work.editions.enumerated() where (number >= Self.mostDeltas) == isLater {
          try checkpoint()
          // The edition in between is eight editions newer: the delta to it was made when it was released, and is reused.
          let middle = Self.middle(of: number, in: outcomes[index], work.editions)
          let wanted = WantedDelta(
            base: .edition(edition), made: work.made, middle: middle, mode: work.decision.pack.install, job: work.decision.job)
          if let reason = wanted.obstacle(number) {
            outcomes[index][number] = wanted.omitted(reason)
          } else {
            outcomes[index][number] = try bring(
              wanted, as: (index, number), &due, key: keys.key(of: work.made.id).key, existing: existing, shelf, into: staged)
          }
        }
        if !isLater, let base = work.base {
          try checkpoint()
          // A device rewrites a pack that stays packed, because it may remove the other pack. So the delta need not be fast to read.
          let wanted = WantedDelta(base: .pack(base), made: work.made, middle: nil, mode: .unpacked, job: work.decision.job)
          let number = work.editions.count
          outcomes[index][number] = try bring(
            wanted, as: (index, number), &due, key: keys.key(of: work.made.id).key, existing: existing, shelf, into: staged)
        }
      }
      try await make(due, keys: keys, shelf, into: staged, progress: progress) { (delta, outcome) in
        outcomes[delta.place.work][delta.place.number] = outcome
      }
    }
    return outcomes.flatMap { $0.compactMap(\.self) }
  }

  /// Returns the deltas that the earlier build has not, as far as they can be named before any is made.
  private func wanted(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], _ bases: [String: PackDecision],
    _ existing: ExistingRelease?
  ) -> [WantedDelta] {
    var list: [WantedDelta] = []
    for decision in decisions {
      guard let made = decision.result else { continue }
      let known = editions[decision.id] ?? []
      for (number, edition) in known.prefix(Self.mostEditions).enumerated() {
        let middle = Self.middle(of: number).map { Middle(pack: known[$0].pack, last: nil) }
        list.append(WantedDelta(base: .edition(edition), made: made, middle: middle, mode: decision.pack.install, job: decision.job))
      }
      if let other = decision.pack.base.flatMap({ bases[$0]?.result }) {
        list.append(WantedDelta(base: .pack(other), made: made, middle: nil, mode: .unpacked, job: decision.job))
      }
    }
    guard let existing else { return list }
    return list.filter { wanted in !existing.record.deltas.contains(where: wanted.isThat) }
  }

  /// A delta that has to be made.
  private struct DueDelta: Sendable {
    let wanted: WantedDelta
    /// The index of its pack among those whose deltas are made at the same time, and its number among the deltas to that pack.
    let place: (work: Int, number: Int)
    let basePath: String
    let targetPath: String
    /// The path of the draft.
    let output: String
  }

  /// Takes a delta that is there. Otherwise adds it to those that are due, and returns nil, or returns why there is none.
  private func bring(
    _ wanted: WantedDelta, as place: (work: Int, number: Int), _ due: inout [DueDelta], key: borrowing PackKey, existing: ExistingRelease?,
    _ shelf: DeltaShelf?, into staged: StagedRelease
  ) throws(PackError) -> UpdateOutcome? {
    if let known = try reuse(wanted, from: existing, into: staged) { return known }
    if let shelf, let known = try take(wanted, from: shelf, key: key, into: staged) { return known }
    let basePath: String
    switch wanted.base {
    case .pack(let other): basePath = staged.path(of: other.file)
    case .edition(let edition):
      guard let path = try self.basePath(of: edition.pack, existing, shelf) else { return omitted(wanted, lacking: edition.pack) }
      basePath = path
    }
    var targetPath = staged.path(of: wanted.made.file)
    if let middle = wanted.middle?.pack {
      guard let path = try self.basePath(of: middle, existing, shelf) else { return omitted(wanted, lacking: middle) }
      targetPath = path
    }
    due.append(
      DueDelta(wanted: wanted, place: place, basePath: basePath, targetPath: targetPath, output: staged.path(of: wanted.draft)))
    return nil
  }

  /// The deltas that the cache has, and the packs of editions that others are made from. Only some are on the disk at once.
  private final class DeltaShelf {
    let files: CachedFiles
    /// The deltas that the cache has, in the order in which they are needed, and which of them were asked for.
    private var deltas: [(name: String, file: CachedFile, limit: UInt64, title: String)] = []
    private var next = 0
    /// The places of the deltas in the list, by their names.
    private var places: [String: Int] = [:]
    private var found: Set<CachedFile> = []
    /// The packs that are here.
    private var bases: Set<CachedFile> = []

    /// The largest sum of the sizes of the deltas that are fetched at once, in bytes.
    private static let largestBatch: UInt64 = 1 << 30

    init(_ files: CachedFiles, for wanted: [WantedDelta]) throws(PackError) {
      self.files = files
      var names: [(name: String, wanted: WantedDelta)] = []
      for item in wanted { names.append((try files.name(item.members), item)) }
      let references = try files.references(names.map(\.name))
      deltas = names.compactMap { name, item in
        references[name].map { (name, $0, item.made.size.adding(1 << 20), item.title) }
      }
      places = Dictionary(deltas.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// Returns the file of a delta that the cache had. It is here until ``CachedFiles/drop(_:)``.
    func file(of wanted: WantedDelta) throws(PackError) -> CachedFile? {
      let name = try files.name(wanted.members)
      guard let place = places[name] else { return nil }
      if place >= next {
        var size: UInt64 = 0
        let first = next
        repeat {
          size = size.adding(deltas[next].limit)
          next += 1
        } while next <= place || next < deltas.count && size.adding(deltas[next].limit) <= Self.largestBatch
        found.formUnion(try files.bring(deltas[first..<next].map { ($0.file, $0.limit, $0.title) }))
      }
      return found.contains(deltas[place].file) ? deltas[place].file : nil
    }

    /// Returns the path of the pack of an edition, if the cache has it. It is here until ``dropBases()``.
    func path(of pack: ReleaseLock.Pack) throws(PackError) -> String? {
      let file = CachedFile(sha256: pack.sha256)
      if !bases.contains(file) {
        bases.formUnion(try files.bring([(file, pack.size ?? 1 << 40, "version \(pack.version) of pack '\(pack.id)'")]))
      }
      return bases.contains(file) ? files.path(of: file.name) : nil
    }

    func dropBases() {
      for file in bases { files.drop(file.name) }
      bases = []
    }
  }

  /// Takes a delta from the cache. Returns nil if there is none, or not the right one.
  private func take(
    _ wanted: WantedDelta, from shelf: DeltaShelf, key: borrowing PackKey, into staged: StagedRelease
  ) throws(PackError) -> UpdateOutcome? {
    guard let file = try shelf.file(of: wanted) else { return nil }
    defer { shelf.files.drop(file.name) }
    do throws(PackError) {
      try wanted.check(shelf.files.path(of: file.name), key: key, files: files, backend: backend)
      let directory = try files.openDirectory(shelf.files.directory)
      try staged.adopt(file.name, in: directory, as: wanted.draft, sourcePath: shelf.files.directory, isCopied: true)
      return try finish(wanted, wanted.draft, .cached, in: staged)
    } catch {
      guard !Self.endsBuild(error) else { throw error }
      try? staged.remove(wanted.draft)
      shelf.files.refuse(file, of: wanted.title, error)
      return nil
    }
  }

  /// An edition to which an older one gets a delta, and the delta from there to the pack.
  private struct Middle {
    let pack: ReleaseLock.Pack
    /// Nil as long as it is not made.
    let last: ManifestDelta?
  }

  /// Returns the edition in between for an edition that gets no delta to the pack itself, if there is one.
  private static func middle(of number: Int, in outcomes: [UpdateOutcome?], _ editions: [ReleaseHistory.Edition]) -> Middle? {
    guard let middle = middle(of: number), let last = outcomes[middle]?.delta else { return nil }
    return Middle(pack: editions[middle].pack, last: last)
  }

  /// Returns the number of the edition in between for the edition with a number, from the newest on.
  private static func middle(of number: Int) -> Int? { (mostDeltas..<mostEditions).contains(number) ? number - mostDeltas : nil }

  /// Returns the packs over which others are published as deltas, by their ids.
  private static func bases(of decisions: [PackDecision]) -> [String: PackDecision] {
    let named = Set(decisions.compactMap(\.pack.base))
    return named.isEmpty ? [:] : Dictionary(decisions.filter { named.contains($0.id) }.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Returns what a build would do.
  func plannedUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], existing: ExistingRelease?
  ) -> [ReleaseBuildReport.Update] {
    var updates: [ReleaseBuildReport.Update] = []
    let bases = Self.bases(of: decisions)
    for decision in decisions {
      for (number, edition) in (editions[decision.id] ?? []).enumerated() {
        let list = editions[decision.id] ?? []
        let middle = Self.middle(of: number).map { list[$0].pack }
        let isTooOld = number >= Self.mostEditions
        let missing = isTooOld ? nil : [edition.pack, middle].compactMap(\.self).first { basePath(of: $0, existing) == nil }
        let reason = isTooOld ? Self.tooOld : missing.map(absence)
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: edition.pack.version, manifest: edition.manifest, basePack: nil,
            base: edition.pack.contentRoot, via: middle?.version, action: reason == nil ? .planned : .omitted, reason: reason,
            missingFile: missing.map { Self.fileName($0.id, $0.sha256) }, size: nil, restSize: nil, packSize: nil))
      }
      if let base = decision.pack.base.flatMap({ bases[$0] }), let root = base.census?.contentRoot ?? base.made?.contentRoot,
        let version = base.edition?.version ?? base.made?.version
      {
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: version, manifest: nil, basePack: base.id, base: root, via: nil, action: .planned, reason: nil,
            missingFile: nil, size: nil, restSize: nil, packSize: nil))
      }
    }
    return updates
  }

  /// Returns a warning if deltas were not made because files of earlier packs are missing.
  func lackingFiles(_ updates: [ReleaseBuildReport.Update]) -> ReleaseBuildReport.Remark? {
    let missing = Set(updates.compactMap(\.missingFile)).sorted()
    guard let folder = configuration.updates?.packs, let first = missing.first else { return nil }
    let more = missing.count > 1 ? " and \(missing.count - 1) more" : ""
    return .warning(
      "\(folder) lacks \(first)\(more): players who have these versions download the full pack",
      hint: "bring the files back, for example from where they were uploaded")
  }

  /// Returns what players of each earlier release download, newest first.
  func downloads(
    to entries: [ManifestPack], by outcomes: [UpdateOutcome], _ history: ReleaseHistory?
  ) throws(PackError) -> [ReleaseUpdate] {
    guard let history else { return [] }
    return try history.updates(to: entries, by: Dictionary(Self.listed(outcomes).map { ($0.id, $0.deltas) }) { first, _ in first })
  }

  /// Names in each entry the other pack over which there is a delta to it.
  static func name(bases outcomes: [UpdateOutcome], in items: inout [ReleaseBuildReport.Item]) {
    let bases = Dictionary(outcomes.filter { $0.delta != nil && $0.update.basePack != nil }.map { ($0.update.id, $0.update.basePack) }) {
      first, _ in first
    }
    for index in items.indices {
      let base = bases[items[index].id] ?? nil
      items[index].entry?.basePack = base
    }
  }

  /// Returns the deltas as pages list them.
  static func listed(_ outcomes: [UpdateOutcome]) -> [PackUpdates] {
    var deltas: [String: [ManifestDelta]] = [:]
    for outcome in outcomes {
      if let delta = outcome.delta { deltas[outcome.update.id, default: []].append(delta) }
    }
    return deltas.map { id, deltas in PackUpdates(id: id, deltas: deltas.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }) }
      .sorted { $0.id.precedes($1.id) }
  }

  // MARK: One delta

  private static let tooOld = "only the \(mostEditions) newest editions get deltas"

  /// What a delta is read over.
  private enum Base {
    /// An earlier edition of the same pack.
    case edition(ReleaseHistory.Edition)
    /// Another pack of the same release.
    case pack(BuildRecord.Pack)

    var version: (number: UInt64, contentRoot: [UInt8]) {
      switch self {
      case .edition(let edition): (edition.pack.version, edition.pack.contentRoot)
      case .pack(let pack): (pack.version, pack.contentRoot)
      }
    }

    /// SHA-256 of the pack's file.
    var sha256: [UInt8] {
      switch self {
      case .edition(let edition): edition.pack.sha256
      case .pack(let pack): pack.sha256
      }
    }

    var manifest: UInt64? { if case .edition(let edition) = self { edition.manifest } else { nil } }
    var packName: String? { if case .pack(let pack) = self { pack.id } else { nil } }
  }

  /// A delta to be made, or reused.
  private struct WantedDelta {
    let base: Base
    let made: BuildRecord.Pack
    /// What it leads to, if not to the pack itself.
    let middle: Middle?
    let mode: InstallMode
    let job: PackJob

    private var root: [UInt8] { base.version.contentRoot }
    /// The settings that the bytes of a delta depend on besides both contents, name, version and key, as one line of text.
    private var settings: String { "format=\(PackHeader.formatVersion) segment=\(job.segmentSize) install=\(mode.rawValue)" }
    private var version: UInt64 { middle?.pack.version ?? made.version }
    private var target: [UInt8] { middle?.pack.contentRoot ?? made.contentRoot }

    /// Why it cannot be made for the edition with a number, from the newest on; nil if nothing is known.
    func obstacle(_ number: Int) -> String? {
      guard number >= ReleaseBuild.mostDeltas else { return nil }
      guard number < ReleaseBuild.mostEditions else { return ReleaseBuild.tooOld }
      guard let middle else { return "the edition that would lead on to the pack has no delta" }
      // A device may have only the newer key.
      return middle.pack.keyID == made.keyID ? nil : "the edition that would lead on to the pack has another key"
    }

    /// Whether a delta of an earlier build is this one.
    func isThat(_ delta: BuildRecord.Delta) -> Bool {
      delta.id == made.id && delta.base == root && delta.target == target && delta.version == version
        && delta.keyID == made.keyID && delta.settings == settings
    }

    /// What it follows from, besides the digests of the packs.
    var members: [String: JSON?] {
      var sha256 = made.sha256
      if let middle { sha256 = middle.pack.sha256 }
      return [
        "base": .text(base.sha256.hex), "id": .text(made.id), "keyID": .text(made.keyID), "settings": .text(settings),
        "target": .text(sha256.hex), "version": .number(version),
      ]
    }

    var title: String { "the delta of pack '\(made.id)' from \(base.packName.map { "'\($0)' " } ?? "")version \(base.version.number)" }

    /// The name of its file before its digest is known. Several may have the same version, and are made at the same time.
    var draft: String { "\(made.id)-\(base.version.number)-\(root.prefix(8).hex).\(base.packName == nil ? "delta" : "base")" }

    /// Throws if a file is not a delta between these packs, or if any of it was changed.
    func check(_ path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend) throws(PackError) {
      let (start, source) = try Pack.openAlone(path, key: key, files: files)
      let head = try DeltaSummary.read(path, key: key, files: files).head
      guard start.header.kind == .delta, start.header.packVersion == version, "\(source.stanzas.keyID)" == made.keyID, head.bases == [root],
        head.target == target, try PackID.bytes(for: PackName(made.id), backend: backend) == start.header.packID
      else {
        throw PackError(.wrongPack, of: path, "is another delta")
      }
      let segments = try SegmentReader(source)
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      var offset: UInt64 = 0
      while offset < source.layout.payloadSize {
        let count = Int(min(UInt64(buffer.count), source.layout.payloadSize - offset))
        var all = buffer.mutableByteSpan
        var span = all._mutatingExtracting(first: count)
        try segments.read(at: offset, into: &span)
        offset += UInt64(count)
      }
    }

    func record(_ file: String?, _ size: UInt64, _ sha256: [UInt8]) -> BuildRecord.Delta {
      BuildRecord.Delta(
        id: made.id, version: version, file: file, size: size, sha256: sha256, base: root, target: target, keyID: made.keyID,
        settings: settings)
    }

    func outcome(
      _ action: ReleaseBuildReport.Update.Action, _ record: BuildRecord.Delta? = nil, reason: String? = nil, missingFile: String? = nil
    ) -> UpdateOutcome {
      UpdateOutcome(
        update: ReleaseBuildReport.Update(
          id: made.id, version: base.version.number, manifest: base.manifest, basePack: base.packName, base: root,
          via: middle?.pack.version, action: action, reason: reason, missingFile: missingFile, size: record?.size,
          restSize: middle?.last?.size, packSize: made.size),
        record: record)
    }

    func omitted(_ reason: String) -> UpdateOutcome { outcome(.omitted, reason: reason) }

    /// Returns the outcome for a delta that does not save enough. The next build need not make it again.
    func unworthy(_ record: BuildRecord.Delta, _ worth: UInt64) -> UpdateOutcome {
      var record = record
      record.file = nil
      let size = record.size.adding(middle?.last?.size ?? 0)
      let saved = made.size > size ? made.size - size : 0
      return outcome(
        .omitted, record,
        reason: saved < ReleaseBuild.leastSaving
          ? "it would save only \(saved) bytes" : "it would save \(saved * 100 / made.size) %, less than \(Self.percent(worth)) %")
    }

    private static func percent(_ basisPoints: UInt64) -> String {
      let decimals = basisPoints % 100
      return decimals == 0 ? "\(basisPoints / 100)" : "\(basisPoints / 100).\(decimals < 10 ? "0" : "")\(decimals)"
    }
  }

  /// The share of the full pack that a delta must save, in hundredths of a percent.
  private var worth: UInt64 { configuration.updates?.worth ?? 0 }

  /// The fewest bytes that a delta must save: its entry in a page takes 250, and devices read the entries of many.
  static let leastSaving: UInt64 = 4096

  /// Whether a delta saves enough, together with the one that leads on.
  private func isWorth(_ size: UInt64, _ wanted: WantedDelta) -> Bool {
    isWorth(size + (wanted.middle?.last?.size ?? 0), insteadOf: wanted.made.size)
  }

  /// Whether deltas of `size` bytes save enough of a pack to be made.
  package func isWorth(_ size: UInt64, insteadOf packSize: UInt64) -> Bool {
    // A pack has at most 2^40 bytes.
    size + Self.leastSaving <= packSize && size * 10_000 <= packSize * (10_000 - min(worth, 10_000))
  }

  /// Takes a delta from the earlier build, or that it was not worth it. Returns nil if there is none.
  private func reuse(_ wanted: WantedDelta, from existing: ExistingRelease?, into staged: StagedRelease) throws(PackError) -> UpdateOutcome?
  {
    guard let existing, let known = existing.record.deltas.first(where: wanted.isThat) else { return nil }
    guard isWorth(known.size, wanted) else { return wanted.unworthy(known, worth) }
    guard let file = known.file else { return nil }
    do throws(PackError) {
      try staged.adopt(file, in: existing.directory, as: file, sourcePath: existing.path)
    } catch {
      guard error.code == .missingInput || error.code == .cannotRead else { throw error }
      return nil
    }
    guard let found = try? staged.digest(of: file), found.size == known.size, found.sha256 == known.sha256 else {
      try staged.remove(file)
      return nil
    }
    return wanted.outcome(.reused, known)
  }

  /// Makes deltas, small ones at the same time, and hands over the outcome of each.
  private func make(
    _ due: [DueDelta], keys: ContentKeys, _ shelf: DeltaShelf?, into staged: StagedRelease, progress: ProgressHandler?,
    finished: (DueDelta, UpdateOutcome) -> Void
  ) async throws(PackError) {
    let items = due.enumerated().map { number, delta in
      let size = delta.wanted.made.size
      return PackingGroup.Item(index: number, cost: size, frames: 1 + size / UInt64(Limits.frameSize))
    }
    let meter = SumMeter(.packing, handler: progress)
    for group in PackingGroup.groups(items, threads: try WorkerPool.size(for: jobs)) {
      try await ConcurrentJobs.run(group.packs.count, atOnce: group.atOnce) { (number) async throws(PackError) -> PackError? in
        let delta = due[group.packs[number]]
        let key = keys.key(of: delta.wanted.made.id)
        guard group.atOnce > 1 else { return try await self.make(delta, jobs: group.jobs, key: key.key, progress: progress) }
        return try await meter.measure { (progress) async throws(PackError) in
          try await self.make(delta, jobs: group.jobs, key: key.key, progress: progress)
        }
      } take: { (number, obstacle) throws(PackError) in
        let delta = due[group.packs[number]]
        if let obstacle { return finished(delta, delta.wanted.omitted(staged.naming(obstacle).message)) }
        if let shelf {
          let (_, sha256) = try staged.digest(of: delta.wanted.draft)
          try shelf.files.keep(delta.wanted.draft, sha256, as: try shelf.files.name(delta.wanted.members))
        }
        finished(delta, try finish(delta.wanted, delta.wanted.draft, .made, in: staged))
      }
    }
  }

  /// Makes a delta. Returns why there is none if it cannot be made, or nil.
  private func make(_ delta: DueDelta, jobs: Int, key: borrowing PackKey, progress: ProgressHandler?) async throws(PackError)
    -> PackError?
  {
    let base: Pack
    switch delta.wanted.base {
    case .pack: base = try Pack(delta.basePath, key: key, files: files, backend: backend)
    case .edition(let edition):
      do throws(PackError) {
        base = try open(delta.basePath, as: edition.pack, key: key)
      } catch {
        return PackError(error.code, "\(delta.basePath) cannot be the base: \(error.message)")
      }
    }
    let target: Pack
    if let middle = delta.wanted.middle?.pack {
      do throws(PackError) {
        target = try open(delta.targetPath, as: middle, key: key)
      } catch {
        return PackError(error.code, "\(delta.targetPath) cannot be the edition that leads on: \(error.message)")
      }
    } else {
      target = try Pack(delta.targetPath, key: key, files: files, backend: backend)
    }
    var job = DeltaJob(from: base, to: target, output: delta.output)
    (job.jobs, job.files, job.backend, job.durability) = (jobs, files, backend, .leftToDirectory)
    job.mode = delta.wanted.mode
    do throws(PackError) {
      _ = try await job.run(key: key, progress: progress)
    } catch {
      guard Self.faultsOfBases.contains(error.code) else { throw error }
      return error
    }
    return nil
  }

  /// Publishes a delta that is worth it, and removes another one.
  private func finish(
    _ wanted: WantedDelta, _ name: String, _ action: ReleaseBuildReport.Update.Action, in staged: StagedRelease
  ) throws(PackError) -> UpdateOutcome {
    let (size, sha256) = try staged.digest(of: name)
    guard isWorth(size, wanted) else {
      try staged.remove(name)
      return wanted.unworthy(wanted.record(nil, size, sha256), worth)
    }
    let file = Self.fileName(wanted.made.id, sha256)
    try staged.rename(name, to: file)
    return wanted.outcome(action, wanted.record(file, size, sha256))
  }

  /// The errors of a base, or of a pair of trees that has no delta. The full pack remains.
  private static let faultsOfBases: Set<PackError.Code> = [
    .unsuitableSource, .authenticationFailed, .damagedHeader, .damagedPayload, .damagedArchive, .digestMismatch, .truncated, .limitExceeded,
    .cannotRead, .missingInput,
  ]

  // MARK: Bases

  /// Opens the pack of an edition. Its content root proves that it has what players have.
  private func open(_ path: String, as edition: ReleaseLock.Pack, key: borrowing PackKey) throws(PackError) -> Pack {
    let pack = try Pack(path, key: key, files: files, backend: backend)
    guard pack.contentRoot == edition.contentRoot else {
      throw PackError(.wrongPack, "pack has another content than version \(edition.version), which was released")
    }
    return pack
  }

  /// Returns the file of an edition, in the earlier build or in the folder of released packs; nil if it is in neither.
  private func basePath(of pack: ReleaseLock.Pack, _ existing: ExistingRelease?) -> String? {
    var places = existing.map { ["\($0.path)/\(Self.fileName(pack.id, pack.sha256))"] } ?? []
    if let settings = configuration.updates { places.append(ReleasedPacks(settings.packs, files: files).path(of: pack)) }
    return places.first { (try? files.status(of: $0, in: nil, following: .followed))?.kind == .file }
  }

  /// Does the same, and asks the cache if it is in neither.
  private func basePath(of pack: ReleaseLock.Pack, _ existing: ExistingRelease?, _ shelf: DeltaShelf?) throws(PackError) -> String? {
    if let path = basePath(of: pack, existing) { return path }
    return try shelf?.path(of: pack)
  }

  private func omitted(_ wanted: WantedDelta, lacking pack: ReleaseLock.Pack) -> UpdateOutcome {
    wanted.outcome(.omitted, reason: absence(of: pack), missingFile: Self.fileName(pack.id, pack.sha256))
  }

  private func absence(of pack: ReleaseLock.Pack) -> String {
    let folder = configuration.updates.map { " nor in \($0.packs)" } ?? ""
    return "\(Self.fileName(pack.id, pack.sha256)) is neither in \(output)\(folder)"
  }
}
