/// A pack, or a folder with an index page, that is being served.
package final class Game: Sendable {
  /// The id in the manifest, or a name for a single file that differs for packs with different ids, or the name of the folder.
  package let id: String
  /// The name for people; nil if the manifest has none.
  package let name: String?
  /// The version of the pack; nil for a folder.
  package let version: UInt64?
  /// The size of the pack file in bytes; nil for a folder.
  let packSize: UInt64?
  /// The number of files and empty directories in the pack, and the sum of their sizes in bytes; nil for a folder.
  let fileCount: Int?
  let contentSize: UInt64?
  /// Whether it has a page to begin with. Other packs have files for other games, or for the app.
  package let hasPage: Bool
  /// The entry in the manifest; nil if a single pack file or a folder is served.
  let entry: ManifestPack?
  /// The folder; nil for a pack.
  let folder: PlainFolder?
  private let content: Monitor<GameContent?>
  private let knownFace = Monitor<GameFace?>(nil)

  /// - Parameter staysOpen: whether the pack stays open until ``close()``.
  /// - Throws: the error of a damaged pack.
  init(id: String, name: String?, pack: Pack, entry: ManifestPack?, staysOpen: Bool = true) throws(PackError) {
    self.id = id
    self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    self.entry = entry
    folder = nil
    version = pack.header.packVersion
    packSize = pack.layout.packSize
    (fileCount, contentSize) = (pack.entryCount, pack.contentSize)
    hasPage = try GameContent.pack(pack).hasFile(PackResponder.Options().indexName)
    content = Monitor(staysOpen ? .pack(pack) : nil)
  }

  init(id: String, folder: PlainFolder) {
    self.id = id
    self.folder = folder
    (name, version, packSize, fileCount, contentSize, entry) = (nil, nil, nil, nil, nil, nil)
    hasPage = true
    content = Monitor(nil)
  }

  var isOpen: Bool { content.withLock { $0 != nil } }

  /// Returns the files, which stay open. If they are not open, they become what `open` returns.
  func open(by open: () throws(PackError) -> GameContent) throws(PackError) -> GameContent {
    if let content = content.withLock({ $0 }) { return content }
    let opened = try open()
    content.withLock { $0 = opened }
    return opened
  }

  /// Closes the pack when the last reply from it has ended.
  func close() { content.withLock { $0 = nil } }

  /// The name in the manifest, or else the title of its page if that was read, or else the id.
  var title: String { name ?? knownFace.withLock { $0?.title } ?? id }

  /// Returns the title and icon of its page. Those of a pack are read once.
  func face(_ content: () throws(PackError) -> GameContent) throws(PackError) -> GameFace {
    if folder == nil, let face = knownFace.withLock({ $0 }) { return face }
    let face = try GameFace(of: content())
    knownFace.withLock { $0 = face }
    return face
  }

  /// Returns the origin of the game.
  ///
  /// - Parameter port: the port with its colon; may be empty.
  package func origin(port: String) -> String { "http://\(id.lowercased()).localhost\(port)" }
}

/// The games that are served at one time.
struct Shelf: Sendable {
  /// The stamp of the file, manifest or folder, taken before it was read.
  var stamp: FileStamp
  /// The version of the manifest.
  var version: UInt64?
  var games: [Game]
  /// The last reported reason why the current files are not served.
  var complaint: String?

  func game(named name: String) -> Game? {
    games.first { $0.id.lowercased() == name }
  }
}

extension Game {
  /// A folder of plain files has no version.
  package var json: JSON { ["id": .text(id), "version": .number(version)] }
}
