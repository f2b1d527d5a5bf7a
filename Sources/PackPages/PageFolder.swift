/// A directory of pages. The name of each file contains the digest of the page.
///
/// Any number of processes may use one. A page appears whole or not at all, and is never changed. One that is missing can be fetched again, so
/// nothing is lost if one process frees what another has just kept.
package struct PageFolder: Sendable {
  /// The path of the directory. It is made for the first page.
  package let path: String
  private let files: any FileSystem
  private let backend: any CryptoBackend

  package init(_ path: String, files: any FileSystem = SystemFiles(), backend: any CryptoBackend = CryptoBackends.standard) {
    self.path = path
    self.files = files
    self.backend = backend
  }

  /// Returns the bytes of a page, or nil if there is no such file. Its digest is not checked: ``Page`` does that.
  ///
  /// Memory: at most the size that the reference says, because a file of another size is not read.
  ///
  /// - Throws: ``PackError/Code/wrongPage`` if something else is under its name, ``PackError/Code/cannotRead``.
  package func read(_ reference: PageReference) throws(PackError) -> [UInt8]? {
    let path = path(of: reference)
    guard let kind = try kind(of: path) else { return nil }
    guard kind == .file else { throw PackError(.wrongPage, "\(reference.fileName) is not a file", advice: .fetchAgain) }
    guard let file = try reading(path, ifPresent(files.open(path, .readUnlinked, in: nil))) else { return nil }
    let size = try reading(path, files.status(of: file).size)
    try reference.check(size: size)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var span = bytes.mutableByteSpan
    try files.readExactly(file, at: 0, into: &span, name: path)
    return bytes
  }

  /// Returns the bytes of a page, or nil if it is missing or damaged. So a device fetches a damaged page again, and ``keep(_:as:)`` replaces it.
  ///
  /// - Throws: ``PackError/Code/cannotRead``
  package func intact(_ reference: PageReference) throws(PackError) -> [UInt8]? {
    do throws(PackError) {
      guard let bytes = try read(reference) else { return nil }
      try reference.check(bytes.byteSpan, backend: backend)
      return bytes
    } catch {
      guard error.code == .wrongPage || error.code == .truncated else { throw error }
      return nil
    }
  }

  /// Adds a page. When this returns, it has reached the disk.
  ///
  /// - Throws: ``PackError/Code/wrongPage`` if the bytes are not those that the reference names, ``PackError/Code/noSpace``,
  ///   ``PackError/Code/cannotWrite``, ``PackError/Code/outputExists`` if a directory is under its name.
  package func keep(_ bytes: [UInt8], as reference: PageReference) throws(PackError) {
    try reference.check(bytes.byteSpan, backend: backend)
    guard try intact(reference) == nil else { return }
    if try writing(path, unlessExisting(files.makeDirectory(path, mode: 0o755, in: nil))) != nil {
      try writing(path, files.sync(files.open(PathParts(path)?.directory ?? "..", .directory, in: nil)))
    }
    try OutputFile.write(bytes, to: path(of: reference), files: files)
  }

  /// Removes all pages that have other names, and what killed processes left of pages.
  ///
  /// - Parameter names: The names of the pages that a manifest in use, and its index pages, refer to.
  package func free(except names: Set<String>) throws(PackError) {
    guard let directory = try writing(path, ifPresent(files.open(path, .directory, in: nil))) else { return }
    for name in try writing(path, files.names(in: directory)).map(\.text) {
      if let page = StagedName.output(of: name), PageReference.isFileName(page) {
        _ = try? StagedName(for: "\(path)/\(page)", files: files)
      } else if PageReference.isFileName(name), !names.contains(name) {
        // Another process may remove it, too.
        let kind = try writing(path, ifPresent(files.status(of: name, in: directory, following: .asThemselves)))?.kind
        if let kind, kind != .directory { try writing(path, ifPresent(files.remove(name, kind, in: directory))) }
      }
    }
  }

  private func kind(of path: String) throws(PackError) -> FileStatus.Kind? {
    try reading(path, ifPresent(files.status(of: path, in: nil, following: .asThemselves).kind))
  }

  private func path(of reference: PageReference) -> String { "\(path)/\(reference.fileName)" }
}

extension PageReference {
  /// Throws ``PackError/Code/wrongPage`` if a file of this size is not the page.
  func check(size other: UInt64) throws(PackError) {
    guard other == size else {
      throw PackError(.wrongPage, "\(fileName) is \(other) bytes, but the manifest says \(size)", advice: .fetchAgain)
    }
  }

  /// Throws ``PackError/Code/wrongPage`` if the bytes are not the page.
  func check(_ bytes: Span<UInt8>, backend: any CryptoBackend) throws(PackError) {
    try check(size: UInt64(bytes.count))
    guard try backend.digest(of: bytes) == sha256 else {
      throw PackError(.wrongPage, "\(fileName) is not the file that the manifest names: its SHA-256 differs", advice: .fetchAgain)
    }
  }
}
