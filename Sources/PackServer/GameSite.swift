import PackManifest
package import PackServing
import PackWork

/// The games of one pack or of one release, decrypted as they are asked for and kept nowhere.
///
/// A pack is served at the root of the address. Of a release every pack has an origin of its own, `http://<id>.localhost:<port>/`, so that
/// games do not find each other's saved data and a page may start its paths with a slash; the root of the address lists them.
package final class GameSite: Site {
  private let shelf: Monitor<Shelf>
  private let stock: GameStock
  private let options: PackResponder.Options

  /// Opens what is to be served.
  ///
  /// - Throws: what a damaged, missing or foreign pack or manifest deserves.
  package init(_ stock: GameStock, options: PackResponder.Options) throws(PackError) {
    self.stock = stock
    self.options = options
    shelf = Monitor(try stock.load(replacing: nil))
  }

  /// The games there are, in the order of the manifest.
  package var games: [Game] { shelf.withLock { $0.games } }

  /// Whether there is one game, at the root of the address.
  package var isSingle: Bool { stock.isSingle }

  /// Looks whether another version lies there, and serves that from now on. What is being sent goes on as it was.
  ///
  /// - Returns: whether there was one.
  /// - Throws: why it cannot be served yet; the last one is served further. The same again is not thrown twice.
  package func refresh() throws(PackError) -> Bool {
    let current = shelf.withLock { $0 }
    guard try stock.hasChanged(since: current) else { return false }
    do throws(PackError) {
      let next = try stock.load(replacing: current)
      shelf.withLock { $0 = next }
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

  package func reply(to request: PackRequest) throws(PackError) -> SiteReply {
    let isHead = request.method == "HEAD"
    let host = Self.host(of: request)
    let field = HostField(host)
    guard field != .stranger else {
      return .text(421, "Only this machine is served, under the names that only this machine has.\n", isHead: isHead)
    }
    // A page of a stranger may lead here, but neither include, frame nor fetch what is decrypted here.
    guard Self.isOwn(request, of: host) || Self.isVisit(request) else {
      return .text(403, "Pages of other origins get nothing from here.\n", isHead: isHead)
    }
    let shelf = shelf.withLock { $0 }
    if stock.isSingle { return SiteReply(try respond(shelf.games[0], to: request)) }
    guard case .name(let name) = field else { return root(shelf, request, host, isHead: isHead) }
    guard let game = shelf.game(named: name) else {
      return .text(404, "There is no pack '\(name)' in this release.\n", isHead: isHead)
    }
    return SiteReply(try respond(game, to: request))
  }

  private func respond(_ game: Game, to request: PackRequest) throws(PackError) -> PackResponse {
    try PackResponder(game.pack, options: options).respond(to: request)
  }

  /// Whether it is asked by a page of the same origin, by who sits in front of the browser, or by no browser. A browser that says nothing of that by itself
  /// still names the origin of a page that fetches.
  private static func isOwn(_ request: PackRequest, of host: String?) -> Bool {
    guard ["same-origin", "none", nil].contains(request.headers["Sec-Fetch-Site"]) else { return false }
    guard let origin = request.headers["Origin"] else { return true }
    return host.map { "http://\($0)".lowercased() == origin.lowercased() } ?? false
  }

  /// Whether the answer becomes a page of its own, and no frame of another.
  private static func isVisit(_ request: PackRequest) -> Bool {
    request.headers["Sec-Fetch-Mode"] == "navigate" && ["document", nil].contains(request.headers["Sec-Fetch-Dest"])
  }

  /// The host of a whole address counts, and else the field (RFC 9112 §3.2.2).
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
    guard let target = RequestTarget(request.target) else { return .text(400, "This is no path.\n", isHead: isHead) }
    let port = HostField.port(host)
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
      return .text(404, "There is nothing at this path; the list of games is at /.\n", isHead: isHead)
    }
    let rest = parts.count > 1 ? RequestTarget.encoded(parts[1]) : ""
    return .text(302, "", headers: ["Location": "\(game.origin(port: port))/\(rest)\(target.query ?? "")"], isHead: isHead)
  }
}

/// A pack that is being served.
package struct Game: Sendable {
  /// The name in the manifest, or of the file.
  package let id: String
  /// The name for people, where the manifest has one.
  package let name: String?
  package let pack: Pack
  /// What the manifest says of it; nil where a pack is served by itself.
  let entry: ManifestPack?

  /// - Parameter port: with its colon.
  func origin(port: String) -> String { "http://\(id.lowercased()).localhost\(port)" }

  package var version: UInt64 { pack.header.packVersion }
}

/// What is served at one time.
struct Shelf: Sendable {
  /// What the file or the manifest looked like before it was read.
  var stamp: GameStock.Stamp
  /// The version of the manifest.
  var version: UInt64?
  var games: [Game]
  /// Why what lies there now is not served, as it was told.
  var complaint: String?

  func game(named name: String) -> Game? {
    games.first { $0.id.lowercased() == name }
  }
}
