/// Makes a delta: a pack that makes the tree of a new pack out of the tree of an old one (FORMAT.md §13).
///
/// With the same build of packer, the same packs and key give the same bytes, regardless of the number of threads. How the packs were compressed
/// and encrypted makes no difference, except that the salt is random if that of the new pack is, and that less is taken from a base whose frames a reader
/// would decompress too often.
///
/// Memory: 40 MiB for each thread, and up to 100 MiB if it has full windows; 450 bytes for each record of both packs; about 250 bytes for each run of 64
/// bytes or more that both have in common; and the table of fingerprints, 24 MiB up to 192 MiB by the size of the old pack.
package struct DeltaJob: Sendable {
  /// The pack that players have. The delta is applied to any pack with the same content root.
  package let old: Pack
  /// The pack that the delta brings. The delta has its pack id, version and segment size.
  package let new: Pack
  /// The path of the delta. An existing file there is replaced, but only by a finished delta.
  package let output: String
  /// The number of threads. Nil means the number of processors that are online.
  package var jobs: Int?
  package var files: any FileSystem = SystemFiles()
  package var backend: any CryptoBackend = CryptoBackends.standard
  /// Whether the job syncs the delta to the disk, or leaves that to its directory.
  var durability = OutputFile.Durability.synced

  package init(from old: Pack, to new: Pack, output: String) {
    self.old = old
    self.new = new
    self.output = output
  }

  /// Makes the delta.
  ///
  /// Nothing appears at ``output`` until the delta is complete, was checked, and is on the disk. On failure, and if the task is cancelled, an earlier
  /// file is unchanged and nothing is left behind. The key stanzas name only the key of the new pack: recipients get copies, as of a full pack.
  ///
  /// - Parameters:
  ///   - key: the application key of the new pack, or the root key that it follows from.
  ///   - progress: called for every content, chunk and window, in bytes of content.
  /// - Throws: ``PackError/Code/wrongKey`` if the new pack was made with another key, ``PackError/Code/unsuitableSource`` if a delta of these packs
  ///   would exceed a limit, or the errors of reading both and of writing.
  package func run(key: borrowing PackKey, progress: ProgressHandler? = nil) async throws(PackError) -> DeltaReport {
    let workers = try WorkerPool.size(for: jobs)
    let key = Shared(try writingKey(key))
    let (oldTree, newTree) = try await WorkerPool.value { [old, new] (_) throws(PackError) in
      (try DeltaTree(old), try DeltaTree(new))
    }
    var places = DeltaPlaces(of: newTree, over: oldTree)
    let base = DeltaBaseReading(oldTree)
    let list = try await listSource(of: newTree, over: base, jobs: workers)
    let contents = try await contentSource(of: newTree, &places, over: base, jobs: workers, progress: progress)

    let header = makeHeader()
    let draft = try PackDraft(output, header: header, key: key.key, durability: durability, files: files, backend: backend)
    var head = DeltaHead(
      bases: [oldTree.contentRoot], target: newTree.contentRoot, listSize: newTree.list.count, contentSize: contents.stream.size)
    head.copies = (list.copies.copies, contents.copies.copies)
    (head.moved, head.new, head.repeated) = (places.moved, places.new, places.repeated)
    let windows = LiteralWindows(base: base, draft: draft)
    try await windows.append(list, to: &head, jobs: workers, progress: nil)
    try await windows.append(contents, to: &head, jobs: workers, progress: progress)
    let headSize = try append(head, to: draft)

    let seal = try PackSeal(draft, header: header, usesRandomSalt: !header.hasDeterministicSalt, key: key.key, backend: backend)
    try await seal.run(jobs: workers, progress: progress) { [self] (file) throws(PackError) in
      try prove(file, size: seal.packSize, key: key.key)
    }
    return DeltaReport(
      output: output, header: header, keyID: key.key.id, head: head, places: places, sizes: (seal.packSize, new.layout.packSize),
      headSize: headSize)
  }

  /// A list up to this length is compressed against that of the old tree. In a longer one, what both have in common is found first, which is faster.
  private static let mostOfList = 1 << 20

  private func listSource(of tree: DeltaTree, over base: DeltaBaseReading, jobs: Int) async throws(PackError) -> LiteralWindows.Source {
    let stream = DeltaStream(listOf: tree)
    let (old, new) = (base.tree.list, tree.list)
    if old == new, UInt64(old.count) >= Limits.deltaCopyLengths.lowerBound {
      let (copies, _) = CopySearch.divided([CopySearch.Match(start: 0, place: 0, length: UInt64(old.count))]) { _ in 0 }
      return LiteralWindows.Source(stream: stream, copies: CopyStream(size: stream.size, copies), extras: [])
    }
    if !old.isEmpty, max(old.count, new.count) <= Self.mostOfList {
      return LiteralWindows.Source(stream: stream, copies: CopyStream(size: stream.size, []), extras: [[0..<UInt64(old.count)]])
    }
    let search = CopySearch(base: base, sampled: base.sampledList())
    return try source(stream, over: base, try await search.matches(of: stream, jobs: jobs, progress: nil))
  }

  private func contentSource(
    of tree: DeltaTree, _ places: inout DeltaPlaces, over base: DeltaBaseReading, jobs: Int, progress: ProgressHandler?
  ) async throws(PackError) -> LiteralWindows.Source {
    let stream = try DeltaStream(of: tree, new: places.new)
    guard stream.size > 0 else { return try source(stream, over: base, []) }
    let search = CopySearch(base: base, sampled: try await base.sampledContents(jobs: jobs, progress: progress))
    let order = ContentOrder(stream.ranges, try await search.matches(of: stream, jobs: jobs, progress: progress), over: base)
    places.reorder(order.numbers)
    return try source(try DeltaStream(of: tree, new: places.new), over: base, order.matches)
  }

  private func source(
    _ stream: DeltaStream, over base: DeltaBaseReading, _ matches: [CopySearch.Match]
  ) throws(PackError) -> LiteralWindows.Source {
    var missed: Set<UInt64> = []
    var made: LiteralWindows.Source?
    // What the prefixes have no room for is copied. That makes room for others in the windows, so it is looked at again.
    for _ in 0..<Self.mostRounds {
      let (copies, rest) = CopySearch.divided(matches) { missed.contains($0.start) ? CopySearch.shortCopy : CopySearch.longCopy }
      let copyStream = CopyStream(size: stream.size, copies)
      let ranges = ExtraRanges(matches: rest, copies: copyStream, base: base)
      let extras = try ranges.chosen()
      if let made, !extras.isAllowed { return made }
      let source = LiteralWindows.Source(stream: stream, copies: copyStream, extras: extras.ranges)
      let more = try ranges.missed(extras.ranges).filter { $0.length >= CopySearch.shortCopy }
      guard more.reduce(0, { $0 + $1.length }) > copyStream.literalCount / 256 else { return source }
      made = source
      missed.formUnion(more.map(\.start))
    }
    guard let made else { preconditionFailure("there is a round") }
    return made
  }

  private static let mostRounds = 16

  /// Applies the finished delta, without writing anything: all that a device checks.
  private func prove(_ file: OpenFile, size: UInt64, key: borrowing PackKey) throws(PackError) {
    do throws(PackError) {
      let start = try PackStart(file, size: size, path: output, files: files)
      let delta = try DeltaPack(PackSource(start, path: output, key: key, files: files, backend: backend))
      var application = try DeltaApplication(delta, over: [old], checkpoint: Task.checkpoint)
      try application.prove(checkpoint: Task.checkpoint)
    } catch {
      guard error.code == .limitExceeded else { throw error }
      throw PackError(
        .unsuitableSource, "no device would apply the delta from \(old.source.path) to \(new.source.path): \(error.message)",
        hint: "publish the full pack")
    }
  }

  /// Returns the key with which the new pack was made: the one given, or the one that follows from it.
  private func writingKey(_ key: borrowing PackKey) throws(PackError) -> PackKey {
    try key.checkMakesPacks()
    guard let own = try key.key(new.keyID, ofPack: new.header.packID, version: new.header.packVersion, backend: backend) else {
      throw PackError(
        .wrongKey, "pack was made with key \(new.keyID), and a delta to it is made with the same, but the key given is \(key.id)",
        advice: .giveKey(new.keyID)
      ).about(new.source)
    }
    return own
  }

  private func makeHeader() -> PackHeader {
    var header = PackHeader(
      segmentSize: new.header.segmentSize, flags: new.header.flags & PackHeader.deterministicSalt,
      packVersion: new.header.packVersion, packID: new.header.packID, salt: [UInt8](repeating: 0, count: 32))
    header.kind = .delta
    return header
  }

  /// Appends the head and the trailer to the payload. Returns the length of the frame.
  private func append(_ head: DeltaHead, to draft: PackDraft) throws(PackError) -> Int {
    let bytes = head.bytes
    guard bytes.count <= Limits.deltaHeadSize else {
      throw PackError(
        .unsuitableSource, "the delta needs a head of \(bytes.count) bytes, more than \(Limits.deltaHeadSize)",
        hint: "publish the full pack, because the trees have too little in common")
    }
    let frame = try CompressionContext(level: 19).compressed(bytes)
    try draft.append(frame.byteSpan)
    try draft.append(DeltaHead.trailer(headSize: frame.count).byteSpan)
    return frame.count
  }
}
