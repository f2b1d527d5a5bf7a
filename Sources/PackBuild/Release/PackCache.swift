import PackCrypto
import PackFiles
package import PackFormat
import PackWork

/// A place with packs and deltas that machines share. Files there never change, and may be removed at any time.
package protocol PackStorage: Sendable {
  /// The place, as the caller named it.
  var title: String { get }

  /// Copies the files that are there into a directory. Those that are not there are no error.
  func bring(_ names: [String], to directory: String) throws(PackError)

  /// Copies files of a directory to the place, over files of the same names.
  func keep(_ names: [String], from directory: String) throws(PackError)
}

/// The cache of a build: what was made anywhere with the same content, settings, version and key is fetched instead of made.
///
/// The place is not trusted: everything from there is authenticated with the key of the pack and compared with the sources. If it cannot be reached or
/// written, the build goes on without it.
package final class PackCache: Sendable {
  private struct State {
    var isReadable = true
    var isWritable = true
    var remarks: [ReleaseBuildReport.Remark] = []
  }

  private let storage: any PackStorage
  private let state = Monitor(State())

  package init(_ storage: any PackStorage) { self.storage = storage }

  var title: String { storage.title }
  var isWritable: Bool { state.withLock { $0.isWritable } }

  /// Copies the files that are there into a directory.
  func bring(_ names: [String], to directory: String) throws(PackError) {
    guard !names.isEmpty, state.withLock({ $0.isReadable }) else { return }
    do throws(PackError) {
      try storage.bring(names, to: directory)
    } catch {
      guard error.code != .cancelled else { throw error }
      state.withLock { ($0.isReadable, $0.isWritable) = (false, false) }
      warn("the cache \(title) cannot be read, and everything is made here: \(error.message)", hint: "--no-cache builds without it")
    }
  }

  /// Copies files of a directory to the place, if that can be written.
  func keep(_ names: [String], from directory: String) throws(PackError) {
    guard !names.isEmpty, isWritable else { return }
    do throws(PackError) {
      try storage.keep(names, from: directory)
    } catch {
      guard error.code != .cancelled else { throw error }
      state.withLock { $0.isWritable = false }
      // Runs without that permission are usual.
      remark(.note("the cache \(title) gets nothing from this build: \(error.message)"))
    }
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

/// The files of a cache that one build uses, in a directory inside that of the release while it is made.
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
  private static let (mostWaiting, largestWaiting): (Int, UInt64) = (100, 256 << 20)

  /// - Returns: nil if the build has no cache.
  init?(_ build: ReleaseBuild, _ staged: StagedRelease) throws(PackError) {
    guard let cache = build.cache else { return nil }
    (self.cache, self.staged, files, backend) = (cache, staged, build.files, build.backend)
    try staged.makeDirectory(Self.name)
    directory = staged.path(of: Self.name)
  }

  /// Copies the files that the cache has into ``directory``. Returns their names.
  func bring(_ names: [String]) throws(PackError) -> Set<String> {
    try cache.bring(names, to: directory)
    return Set(names.filter { (try? files.status(of: path(of: $0), in: nil, following: .asThemselves))?.kind == .file })
  }

  func path(of name: String) -> String { "\(directory)/\(name)" }

  /// Says that a file is not what it should be.
  func refuse(_ name: String, of title: String, _ error: PackError) {
    cache.warn(
      "\(title) in the cache is not what it should be, and is made anew: \(staged.naming(error).message)",
      hint: "see who can write to \(cache.title): its file \(name) was changed")
  }

  /// Removes the copy of a file.
  func drop(_ name: String) { try? files.remove(path(of: name), .file, in: nil) }

  /// Hands a file of the release over to the cache, which gets it with others.
  func keep(_ file: String, as name: String) throws(PackError) {
    guard cache.isWritable else { return }
    drop(name)
    let source = staged.path(of: file)
    do throws(FileFailure) {
      try files.link(source, in: nil, as: path(of: name), in: nil)
    } catch {
      guard error.isUnlinkable else { throw error.writing(path(of: name)) }
      try FileCopy.run(source, to: path(of: name), files: files)
    }
    waiting.append(name)
    waitingSize += (try? files.status(of: source, in: nil, following: .asThemselves))?.size ?? 0
    if waiting.count >= Self.mostWaiting || waitingSize >= Self.largestWaiting { try flush() }
  }

  /// Uploads what waits for that.
  func flush() throws(PackError) {
    try cache.keep(waiting, from: directory)
    for name in waiting { drop(name) }
    (waiting, waitingSize) = ([], 0)
  }

  /// Uploads what waits for that, and removes the directory.
  func finish() throws(PackError) {
    try flush()
    try? files.removeTree(directory, in: nil)
  }

  // MARK: Names

  /// Returns the name of a pack's file: a digest of everything that its bytes follow from.
  ///
  /// - Parameter version: the version that it has, which may be higher than that of the identity.
  func name(of identity: PackIdentity, version: UInt64) throws(PackError) -> String {
    try name([
      "contentRoot": .text(identity.contentRoot.hex), "id": .text(identity.id), "keyID": .text(identity.keyID),
      "settings": .text(identity.settings), "version": .number(version),
    ])
  }

  /// Returns the name of the file of a released pack.
  func name(of pack: ReleaseLock.Pack) throws(PackError) -> String {
    try name(
      of: PackIdentity(id: pack.id, contentRoot: pack.contentRoot, keyID: pack.keyID, settings: pack.settings, version: pack.version),
      version: pack.version)
  }

  /// Returns the name of the file with everything in `members`.
  func name(_ members: [String: RecordValue?]) throws(PackError) -> String {
    let document = RecordValue.sorted(members).document
    return try backend.digest(of: document.byteSpan).hex + ".pack"
  }
}
