/// What applying a delta made in a directory.
package struct UnpackedDelta: Sendable {
  /// The directory, which is not finished yet.
  package let output: OutputDirectory
  package let tree: TreeCount
  package let contentRoot: [UInt8]
  package let contentSize: UInt64
  package let entryCount: Int
  /// The number of files that share their bytes with files of a base, and those bytes.
  package fileprivate(set) var sharedFiles = 0
  package fileprivate(set) var sharedBytes: UInt64 = 0
  /// The number of files that were copied from an unpacked base because they cannot be shared.
  package fileprivate(set) var copiedFiles = 0
  /// The space, in bytes, of files that are second names of files of a base, by the path of the base.
  package fileprivate(set) var linkedSpace: [String: UInt64] = [:]
}

/// Makes the target of a delta as a tree in a new directory: first the new contents, which prove the content root, then what the bases have. A file that
/// is in a frame which is decompressed for new contents is written at once.
///
/// Every file that is read from a pack is compared with its digest. A file of an unpacked base that did not change since the base was opened is cloned
/// if the volume can. Otherwise it gets a second name, if that is wanted and it has only one and the same permissions, or is copied. One that changed
/// is copied and compared with its digest.
///
/// Memory: what ``DeltaApplication`` and ``NewContents`` take, and 1 MiB and a reader of the bases for each thread.
package struct DeltaUnpacking: Sendable {
  private let delta: DeltaPack
  private let bases: [any DeltaBase]
  private let linked: Set<String>
  private let jobs: Int?
  private let progress: ProgressHandler?

  /// - Parameters:
  ///   - bases: The packs or trees that the delta names, in that order.
  ///   - linked: The paths of the bases whose files may get second names.
  ///   - jobs: The number of threads for what packs have. Nil means the number of processors that are online.
  package init(
    _ delta: DeltaPack, over bases: [any DeltaBase], linking linked: Set<String> = [], jobs: Int? = nil, progress: ProgressHandler? = nil
  ) {
    self.delta = delta
    self.bases = bases
    self.linked = linked
    self.jobs = jobs
    self.progress = progress
  }

  /// Makes the tree.
  ///
  /// - Parameters:
  ///   - contentLimit: The largest size of the content in bytes.
  ///   - prepare: Returns the new directory, before anything is written. Throws if there is no room for the tree, or if it is not the one that is wanted.
  /// - Throws: As ``DeltaApplication``, ``PackError/Code/sourceChanged`` if a file of a base does not have the bytes any more that it had when it was
  ///   opened, and the errors of writing. The directory must be removed then.
  package func run(
    contentLimit: UInt64, prepare: @escaping @Sendable (borrowing DeltaTarget, TreeCount) throws(PackError) -> OutputDirectory
  ) async throws(PackError) -> UnpackedDelta {
    let workers = try WorkerPool.size(for: jobs)
    let (application, old, begun, counter) = try await WorkerPool.value { [self] (pool) throws(PackError) in
      var application = try DeltaApplication(delta, over: bases, contentLimit: contentLimit, checkpoint: pool.checkpoint)
      let tree = try application.target.measured()
      let output = try prepare(application.target, tree)
      let counter = ProgressCounter(.unpacking, total: application.target.contentSize, handler: progress)
      var old = OldFiles(application)
      try writeNew(&application, &old, to: output, pool, counter)
      return (
        application, old,
        UnpackedDelta(
          output: output, tree: tree, contentRoot: delta.head.target, contentSize: application.target.contentSize,
          entryCount: application.target.count), counter
      )
    }
    let made = try await WorkerPool.value { [self] (pool) throws(PackError) in
      var cloning = try TreeCloning(application, begun, linking: linked, pool: pool, counter)
      return try cloning.run(old.files)
    }
    try await writeOld(application, old.runs(application), to: made.output, workers, counter)
    try await WorkerPool.value { (pool) throws(PackError) in
      let writer = StagingWriter(made.output, files: delta.source.files)
      let target = application.target
      for record in 0..<target.count where target.size(of: record) == 0 {
        try pool.checkpoint()
        try target.withPath(of: record) { (path) throws(PackError) in try writer.make(path, target.kind(of: record)) }
      }
    }
    progress?(PackProgress(phase: .syncing, done: made.contentSize, total: made.contentSize))
    return made
  }

  /// Writes the new contents to the files that have them, and what is in the frames that are read for them.
  private func writeNew(
    _ application: inout DeltaApplication, _ old: inout OldFiles, to output: OutputDirectory, _ pool: WorkerPool, _ counter: ProgressCounter
  ) throws(PackError) {
    let target = application.target
    guard !target.new.isEmpty else { return try application.prove(checkpoint: pool.checkpoint) }
    var files = ContentFiles(StagingWriter(output, files: delta.source.files), target)
    let passing = PassingFiles(
      old.packed, try OldContents(application), ContentFiles(StagingWriter(output, files: delta.source.files), target), counter)
    try application.readNew(checkpoint: pool.checkpoint, visit: passing.write) { (piece, offset, number) throws(PackError) in
      try passing.check()
      let content = target.new[number]
      try files.add(piece, at: offset, of: content.size, to: content.records)
      counter.add(UInt64(piece.count) * UInt64(content.records.count))
    }
    old.packed = passing.rest
  }

  /// Writes what packs have, on several threads.
  private func writeOld(
    _ application: DeltaApplication, _ runs: [ArraySlice<OldFiles.Content>], to output: OutputDirectory, _ workers: Int,
    _ counter: ProgressCounter
  ) async throws(PackError) {
    guard !runs.isEmpty else { return }
    let next = Monitor(0)
    let files = delta.source.files
    try await WorkerPool.run(min(workers, runs.count)) { (pool, _) throws(PackError) in
      let copier = try OldContents(application)
      var target = ContentFiles(StagingWriter(output, files: files), application.target)
      while let number = next.count(below: runs.count) {
        for content in runs[number] {
          let size = content.range.upperBound - content.range.lowerBound
          try copier.read(content, checkpoint: pool.checkpoint) { (piece, offset) throws(PackError) in
            try target.add(piece, at: offset, of: size, to: content.records)
            counter.add(UInt64(piece.count) * UInt64(content.records.count))
          }
        }
      }
    }
  }
}

