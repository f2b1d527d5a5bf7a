/// Compares what is on the device with what a record says.
struct ContentCheck {
  let directory: StoreDirectory
  let pool: WorkerPool

  /// A problem with a recorded version.
  enum Fault: Equatable {
    case missing
    case damaged(String)

    /// What is wrong, as the end of a sentence about the version.
    var text: String {
      switch self {
      case .missing: "is no longer on the device"
      case .damaged(let what): what
      }
    }
  }

  /// Returns what is wrong with a version.
  func fault(of content: PackRecord.Content, in record: PackRecord, _ depth: ReconcileDepth) throws(PackError) -> Fault? {
    let name = directory.place(record.itemName(content))
    switch content.mode {
    case .packed: return try faultOfFile(name, size: content.size, sha256: content.rewritten ?? content.bytes.sha256, depth)
    case .unpacked:
      guard let status = try directory.status(name) else { return .missing }
      guard status.kind == .directory else { return .damaged("is not a directory") }
      guard depth == .thorough else { return nil }
      return try root(of: name) == content.contentRoot ? nil : .damaged("does not have the files that were installed")
    }
  }

  private func faultOfFile(_ name: String, size: UInt64, sha256: [UInt8], _ depth: ReconcileDepth) throws(PackError) -> Fault? {
    guard let status = try directory.status(name) else { return .missing }
    guard status.kind == .file else { return .damaged("is not a file") }
    guard status.size == size else { return .damaged("is \(status.size) bytes instead of \(size)") }
    guard depth == .thorough else { return nil }
    return try self.sha256(ofFile: name) == sha256 ? nil : .damaged("does not have the bytes that were installed")
  }

  /// Returns the SHA-256 of a file in the store, or nil if it does not exist.
  func sha256(ofFile name: String) throws(PackError) -> [UInt8]? {
    guard let file = try reading(directory.path(name), ifPresent(directory.files.open(name, .readUnlinked, in: directory.handle))) else {
      return nil
    }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let digest = try directory.backend.makeDigest()
    _ = try directory.files.hash(file, by: digest, buffer: &buffer, name: directory.path(name), each: pool.checkpoint)
    return try digest.finish()
  }

  /// Returns the content root of a tree in the store, or nil if it has something that no pack can contain.
  func root(of name: String) throws(PackError) -> [UInt8]? {
    try InstalledTree(files: directory.files, backend: directory.backend).contentRoot(
      of: name, in: directory.handle, path: directory.path(name), checkpoint: pool.checkpoint)
  }
}
