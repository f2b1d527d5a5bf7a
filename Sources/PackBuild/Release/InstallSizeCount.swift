package import PackFormat

/// A counter for the size of an unpacked tree on a device: each file rounded up to 4 KiB, and 4 KiB for each directory, implied ones and the
/// root included (FORMAT.md §9.3).
package struct InstallSizeCount {
  package init() {}

  /// The block size of a device's file system in bytes.
  private static let blockSize: UInt64 = 4096

  // The root.
  private var blocks: UInt64 = 1
  private var previous: [UInt8] = []

  /// The size so far in bytes.
  package var total: UInt64 { blocks * Self.blockSize }

  /// Adds the next entry. Entries must come in the byte order of their paths.
  package mutating func add(path: Span<UInt8>, kind: IndexRecord.Kind, size: UInt64) {
    // Paths in one directory follow each other, so a directory is new if the previous path is not in it.
    var common = 0
    while common < min(previous.count, path.count), previous[common] == path[common] { common += 1 }
    for index in common..<path.count where path[index] == UInt8(ascii: "/") { blocks += 1 }
    previous.removeAll(keepingCapacity: true)
    previous.append(copying: path)
    // Records have sizes below 2^40, and there are at most 2^20 of them.
    blocks += kind == .directory ? 1 : size / Self.blockSize + (size % Self.blockSize == 0 ? 0 : 1)
  }
}
