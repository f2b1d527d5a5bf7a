/// The files of an installed version that is kept encrypted: a pack file, or a delta and what it is read over.
struct StoredPack: Hashable, Sendable {
  let path: String
  /// The name of the file in `packs`.
  let item: String
  /// In the order of the delta's head. Empty for a pack file.
  let bases: [StoredPack]

  /// The paths of all files, those of bases last.
  var paths: [String] { [path] + bases.flatMap(\.paths) }

  /// Opens the version. Bases are opened first.
  ///
  /// - Throws: the errors of a pack and of the provider of keys.
  func open(keys: any KeyProvider, in directory: StoreDirectory) async throws(PackError) -> Pack {
    let (files, backend) = (directory.files, directory.backend)
    guard !bases.isEmpty else { return try await Pack.open(path, keys: keys, files: files, backend: backend) }
    var opened: [Pack] = []
    for base in bases { opened.append(try await base.open(keys: keys, in: directory)) }
    let start = try await WorkerPool.value { (_) throws(PackError) in try PackStart(path, files: files) }
    return try await Pack.open(
      start, path: path, keys: keys, over: opened, keeper: StoredDigests(directory, item), files: files, backend: backend)
  }
}
