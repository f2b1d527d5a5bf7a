/// A version of a pack that is in use. A store does not remove it before the last reference to this object is released. The system may remove or update
/// a managed asset pack: it stays readable while its file is open, of which ``StorePolicy/openFiles`` are at a time.
///
/// Any number of tasks may use it at the same time. Reading blocks the thread.
public final class OpenedPack: Sendable {
  /// The version that was opened.
  public let installed: InstalledPack
  /// The open pack if it is kept encrypted, otherwise nil.
  public let pack: Pack?
  /// The path of the unpacked tree if the pack was unpacked, otherwise nil.
  public let directory: String?

  private let files: any FileSystem
  private let tree: HeldFile?
  /// Nil if it is in no store.
  private let use: UseMark?

  convenience init(_ installed: InstalledPack, pack: Pack?, tree: HeldFile?, files: any FileSystem, use: UseMark) {
    self.init(installed, pack: pack, tree: tree, files: files, mark: use)
  }

  private init(_ installed: InstalledPack, pack: Pack?, tree: HeldFile?, files: any FileSystem, mark: UseMark?) {
    self.installed = installed
    self.pack = pack
    self.tree = tree
    directory = tree == nil ? nil : installed.path
    self.files = files
    use = mark
  }

  /// Takes a pack that is in no store. Its file belongs to others, who may remove it at any time.
  package convenience init(_ pack: Pack, id: String, version: UInt64) {
    let installed = InstalledPack(
      id: id, version: version, sha256: [], mode: .packed, sizeOnDevice: pack.layout.packSize, path: pack.source.path, state: .current,
      contentRoot: pack.contentRoot)
    self.init(installed, pack: pack, tree: nil, files: pack.source.files, mark: nil)
  }

  /// Returns the same pack after its version was activated.
  func running(as installed: InstalledPack) -> OpenedPack {
    OpenedPack(installed, pack: pack, tree: tree, files: files, mark: use)
  }

  /// Returns the size of a file in bytes.
  ///
  /// - Throws: ``PackError/Code/noSuchEntry``, or the error of a damaged pack.
  public func size(of path: String) throws(PackError) -> UInt64 {
    if let pack { return try pack.entry(at: path).size }
    return try size(of: open(path), path)
  }

  /// Reads a file, or a part of it.
  ///
  /// If the pack is kept encrypted, every byte read is authenticated. An unpacked tree was authenticated when it was written, and is read without
  /// further checks.
  ///
  /// - Parameters:
  ///   - path: The path of a file in the pack.
  ///   - range: The range of bytes to read. If nil, the whole file is read.
  /// - Throws: ``PackError/Code/noSuchEntry``, ``PackError/Code/rangeNotSatisfiable`` if the range ends after the end of the file, or the error of a
  ///   damaged pack.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    if let pack { return try pack.read(path, range: range) }
    let file = try open(path)
    let size = try size(of: file, path)
    let wanted = range ?? 0..<size
    guard wanted.upperBound <= size, let count = Int(exactly: wanted.upperBound - wanted.lowerBound) else {
      throw PackError(
        .rangeNotSatisfiable, "'\(printable(path.utf8))' is \(size) bytes, but bytes up to \(wanted.upperBound) were requested")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableByteSpan
    try files.readExactly(file, at: wanted.lowerBound, into: &span, name: printable(path.utf8))
    return bytes
  }

  private func size(of file: OpenFile, _ path: String) throws(PackError) -> UInt64 {
    try reading(printable(path.utf8), files.status(of: file).size)
  }

  /// Opens a file of the tree, component by component and without following links, so that no path leads out of the tree.
  private func open(_ path: String) throws(PackError) -> OpenFile {
    let components = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String($0) ?? "" }
    let missing = PackError(.noSuchEntry, "there is no '\(printable(path.utf8))' in the pack")
    guard let tree, let name = components.last,
      components.allSatisfy({ $0 != "" && $0 != "." && $0 != ".." && !$0.utf8.contains(0) })
    else { throw missing }
    var place = try tree.open()
    let file: OpenFile
    let kind: FileStatus.Kind
    do throws(FileFailure) {
      for component in components.dropLast() { place = try files.open(component, .directoryUnlinked, in: place) }
      file = try files.open(name, .readUnlinked, in: place)
      kind = try files.status(of: file).kind
    } catch {
      guard !error.isMissing, error != .notADirectory else { throw missing }
      throw error.reading(printable(path.utf8))
    }
    guard kind == .file else { throw missing }
    return file
  }
}
