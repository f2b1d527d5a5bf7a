/// Makes a delta: a pack that makes the tree of a new pack out of the tree of an old one (FORMAT.md §13).
///
/// With the same build of packer, the same packs and key give the same bytes, regardless of the number of threads. How the packs were compressed
/// and encrypted makes no difference, except that the salt is random if that of the new pack is, and that the frames of the old pack count if the
/// delta stays packed.
///
/// Memory: about 60 MiB for each thread, 450 bytes for each record of both packs, and the table of fingerprints, 24 MiB up to 192 MiB by the size of
/// the old pack.
package struct DeltaJob: Sendable {
  /// The pack that players have. A delta over it is read over a pack with the same content root.
  package let old: Pack
  /// The pack that the delta brings. The delta has its pack id, version and segment size.
  package let new: Pack
  /// The path of the delta. An existing file there is replaced, but only by a finished delta.
  package let output: String
  /// The number of threads. Nil means the number of processors that are online.
  package var jobs: Int?
  /// How players keep the pack. If it stays packed, files are read through the delta: then each window needs at most ``mostFrames`` frames of the old
  /// pack. That may make the delta larger.
  package var mode = InstallMode.unpacked
  /// The largest number of frames of the old pack that a window of a delta needs that stays packed.
  package static let mostFrames = 4
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
  ///   - progress: called for every content and window, in bytes of content.
  /// - Throws: ``PackError/Code/wrongKey`` if the new pack was made with another key, ``PackError/Code/unsuitableSource`` if a delta of these packs
  ///   would exceed a limit, or the errors of reading both and of writing.
  package func run(key: borrowing PackKey, progress: ProgressHandler? = nil) async throws(PackError) -> DeltaReport {
    let workers = try WorkerPool.size(for: jobs)
    let key = try writingKey(key)
    let (oldTree, newTree) = try await WorkerPool.value { [old, new] (_) throws(PackError) in
      (try DeltaTree(old), try DeltaTree(new))
    }
    var places = DeltaPlaces(of: newTree, over: oldTree)
    let base = try await DeltaBaseReading.open(oldTree, isSearched: !places.new.isEmpty, jobs: workers, progress: progress)
    var homes: FrameHomes?
    if mode == .packed {
      let found = try await WorkerPool.value { [new = places.new] (pool) throws(PackError) in
        try FrameHomes(of: new, in: newTree, over: base, pool: pool)
      }
      places.arrange(found.order)
      homes = found
    }
    let stream = try DeltaStream(of: newTree, new: places.new, homes: homes)

    let header = makeHeader()
    let draft = try PackDraft(output, header: header, key: key, durability: durability, files: files, backend: backend)
    var head = DeltaHead(bases: [oldTree.contentRoot], target: newTree.contentRoot, listSize: newTree.list.count)
    head.moved = places.moved
    head.new = places.new
    head.repeated = places.repeated
    let windows = try DeltaWindows(
      base, stream, mostFrames: homes == nil ? nil : Self.mostFrames, head: head, draft: draft, backend: backend)
    head = try await windows.make(jobs: workers, progress: progress)
    let headSize = try append(head, to: draft, newTree, oldTree)

    let seal = try PackSeal(draft, header: header, usesRandomSalt: !header.hasDeterministicSalt, key: key, backend: backend)
    try await seal.run(jobs: workers, progress: progress)
    return DeltaReport(
      output: output, header: header, keyID: key.id, head: head, places: places, sizes: (seal.packSize, new.layout.packSize),
      newSize: stream.contentSize, headSize: headSize)
  }

  /// Returns the key with which the new pack was made: the one given, or the one that follows from it.
  private func writingKey(_ key: borrowing PackKey) throws(PackError) -> PackKey {
    try key.checkMakesPacks()
    guard let own = try key.key(new.keyID, ofPack: new.header.packID, backend: backend) else {
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

  /// Appends the head and the trailer to the payload, after reading the head as a reader does. Returns the length of the frame.
  private func append(_ head: DeltaHead, to draft: PackDraft, _ new: DeltaTree, _ old: DeltaTree) throws(PackError) -> Int {
    let bytes = head.bytes
    guard bytes.count <= Limits.deltaHeadSize else {
      throw PackError(
        .unsuitableSource, "the delta needs a head of \(bytes.count) bytes, more than \(Limits.deltaHeadSize)",
        hint: "publish the full pack, because the trees have too little in common")
    }
    let parsed = try DeltaHead(parsing: bytes.byteSpan, minor: 0, windowBytes: draft.size)
    try DeltaProof.check(parsed, of: new, over: old, backend: backend)
    let frame = try CompressionContext(level: 19).compressed(bytes)
    try draft.append(frame.byteSpan)
    try draft.append(DeltaHead.trailer(headSize: frame.count).byteSpan)
    return frame.count
  }
}
