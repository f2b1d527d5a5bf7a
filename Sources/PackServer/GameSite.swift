import PackFormat
import PackManifest
import PackProject
import PackReading
package import PackServing
import PackWork

/// A site with the games of one pack or of one release, decrypted on request and never stored.
///
/// Every pack has its own origin, `http://<id>.localhost:<port>/`, also if it is the only one, so that games cannot read each other's saved data or
/// leave a worker that answers in the place of the next game. Pages may use paths that start with a slash. The root of the address belongs to no
/// game: it lists them, or redirects to the only one. Service workers are refused unless they are allowed.
///
/// All packs are opened and checked before they are offered. Some stay open; the others are opened again when they are requested.
package final class GameSite: Site {
  private let shelf: Monitor<Shelf>
  /// The games whose packs are open, the most recently used one last.
  private let open: Monitor<[Game]>
  private let stock: GameStock
  private let options: PackResponder.Options
  private let allowsServiceWorkers: Bool
  private let recorder: LoadRecorder?

  /// Opens the packs to be served.
  ///
  /// - Parameters:
  ///   - allowsServiceWorkers: whether games may register service workers, which stay in the browser and answer later requests.
  ///   - recorder: what records the requests, and what browsers report about other hosts; nil to record nothing.
  /// - Throws: if a pack or the manifest is damaged, missing or untrusted, or a pack needs another key.
  package init(
    _ stock: GameStock, options: PackResponder.Options, allowsServiceWorkers: Bool = false, recorder: LoadRecorder? = nil
  ) throws(PackError) {
    self.stock = stock
    self.recorder = recorder
    self.options = options
    self.allowsServiceWorkers = allowsServiceWorkers
    let first = try stock.load(replacing: nil)
    shelf = Monitor(first)
    open = Monitor(first.games.filter(\.isOpen))
  }

  /// The games, in the order of the manifest.
  package var games: [Game] { shelf.withLock { $0.games } }

  /// Whether only one game is served, to which the root of the address redirects.
  package var isSingle: Bool { stock.isSingle }

  /// Loads a new version if the files have changed, and serves it from then on. Replies under way continue with the old version.
  ///
  /// - Returns: whether a new version is served.
  /// - Throws: if the new version cannot be served. The previous version is still served. The same error is not thrown twice in a row.
  package func refresh() throws(PackError) -> Bool {
    let current = shelf.withLock { $0 }
    guard try stock.hasChanged(since: current) else { return false }
    do throws(PackError) {
      let next = try stock.load(replacing: current)
      shelf.withLock { $0 = next }
      open.withLock { open in
        open = next.games.filter(\.isOpen)
        closeOldest(&open)
      }
      return true
    } catch {
      let isKnown = shelf.withLock { shelf in
        defer { shelf.complaint = error.message }
        return shelf.complaint == error.message
      }
      if isKnown { return false }
      throw error
    }
  }

  /// Returns the pack of a game, and keeps it open in place of the one that was not requested for the longest time.
  ///
  /// - Throws: the error of opening it, if its file was removed or changed after it was checked.
  package func pack(of game: Game) throws(PackError) -> Pack {
    let pack = try game.openPack { () throws(PackError) in try stock.open(game) }
    open.withLock { open in
      open.removeAll { $0 === game }
      open.append(game)
      closeOldest(&open)
    }
    return pack
  }

  private func closeOldest(_ open: inout [Game]) {
    while open.count > stock.mostOpen { open.removeFirst().close() }
  }

  package func reply(to request: PackRequest) throws(PackError) -> SiteReply {
    let isHead = request.method == "HEAD"
    let host = Self.host(of: request)
    let field = HostField(host)
    guard field != .stranger else {
      return .text(421, "This server answers only requests to localhost, a name below localhost, or a loopback address.\n", isHead: isHead)
    }
    // A page of another origin may link here, but must not include, frame or fetch decrypted content.
    guard Self.isOwn(request, of: host) || Self.isVisit(request) else {
      return .text(403, "Pages of other origins may link to this server, but not load anything from it.\n", isHead: isHead)
    }
    // A worker would answer in the place of this server, also after an update or a restart.
    guard allowsServiceWorkers || !Self.isServiceWorker(request) else {
      return .text(403, "Service workers are not allowed. 'packer serve --service-workers' allows them.\n", isHead: isHead)
    }
    let shelf = shelf.withLock { $0 }
    guard case .name(let name) = field else { return root(shelf, request, host, isHead: isHead) }
    guard let game = shelf.game(named: name) else {
      return .text(404, "There is no pack '\(name)' here.\n", isHead: isHead)
    }
    if bodyLimit(of: request) > 0 { return .text(204, "", isHead: true) }
    return try respond(game, to: request)
  }

  // MARK: Recording

  /// The path to which browsers report requests to other hosts. No game can have an answer to POST there.
  private static let reportPath = ".well-known/packer-report"

  /// Has browsers report what is not from the origin of the page, and load it all the same.
  ///
  /// The address of reports is absolute, because workers may have others that it cannot be relative to.
  private static func reportPolicy(_ host: String) -> String {
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'; report-uri http://\(host)/\(reportPath)"
  }

  package func bodyLimit(of request: PackRequest) -> Int {
    guard recorder != nil, request.method == "POST", RequestTarget(request.target)?.path == Self.reportPath else { return 0 }
    return 64 << 10
  }

  package func take(_ body: [UInt8], of request: PackRequest) {
    let host = Self.host(of: request)
    guard case .name(let name) = HostField(host), Self.isOwn(request, of: host), let game = shelf.withLock({ $0.game(named: name) }) else {
      return
    }
    recorder?.take(report: body, of: game.id, at: host ?? "")
  }

  private func respond(_ game: Game, to request: PackRequest) throws(PackError) -> SiteReply {
    let pack = try pack(of: game)
    guard let recorder else { return try respond(game, pack, to: request).reply }
    var (reply, near) = try respond(game, pack, to: request)
    if let host = Self.host(of: request) { reply.headers.append("Content-Security-Policy-Report-Only", Self.reportPolicy(host)) }
    if let target = RequestTarget(request.target) {
      let path = target.isDirectory ? target.path + options.indexName : target.path
      // Otherwise the reply has a file, and it is that one.
      let hasFile = path.utf8.count <= Limits.pathLength ? try pack.find(path)?.kind == .file : false
      let isFallback = [200, 206, 304].contains(reply.status) && !hasFile
      recorder.note(request, for: game, pack, path: path, file: isFallback ? options.fallback ?? path : path, reply, near: near)
    }
    return reply
  }

  /// - Returns: the reply, and for a path that does not exist, the one that was probably meant.
  private func respond(_ game: Game, _ pack: Pack, to request: PackRequest) throws(PackError) -> (reply: SiteReply, near: String?) {
    let response = try PackResponder(pack, options: options).respond(to: request)
    guard response.status == 404, let target = RequestTarget(request.target) else {
      return (SiteReply(response, note: note(on: game)), nil)
    }
    // For a person who develops the game: most often the case of a letter is wrong, which other servers and file systems do not mind.
    var nearest = NearestPath(to: target.path)
    try pack.forEachEntry { (entry) throws(PackError) in nearest.look(at: entry.path) }
    var reply = SiteReply.missing(
      "There is no file '\(printable(target.path.utf8))' in pack '\(game.id)'.", near: nearest.path,
      headers: HeaderFields(response.headers.fields.filter { $0.name != "Content-Length" }), isHead: request.method == "HEAD")
    let notes = [note(on: game), reply.note].compactMap(\.self)
    reply.note = notes.isEmpty ? nil : notes.joined(separator: "; ")
    return (reply, nearest.path)
  }

  /// The note for the log about the game that answers, if there are several.
  private func note(on game: Game) -> String? { stock.isSingle ? nil : game.id }

  /// Returns whether a request comes from a page of the same origin, directly from the user of a browser, or not from a browser. A browser without
  /// `Sec-Fetch-Site` still sends the `Origin` of a page that fetches.
  private static func isOwn(_ request: PackRequest, of host: String?) -> Bool {
    guard ["same-origin", "none", nil].contains(request.headers["Sec-Fetch-Site"]) else { return false }
    guard let origin = request.headers["Origin"] else { return true }
    return host.map { "http://\($0)".lowercased() == origin.lowercased() } ?? false
  }

  /// Returns whether a browser requests the script of a service worker.
  private static func isServiceWorker(_ request: PackRequest) -> Bool {
    request.headers["Service-Worker"] != nil || request.headers["Sec-Fetch-Dest"] == "serviceworker"
  }

  /// Returns whether the response becomes a page of its own, not a frame of another page.
  private static func isVisit(_ request: PackRequest) -> Bool {
    request.headers["Sec-Fetch-Mode"] == "navigate" && ["document", nil].contains(request.headers["Sec-Fetch-Dest"])
  }

  /// Returns the host of an absolute target, or else the `Host` field (RFC 9112 §3.2.2).
  private static func host(of request: PackRequest) -> String? {
    guard !request.target.utf8.starts(with: "/".utf8), let start = request.target.firstRange(of: "://")?.upperBound else {
      return request.headers["Host"]
    }
    return String(request.target[start...].prefix { !"/?#".contains($0) })
  }

  // MARK: The list

  private func root(_ shelf: Shelf, _ request: PackRequest, _ host: String?, isHead: Bool) -> SiteReply {
    guard isHead || request.method == "GET" else {
      return .text(405, "", headers: ["Allow": "GET, HEAD"], isHead: isHead)
    }
    guard let target = RequestTarget(request.target) else { return .text(400, "The request target is not a valid path.\n", isHead: isHead) }
    let port = HostField.port(host)
    if stock.isSingle {
      let path = RequestTarget.encoded(target.path)
      return .text(
        302, "", headers: ["Location": "\(shelf.games[0].origin(port: port))/\(path)\(target.query ?? "")", "Cache-Control": "no-store"],
        isHead: isHead)
    }
    if target.path.isEmpty {
      return .text(
        200, GameList(shelf.games, version: shelf.version, port: port).html, type: "text/html; charset=utf-8",
        headers: [
          "Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
          "X-Content-Type-Options": "nosniff",
        ], isHead: isHead)
    }
    let parts = target.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let game = shelf.game(named: parts[0].lowercased()) else {
      return .text(404, "There is no game at this path. The list of games is at /.\n", isHead: isHead)
    }
    let rest = parts.count > 1 ? RequestTarget.encoded(parts[1]) : ""
    return .text(302, "", headers: ["Location": "\(game.origin(port: port))/\(rest)\(target.query ?? "")"], isHead: isHead)
  }
}

