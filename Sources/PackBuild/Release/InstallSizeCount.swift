package import PackFormat

/// Counts what an unpacked tree takes on a device: each file rounded up to 4 KiB, and 4 KiB for each directory, implied ones and the root
/// included (FORMAT.md §9.3).
package struct InstallSizeCount {
  package init() {}

  /// The block of a device's file system in bytes.
  private static let blockSize: UInt64 = 4096

  // The root.
  private var blocks: UInt64 = 1
  private var previous: [UInt8] = []

  /// Bytes so far.
  package var total: UInt64 { blocks * Self.blockSize }

  /// Takes the next entry, in the byte order of the paths.
  package mutating func add(path: Span<UInt8>, kind: IndexRecord.Kind, size: UInt64) {
    // Paths below one directory stand together, so a directory is new where the path before does not lie in it.
    var common = 0
    while common < min(previous.count, path.count), previous[common] == path[common] { common += 1 }
    for index in common..<path.count where path[index] == UInt8(ascii: "/") { blocks += 1 }
    previous.removeAll(keepingCapacity: true)
    previous.append(copying: path)
    // Records have sizes below 2^40, and there are at most 2^20 of them.
    blocks += kind == .directory ? 1 : size / Self.blockSize + (size % Self.blockSize == 0 ? 0 : 1)
  }
}
