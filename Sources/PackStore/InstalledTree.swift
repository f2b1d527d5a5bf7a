import PackCrypto
import PackFiles
import PackFormat
import PackReading

/// Reads a tree of files on the disk without following links.
struct InstalledTree {
  let files: any FileSystem
  let backend: any CryptoBackend

  /// Returns the number of bytes that a file, or a directory with its contents, takes on the device. Files removed in the meantime count as 0.
  func sizeOnDevice(of name: String, in directory: OpenFile) throws(FileFailure) -> UInt64 {
    do throws(FileFailure) {
      return try presentSize(of: name, in: directory)
    } catch {
      guard error.isMissing else { throw error }
      return 0
    }
  }

  private func presentSize(of name: String, in directory: OpenFile) throws(FileFailure) -> UInt64 {
    let status = try files.status(of: name, in: directory, following: .asThemselves)
    guard status.kind == .directory else { return status.allocatedSize }
    let tree = try files.open(name, .directoryUnlinked, in: directory)
    var sum = status.allocatedSize
    for item in try files.names(in: tree) where item.isUTF8 { sum = sum.adding(try sizeOnDevice(of: item.text, in: tree)) }
    return sum
  }

  /// Computes the content root of a directory (FORMAT.md §4.4) from every byte in it. Returns nil if the directory contains something that a pack
  /// cannot contain.
  ///
  /// - Parameter checkpoint: Called between files. If it throws, the work ends.
  func contentRoot(
    of name: String, in directory: OpenFile, path: String, checkpoint: () throws(PackError) -> Void
  ) throws(PackError) -> [UInt8]? {
    let root = try ContentRoot(backend: backend)
    let digest = try backend.makeDigest()
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let tree = try readable(path) { () throws(FileFailure) in try files.open(name, .directoryUnlinked, in: directory) }
    let isSound = try add(tree, prefix: [], to: root, digest: digest, buffer: &buffer, path: path, checkpoint: checkpoint)
    return isSound ? try root.finish() : nil
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

  /// Adds the records of everything in a directory, in the byte order of the paths. Returns false if it contains something that a pack cannot
  /// contain.
  private func add(
    _ tree: OpenFile, prefix: [UInt8], to root: ContentRoot, digest: any DigestContext, buffer: inout [UInt8], path: String,
    checkpoint: () throws(PackError) -> Void
  ) throws(PackError) -> Bool {
    guard let items = try readable(path, { () throws(FileFailure) in try self.items(of: tree) }) else { return false }
    for item in items {
      try checkpoint()
      if item.order.last == UInt8(ascii: "/") {
        let below = try readable(path) { () throws(FileFailure) in try files.open(item.name, .directoryUnlinked, in: tree) }
        let isSound = try add(
          below, prefix: prefix + item.order, to: root, digest: digest, buffer: &buffer, path: path, checkpoint: checkpoint)
        guard isSound else { return false }
      } else {
        try add(item, in: tree, prefix: prefix, to: root, digest: digest, buffer: &buffer, path: path)
      }
    }
    return true
  }

  /// Adds the record of a file or of an empty directory.
  private func add(
    _ item: Item, in tree: OpenFile, prefix: [UInt8], to root: ContentRoot, digest: any DigestContext, buffer: inout [UInt8], path: String
  ) throws(PackError) {
    var kind = IndexRecord.Kind.directory
    var size: UInt64 = 0
    var sha256 = [UInt8](repeating: 0, count: 32)
    if item.status.kind == .file {
      let file = try readable(path) { () throws(FileFailure) in try files.open(item.name, .readUnlinked, in: tree) }
      kind = item.status.isExecutable ? .executable : .file
      size = try hash(file, by: digest, buffer: &buffer, path: path) { () throws(PackError) in }
      sha256 = try digest.finish()
    }
    let name = prefix + item.order
    try root.add(path: name.byteSpan, kind: kind, size: size, digest: sha256.byteSpan)
  }

  private func readable<Result>(_ path: String, _ body: () throws(FileFailure) -> Result) throws(PackError) -> Result {
    do throws(FileFailure) {
      return try body()
    } catch {
      throw error.reading(path)
    }
  }

  /// Adds the content of an open file to a digest. Returns the length of the file in bytes.
  func hash(
    _ file: OpenFile, by digest: any DigestContext, buffer: inout [UInt8], path: String, each: () throws(PackError) -> Void
  ) throws(PackError) -> UInt64 {
    var offset: UInt64 = 0
    while true {
      try each()
      var span = buffer.mutableByteSpan
      let count = try files.read(file, at: offset, filling: &span, name: path)
      if count > 0 { try digest.update(buffer.byteSpan.extracting(first: count)) }
      offset += UInt64(count)
      if count < buffer.count { return offset }
    }
  }
}
