/// A counter for everything that a tree makes on a disk: files, directories, their bytes and blocks (FORMAT.md §5.3, §9.3).
///
/// Everyone who checks a tree before it is written uses this counter: writers, verifiers, unpackers, the store and the release checks.
package struct TreeCount: Sendable {
  /// The number of files.
  package private(set) var files: UInt64 = 0
  /// The number of directories, implied ones and the root included.
  package private(set) var directories: UInt64 = 1
  /// The blocks of all files.
  private var fileBlocks: UInt64 = 0
  /// The blocks that a file system may need to find the blocks of large files.
  private var mapBlocks: UInt64 = 0
  /// The blocks of the directories that are complete.
  private var closedBlocks: UInt64 = 0
  /// For the root and each directory that the previous path is in, the bytes that its names take.
  private var open: [UInt64] = [0]
  private var previous: [UInt8] = []

  /// The block size of a device's file system in bytes.
  private static let blockSize: UInt64 = 4096
  /// The most bytes of names that fit in one block of an ext4 directory, beside `.`, `..` and a checksum.
  private static let namesPerBlock: UInt64 = 4060
  /// A file system may map larger files in a block of its own.
  private static let mappedSize: UInt64 = 1 << 20
  /// One more block maps this many bytes, even if they are in pieces of 24 KiB.
  private static let sizePerMap: UInt64 = 8 << 20

  package init() {}

  /// The number of files and directories.
  package var itemCount: UInt64 { files.adding(directories) }

  /// The size of the tree on a device in bytes, as a manifest says it: each file rounded up to 4 KiB, and 4 KiB for each directory.
  package var installSize: UInt64 { (fileBlocks.adding(directories)).times(Self.blockSize) }

  /// The most bytes that the tree takes on a disk: ``installSize``, and what ext4 needs for directories with many names and for large files.
  package var diskSize: UInt64 {
    let open = open.reduce(0 as UInt64) { $0.adding(Self.blocks(ofNames: $1)) }
    return fileBlocks.adding(mapBlocks).adding(closedBlocks).adding(open).times(Self.blockSize)
  }

  /// Adds the next entry. Entries must come in the byte order of their paths.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if there are too many directories.
  package mutating func add(path: Span<UInt8>, kind: IndexRecord.Kind, size: UInt64) throws(PackError) {
    // Paths in one directory follow each other, so a directory is new if the previous path is not in it.
    var common = 0
    var depth = 0
    while common < min(previous.count, path.count), previous[common] == path[common] {
      if path[common] == UInt8(ascii: "/") { depth += 1 }
      common += 1
    }
    while open.count > depth + 1 { closedBlocks = closedBlocks.adding(Self.blocks(ofNames: open.removeLast())) }
    var start = common
    while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
    for index in common..<path.count where path[index] == UInt8(ascii: "/") {
      addName(index - start)
      open.append(0)
      directories += 1
      start = index + 1
    }
    addName(path.count - start)
    if kind == .directory {
      directories += 1
      closedBlocks = closedBlocks.adding(1)
    } else {
      files += 1
      fileBlocks = fileBlocks.adding(size / Self.blockSize + (size % Self.blockSize == 0 ? 0 : 1))
      if size > Self.mappedSize { mapBlocks = mapBlocks.adding(size / Self.sizePerMap + 1) }
    }
    guard directories <= UInt64(Limits.directories) else {
      throw PackError(.limitExceeded, "the tree has more than \(Limits.directories) directories")
    }
    previous.removeAll(keepingCapacity: true)
    previous.append(copying: path)
  }

  /// Adds a name of this many bytes to the innermost open directory.
  private mutating func addName(_ count: Int) {
    // An entry of ext4: 8 bytes and the name, rounded up to 4.
    open[open.count - 1] += UInt64(8 + (count + 3) / 4 * 4)
  }

  /// Returns the most blocks that a directory takes whose names take this many bytes.
  private static func blocks(ofNames size: UInt64) -> UInt64 {
    // A full block is split in halves, and a half has at least 1640 bytes, because a name takes at most 264. Blocks that find these blocks come
    // in addition.
    size <= namesPerBlock ? 1 : 1 + (3 * size + blockSize - 1) / blockSize
  }
}
