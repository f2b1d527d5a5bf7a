extension Pack {
  /// Opens the pack at `path`.
  ///
  /// - Parameter key: the application key, the pack's own key if the pack was made with one, or a key for which the pack is wrapped.
  /// - Throws: ``PackError`` with a code that distinguishes a wrong key (``PackError/Code/wrongKey``, ``PackError/Code/notWrapped``) from a damaged header
  ///   (``PackError/Code/damagedHeader``), a damaged body, a truncated pack, a file that is not a pack, and a pack that needs a newer reader.
  public static func open(_ path: String, key: borrowing PackKey) throws(PackError) -> Pack {
    try Pack(path, key: key, files: SystemFiles(), backend: CryptoBackends.standard)
  }

  package convenience init(
    _ path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    try self.init(PackStart(path, files: files), path: path, key: key, files: files, backend: backend)
  }

  /// Opens the pack at `path` whose start was already read.
  package convenience init(
    _ start: PackStart, path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend,
    arrival: (any PackArrival)? = nil
  ) throws(PackError) {
    try self.init(PackSource(start, path: path, key: key, files: files, backend: backend, arrival: arrival))
  }

  /// Lets a budget close the file while it is not read. Then nothing else is kept, either.
  package func join(_ budget: FileBudget) throws(PackError) {
    try source.held.join(budget) { [weak self] in self?.dropBuffers() }
  }
}
