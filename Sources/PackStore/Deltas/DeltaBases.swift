/// Finds what a delta was made for among packs and trees on a disk.
package enum DeltaBases {
  /// Opens the bases that a delta names, in its order. They are found by their content roots, so the order of the paths does not matter.
  ///
  /// - Parameters:
  ///   - paths: Packs, or directories with unpacked ones, of which every file is read. Those that are not needed are opened, too.
  ///   - key: A key for all packs: the same one, or the root key from which theirs are derived.
  /// - Throws: ``PackError/Code/wrongBase`` if a base is not among them, or the error of one.
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
    var bases: [any DeltaBase] = []
    for root in delta.head.bases {
      guard let base = found.first(where: { $0.contentRoot == root }) else {
        guard !paths.isEmpty else {
          throw PackError(
            .unsupported, of: delta.source.path, "is a delta, which has to be applied to the packs that it was made for",
            advice: .chooseBase)
        }
        throw PackError(
          .wrongBase,
          "pack is a delta over content \(root.prefix(8).hex), which \(paths.count == 1 ? "the given base does not have" : "no given base has")",
          advice: .chooseBase
        ).about(delta.source)
      }
      bases.append(base)
    }
    return bases
  }
}
