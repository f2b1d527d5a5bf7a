/// Reads a tree of files on the disk as the records of an index, without following links.
package struct DiskTree {
  private let files: any FileSystem
  private let digest: any DigestContext
  /// The path of the tree, for errors.
  private let path: String
  private let checkpoint: () throws(PackError) -> Void

  /// One file or empty directory.
  package struct Record {
    package var path: [UInt8]
    package var kind: IndexRecord.Kind
    /// The number of bytes that were read.
    package var size: UInt64
    /// The SHA-256 of the bytes that were read; zeros for a directory.
    package var digest: [UInt8]
    /// The status before the file was read.
    package var status: FileStatus
  }

  /// - Parameter checkpoint: Called between pieces of files. If it throws, the work ends.
  package init(
    _ path: String, files: any FileSystem, backend: any CryptoBackend, checkpoint: @escaping () throws(PackError) -> Void
  ) throws(PackError) {
    self.path = path
    self.files = files
    self.checkpoint = checkpoint
    digest = try backend.makeDigest()
  }

  /// Calls `body` with the records of everything in a directory, in the byte order of the paths. Reads every byte.
  ///
  /// - Returns: false if the directory contains something that a pack cannot contain. Then `body` may have seen a part of it.
  package func forEachRecord(of root: OpenFile, _ body: (Record) throws(PackError) -> Void) throws(PackError) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    return try visit(root, prefix: [], &buffer, body)
  }

  /// A file or directory in a directory.
  private struct Item {
    let name: String
    let status: FileStatus
    /// The name, followed by a slash if it is a directory that is not empty. Sorting by it gives the order of the paths below the items.
    let order: [UInt8]
  }

  private func items(of tree: OpenFile) throws(FileFailure) -> [Item]? {
    var items: [Item] = []
    for name in try files.names(in: tree) {
      guard name.isUTF8 else { return nil }
      let status = try files.status(of: name.text, in: tree, following: .asThemselves)
      guard status.kind == .file || status.kind == .directory else { return nil }
      var order = Array(name.text.utf8)
      if status.kind == .directory, try !isEmpty(name.text, in: tree) { order.append(UInt8(ascii: "/")) }
      items.append(Item(name: name.text, status: status, order: order))
    }
    return items.sorted { $0.order.lexicographicallyPrecedes($1.order) }
  }

  private func isEmpty(_ name: String, in tree: OpenFile) throws(FileFailure) -> Bool {
    try files.names(in: try files.open(name, .directoryUnlinked, in: tree)).isEmpty
  }

  private func visit(
    _ tree: OpenFile, prefix: [UInt8], _ buffer: inout [UInt8], _ body: (Record) throws(PackError) -> Void
  ) throws(PackError) -> Bool {
    guard let items = try reading(path, items(of: tree)) else { return false }
    for item in items {
      try checkpoint()
      let path = prefix + item.order
      guard path.count <= Limits.pathLength else { return false }
      if item.order.last == UInt8(ascii: "/") {
        let below = try reading(self.path, files.open(item.name, .directoryUnlinked, in: tree))
        guard try visit(below, prefix: path, &buffer, body) else { return false }
      } else {
        try body(try record(item, path, in: tree, &buffer))
      }
    }
    return true
  }

  private func record(_ item: Item, _ path: [UInt8], in tree: OpenFile, _ buffer: inout [UInt8]) throws(PackError) -> Record {
    guard item.status.kind == .file else {
      return Record(path: path, kind: .directory, size: 0, digest: IndexRecord.noDigest, status: item.status)
    }
    let file = try reading(self.path, files.open(item.name, .readUnlinked, in: tree))
    let size = try files.hash(file, by: digest, buffer: &buffer, name: self.path, each: checkpoint)
    return Record(
      path: path, kind: item.status.isExecutable ? .executable : .file, size: size, digest: try digest.finish(), status: item.status)
  }

}
