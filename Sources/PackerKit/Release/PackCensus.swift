public import PackFormat
public import PackRuntime

/// What the index of an open pack adds up to.
public struct PackCensus: Hashable, Sendable {
  /// The digest of the records that are there, 32 bytes.
  public let contentRoot: [UInt8]
  /// What the unpacked tree takes on a device in bytes: each file rounded up to 4 KiB, and 4 KiB for each directory, implied ones and the root
  /// included (FORMAT.md §9.3).
  public let installSize: UInt64
  /// The number of records: files, and directories that are empty.
  public let files: UInt64

  /// The block of a device's file system in bytes.
  static let blockSize: UInt64 = 4096

  /// Reads the whole index.
  public init(_ pack: Pack) throws(PackError) {
    let root = try ContentRoot(backend: pack.source.backend)
    var blocks: UInt64 = 1
    var files: UInt64 = 0
    var previous: [UInt8] = []
    try pack.forEachRecord { (block, row) throws(PackError) in
      let (kind, size) = (block.kind(of: row), block.size(of: row))
      try block.withDigest(of: row) { (digest) throws(PackError) in
        try block.withPath(of: row) { (path) throws(PackError) in
          try root.add(path: path, kind: kind, size: size, digest: digest)
          // Paths below one directory stand together, so a directory is new where the path before does not lie in it.
          var common = 0
          while common < min(previous.count, path.count), previous[common] == path[common] { common += 1 }
          for index in common..<path.count where path[index] == UInt8(ascii: "/") { blocks += 1 }
          previous.removeAll(keepingCapacity: true)
          previous.append(copying: path)
        }
      }
      files += 1
      // Records have sizes below 2^40, and there are at most 2^20 of them.
      blocks += kind == .directory ? 1 : size / Self.blockSize + (size % Self.blockSize == 0 ? 0 : 1)
    }
    contentRoot = try root.finish()
    installSize = blocks * Self.blockSize
    self.files = files
  }
}
