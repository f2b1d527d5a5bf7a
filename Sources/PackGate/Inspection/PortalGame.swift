/// A game as a web portal gets it: the plain files of a pack.
package struct PortalGame: Sendable {
  struct File: Sendable {
    var path: String
    var size: UInt64
  }

  /// What a recorded run loaded until the game could be played.
  struct Start: Sendable {
    var milliseconds: UInt64
    /// The size of a zip of the files, which is about what a server sends that compresses.
    var size: UInt64
  }

  /// In byte order.
  var files: [File] = []
  var references = WebFaults()
  /// What a recorded run asked of other hosts.
  var asked: [String] = []
  /// Nil without a run in which the game set its mark.
  var start: Start?
  /// The bytes that are in no subpackage; nil if the game.json cannot be read.
  var mainSize: UInt64?

  var totalSize: UInt64 { files.reduce(0) { $0.adding($1.size) } }

  init(files: [File]) { self.files = files }

  /// Surveys a pack.
  init(_ pack: Pack, _ references: WebFaults, run: LoadRun? = nil) throws(PackError) {
    self.references = references
    try pack.forEachEntry { entry in
      if entry.kind == .file { files.append(File(path: entry.path, size: entry.size)) }
    }
    if let roots = try Self.subpackages(pack) {
      mainSize = files.filter { file in !roots.contains { file.path == $0 || file.path.hasPrefix("\($0)/") } }.reduce(0) {
        $0.adding($1.size)
      }
    }
    guard let recorded = run?.packs.first(where: { $0.contentRoot == pack.contentRoot }) else { return }
    asked = recorded.foreign.map(\.url)
    guard let mark = recorded.playable else { return }
    let loaded = recorded.requests.filter { $0.milliseconds <= mark && $0.status < 400 }.map(\.path)
    start = Start(milliseconds: mark, size: try ZipExport.size(of: Set(loaded), in: pack))
  }

  /// Surveys a pack by itself.
  package init(_ pack: Pack) throws(PackError) {
    try self.init(pack, try WebGraph(pack, try WebSearch(pack)).run())
  }

  /// Returns the roots of the subpackages in game.json; nil if it cannot be read.
  private static func subpackages(_ pack: Pack) throws(PackError) -> [String]? {
    guard let entry = try pack.find("game.json"), entry.kind == .file, entry.size <= WebSearch.largestFile else { return [] }
    guard case .object(let members) = try? JSON(parsing: try pack.read("game.json")) else { return nil }
    return members.filter { ["subpackages", "subPackages"].contains($0.key) }.flatMap { member -> [String] in
      guard case .list(let packages) = member.value else { return [] }
      return packages.compactMap { package in
        guard case .object(let fields) = package, case .text(let root) = fields.first(where: { $0.key == "root" })?.value else {
          return nil
        }
        return root.split(separator: "/").joined(separator: "/")
      }
    }
  }

  /// Whether a page or script names a host, or a recorded run asked for it.
  func names(_ host: String) -> Bool {
    (references.foreign.map(\.address) + references.foreignGuesses + asked).contains { $0.contains(host) }
  }

  /// Whether a portal would open it. A pack without pages may belong to a game, but is none.
  func isGame(for portal: Portal) -> Bool {
    files.contains { file in portal.entry.contains(file.path) || WebFileKind(path: file.path) == .page }
  }
}
