/// An unpacked pack on the disk as the base of a delta.
///
/// Creating it reads every byte of the tree. Later, each file is opened from the handle of the tree, without following links, and refused if it is not
/// the file that was read: by its place on the volume, its size and its times. A change that leaves all of them as they were is found by the digests
/// of what is made from the file.
///
/// Memory: 80 bytes and the path for each file and empty directory, and 256 KiB while it is created.
package final class BaseTree: DeltaBase {
  package let basePath: String
  package let contentRoot: [UInt8]

  let files: any FileSystem
  let backend: any CryptoBackend
  fileprivate let root: OpenFile
  /// In the order of the index.
  private let records: [Record]
  /// The digests of all records, then their paths.
  private let digests: [UInt8]
  private let paths: [UInt8]
  /// The files that got another name or a clone after they were read.
  private let accepted = Monitor<[Int: FileStamp]>([:])

  private struct Record {
    /// Where the content starts in the row of all contents.
    var offset: UInt64
    var size: UInt64
    var pathEnd: UInt32
    var kind: IndexRecord.Kind
    var stamp: FileStamp
  }

  /// Reads a tree.
  ///
  /// - Parameters:
  ///   - root: The open directory.
  ///   - path: Its path, for errors.
  ///   - checkpoint: Called between pieces of files. If it throws, the work ends.
  /// - Throws: ``PackError/Code/wrongBase`` if the tree is none that a pack can contain, or is more than a base may be.
  package init(
    _ root: OpenFile, path: String, files: any FileSystem, backend: any CryptoBackend, checkpoint: @escaping () throws(PackError) -> Void
  ) throws(PackError) {
    self.root = root
    basePath = path
    self.files = files
    self.backend = backend
    var (records, digests, paths): ([Record], [UInt8], [UInt8]) = ([], [], [])
    var offset: UInt64 = 0
    let contentRoot = try ContentRoot(backend: backend)
    let tree = try DiskTree(path, files: files, backend: backend, checkpoint: checkpoint)
    let isSound = try tree.forEachRecord(of: root) { (record) throws(PackError) in
      guard records.count < Limits.records, paths.count <= Limits.deltaListSize, record.size <= Limits.packSize else {
        throw PackError(.wrongBase, of: path, "has more files than the base of a delta may have", advice: .chooseBase)
      }
      paths += record.path
      digests += record.digest
      records.append(
        Record(offset: offset, size: record.size, pathEnd: UInt32(paths.count), kind: record.kind, stamp: FileStamp(record.status)))
      offset = offset.adding(record.size)
      try contentRoot.add(path: record.path.byteSpan, kind: record.kind, size: record.size, digest: record.digest.byteSpan)
    }
    guard isSound else { throw PackError(.wrongBase, of: path, "has something that no pack can contain", advice: .chooseBase) }
    self.contentRoot = try contentRoot.finish()
    (self.records, self.digests, self.paths) = (records, digests, paths)
  }

  package func forEachContent(_ body: ContentVisitor) throws(PackError) {
    // A span of a class's own array cannot be lent.
    let (paths, digests) = (paths, digests)
    for (number, record) in records.enumerated() {
      try body(
        paths.byteSpan.extracting(pathRange(number)), record.kind, record.size, record.offset,
        digests.byteSpan.extracting(32 * number..<32 * number + 32))
    }
  }

  private func pathRange(_ number: Int) -> Range<Int> {
    (number == 0 ? 0 : Int(records[number - 1].pathEnd))..<Int(records[number].pathEnd)
  }

  package func makeContentReader(_ visit: FrameVisitor?) throws(PackError) -> any BaseReader { TreeContentReader(self) }

  // MARK: Files

  /// Returns the number of the file whose content has the byte at an offset.
  func file(holding offset: UInt64) -> Int {
    // Empty files and directories before it start there, too.
    records.partitioningIndex { $0.offset + $0.size > offset }
  }

  /// The bytes of the row that are the content of a file.
  func range(of number: Int) -> Range<UInt64> { records[number].offset..<records[number].offset + records[number].size }

  /// The path of a file in the tree, for errors.
  func title(of number: Int) -> String { "\(basePath)/\(printable(paths[pathRange(number)]))" }

  /// The path of the directory of a file in the tree, and the name of the file.
  fileprivate func parts(of number: Int) -> (directory: ArraySlice<UInt8>, name: String) {
    let path = paths[pathRange(number)]
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return ([], String(decoding: path, as: UTF8.self)) }
    return (path[..<slash], String(decoding: path[(slash + 1)...], as: UTF8.self))
  }

  /// Whether a status is that of the file when it was read.
  fileprivate func isSame(_ number: Int, _ status: FileStatus) -> Bool {
    let stamp = accepted.withLock { $0[number] } ?? records[number].stamp
    return FileStamp(status) == stamp && status.size == records[number].size
  }

  /// Takes note of a file that has another name or a clone now, which may change the time of its last change, but not that of its content.
  ///
  /// - Parameter before: The status of the file, which is that of the file when it was read.
  /// - Throws: ``PackError/Code/sourceChanged`` if its content was changed in between.
  func accept(_ number: Int, _ before: FileStatus, now: FileStatus) throws(PackError) {
    guard now.modified == before.modified, now.size == before.size else { throw changed(number) }
    accepted.withLock { $0[number] = FileStamp(now) }
  }

  func changed(_ number: Int) -> PackError {
    PackError(.sourceChanged, of: title(of: number), "changed while it was read", advice: .tryAgain)
  }
}

