/// A site with the games of one pack, of one release or of a folder, decrypted on request and never stored.
///
/// Every game has its own origin, `http://<id>.localhost:<port>/`, also if it is the only one, so that games cannot read each other's saved data or
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
  private let playtest: PlaytestPages

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
    playtest = PlaytestPages(isSingle: stock.isSingle, options: options)
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
  /// - Returns: the games that are new or have new content; nil if nothing changed.
  /// - Throws: if the new version cannot be served. The previous version is still served. The same error is not thrown twice in a row.
  package func refresh() throws(PackError) -> [Game]? {
    let current = shelf.withLock { $0 }
    guard try stock.hasChanged(since: current) else { return nil }
    do throws(PackError) {
      let next = try stock.load(replacing: current)
      shelf.withLock { $0 = next }
      open.withLock { open in
        open = next.games.filter(\.isOpen)
        closeOldest(&open)
      }
      // Games that did not change are the same objects, or folders that stay what they are.
      let known = Set(current.games.map(ObjectIdentifier.init))
      let folders = Set(current.games.filter { $0.folder != nil }.map(\.id))
      let changed = next.games.filter { !known.contains(ObjectIdentifier($0)) && !($0.folder != nil && folders.contains($0.id)) }
      for game in changed { playtest.log.forget(game.id) }
      return changed
    } catch {
      let isKnown = shelf.withLock { shelf in
        defer { shelf.complaint = error.message }
        return shelf.complaint == error.message
      }
      if isKnown { return nil }
      throw error
    }
  }

  /// Returns whether a pack has a file at a path. False if the pack cannot be read.
  package func hasFile(_ path: String, of id: String) -> Bool {
    let pack = games.first { $0.id == id }.flatMap { (try? content(of: $0))?.pack }
    return (try? pack?.find(path))?.kind == .file
  }

  /// Returns the files of a game. Its pack stays open in place of the one that was not requested for the longest time.
  ///
  /// - Throws: the error of opening it, if its file was removed or changed after it was checked.
  func content(of game: Game) throws(PackError) -> GameContent {
    let content = try game.open { () throws(PackError) in try stock.open(game) }
    open.withLock { open in
      open.removeAll { $0 === game }
      open.append(game)
      closeOldest(&open)
    }
    return content
  }

  /// Whether a game has a file.
  ///
  /// - Throws: the error of opening or reading its pack.
  package func hasFile(_ path: String, in game: Game) throws(PackError) -> Bool { try content(of: game).hasFile(path) }

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
    let isVisit = Self.isVisit(request) && request.method != "POST"
    guard Self.isOwn(request, of: host) || isVisit else {
      return .text(403, "Pages of other origins may link to this server, but not load anything from it.\n", isHead: isHead)
    }
    // A worker would answer in the place of this server, also after an update or a restart.
    guard allowsServiceWorkers || !Self.isServiceWorker(request) else {
      let reply = SiteReply.text(
        403, "Service workers are refused, because web views have none. 'packer serve --service-workers' allows them.\n", isHead: isHead)
      if case .name(let name) = field, let game = shelf.withLock({ $0.game(named: name) }) {
        let path = path(of: request) ?? ""
        let reason = "a web view has no service workers, so the game must work without"
        playtest.log.note(.init(kind: .failed, text: path, status: 403, note: reason), in: game.id)
        if let recorder, let pack = try content(of: game).pack {
          recorder.note(request, for: game, pack, path: path, file: path, reply, near: nil)
          recorder.take(LoadRun.Problem("it registers '\(path)': \(reason)"), of: game.id)
        }
      }
      return reply
    }
    let shelf = shelf.withLock { $0 }
    guard case .name(let name) = field else { return root(shelf, request, host, isHead: isHead) }
    guard let game = shelf.game(named: name) else { return missing(name, in: shelf, request, host) }
    if bodyLimit(of: request) > 0 { return .text(204, "", isHead: true) }
    if let name = Self.playtestName(request) {
      if name == "phone" { _ = try? face(of: game) }
      if name == "watch.js" { recorder?.noteWatching(game.id, isReporting: true) }
      if let reply = playtest.reply(name, request, in: game, port: HostField.port(host)) { return reply }
    }
    let isPage = PlaytestPages.isPage(request)
    var (reply, near) = try respond(game, to: request)
    let isWatched = recorder != nil && isPage || request.headers["Sec-Fetch-Dest"] == "iframe" && playtest.log.isWatched(game.id)
    if isWatched {
      if try WatchedPage.watch(&reply, allowsWorkers: allowsServiceWorkers) { recorder?.noteWatching(game.id, isReporting: false) }
      if recorder == nil, let host { reply.headers.append("Content-Security-Policy-Report-Only", Self.reportPolicy(host)) }
    }
    let fault = playtest.day(of: game).change(&reply, isPage: isPage)
    note(request, &reply, near: near, fault: fault, in: game)
    return reply
  }

  /// Returns the part of the path that names a page for people who try games; nil for the path of a game's own file.
  private static func playtestName(_ request: PackRequest) -> String? {
    guard let path = RequestTarget(request.target)?.path, path.hasPrefix(PlaytestPages.prefix) else { return nil }
    return String(path.dropFirst(PlaytestPages.prefix.count))
  }

  // MARK: Recording

  /// Where browsers report requests to other hosts, and pages their errors. No game can have an answer to POST there.
  private static let reportName = "report"
  private static let errorName = "error"

  /// Has browsers report what is not from the origin of the page, and load it all the same.
  ///
  /// The address of reports is absolute, because workers may have others that it cannot be relative to.
  private static func reportPolicy(_ host: String) -> String {
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'; report-uri http://\(host)/\(PlaytestPages.prefix)\(reportName)"
  }

  package func bodyLimit(of request: PackRequest) -> Int {
    guard request.method == "POST" else { return 0 }
    return switch Self.playtestName(request) {
    case Self.reportName: 64 << 10
    case Self.errorName: 8 << 10
    default: 0
    }
  }

  package func take(_ body: [UInt8], of request: PackRequest) {
    let host = Self.host(of: request)
    guard case .name(let name) = HostField(host), Self.isOwn(request, of: host), let game = shelf.withLock({ $0.game(named: name) }) else {
      return
    }
    if Self.playtestName(request) == Self.errorName {
      let parts = String(decoding: body, as: UTF8.self).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return }
      let problem = LoadRun.Problem(String(parts[1]), place: parts[0].isEmpty ? nil : String(parts[0]))
      if problem.place == LoadRun.Problem.mark {
        recorder?.notePlayable(game.id)
        return
      }
      playtest.log.note(.init(kind: .error, text: problem.text, note: problem.place), in: game.id)
      recorder?.take(problem, of: game.id)
    } else if let foreign = LoadRecorder.foreign(in: body, at: host ?? "") {
      recorder?.take(foreign, of: game.id)
      playtest.log.note(.init(kind: .foreign, text: foreign.url, note: foreign.directive), in: game.id)
    }
  }

  /// - Returns: the reply, and for a path that does not exist, the one that was probably meant.
  private func respond(_ game: Game, to request: PackRequest) throws(PackError) -> (reply: SiteReply, near: String?) {
    let content = try content(of: game)
    var (reply, near) = try respond(game, content, to: request)
    guard let recorder, let pack = content.pack, let path = path(of: request) else { return (reply, near) }
    if let host = Self.host(of: request) { reply.headers.append("Content-Security-Policy-Report-Only", Self.reportPolicy(host)) }
    // Otherwise the reply has a file, and it is that one.
    let isThere = [200, 206, 304].contains(reply.status)
    let isFallback = try !content.hasFile(path) && isThere
    recorder.note(request, for: game, pack, path: path, file: isFallback ? options.fallback ?? path : path, reply, near: near)
    return (reply, near)
  }

  /// Returns the path of the file that is asked for; nil for an invalid target.
  private func path(of request: PackRequest) -> String? {
    RequestTarget(request.target).map { $0.isDirectory ? $0.path + options.indexName : $0.path }
  }

  private static let needsDecoding = "its build compressed it, which no web view decompresses (PK6020)"

  /// Has it noted, for the people who look, what was asked for and how much of it was sent.
  private func note(_ request: PackRequest, _ reply: inout SiteReply, near: String?, fault: String?, in game: Game) {
    let isMissing = reply.status == 404
    // Browsers ask for that icon by themselves.
    guard let path = path(of: request), !(isMissing && path == "favicon.ico") else { return }
    let fault = fault ?? (reply.status < 300 && SourceRules.needsDecoding(path) ? Self.needsDecoding : nil)
    let kind: PlaytestLog.Event.Kind = isMissing ? .missing : reply.status >= 400 || fault != nil ? .failed : .load
    let event = PlaytestLog.Event(kind: kind, text: path, status: reply.status, size: 0, note: fault ?? near)
    if fault == Self.needsDecoding {
      reply.note = [reply.note, fault].compactMap(\.self).joined(separator: "; ")
      recorder?.take(LoadRun.Problem("'\(path)' fails: \(Self.needsDecoding)"), of: game.id)
    }
    guard let body = reply.body else { return playtest.log.note(event, in: game.id) }
    reply.body = NotedBody(body) { [log = playtest.log, id = game.id, start = playtest.log.milliseconds] sent in
      var event = event
      (event.size, event.milliseconds) = (sent, start)
      log.note(event, in: id)
    }
  }

  /// - Returns: the reply, and for a path that does not exist, the one that was probably meant.
  private func respond(_ game: Game, _ content: GameContent, to request: PackRequest) throws(PackError) -> (reply: SiteReply, near: String?)
  {
    var reply = try content.respond(to: request, options)
    reply.note = reply.note ?? note(on: game)
    guard reply.status == 404, let wanted = path(of: request) else { return (reply, nil) }
    // For a person who develops the game: most often the case of a letter is wrong, which other servers and file systems do not mind.
    var nearest = NearestPath(to: wanted)
    var pages: [String] = []
    try content.forEachPath { path in
      nearest.look(at: path)
      if pages.count < Self.mostLinks, path.hasSuffix(".html") || path.hasSuffix(".htm") { pages.append(path) }
    }
    let isHead = request.method == "HEAD"
    let headers = HeaderFields(reply.headers.fields.filter { !["Content-Length", "Content-Type"].contains($0.name) })
    let place = game.folder == nil ? "pack '\(game.id)'" : "the folder of '\(game.id)'"
    let isLink = nearest.path == wanted
    let other = elsewhere(wanted, than: game)
    let near = isLink || other != nil ? nil : nearest.path
    let text =
      isLink
      ? "'\(printable(wanted.utf8))' is a link out of \(place), so it is not served."
      : "There is no file '\(printable(wanted.utf8))' in \(place)."
        + (other.map { " '\(printable($0.path.utf8))' is in '\($0.game.id)', an origin of its own, which other pages cannot load from." }
          ?? "")
    reply = SiteReply.missing(text, near: near, headers: headers, isHead: isHead)
    if PlaytestPages.isPage(request) {
      let note = reply.note
      var links = Self.links(pages)
      if !stock.isSingle { links.append(("http://127.0.0.1\(HostField.port(Self.host(of: request)))/", "all games")) }
      reply = PlaytestPages.missing(
        text, advice: isLink ? [] : Self.advice(wanted, pages, game, near), links: ("What is there", links), headers: headers,
        isHead: isHead)
      reply.note = note
    }
    let notes = [note(on: game), reply.note].compactMap(\.self)
    reply.note = notes.isEmpty ? nil : notes.joined(separator: "; ")
    return (reply, near)
  }

  /// The number of links on a page about one that does not exist.
  private static let mostLinks = 50

  private static func links(_ paths: [String]) -> [(address: String, text: String)] {
    paths.map { ("/\(RequestTarget.encoded($0))", $0) }
  }

  /// Returns sentences on what to do about a page that does not exist.
  private static func advice(_ path: String, _ pages: [String], _ game: Game, _ near: String?) -> [String] {
    var advice: [String] = []
    if path == PackResponder.Options().indexName {
      let places = pages.filter { $0.hasSuffix("/\(path)") }
      if game.folder == nil, let place = places.first {
        advice.append(
          "A game starts with \(path) at its top. This pack has it below: pack the folder \(place.dropLast(path.utf8.count + 1)) instead.")
      } else if game.folder == nil {
        advice.append("A game starts with \(path) at its top. This pack has none: it may have files for another pack, or for the app.")
      }
    } else if let near {
      advice.append("Did you mean \(near)? Capital letters count, as they do on phones.")
    } else if !PackResponder.hasExtension(path) {
      advice.append("If the game makes its pages with a script, serve its first page for all of them: packer serve --fallback index.html")
    } else {
      advice.append(
        game.folder == nil ? "If it should be there, see what was packed: packer ls PACK" : "If it should be there, look at the folder.")
    }
    return advice
  }

  /// Returns the other game that probably has a file, and its path there: the end of the path, after the folder that the other game was made of.
  private func elsewhere(_ path: String, than game: Game) -> (game: Game, path: String)? {
    var names = path.split(separator: "/")[...]
    while names.count > 1, let name = names.popFirst()?.lowercased() {
      let rest = names.joined(separator: "/")
      for other in games where other !== game && (other.id.lowercased() == name || other.id.lowercased().hasSuffix("-\(name)")) {
        if (try? hasFile(rest, in: other)) == true { return (other, rest) }
      }
    }
    return nil
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

  // MARK: The list

  private func root(_ shelf: Shelf, _ request: PackRequest, _ host: String?, isHead: Bool) -> SiteReply {
    let port = HostField.port(host)
    if !stock.isSingle, let name = Self.playtestName(request) {
      if name.hasPrefix("icon/"), let game = shelf.game(named: String(name.dropFirst(5)).lowercased()) { return icon(of: game, request) }
      return playtest.reply(name, request, in: nil, port: port) ?? .text(404, "There is nothing at this path.\n", isHead: isHead)
    }
    guard isHead || request.method == "GET" else { return .text(405, "", headers: ["Allow": "GET, HEAD"], isHead: isHead) }
    guard let target = RequestTarget(request.target) else { return .text(400, "The request target is not a valid path.\n", isHead: isHead) }
    if stock.isSingle {
      let path = RequestTarget.encoded(target.path)
      return .text(
        302, "", headers: ["Location": "\(shelf.games[0].origin(port: port))/\(path)\(target.query ?? "")", "Cache-Control": "no-store"],
        isHead: isHead)
    }
    if target.path.isEmpty {
      for game in shelf.games.prefix(Self.mostTitles) where game.name == nil && game.hasPage { _ = try? face(of: game) }
      return playtest.list(shelf, port: port, isHead: isHead)
    }
    let parts = target.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let game = shelf.game(named: parts[0].lowercased()) else { return missing(parts[0], in: shelf, request, host) }
    let rest = parts.count > 1 ? RequestTarget.encoded(parts[1]) : ""
    return .text(302, "", headers: ["Location": "\(game.origin(port: port))/\(rest)\(target.query ?? "")"], isHead: isHead)
  }

  /// The number of games whose pages are read for their titles, if the manifest does not name them.
  private static let mostTitles = 200

  private func face(of game: Game) throws(PackError) -> GameFace {
    try game.face { () throws(PackError) in try content(of: game) }
  }

  /// Returns the icon of a game, or a letter in its place.
  private func icon(of game: Game, _ request: PackRequest) -> SiteReply {
    let isHead = request.method == "HEAD"
    guard game.hasPage, let path = try? face(of: game).icon, let content = try? content(of: game),
      var reply = try? content.respond(
        to: PackRequest(method: request.method, target: "/\(RequestTarget.encoded(path))"), PackResponder.Options()),
      reply.status == 200, reply.headers["Content-Type"]?.hasPrefix("image/") == true, reply.body?.length ?? 0 <= GameFace.largestIcon
    else { return playtest.icon(game.title, isHead: isHead) }
    // As a picture, it runs no script. Opened by itself, it must not either.
    reply.headers.append("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return reply
  }

  /// Returns the reply for a name that no game has.
  private func missing(_ name: String, in shelf: Shelf, _ request: PackRequest, _ host: String?) -> SiteReply {
    let isHead = request.method == "HEAD"
    let text = "There is no game '\(printable(name.utf8))' here."
    let port = HostField.port(host)
    guard PlaytestPages.isPage(request) else {
      return .text(404, "\(text)\(stock.isSingle ? "" : " The list of games is at http://127.0.0.1\(port)/.")\n", isHead: isHead)
    }
    return PlaytestPages.missing(
      text, advice: [],
      links: ("Games that are there", shelf.games.filter(\.hasPage).prefix(Self.mostLinks).map { ("\($0.origin(port: port))/", $0.title) }),
      isHead: isHead)
  }
}
