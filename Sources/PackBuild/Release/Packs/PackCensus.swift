/// The totals over the index of an open pack.
package struct PackCensus: Hashable, Sendable {
  /// The content root computed from the records, 32 bytes.
  package let contentRoot: [UInt8]
  /// The size of the unpacked tree on a device in bytes: each file rounded up to 4 KiB, and 4 KiB for each directory, implied ones and the root
  /// included (FORMAT.md §9.3).
  package let installSize: UInt64
  /// The number of records: files and empty directories.
  package let files: UInt64

  /// Reads the whole index.
  package init(_ pack: Pack) throws(PackError) {
    let root = try ContentRoot(backend: pack.source.backend)
    var count = TreeCount()
    var files: UInt64 = 0
    try pack.forEachRecord { (block, row) throws(PackError) in
      let (kind, size) = (block.kind(of: row), block.size(of: row))
      try block.withDigest(of: row) { (digest) throws(PackError) in
        try block.withPath(of: row) { (path) throws(PackError) in
          try root.add(path: path, kind: kind, size: size, digest: digest)
          try count.add(path: path, kind: kind, size: size)
        }
      }
      files += 1
    }
    contentRoot = try root.finish()
    installSize = count.installSize
    self.files = files
  }
}
