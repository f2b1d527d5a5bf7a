/// The cache of a build: what was made anywhere with the same packer, content, settings, version and key is fetched instead of made.
///
/// The place is not trusted: everything from there is authenticated with the key of the pack and compared with the sources. If it cannot be reached or
/// written, a build goes on without it, unless it is required.
package final class PackCache: Sendable {
  private struct State {
    var isReadable = true
    /// Whether it has answered.
    var isKnown = false
    var isWritable = true
    var remarks: [ReleaseBuildReport.Remark] = []
  }

  private let place: any StoragePlace
  /// Whether it is an error if the place cannot be read or written.
  private let isRequired: Bool
  /// The versions of packer and of its compression library. Others may make other bytes.
  let maker: String
  private let state = Monitor(State())

  /// - Parameters:
  ///   - maker: the versions of packer and of its compression library.
  ///   - isRequired: whether it is an error if the place cannot be read or written.
  package init(_ place: any StoragePlace, maker: String, isRequired: Bool = false) {
    (self.place, self.maker, self.isRequired) = (place, maker, isRequired)
  }

  /// Returns the versions that make the bytes of packs, from that of packer.
  package static func maker(_ packer: String) -> String { "packer \(packer), \(LibraryVersions.lines.last ?? "")" }

  var title: String { place.title }
  var isWritable: Bool { state.withLock { $0.isWritable } }

  /// Copies the files that are there into a directory. Returns names of some that are too large.
  func bring(_ files: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> [String] {
    guard !files.isEmpty, state.withLock({ $0.isReadable }) else { return [] }
    do throws(PackError) {
      // First one file only: a place that does not answer takes time for each of them.
      let first = state.withLock { $0.isKnown } ? 0 : 1
      var larger: [String] = []
      for part in [files.prefix(first), files.dropFirst(first)] where !part.isEmpty {
        larger += try place.bring(Array(part), to: directory).larger
        state.withLock { $0.isKnown = true }
      }
      return larger
    } catch {
      guard !error.endsBuild else { throw error }
      guard !isRequired else { throw error.about("the cache \(title)") }
      state.withLock { state in
        state.isReadable = false
        if !state.isKnown { state.isWritable = false }
      }
      warn("the cache \(title) cannot be read, and what it may have is made here: \(error.message)", hint: "--no-cache builds without it")
      return []
    }
  }

  /// Copies files of a directory to the place, if that can be written.
  func keep(_ names: [String], from directory: String) throws(PackError) {
    guard !names.isEmpty, isWritable else { return }
    do throws(PackError) {
      try place.add(names, from: directory)
    } catch {
      try giveUpWriting(error)
    }
  }

  /// Notes that the cache gets nothing any more.
  func giveUpWriting(_ error: PackError) throws(PackError) {
    guard error.code != .cancelled else { throw error }
    guard !isRequired else { throw error.about("the cache \(title)") }
    state.withLock { $0.isWritable = false }
    // Runs without that permission are usual.
    remark(.note("the cache \(title) gets nothing from this build: \(error.message)"))
  }

  func warn(_ message: String, hint: String? = nil) { remark(.warning(message, hint: hint)) }

  private func remark(_ remark: ReleaseBuildReport.Remark) { state.withLock { $0.remarks.append(remark) } }

  /// Returns what there is to say since the last call.
  package func takeRemarks() -> [ReleaseBuildReport.Remark] {
    state.withLock { state in
      defer { state.remarks = [] }
      return state.remarks
    }
  }
}

/// A file that a cache has. Its name is the digest of its bytes, and it had these when it was brought.
struct CachedFile: Hashable, Sendable {
  let sha256: [UInt8]

  var name: String { "\(sha256.hex).pack" }
}

/// The files of a cache that one build uses, in a directory inside that of the release while it is made.
///
/// A pack or delta is in a file that is named by its SHA-256. What was made from certain sources is in a small file named by the digest of everything
/// that the bytes follow from; it has that SHA-256.
final class CachedFiles {
  let cache: PackCache
  /// The path of the directory.
  let directory: String
  private let files: any FileSystem
  private let backend: any CryptoBackend
  private let staged: StagedRelease
  /// The files that were made and are to be kept.
  private var waiting: [String] = []
  private var waitingSize: UInt64 = 0

  private static let name = "cache"
  /// The number of files, and the sum of their sizes in bytes, from which they are uploaded.
  private static let (mostWaiting, largestWaiting): (Int, UInt64) = (200, 256 << 20)
  /// The size of a file that names another one.
  private static let referenceSize = 64

  /// - Returns: nil if the build has no cache.
  init?(_ build: ReleaseBuild, _ staged: StagedRelease) throws(PackError) {
    guard let cache = build.cache else { return nil }
    (self.cache, self.staged, files, backend) = (cache, staged, build.files, build.backend)
    try staged.makeDirectory(Self.name)
    directory = staged.path(of: Self.name)
  }

  func path(of name: String) -> String { "\(directory)/\(name)" }

  // MARK: Reading

  /// Returns which file has what was made from certain things.
  ///
  /// - Parameter things: names by ``name(of:version:)`` or ``name(_:)``.
  func references(_ things: [String]) throws(PackError) -> [String: CachedFile] {
    _ = try cache.bring(things.map { ($0, UInt64(Self.referenceSize)) }, to: directory)
    var found: [String: CachedFile] = [:]
    for name in things {
      guard let text = try? files.contents(of: path(of: name), limit: Self.referenceSize) else { continue }
      drop(name)
      if let sha256 = [UInt8](hex: String(decoding: text, as: UTF8.self)[...], count: 32) { found[name] = CachedFile(sha256: sha256) }
    }
    return found
  }

  /// Copies files that the cache has into ``directory``. Returns those that are there and have the right bytes.
  ///
  /// - Parameter wanted: each with the largest size in bytes that it may have, and its title for messages.
  func bring(_ wanted: [(file: CachedFile, limit: UInt64, title: String)]) throws(PackError) -> Set<CachedFile> {
    let large = try cache.bring(wanted.map { ($0.file.name, $0.limit) }, to: directory)
    var found: Set<CachedFile> = []
    for (file, limit, title) in wanted where !found.contains(file) {
      let path = path(of: file.name)
      let status = try? files.status(of: path, in: nil, following: .asThemselves)
      guard status != nil || large.contains(file.name) else { continue }
      do throws(PackError) {
        guard let status, status.kind == .file, status.size <= limit else {
          throw PackError(.limitExceeded, "it is larger than \(limit) bytes")
        }
        let digest = try FileDigest.run(path, in: nil, title: title, files: files, backend: backend).sha256
        guard digest == file.sha256 else { throw PackError(.digestMismatch, "its bytes are not those that its name says") }
        found.insert(file)
      } catch {
        guard error.code != .cancelled else { throw error }
        refuse(file, of: title, error)
        drop(file.name)
      }
    }
    return found
  }

  /// Says that a file is not what it should be.
  func refuse(_ file: CachedFile, of title: String, _ error: PackError) {
    cache.warn(
      "\(title) in the cache is not what it should be, and is made anew: \(staged.naming(error).message)",
      hint: "see who can write to \(cache.title): its file \(file.name), or what names it, was changed")
  }

  /// Removes the copy of a file, unless it waits to be uploaded.
  func drop(_ name: String) {
    if !waiting.contains(name) { try? files.remove(path(of: name), .file, in: nil) }
  }

  // MARK: Writing

  /// Hands a file of the release over to the cache, which gets it with others.
  ///
  /// - Parameter thing: the name of what it was made from.
  func keep(_ file: String, _ sha256: [UInt8], as thing: String) throws(PackError) {
    guard cache.isWritable else { return }
    let name = CachedFile(sha256: sha256).name
    // Two things may have the same bytes, and be made one after the other.
    if waiting.contains(name) || waiting.contains(thing) { try flush() }
    do throws(PackError) {
      drop(name)
      drop(thing)
      try link(staged.path(of: file), as: path(of: name))
      try OutputFile.write(Array(sha256.hex.utf8), to: path(of: thing), files: files)
    } catch {
      return try cache.giveUpWriting(staged.naming(error))
    }
    // What names a file comes after it.
    waiting += [name, thing]
    waitingSize += (try? files.status(of: path(of: name), in: nil, following: .asThemselves))?.size ?? 0
    if waiting.count >= Self.mostWaiting || waitingSize >= Self.largestWaiting { try flush() }
  }

  private func link(_ source: String, as place: String) throws(PackError) {
    do throws(FileFailure) {
      try files.link(source, in: nil, as: place, in: nil)
    } catch {
      guard error.isUnlinkable else { throw error.writing(place) }
      try FileCopy.run(source, to: place, files: files)
    }
  }

  /// Uploads what waits for that.
  func flush() throws(PackError) {
    let names = waiting
    try cache.keep(names, from: directory)
    (waiting, waitingSize) = ([], 0)
    for name in names { drop(name) }
  }

  /// Uploads what waits for that, and removes the directory.
  func finish() throws(PackError) {
    try flush()
    try writing(directory, files.removeTree(directory, in: nil))
  }

  // MARK: Names

  /// Returns the name of what a pack is made from.
  ///
  /// - Parameter version: the version that it has, which may be higher than that of the identity.
  func name(of identity: PackIdentity, version: UInt64) throws(PackError) -> String {
    try name([
      "contentRoot": .text(identity.contentRoot.hex), "id": .text(identity.id), "keyID": .text(identity.keyID),
      "settings": .text(identity.settings), "version": .number(version),
    ])
  }

  /// Returns the name of everything in `members`, made by this packer.
  func name(_ members: [String: JSON?]) throws(PackError) -> String {
    let document = JSON.sorted(members.merging(["maker": .text(cache.maker)]) { first, _ in first }).document
    return try backend.digest(of: document.byteSpan).hex
  }
}

extension PackError {
  /// Whether an error is not about a file of the cache.
  var endsBuild: Bool { code == .cannotWrite || code == .noSpace || code == .cancelled }
}
