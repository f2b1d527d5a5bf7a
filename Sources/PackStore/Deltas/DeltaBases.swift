/// Opens what a delta may be applied to on a disk.
package enum DeltaBases {
  /// Opens packs, and directories with unpacked ones, of which every file is read.
  ///
  /// - Parameter key: A key for all packs: the same one, or the root key from which theirs are derived.
  /// - Throws: The error of one.
  package static func open(
    _ paths: [String], for delta: DeltaPack, key: borrowing PackKey
  ) throws(PackError) -> [any DeltaBase] {
    let (files, backend) = (delta.source.files, delta.source.backend)
    var found: [any DeltaBase] = []
    for path in paths {
      guard try files.status(of: path).kind == .directory else {
        found.append(try Pack(path, key: key, files: files, backend: backend))
        continue
      }
      let root = try reading(path, files.open(path, .directory, in: nil))
      found.append(try BaseTree(root, path: path, files: files, backend: backend, checkpoint: Task.checkpoint))
    }
    return found
  }
}
