/// Reads a tree of files on the disk without following links.
struct InstalledTree {
  let files: any FileSystem
  let backend: any CryptoBackend

  /// Returns the number of bytes that a file, or a directory with its contents, takes on the device. Files removed in the meantime count as 0.
  func sizeOnDevice(of name: String, in directory: OpenFile) throws(FileFailure) -> UInt64 {
    try ifPresent(presentSize(of: name, in: directory)) ?? 0
  }

  private func presentSize(of name: String, in directory: OpenFile) throws(FileFailure) -> UInt64 {
    let status = try files.status(of: name, in: directory, following: .asThemselves)
    guard status.kind == .directory else { return status.allocatedSize }
    let tree = try files.open(name, .directoryUnlinked, in: directory)
    var sum = status.allocatedSize
    for item in try files.names(in: tree) where item.isUTF8 { sum = sum.adding(try sizeOnDevice(of: item.text, in: tree)) }
    return sum
  }

  /// A file with several names.
  struct LinkedFile: Hashable {
    let device: UInt64
    let inode: UInt64
    /// What it takes on the device, in bytes.
    let size: UInt64
  }

  /// Returns the files in a directory that have more names than one.
  func linkedFiles(of name: String, in directory: OpenFile) throws(FileFailure) -> Set<LinkedFile> {
    let tree = try files.open(name, .directoryUnlinked, in: directory)
    var linked: Set<LinkedFile> = []
    for item in try files.names(in: tree) where item.isUTF8 {
      let status = try files.status(of: item.text, in: tree, following: .asThemselves)
      if status.kind == .directory {
        linked.formUnion(try linkedFiles(of: item.text, in: tree))
      } else if status.linkCount > 1 {
        linked.insert(LinkedFile(device: status.device, inode: status.inode, size: status.allocatedSize))
      }
    }
    return linked
  }

  /// Computes the content root of a directory (FORMAT.md §4.4) from every byte in it. Returns nil if the directory contains something that a pack
  /// cannot contain.
  ///
  /// - Parameter checkpoint: Called between pieces of files. If it throws, the work ends.
  func contentRoot(
    of name: String, in directory: OpenFile, path: String, checkpoint: @escaping () throws(PackError) -> Void
  ) throws(PackError) -> [UInt8]? {
    let root = try ContentRoot(backend: backend)
    let disk = try DiskTree(path, files: files, backend: backend, checkpoint: checkpoint)
    let tree = try reading(path, files.open(name, .directoryUnlinked, in: directory))
    let isSound = try disk.forEachRecord(of: tree) { (record) throws(PackError) in
      try root.add(path: record.path.byteSpan, kind: record.kind, size: record.size, digest: record.digest.byteSpan)
    }
    return isSound ? try root.finish() : nil
  }
}