/// A pack that is being served.
package final class Game: Sendable {
  /// The id in the manifest, or a name for a single file that differs for packs with different ids.
  package let id: String
  /// The name for people; nil if the manifest has none.
  package let name: String?
  package let version: UInt64
  /// The size of the pack file in bytes.
  let packSize: UInt64
  /// The sum of the sizes of the files in the pack.
  let contentSize: UInt64
  /// The entry in the manifest; nil if a single pack file is served.
  let entry: ManifestPack?
  private let pack: Monitor<Pack?>

  /// - Parameter staysOpen: whether the pack stays open until ``close()``.
  init(id: String, name: String?, pack: Pack, entry: ManifestPack?, staysOpen: Bool = true) {
    self.id = id
    self.name = name
    self.entry = entry
    version = pack.header.packVersion
    packSize = pack.layout.packSize
    contentSize = pack.contentSize
    self.pack = Monitor(staysOpen ? pack : nil)
  }

  var isOpen: Bool { pack.withLock { $0 != nil } }

  /// Returns the pack, which stays open. If it is not open, it becomes the one that `open` returns.
  func openPack(by open: () throws(PackError) -> Pack) throws(PackError) -> Pack {
    if let pack = pack.withLock({ $0 }) { return pack }
    let opened = try open()
    pack.withLock { $0 = opened }
    return opened
  }

  /// Closes the pack when the last reply from it has ended.
  func close() { pack.withLock { $0 = nil } }

  /// Returns the origin of the game.
  ///
  /// - Parameter port: the port with its colon; may be empty.
  package func origin(port: String) -> String { "http://\(id.lowercased()).localhost\(port)" }
}

/// The games that are served at one time.
struct Shelf: Sendable {
  /// The stamp of the file or manifest, taken before it was read.
  var stamp: GameStock.Stamp
  /// The version of the manifest.
  var version: UInt64?
  var games: [Game]
  /// The last reported reason why the current files are not served.
  var complaint: String?

  func game(named name: String) -> Game? {
    games.first { $0.id.lowercased() == name }
  }
}