/// The contents of bases that a target needs, in the order of their places there.
struct OldFiles {
  /// A content, and the records that have it.
  struct Content: Sendable {
    var base: Int
    /// Its place in the base's row of contents.
    var range: Range<UInt64>
    var records: [Int]
  }

  /// Those of unpacked bases.
  private(set) var files: [Content] = []
  /// Those of packs.
  var packed: [Content] = []

  private static let runSize: UInt64 = 4 << 20

  init(_ application: DeltaApplication) {
    let contents = Self.contents(of: application)
    files = contents.filter { application.bases[$0.base] is BaseTree }
    packed = contents.filter { !(application.bases[$0.base] is BaseTree) }
  }

  /// Divides those of packs into runs of several megabytes for one thread each. No two begin in one frame.
  func runs(_ application: DeltaApplication) -> [ArraySlice<Content>] {
    var runs: [ArraySlice<Content>] = []
    func frame(_ content: Content) -> Int? { (application.bases[content.base] as? Pack)?.table.frame(holding: content.range.lowerBound) }
    var first = 0
    for (number, content) in packed.enumerated() {
      if number < packed.count - 1, packed[number + 1].base == content.base {
        guard content.range.upperBound - packed[first].range.lowerBound >= Self.runSize, frame(packed[number + 1]) != frame(content) else {
          continue
        }
      }
      runs.append(packed[first...number])
      first = number + 1
    }
    return runs
  }

  /// Returns the contents of all bases.
  static func contents(of application: DeltaApplication) -> [Content] {
    var uses: [(base: Int, range: Range<UInt64>, record: Int)] = []
    for record in 0..<application.target.count {
      if let place = application.place(of: record) { uses.append((place.base, place.range, record)) }
    }
    uses.sort { ($0.base, $0.range.lowerBound, $0.record) < ($1.base, $1.range.lowerBound, $1.record) }
    var contents: [Content] = []
    for use in uses {
      if let last = contents.last, last.base == use.base, last.range == use.range {
        contents[contents.count - 1].records.append(use.record)
      } else {
        contents.append(Content(base: use.base, range: use.range, records: [use.record]))
      }
    }
    return contents
  }
}

/// Reads contents of bases, and compares their digests. Used by one worker only.
///
/// Memory: 1 MiB, and what a reader of each base takes.
final class OldContents {
  private let application: DeltaApplication
  private let digest: any DigestContext
  private var readers: [(any BaseReader)?]
  private var buffer: [UInt8] = []

  init(_ application: DeltaApplication) throws(PackError) {
    self.application = application
    digest = try application.delta.source.backend.makeDigest()
    readers = [(any BaseReader)?](repeating: nil, count: application.bases.count)
  }