/// Opens the files of a tree for one worker, component by component and without following links. The directory of the last file stays open.
final class TreeFiles {
  let tree: BaseTree
  private var recent: (path: ArraySlice<UInt8>, handle: OpenFile)?

  init(_ tree: BaseTree) {
    self.tree = tree
  }

  /// Returns the directory of a file, and the name in it.
  func place(of number: Int) throws(PackError) -> (directory: OpenFile, name: String) {
    let (path, name) = tree.parts(of: number)
    if let recent, recent.path == path { return (recent.handle, name) }
    var place = tree.root
    for component in path.split(separator: UInt8(ascii: "/")) {
      let name = String(decoding: component, as: UTF8.self)
      place = try reading(tree.title(of: number), tree.files.open(name, .directoryUnlinked, in: place))
    }
    recent = (path, place)
    return (place, name)
  }

  /// Opens a file.
  ///
  /// - Returns: its status now, and whether it is the file that was read.
  func open(_ number: Int) throws(PackError) -> (file: OpenFile, status: FileStatus, isSame: Bool) {
    let place = try place(of: number)
    let file = try reading(tree.title(of: number), tree.files.open(place.name, .readUnlinked, in: place.directory))
    let status = try reading(tree.title(of: number), tree.files.status(of: file))
    return (file, status, status.kind == .file && tree.isSame(number, status))
  }

  /// Returns the status of a file without opening it, and whether it is the file that was read.
  func status(of number: Int) throws(PackError) -> (status: FileStatus, isSame: Bool) {
    let place = try place(of: number)
    let status = try reading(tree.title(of: number), tree.files.status(of: place.name, in: place.directory, following: .asThemselves))
    return (status, status.kind == .file && tree.isSame(number, status))
  }
}

/// Reads contents of a tree on the disk. The file that was read last stays open.
private final class TreeContentReader: BaseReader {
  private let files: TreeFiles
  private var tree: BaseTree { files.tree }
  private var open: (number: Int, file: OpenFile)?

  init(_ tree: BaseTree) {
    files = TreeFiles(tree)
  }

  func copy(_ range: Range<UInt64>, to buffer: inout [UInt8], at target: Int) throws(PackError) {
    let number = tree.file(holding: range.lowerBound)
    let file = try file(number)
    var whole = buffer.mutableByteSpan
    var part = whole._mutatingExtracting(target..<target + range.count)
    try tree.files.readExactly(file, at: range.lowerBound - tree.range(of: number).lowerBound, into: &part, name: tree.title(of: number))
  }

  private func file(_ number: Int) throws(PackError) -> OpenFile {
    if let open, open.number == number { return open.file }
    let found = try files.open(number)
    guard found.isSame else { throw tree.changed(number) }
    open = (number, found.file)
    return found.file
  }

  /// Nothing is kept in memory.
  func holds(_ offset: UInt64) -> Bool { false }

  var decompressedBytes: UInt64 { 0 }
}
