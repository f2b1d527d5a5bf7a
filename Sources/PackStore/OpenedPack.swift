import PackFiles
public import PackFormat
public import PackReading

/// A version of a pack that is in use: it is not removed before the last reference to this value goes.
///
/// It may be used from any number of tasks at once. Reading blocks the thread.
public final class OpenedPack: Sendable {
  /// What was opened.
  public let installed: InstalledPack
  /// The open pack, where it is kept encrypted.
  public let pack: Pack?
  /// The directory of the tree, where it was unpacked.
  public let directory: String?

  private let files: any FileSystem
  private let tree: OpenFile?
  private let use: UseMark

  init(_ installed: InstalledPack, pack: Pack?, tree: OpenFile?, files: any FileSystem, use: UseMark) {
    self.installed = installed
    self.pack = pack
    self.tree = tree
    directory = tree == nil ? nil : installed.path
    self.files = files
    self.use = use
  }

  /// The size of a file in bytes.
  ///
  /// - Throws: ``PackError/Code/noSuchEntry``, or the error of a damaged pack.
  public func size(of path: String) throws(PackError) -> UInt64 {
    if let pack { return try pack.entry(at: path).size }
    return try size(of: open(path), path)
  }

  /// The content of a file, or of a part of it.
  ///
  /// Of a pack that is kept encrypted every byte is authenticated. An unpacked tree was when it was written, and is read as it is.
  ///
  /// - Parameters:
  ///   - path: the path of a file in the pack.
  ///   - range: the bytes wanted; all of the file where it is nil.
  /// - Throws: ``PackError/Code/noSuchEntry``, ``PackError/Code/rangeNotSatisfiable`` if the range ends after the file, or the error of a damaged pack.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    if let pack { return try pack.read(path, range: range) }
    let file = try open(path)
    let size = try size(of: file, path)
    let wanted = range ?? 0..<size
    guard wanted.upperBound <= size, let count = Int(exactly: wanted.upperBound - wanted.lowerBound) else {
      throw PackError(
        .rangeNotSatisfiable, "'\(printable(path.utf8))' is \(size) bytes, but bytes up to \(wanted.upperBound) were asked for")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    try files.readExactly(file, at: wanted.lowerBound, into: &span, name: printable(path.utf8))
    return bytes
  }

  private func size(of file: OpenFile, _ path: String) throws(PackError) -> UInt64 {
    do {
      return try files.status(of: file).size
    } catch {
      throw error.reading(printable(path.utf8))
    }
  }

  /// Opens a file of the tree, component by component and without following links, so that no path leads out of it.
  private func open(_ path: String) throws(PackError) -> OpenFile {
    let components = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String($0) ?? "" }
    let missing = PackError(.noSuchEntry, "there is no '\(printable(path.utf8))' in the pack")
    guard var place = tree, let name = components.last,
      components.allSatisfy({ $0 != "" && $0 != "." && $0 != ".." && !$0.utf8.contains(0) })
    else { throw missing }
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