  deinit {
    wipe(&buffer)
  }

  /// Reads a content.
  ///
  /// - Parameter body: Receives the pieces, and where they start in the content.
  /// - Throws: ``PackError/Code/digestMismatch`` if the base does not have the content that its index names.
  func read(
    _ content: OldFiles.Content, checkpoint: () throws(PackError) -> Void, _ body: (Span<UInt8>, UInt64) throws(PackError) -> Void
  ) throws(PackError) {
    let reader = try reader(of: content.base)
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 20) }
    // Discards what an aborted read left.
    _ = try digest.finish()
    var position = content.range.lowerBound
    while position < content.range.upperBound {
      try checkpoint()
      let count = Int(min(UInt64(buffer.count), content.range.upperBound - position))
      try reader.copy(position..<position + UInt64(count), to: &buffer, at: 0)
      let bytes = buffer
      let piece = bytes.byteSpan.extracting(first: count)
      try digest.update(piece)
      try body(piece, position - content.range.lowerBound)
      position += UInt64(count)
    }
    try compare(content)
  }

  /// Compares the digest of a content that is in memory.
  func check(_ content: OldFiles.Content, _ bytes: Span<UInt8>) throws(PackError) {
    _ = try digest.finish()
    try digest.update(bytes)
    try compare(content)
  }

  private func compare(_ content: OldFiles.Content) throws(PackError) {
    guard try digest.finish() == application.target.digest(of: content.records[0]) else {
      throw PackReader.digestMismatch(application.target.path(of: content.records[0])).about(application.bases[content.base].basePath)
    }
  }

  private func reader(of base: Int) throws(PackError) -> any BaseReader {
    if let known = readers[base] { return known }
    let made = try application.bases[base].makeContentReader()
    readers[base] = made
    return made
  }
}

/// Writes files that packs have while a frame with all of their content is in memory. Used by one worker only.
private final class PassingFiles {
  private let contents: [OldFiles.Content]
  private var isWritten: [Bool]
  private let copier: OldContents
  private var files: ContentFiles
  private let counter: ProgressCounter
  private var failure: PackError?

  init(_ contents: [OldFiles.Content], _ copier: OldContents, _ files: ContentFiles, _ counter: ProgressCounter) {
    self.contents = contents
    isWritten = [Bool](repeating: false, count: contents.count)
    self.copier = copier
    self.files = files
    self.counter = counter
  }

  /// Writes what a frame of a base has.
  func write(_ base: Int, _ place: Range<UInt64>, _ frame: Span<UInt8>) {
    guard failure == nil else { return }
    var number = contents.partitioningIndex { ($0.base, $0.range.lowerBound) >= (base, place.lowerBound) }
    do throws(PackError) {
      while number < contents.count, contents[number].base == base, contents[number].range.upperBound <= place.upperBound {
        let content = contents[number]
        if !isWritten[number] {
          let start = Int(content.range.lowerBound - place.lowerBound)
          let bytes = frame.extracting(start..<start + content.range.count)
          try copier.check(content, bytes)
          try files.add(bytes, at: 0, of: UInt64(bytes.count), to: content.records)
          counter.add(UInt64(bytes.count) * UInt64(content.records.count))
          isWritten[number] = true
        }
        number += 1
      }
    } catch {
      // It is not the fault of the bytes that the frame was read for.
      failure = error
    }
  }

  /// Throws the error of writing.
  func check() throws(PackError) {
    if let failure { throw failure }
  }

  /// What was not written.
  var rest: [OldFiles.Content] { contents.indices.filter { !isWritten[$0] }.map { contents[$0] } }
}

/// Writes contents to the files of a target, one content after another. Used by one worker only.
struct ContentFiles {
  private let writer: StagingWriter
  private let target: DeltaTarget
  /// The first file of the content, of which more is to come. Others are opened for each piece, because any number may have the content.
  private var first: OpenFile?

  init(_ writer: StagingWriter, _ target: DeltaTarget) {
    self.writer = writer
    self.target = target
  }

  /// Writes the next bytes of the files of some records, which begin at `offset` of their `size` bytes.
  mutating func add(_ piece: Span<UInt8>, at offset: UInt64, of size: UInt64, to records: [Int]) throws(PackError) {
    let isLast = offset + UInt64(piece.count) == size
    for (number, record) in records.enumerated() {
      try target.withPath(of: record) { (path) throws(PackError) in
        let kind = target.kind(of: record)
        if offset == 0, isLast {
          try writer.make(path, kind, content: piece)
        } else if number == 0 {
          let file = if let first { first } else { try writer.create(path, kind) }
          try writer.write(piece, to: file, at: offset, path)
          if isLast { try writer.finish(file, path) }
          first = isLast ? nil : file
        } else {
          if offset == 0 { try writer.make(path, kind) }
          try writer.write(path, at: offset, content: piece)
        }
      }
    }
  }
}

