/// The source of games: one pack, a release with its manifest, or a folder of plain files. It is checked for changes while it is served.
package struct GameStock: Sendable {
  /// What is at a path.
  package enum Kind: Sendable {
    case pack
    /// A folder with a signed manifest.
    case release
    /// A folder with the files of a game, or with such folders.
    case folder
  }

  private let path: String
  private let keys: KeyRing
  private let trusted: TrustedKeys
  private let only: String?
  private let kind: Kind
  /// The largest number of packs that stay open, besides those of replies under way. A process on macOS may open 256 files, and each open pack takes
  /// one, and the directory of its index.
  let mostOpen: Int
  private let files: any FileSystem

  /// - Parameters:
  ///   - path: a pack, the directory of a release, or a folder of plain files.
  ///   - trusted: the keys that may sign the manifest. If there are none, signatures are not checked, because packs open only with the caller's key.
  ///   - only: the only pack of the release to serve, at the root of the address.
  package init(
    _ path: String, _ kind: Kind, keys: KeyRing, trusting trusted: TrustedKeys = TrustedKeys([]), only: String? = nil,
    mostOpen: Int = 64
  ) {
    self.mostOpen = mostOpen
    self.path = path
    self.kind = kind
    self.keys = keys
    self.trusted = trusted
    self.only = only
    files = SystemFiles()
  }

  /// Returns what is at a path. A web application may have a file with the name of the manifest, too.
  package static func kind(of path: String) -> Kind {
    guard ReleasePlaces.isDirectory(path) else { return .pack }
    if (try? SignedManifest.read(manifest(in: path))) != nil { return .release }
    return PlainGames(path).ids.isEmpty ? .release : .folder
  }

  private static func manifest(in directory: String) -> String { "\(directory)/\(ReleaseFile.manifest)" }

  var isSingle: Bool { kind == .pack || only != nil }

  private var watched: String { kind == .release ? Self.manifest(in: path) : path }

  func hasChanged(since shelf: Shelf) throws(PackError) -> Bool {
    // While the file is being replaced, it may be missing.
    guard let stamp = try? stamp() else { return false }
    return stamp != shelf.stamp
  }

  private func stamp() throws(PackError) -> FileStamp { FileStamp(try files.status(of: watched)) }

  /// Opens all packs to be served, and keeps the first ones open. Packs that did not change are taken from `current`. Throws an error if any pack cannot
  /// be opened.
  func load(replacing current: Shelf?) throws(PackError) -> Shelf {
    let stamp = try stamp()
    switch kind {
    case .pack:
      let pack = try open(path)
      return Shelf(stamp: stamp, games: [try Game(id: id(of: pack), name: nil, pack: pack, entry: nil)])
    case .folder:
      let all = PlainGames(path)
      let games = all.ids.filter { only == nil || $0 == only }.map { id in Game(id: id, folder: all.folder(of: id)) }
      guard !games.isEmpty else { throw nothing(of: all.ids) }
      return Shelf(stamp: stamp, games: games)
    case .release:
      return try loadRelease(stamp, replacing: current)
    }
  }

  private func loadRelease(_ stamp: FileStamp, replacing current: Shelf?) throws(PackError) -> Shelf {
    let manifest = try manifest()
    let packs = try ReleaseFolder(path).packs(of: manifest)
    let known = Dictionary((current?.games ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var games: [Game] = []
    for entry in packs where only == nil || entry.id == only {
      if let game = known[entry.id], game.entry == entry {
        games.append(game)
        continue
      }
      let pack = try open(entry)
      games.append(try Game(id: entry.id, name: entry.name, pack: pack, entry: entry, staysOpen: games.count < mostOpen))
    }
    guard !games.isEmpty else { throw nothing(of: packs.map(\.id)) }
    return Shelf(stamp: stamp, version: manifest.version, games: games)
  }

  private func nothing(of ids: [String]) -> PackError {
    PackError(
      .missingInput, only.map { "there is no pack '\($0)' in \(watched)" } ?? "\(watched) lists no pack",
      hint: only.map { _ in "there are: \(ids.joined(separator: ", "))" })
  }

  /// Opens the content of a game again.
  func open(_ game: Game) throws(PackError) -> GameContent {
    if let folder = game.folder { return .folder(folder) }
    guard let entry = game.entry else { return .pack(try open(path)) }
    return .pack(try open(entry))
  }

  /// Opens a pack of the release, and checks that it is the one that the manifest names.
  private func open(_ entry: ManifestPack) throws(PackError) -> Pack {
    let pack = try open("\(path)/\(Self.fileName(entry))")
    try pack.check(against: entry)
    return pack
  }

  /// Returns the id of a single pack, which contains only the digest of its id: the name of its file as far as that is the id, otherwise a name that
  /// the digest makes different from those of other packs.
  private func id(of pack: Pack) -> String {
    let file = PathParts(path)?.name ?? path
    let stem = file.hasSuffix(".pack") ? String(file.dropLast(5)) : file
    // A release adds a hyphen and 16 digits to the names of its files.
    for text in [stem, String(stem.dropLast(17))] {
      if let name = PackName(fileName: text) ?? (try? PackName(text)), (try? PackID.bytes(for: name)) == pack.header.packID {
        return name.text
      }
    }
    return "pack-" + pack.header.packID.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  private func manifest() throws(PackError) -> Manifest {
    let signed = try SignedManifest.read(watched)
    return try attributing(to: watched) { () throws(PackError) in
      guard trusted.signingKeys.isEmpty else { return try signed.verify(trusting: trusted).manifest }
      return try Manifest(parsing: signed.bytes.byteSpan, signed.signedBytes)
    }
  }

  private func open(_ path: String) throws(PackError) -> Pack {
    let start = try PackStart(path, files: files)
    let key: PackKey
    do throws(PackError) {
      key = try keys.key(for: KeyRequest(start, path: path))
    } catch  where error.code == .wrongKey || error.code == .noKey {
      throw error.about(path).advising(.giveKey(start.stanzas.keyID))
    } catch {
      throw error.about(path)
    }
    return try Pack(start, path: path, key: key, files: files, backend: CryptoBackends.standard)
  }

  /// Returns the last component of the URL, without the query.
  private static func fileName(_ entry: ManifestPack) -> String {
    let path = entry.url.prefix { $0 != "?" && $0 != "#" }
    return path.split(separator: "/").last.map(String.init) ?? entry.id
  }
}
