/// A place that a program of the user knows. It is run with one of these appended to its words:
///
/// - `list`: prints a line for each file: its size in bytes, a tab, its name. Nothing if the place does not exist yet.
/// - `get NAME FILE`: writes a file of the place to a new file; none if it does not exist.
/// - `add FILE NAME`: copies a file to the place, over another one of that name. Caches may keep it for ever.
/// - `manifest FILE SHA256`: replaces `manifest.json`, all at once. The digest is that of the one there, or `none`; if another one is there, it may refuse.
/// - `remove NAME`: removes a file.
///
/// It ends with status 0 if that is done. What it prints on standard error is shown.
package struct CommandPlace: PublishingPlace {
  package let title: String
  private let words: [String]

  init(title: String, _ words: [String]) { (self.title, self.words) = (title, words) }

  private func run(_ arguments: String...) throws(PackError) -> [UInt8] {
    try Task.checkpoint()
    do throws(PackError) {
      return try ProgramOutput.read(words + arguments, limit: 256 << 20, files: SystemFiles())
    } catch {
      throw PackError(
        error.code, of: title, "failed at '\(arguments.joined(separator: " "))': \(error.message)",
        hint: "it gets list, get, add, manifest or remove as its next word: packer publish --help")
    }
  }

  package func sizes() throws(PackError) -> [String: UInt64] { try FileListing.sizes(try run("list"), refusing: true) }

  /// Fetches a file for a moment. Returns nil if it does not exist.
  private func fetched<Result>(_ name: String, _ body: (String) throws(PackError) -> Result) throws(PackError) -> Result? {
    // In a folder that no other user can write to, who could make the file first.
    try ScratchFolder.withFile { (path) throws(PackError) in
      _ = try run("get", name, path)
      return ReleasePlaces.exists(path) ? try body(path) : nil
    }
  }

  package func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? {
    try fetched(name) { (path) throws(PackError) in try SystemFiles().contents(of: path, limit: limit) }
  }

  package func bring(_ wanted: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought {
    var brought = Brought()
    for (name, limit) in wanted {
      let path = ReleaseFolder.path(name, in: directory)
      _ = try run("get", name, path)
      guard let status = try? SystemFiles().status(of: path, in: nil, following: .asThemselves), status.size > limit else { continue }
      try? SystemFiles().remove(path, status.kind, in: nil)
      brought.larger.append(name)
    }
    return brought
  }

  package func add(_ names: [String], from directory: String) throws(PackError) {
    for name in names { try add(ReleaseFolder.path(name, in: directory), as: name) }
  }

  package func add(_ path: String, as name: String) throws(PackError) { _ = try run("add", path, name) }

  package func hasDigests() throws(PackError) -> Bool { false }

  package func different(_ files: [ReleaseFiles.File], from directory: String) throws(PackError) -> [ReleaseFiles.File] {
    let backend = CryptoBackends.standard
    var different: [ReleaseFiles.File] = []
    for file in files {
      let found = try fetched(file.name) { (path) throws(PackError) in
        try FileDigest.run(path, in: nil, title: path, files: SystemFiles(), backend: backend).sha256
      }
      if found != file.sha256 { different.append(file) }
    }
    return different
  }

  package func replaceManifest(with path: String, known: [UInt8]?) throws(PackError) {
    guard try contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) == known else {
      throw conflict("has another manifest than before: another publisher is at work")
    }
    let digest = try known.map { (bytes) throws(PackError) in try CryptoBackends.standard.digest(of: bytes.byteSpan).hex }
    _ = try run("manifest", path, digest ?? "none")
  }

  package func remove(_ names: [String]) throws(PackError) {
    for name in names { _ = try run("remove", name) }
  }
}

/// A list of files: a line for each, with its size, a tab, and its name.
enum FileListing {
  /// - Parameter refusing: whether another line is an error. It may be a part of a name with a line break.
  /// - Throws: ``PackError/Code/cannotRead``.
  static func sizes(_ answer: [UInt8], refusing: Bool) throws(PackError) -> [String: UInt64] {
    var sizes: [String: UInt64] = [:]
    for line in answer.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      guard parts.count == 2, let size = UInt64(String(decoding: parts[0], as: UTF8.self)) else {
        guard refusing else { continue }
        throw PackError(.cannotRead, "the list of files has a line that is not a size, a tab and a name: '\(printable(line.prefix(200)))'")
      }
      sizes[String(decoding: parts[1], as: UTF8.self)] = size
    }
    return sizes
  }
}