/// Makes those files of a target that an unpacked base has.
///
/// Memory: 256 KiB.
struct TreeCloning {
  private let application: DeltaApplication
  private let files: any FileSystem
  private let pool: WorkerPool
  private let writer: StagingWriter
  private let digest: any DigestContext
  private let linked: Set<String>
  private let counter: ProgressCounter
  private var canClone = true
  private var recent: TreeFiles?
  private var made: UnpackedDelta

  init(
    _ application: DeltaApplication, _ made: UnpackedDelta, linking linked: Set<String>, pool: WorkerPool, _ counter: ProgressCounter
  ) throws(PackError) {
    self.application = application
    self.made = made
    self.linked = linked
    self.pool = pool
    self.counter = counter
    files = application.delta.source.files
    writer = StagingWriter(made.output, files: files)
    digest = try application.delta.source.backend.makeDigest()
  }

  /// Makes the files, and returns what was made.
  mutating func run(_ contents: [OldFiles.Content]) throws(PackError) -> UnpackedDelta {
    for content in contents {
      guard let tree = application.bases[content.base] as? BaseTree else { continue }
      if recent?.tree !== tree { recent = TreeFiles(tree) }
      guard let source = recent else { continue }
      for record in content.records {
        try pool.checkpoint()
        try make(record, source, tree.file(holding: content.range.lowerBound))
        counter.add(application.target.size(of: record))
      }
    }
    return made
  }

  private mutating func make(_ record: Int, _ source: TreeFiles, _ number: Int) throws(PackError) {
    let target = application.target
    let kind = target.kind(of: record)
    try target.withPath(of: record) { (path) throws(PackError) in
      if try share(source, number, as: path, kind) {
        made.sharedFiles += 1
        made.sharedBytes = made.sharedBytes.adding(target.size(of: record))
      } else {
        try copy(source, number, to: path, kind, target.digest(of: record))
        made.copiedFiles += 1
      }
    }
  }

  /// Makes a file that shares its bytes with a file of the base. Returns false if that is not possible, or if the file changed since it was read.
  private mutating func share(
    _ source: TreeFiles, _ number: Int, as path: Span<UInt8>, _ kind: IndexRecord.Kind
  ) throws(PackError) -> Bool {
    let tree = source.tree
    if canClone {
      let (file, status, isSame) = try source.open(number)
      guard isSame else { return false }
      if try writer.clone(file, as: path, kind) {
        try tree.accept(number, status, now: now(file, tree, number))
        return true
      }
      canClone = false
    }
    guard linked.contains(tree.basePath) else { return false }
    let (status, isSame) = try source.status(of: number)
    guard isSame, status.linkCount == 1, status.mode == StagingWriter.mode(of: kind) else { return false }
    guard let now = try writer.link(source.place(of: number), status, as: path) else { return false }
    try tree.accept(number, status, now: now)
    made.linkedSpace[tree.basePath, default: 0] += status.allocatedSize
    return true
  }

  private func now(_ file: OpenFile, _ tree: BaseTree, _ number: Int) throws(PackError) -> FileStatus {
    try reading(tree.title(of: number), files.status(of: file))
  }

  /// Copies a file of the base. If it is not the one that was read, the digest of the bytes that were written is compared.
  private func copy(
    _ source: TreeFiles, _ number: Int, to path: Span<UInt8>, _ kind: IndexRecord.Kind, _ expected: [UInt8]
  ) throws(PackError) {
    let tree = source.tree
    let (file, status, isSame) = try source.open(number)
    let size = UInt64(tree.range(of: number).count)
    let copy = try writer.create(path, kind)
    _ = try digest.finish()
    try files.forEachPiece(of: file, 0..<size, atOnce: 256 << 10, name: tree.title(of: number), checkpoint: pool.checkpoint) {
      (piece, offset) throws(PackError) in
      if !isSame { try digest.update(piece) }
      try writer.write(piece, to: copy, at: offset, path)
    }
    if isSame {
      try tree.accept(number, status, now: now(file, tree, number))
    } else if try digest.finish() != expected {
      throw tree.changed(number)
    }
    try writer.finish(copy, path)
  }
}
